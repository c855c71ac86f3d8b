import Control
import EventLoop
import Foundation
import StandIn
import TestSupport
import Testing

/// Audio of a server that goes away, breaks connections, forgets sessions: the real daemon reads ahead, waits and goes on.
@Suite struct StreamTests {
    /// A daemon that is signed in to a server with ``LongBooks``; what is heard is written down.
    private func listening(
        patience: String? = nil, _ body: (House, Child) async throws -> Void
    ) async throws {
        let libraries = try await LongBooks.all().libraries
        var extra = ["DOGEAR_AUDIO_SINK": Recording.sink("HOME_/heard.raw")]
        extra["DOGEAR_PATIENCE"] = patience
        try await House.with(extra: extra) { configuration in
            configuration.libraries = libraries
        } _: { house in
            let daemon = try await house.daemon()
            try await house.logIn()
            try await body(house, daemon)
        }
    }

    /// Requests for audio, each with the range it asked for.
    private func asked(_ house: House) -> [Range<Int>] {
        house.server.requests.compactMap { request in
            guard request.method == "GET", request.path.contains("/public/session/") else { return nil }
            let ends = (request.headers["range"] ?? "").dropFirst("bytes=".count).split(separator: "-")
            guard ends.count == 2, let first = Int(ends[0]), let last = Int(ends[1]) else { return 0..<Int.max }
            return first..<last + 1
        }
    }

    private func sessions(_ house: House) -> Int {
        house.server.requests.count { $0.method == "POST" && $0.path.hasSuffix("/play") }
    }

    /// The first status that fits. Until then it plays, or waits where that is allowed; the place never goes back, and
    /// never on faster than time.
    /// - Parameter slack: seconds it may be off. On a busy machine sound may be decoded a moment too late: then the place
    ///   stands, and goes on where the clock is.
    @discardableResult
    private func watch(
        _ house: House, _ what: String, mayWait: Bool = false, slack: Double = 0.3, _ fits: (StatusReport) -> Bool
    ) async throws -> StatusReport {
        var (last, before) = (try await house.status().position, ContinuousClock.now)
        return try await eventually("a status that is \(what)") {
            let begin = ContinuousClock.now
            let status = try await house.status()
            #expect(status.state == .playing || mayWait && status.state == .buffering, "\(status)")
            let gone = seconds(ContinuousClock.now - before)
            #expect((last - slack...last + gone + slack).contains(status.position), "\(last), \(gone) s: \(status)")
            (last, before) = (status.position, begin)
            return fits(status) ? status : nil
        }
    }

    private func heard(_ house: House) throws -> Recording { try Recording("\(house.home)/heard.raw") }

    /// - Returns: what is heard 0.3 s after the sound began; on a busy machine the clock may be ahead of the sound.
    private func first(_ house: House) async throws -> Double {
        try await until("0.4 s of sound") { try heard(house).seconds > 0.4 }
        return try #require(try heard(house).original(at: 0.3))
    }

    /// What an account trusts holds for its audio as for all else, also in a daemon that starts later.
    @Test func aPrivateAuthorityIsTrustedForAudioToo() async throws {
        try await House.with { house in
            let front = try TLSFront(to: try #require(URL(string: house.address)?.port), folder: house.home)
            let login = ["login", front.address, "--user", House.user, "--password-stdin"]
            let dogear = Child.built("dogear")
            let refused = try await house.run(dogear, login, input: House.password + "\n")
            #expect(refused.code != 0 && refused.errors.contains("--ca"), "\(refused)")
            let trusted = try await house.run(dogear, login + ["--ca", front.caFile], input: House.password + "\n")
            #expect(trusted.code == 0, "\(trusted)")
            for place in [5.0, 40] {
                try await house.daemon()
                try await house.done("play", "tidebook", "--at", "\(Int(place))")
                try await house.status("heard over TLS") { $0.state == .playing && $0.position > place + 1 }
                try await house.kill()
            }
        }
    }

    /// One tone that rises from `start` on, with nothing left out and nothing twice.
    /// - Parameter seams: seconds from one to the next: the stand-in makes each segment by itself.
    private func isWhole(_ heard: Recording, from start: Double, seams: Double? = nil) throws {
        for moment in stride(from: 0.2, to: heard.seconds - 0.1, by: 0.1) {
            if let seams, abs((start + moment).remainder(dividingBy: seams)) < 0.25 { continue }
            let original = try #require(heard.original(at: moment), "silence at \(moment)")
            #expect(abs(original - start - moment) < 0.3, "at \(moment): \(original)")
        }
    }

    @Test func aServerThatStopsIsNotNoticedWhileThereIsEnough() async throws {
        try await listening { house, _ in
            try await house.done("play", "riverbook", "--at", "30")
            let stopped = try await house.status("far ahead") { $0.position > 31 && ($0.buffered ?? 0) > 60 }
            await house.server.stop()
            let on = try await watch(house, "further on") { $0.position > stopped.position + 10 }
            #expect(on.error == nil)
            try isWhole(try heard(house), from: 30)
        }
    }

    @Test func whenNothingIsLeftItWaitsAndGoesOnByItself() async throws {
        try await listening { house, _ in
            try await house.done("play", "thunder")
            try await house.status("on its way") { $0.position > 1 && ($0.buffered ?? 0) > 3 }
            // On a busy machine one of three tries shows how fast it is.
            var took = Double.infinity
            for attempt in 1...3 where took >= 3 * Double(Sanitizer.patience) {
                await house.server.stop()
                let stopped = try await house.status().position
                let dry = try await watch(house, "waiting", mayWait: true) { $0.state == .buffering }
                let isDry = dry.position > stopped + 2 && (dry.buffered ?? 1) < 0.5
                #expect(dry.error == nil && (isDry || attempt > 1), "\(stopped), \(dry)")
                _ = try await house.server.start()
                let back = ContinuousClock.now
                try await watch(house, "playing", mayWait: true) { $0.state == .playing }
                took = seconds(ContinuousClock.now - back)
                print("playing \(took) s after the server came back")
                // On a busy machine what comes first may be used up before there is more.
                try await watch(house, "further on", mayWait: true) { $0.position > dry.position + 2 }
            }
            // A second and a half between two tries at most, and the first bytes.
            #expect(took < 3 * Double(Sanitizer.patience))
            try await house.done("pause")
            try isWhole(try heard(house), from: 0)
            #expect(sessions(house) == 1)
        }
    }

    @Test func connectionsThatBreakAgainAndAgainAreNotHeard() async throws {
        try await listening { house, _ in
            house.server.fail(.cut(afterBytes: 20_000), path: "/public/**", times: .max)
            try await house.done("play", "riverbook", "--at", "30")
            let begun = try await house.status("on its way") { $0.state == .playing && $0.position > 31 }
            try await watch(house, "further on", mayWait: true) { $0.position > begun.position + 8 }
            let count = asked(house).count
            #expect(count > 5 && sessions(house) == 1, "\(count)")
            try await house.done("pause")
            try isWhole(try heard(house), from: 30)
        }
    }

    /// Connections that stay open with nothing coming any more: at the first bytes, and again and again after.
    @Test func aServerThatFallsSilentIsAskedAnew() async throws {
        try await listening { house, _ in
            let gate = StandInGate()
            house.server.fail(.silent(afterBytes: 20, gate), path: "/public/**", times: 2)
            house.server.fail(.silent(afterBytes: 100_000, gate), path: "/public/**", times: 3)
            try await house.done("play", "thunder")
            try await watch(house, "further on", mayWait: true) { $0.position > 10 }
            let status = try await house.status()
            #expect(status.error == nil && gate.arrived > 1 && sessions(house) == 1, "\(status), \(gate.arrived)")
            try await house.done("pause")
            try isWhole(try heard(house), from: 0)
        }
    }

    /// As of a file that is shorter than its server says.
    @Test func whoAsksForSoundThatNeverComesIsToldSo() async throws {
        try await listening(patience: "0.1") { house, _ in
            let gate = StandInGate()
            house.server.fail(.silent(afterBytes: 20, gate), path: "/public/**", times: .max)
            let outcome = try await house.dogear("play", "thunder")
            #expect(outcome.code == 4 && outcome.errors.contains("no sound has come of 'Thunder"), "\(outcome)")
            try await house.status("waiting all the same") { $0.state == .buffering }
            house.server.clearFaults()
            gate.release()
            try await house.status("on its way") { $0.state == .playing && $0.position > 1 }
        }
    }

    /// While something plays.
    private func forgottenSessionIsReopened(_ house: House, then goOn: () -> Void = {}) async throws {
        house.server.restart()
        house.server.forgetRequests()
        goOn()
        let on = try await watch(house, "in a new session", mayWait: true) { _ in sessions(house) == 1 }
        try await watch(house, "further on", mayWait: true) { $0.position > on.position + 3 }
        let status = try await house.status()
        #expect(status.error == nil && status.state == .playing)
    }

    @Test func aForgottenSessionIsReopenedOnceItIsNeeded() async throws {
        try await listening { house, _ in
            try await house.done("play", "thunder")
            let known = try await house.status("on its way") { $0.position > 1 && ($0.buffered ?? 0) > 3 }
            try await forgottenSessionIsReopened(house)
            // What was here is not fetched again.
            let here = Int((known.position + (known.buffered ?? 0)) * LongBooks.loudBytesPerSecond)
            #expect(asked(house).allSatisfy { $0.lowerBound > here - 200_000 }, "\(asked(house)), \(here)")
            try await house.done("pause")
            let heard = try heard(house)
            let first = try #require(heard.original(at: 0.2))
            try isWhole(heard, from: first - 0.2)
        }
    }

    @Test func aForgottenSessionThatTranscodesIsReopened() async throws {
        try await listening { house, _ in
            let more = holdBack(house)
            try await house.done("play", "oddbook", "--at", "20")
            try await house.status("on its way") { $0.state == .playing && $0.position > 21 }
            try await forgottenSessionIsReopened(house, then: more)
        }
    }

    @Test func anExpiredTokenIsNotNoticed() async throws {
        try await listening { house, _ in
            try await house.done("play", "thunder")
            try await house.status("on its way") { $0.position > 1 && ($0.buffered ?? 0) > 3 }
            house.server.expireAccessTokens()
            house.server.forgetRequests()
            try await watch(house, "further on") { $0.position > 10 }
            #expect(sessions(house) == 0 && !asked(house).isEmpty)
            try isWhole(try heard(house), from: 0)
        }
    }

    // MARK: The cache

    private func kept(_ house: House) throws -> [String] {
        let folder = "\(house.home)/.cache/dogear/audio"
        return try FileManager.default.contentsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func whatWasHeardIsHereTheNextTime() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook")
            try await house.status("here as a whole") { $0.position > 0.5 && ($0.buffered ?? 0) > 90 }
            daemon.send(SIGTERM)
            _ = await daemon.end()
            let files = try kept(house)
            #expect(files.contains { $0.hasSuffix(".bytes") } && files.contains { $0.hasSuffix(".record") })
            let folder = "\(house.home)/.cache/dogear/audio"
            #expect(try mode(folder) == 0o700)
            for file in files {
                #expect(try mode(file) == 0o600)
                let name = file.dropFirst(folder.count + 1)
                let isHash = name.prefix { $0 != "." }.allSatisfy { $0.isHexDigit }
                #expect(isHash, "\(name)")
                guard !file.hasSuffix(".bytes") else { continue }
                let text = String(decoding: try Sounds.read(file), as: UTF8.self)
                for word in ["127.0.0.1", "http", "tide", "Tide", "\"\(House.user)\"", Library.book] {
                    #expect(!text.contains(word), "\(word) in \(name)")
                }
            }
            house.server.forgetRequests()
            try await house.daemon()
            try await house.done("play", "tidebook", "--at", "70")
            try await house.status("on its way") { $0.state == .playing && $0.position > 71 }
            #expect(asked(house).isEmpty, "\(asked(house))")
        }
    }

    @Test func withoutACacheNothingStays() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("settings", "cache.audio-size", "0")
            daemon.send(SIGTERM)
            _ = await daemon.end()
            let again = try await house.daemon()
            try await house.done("play", "tidebook", "--at", "20")
            try await house.status("on its way") { $0.position > 20.5 }
            #expect(try kept(house).isEmpty)
            // Not even by one that has no time to clean up.
            again.send(SIGKILL)
            _ = await again.end()
            #expect(try kept(house).isEmpty)
        }
    }

    // MARK: Long files

    @Test(arguments: ["riverbook", "oceanbook"]) func aSeekFarIntoALongFile(_ title: String) async throws {
        let made = try await LongBooks.all()
        let isMP3 = title == "riverbook"
        let (size, round) = isMP3 ? (made.size.mp3, made.round.mp3) : (made.size.flac, made.round.flac)
        try await listening { house, _ in
            try await house.done("play", title)
            try await house.status("on its way") { $0.position > 0.5 }
            house.server.forgetRequests()
            let start = ((isMP3 ? made.duration.mp3 : made.duration.flac) * 0.9 / round).rounded() * round
            let place = (start + 25).rounded()
            let begin = ContinuousClock.now
            try await house.done("seek", "\(Int(place))")
            try await house.status("there") { $0.state == .playing && $0.position > place + 1 }
            let took = seconds(ContinuousClock.now - begin) - 1
            let original = try await first(house)
            try await house.done("pause")
            #expect(abs(original - (place - start + 0.3)) < 0.3, "\(original)")
            let fetched = asked(house).map { $0.clamped(to: 0..<size).count }.reduce(0, +)
            print("\(title): at most \(fetched) of \(size) bytes in \(took) s")
            // A tenth to be counted at most, what is read ahead on both sides of the seek, and single looks.
            let limit = size / 10 + 14_000_000
            try #require(limit < size / 2, "the file is too small to tell")
            #expect(fetched < limit)
        }
    }

    @Test func fiftySeeksLeaveNothingBehind() async throws {
        try await listening { house, daemon in
            func held() throws -> Held { try Held(of: daemon.pid) }
            var warm: Held?
            for number in 1...60 {
                // Now and then another book, and always another place.
                let title = number % 10 < 5 ? "riverbook" : "oceanbook"
                let place = (number * 547) % 3000 + 30
                try await house.done("play", title, "--at", "\(place)")
                try await house.status("there") {
                    $0.state == .playing && (Double(place)..<Double(place) + 30).contains($0.position)
                }
                if number == 10 { warm = try held() }
            }
            let before = try #require(warm)
            // What is on its way for a moment is not left behind.
            let after: Held
            do {
                after = try await eventually("as few threads and descriptors as after ten seeks") {
                    let after = try held()
                    return after.threads.count <= before.threads.count + 4
                        && after.descriptors.count <= before.descriptors.count + 8 ? after : nil
                }
            } catch {
                throw TestFailure("\(error)\nafter ten: \(before)\nafter sixty: \(try held())")
            }
            print("after ten: \(before), after sixty: \(after)")
            // What is read ahead of two books may lie in memory twice.
            if !Sanitizer.keepsMemory { #expect(after.memory < before.memory + before.memory / 2 + 20_000) }
        }
    }

    /// A quick machine has transcoded all of a book of a minute before anything can happen to it.
    /// - Returns: lets the rest come, from its 36th second on.
    private func holdBack(_ house: House) -> () -> Void {
        let gate = StandInGate()
        let fault = house.server.fail(.hold(gate), path: "/hls/*/output-6.ts", times: .max)
        return {
            house.server.clearFault(fault)
            gate.release()
        }
    }

    @Test func aTranscodedBookPlaysAndSeeks() async throws {
        try await listening { house, _ in
            try await house.done("play", "oddbook", "--at", "20")
            try await house.status("on its way") { $0.state == .playing && $0.position > 21 }
            let first = try await first(house)
            #expect(abs(first - 20.3) < 0.15, "\(first)")
            // What has come of it by then is for the machine to say.
            try await eventually("all of it") {
                house.server.requests.contains { $0.path.hasSuffix("/output-9.ts") } ? true : nil
            }
            try await house.done("seek", "40")
            let status = try await house.status("further on") { $0.state == .playing && $0.position > 41 }
            #expect(status.buffered == nil && status.error == nil)
            #expect(house.server.requests.contains { $0.path.contains("/hls/") })
            #expect(asked(house).isEmpty)
            // Each segment is fetched once, from the one before that with the place on; so it is from that of a seek on.
            let segments = house.server.requests.map(\.path).filter { $0.hasSuffix(".ts") }
            let names = segments.compactMap { $0.split(separator: "/").last.map(String.init) }
            // The last of them may be on their way yet.
            let expected = (Array(2...9) + Array(6...9)).map { "output-\($0).ts" }
            #expect(names.count > 8 && names.elementsEqual(expected.prefix(names.count)), "\(names)")
        }
    }

    /// The server begins half a minute before that, off the grid of its playlist.
    @Test func aTranscodedBookGoesOnWhereItWas() async throws {
        try await listening { house, _ in
            try await house.done("play", "oddbook", "--at", "40")
            try await house.status("on its way") { $0.state == .playing && $0.position > 41 }
            try await house.done("seek", "47.3")
            try await house.done("stop")
            let place = try await house.status("stopped") { $0.state == .stopped }.position
            #expect((47.2...57).contains(place))
            try await house.done("play", "oddbook")
            try await house.status("on its way") { $0.state == .playing && $0.position > place + 1 }
            let first = try await first(house)
            try await house.done("pause")
            #expect(abs(first - place - 0.3) < 0.15, "\(place): \(first)")
        }
    }

    @Test func aTranscodedBookOutlivesItsServer() async throws {
        try await listening { house, _ in
            let more = holdBack(house)
            try await house.done("play", "oddbook", "--at", "20")
            try await house.status("on its way") { $0.state == .playing && $0.position > 21 }
            await house.server.stop()
            more()
            let dry = try await watch(house, "waiting", mayWait: true, slack: 1) { $0.state == .buffering }
            #expect(dry.error == nil)
            _ = try await house.server.start()
            try await watch(house, "further on", mayWait: true, slack: 1) { $0.position > dry.position + 5 }
            try await house.done("pause")
            try isWhole(try heard(house), from: 20, seams: 6)
        }
    }
}

/// What a process holds: its threads by name, what its descriptors stand for, and its memory in kB.
private struct Held: CustomStringConvertible {
    let threads: [String]
    let descriptors: [String]
    let memory: Int

    init(of pid: pid_t) throws {
        let process = "/proc/\(pid)"
        let files = FileManager.default
        // One that ends while it is looked at has no name any more.
        threads = try files.contentsOfDirectory(atPath: "\(process)/task").map {
            (try? String(contentsOfFile: "\(process)/task/\($0)/comm", encoding: .utf8)) ?? "ended"
        }
        descriptors = try files.contentsOfDirectory(atPath: "\(process)/fd").map {
            (try? files.destinationOfSymbolicLink(atPath: "\(process)/fd/\($0)")) ?? "closed"
        }
        let status = try String(contentsOfFile: "\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        memory = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    var description: String {
        func counted(_ names: [String]) -> String {
            let kinds = Dictionary(grouping: names) { $0.prefix { $0 != "[" && $0 != "\n" } }
            return kinds.map { "\($1.count) \($0)" }.sorted().joined(separator: ", ")
        }
        return "\(threads.count) threads (\(counted(threads))), "
            + "\(descriptors.count) descriptors (\(counted(descriptors))), \(memory) kB"
    }
}
