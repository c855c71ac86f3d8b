import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// Hours of listening at three times the speed, with something going wrong every few seconds. Not part of the suite:
/// `packaging/soak --hours H` runs it and shows its report.
@Suite struct SoakTests {
    @Test(.enabled(if: Wish.hours != nil)) func hoursOfFaults() async throws {
        let libraries = try library()
        try await House.signedIn { configuration in
            configuration.libraries = libraries
        } _: { house, daemon in
            var soak = try await Soak(house, daemon, seed: Wish.seed)
            try await soak.run(for: (Wish.hours ?? 0) * 3600)
            let report = try await soak.report()
            print(report.text)
            #expect(report.isFlat)
        }
    }

    /// Two hours of a plain tone.
    private func library() throws -> [StandInLibrary] {
        let folder = "\(Sounds.folder)/soak"
        try Sounds.run(["mkdir", "-p", "\(folder)/long"])
        let ffmpeg = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"]
        let minute = "\(folder)/minute.m4a"
        try Sounds.run(ffmpeg + ["-f", "lavfi", "-i", "sine=r=16000:d=60", "-c:a", "aac", "-b:a", "64k", minute])
        try Sounds.run(ffmpeg + ["-stream_loop", "119", "-i", minute, "-c", "copy", "\(folder)/long/long.m4b"])
        let manifest = """
            {"libraries": [{"name": "Books", "mediaType": "book", "items": [{"id": "\(Library.book)", "title": "Longbook",
              "folder": "long", "authors": ["L. Long"], "files": [{"path": "long.m4b", "duration": 7200}],
              "chapters": [{"start": 0, "end": 3600, "title": "One"}, {"start": 3600, "end": 7200, "title": "Two"}]}]}]}
            """
        try Sounds.write(Array(manifest.utf8), to: "\(folder)/library.json")
        return try StandInLibrary.load(folder: folder)
    }
}

/// What `packaging/soak` was asked for.
private enum Wish {
    static let hours = ProcessInfo.processInfo.environment["DOGEAR_SOAK_HOURS"].flatMap(Double.init)
    static let seed = ProcessInfo.processInfo.environment["DOGEAR_SOAK_SEED"].flatMap(UInt64.init) ?? 1
}

private struct Soak {
    private let house: House
    private let daemon: Int
    private var random: SeededNumbers
    private let begun = ContinuousClock.now
    /// Where it was, and when, since the last command that moved it.
    private var mark: (place: Double, at: ContinuousClock.Instant)?
    private var playing: ContinuousClock.Instant?
    private var played = 0.0
    private var errors: [Double] = []
    private var samples: [Sample] = []
    private var faults: [String: Int] = [:]
    private var waits = 0
    private static let rate = 3.0

    struct Sample {
        /// Seconds since the start.
        let at: Double
        /// Memory of its own, in kB.
        let memory: Int
        let descriptors: Int
        let threads: Int
    }

    struct Report {
        let text: String
        let isFlat: Bool
    }

    init(_ house: House, _ shell: Child, seed: UInt64) async throws {
        self.house = house
        daemon = Int(shell.pid)
        random = SeededNumbers(seed: seed)
        try await house.done("play", "longbook", "--at", "0")
        try await house.done("speed", "\(Self.rate)")
        playing = .now
    }

    mutating func run(for limit: Double) async throws {
        while seconds(ContinuousClock.now - begun) < limit {
            try await wait(Double.random(in: 2...8, using: &random))
            try await fault()
            try await look()
            if Int.random(in: 0..<4, using: &random) == 0 { try await command() }
        }
        house.server.clearFaults()
    }

    private static let answers: [(name: String, fault: StandInFault, path: String)] = [
        ("answer lost", .dropAfter, "/api/session/**"), ("request lost", .dropBefore, "/api/session/**"),
        ("answer cut", .truncated, "/api/session/**"), ("401", .unauthorized, "/api/session/**"),
        ("404", .notFound, "/api/session/**"), ("429", .tooManyRequests(retryAfter: 2), "/api/session/**"),
        ("500", .serverError, "/api/session/**"), ("web page", .html(), "/api/session/**"),
        ("audio cut", .cut(afterBytes: 70_000), "/public/**"),
    ]

    private mutating func fault() async throws {
        let server = house.server
        let kind = Int.random(in: 0..<Self.answers.count + 3, using: &random)
        let name: String
        switch kind - Self.answers.count {
        case 0:
            name = "token expired"
            server.expireAccessTokens()
        case 1:
            name = "sessions forgotten"
            server.restart()
        case 2:
            name = "server away"
            await server.stop()
            try await wait(Double.random(in: 1...10, using: &random))
            _ = try await server.start()
        default:
            name = Self.answers[kind].name
            server.fail(Self.answers[kind].fault, path: Self.answers[kind].path)
        }
        faults[name, default: 0] += 1
    }

    private mutating func command() async throws {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: try await house.done("seek", "\(Int.random(in: 0...6000, using: &random))")
        case 1: try await house.done("seek", "+\(Int.random(in: 5...60, using: &random))")
        default:
            try await house.done("pause")
            played += playing.map { seconds(ContinuousClock.now - $0) } ?? 0
            playing = nil
            try await wait(Double.random(in: 0.2...3, using: &random))
            try await house.done("play")
            playing = .now
        }
        mark = nil
    }

    private func wait(_ seconds: Double) async throws { try await Task.sleep(for: .seconds(seconds)) }

    /// A status, the middle of the time in which it was read, and half of that time.
    private func read() async throws -> (status: StatusReport, at: ContinuousClock.Instant, blur: Double) {
        let before = ContinuousClock.now
        let status = try await house.status()
        let blur = seconds(ContinuousClock.now - before) / 2
        return (status, before + .seconds(blur), blur)
    }

    private mutating func look() async throws {
        let (status, at, blur) = try await read()
        if status.state != .playing {
            waits += 1
            mark = nil
            // Being played again is what is waited for: nobody but the network made it stop.
            try await house.status("playing again") { $0.state == .playing }
        } else if let mark {
            let expected = mark.place + seconds(at - mark.at) * Self.rate
            errors.append(max(0, abs(status.position - expected) - blur * Self.rate))
        } else {
            // A seek that still waits for its bytes shows where it goes.
            mark = try await eventually("the place to move") {
                let (now, at, _) = try await self.read()
                return now.position == status.position ? nil : (now.position, at)
            }
        }
        if status.position > 6500 {
            try await house.done("seek", "0")
            mark = nil
        }
        samples.append(try sample())
    }

    private func sample() throws -> Sample {
        let process = "/proc/\(daemon)"
        let lines = try String(contentsOfFile: "\(process)/status", encoding: .utf8).split(separator: "\n")
        func number(_ key: String) -> Int {
            lines.first { $0.hasPrefix(key) }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        return Sample(
            at: seconds(ContinuousClock.now - begun), memory: number("RssAnon:"),
            descriptors: try FileManager.default.contentsOfDirectory(atPath: "\(process)/fd").count,
            threads: number("Threads:"))
    }

    mutating func report() async throws -> Report {
        try await house.done("pause")
        played += playing.map { seconds(ContinuousClock.now - $0) } ?? 0
        // What was put off for minutes by the last faults is sent when the listener asks.
        try await house.done("sync")
        try await house.status("sent") { $0.unsent == 0 }
        let listened = house.listened
        let place = try await house.status().position
        let told = house.server.progress(of: House.user, item: Library.book)?.currentTime ?? -1
        // What it holds once warm against what it holds at the end; in between it may breathe.
        let warm = samples.dropFirst(samples.count / 5)
        let first = warm.prefix(max(1, warm.count / 5))
        let last = warm.suffix(max(1, warm.count / 5))
        func middle(_ samples: some Collection<Sample>, _ value: (Sample) -> Int) -> Int {
            let sorted = samples.map(value).sorted()
            return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
        }
        let memory = (middle(first, \.memory), middle(last, \.memory))
        let descriptors = (middle(first, \.descriptors), middle(last, \.descriptors))
        let threads = (middle(first, \.threads), middle(last, \.threads))
        let worst = errors.max() ?? 0
        let ids = house.server.history(of: House.user).map(\.id)
        let text = """
            soak: \(Int(played)) s played at \(Self.rate)x, \(faults.values.reduce(0, +)) faults, seed \(Wish.seed)
              faults             \(faults.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", "))
              waits for sound    \(waits)
              position error     \(decimal(worst)) s at most, of \(errors.count) looks
              place on server    \(decimal(abs(told - place))) s off
              listening time     \(decimal(listened)) s on the server, \(decimal(listened - played)) s off
              memory             \(memory.0) kB -> \(memory.1) kB
              descriptors        \(descriptors.0) -> \(descriptors.1)
              threads            \(threads.0) -> \(threads.1)
            """
        let isFlat =
            worst < 0.5 && abs(told - place) < 1 && abs(listened - played) < 1 + played / 100
            && memory.1 < memory.0 + memory.0 / 5 + 4000 && descriptors.1 <= descriptors.0 + 8
            && threads.1 <= threads.0 + 4 && Set(ids).count == ids.count
        return Report(text: text, isFlat: isFlat)
    }

    private func decimal(_ number: Double) -> String { "\((number * 1000).rounded() / 1000)" }
}
