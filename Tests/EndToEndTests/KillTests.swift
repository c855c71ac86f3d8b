import Foundation
import Listening
import StandIn
import Store
import TestSupport
import Testing

/// `kill -9` at random moments of playing, seeking and syncing: at most a second of the place is lost, the database is
/// sound each time, and the server hears of each second once. `DOGEAR_KILLS` is how many; the seed of each life is in
/// what a failure says.
@Suite struct KillTests {
    static let kills = ProcessInfo.processInfo.environment["DOGEAR_KILLS"].flatMap(Int.init) ?? 200
    static let houses = 4
    /// Seconds of listening. A place is written once a second; the rest is the time that writing and asking take.
    static let mostLost = 1.5

    @Test(arguments: 0..<houses) func nothingIsLostWhereverItIsKilled(_ house: Int) async throws {
        try await House.with { home in
            var daemon = try await home.daemon()
            try await home.logIn()
            try await home.done("play", "tidebook", "--at", "20")
            var ledger = Ledger()
            let standstill = Standstill()
            for life in stride(from: house, to: Self.kills, by: Self.houses) {
                var random = SeededNumbers(seed: UInt64(life))
                let before = standstill.seconds
                let known = try await live(home, &random, &ledger)
                daemon.send(SIGKILL)
                ledger.died(at: .now)
                let lost = (Self.mostLost + standstill.seconds - before) * known.fastest
                #expect(await daemon.end() == -SIGKILL)
                let kept = try await place(home, life)
                let gone = seconds(ledger.death - known.at)
                #expect(
                    (known.place - lost...known.place + gone * known.rate + 0.5).contains(kept),
                    "life \(life): at \(known.place), then \(gone) s at \(known.rate); kept \(kept)")
                daemon = try await home.daemon()
                ledger.begins(at: .now)
                try await home.done("play")
                ledger.plays(at: .now)
            }
            try await home.done("pause")
            ledger.died(at: .now)
            try await home.status("sent") { $0.unsent == 0 }
            let lost = Double(Self.kills / Self.houses) * Self.mostLost + standstill.seconds
            #expect(
                (ledger.least - lost...ledger.most).contains(home.listened),
                "\(home.listened) s on the server, \(ledger)")
            let ids = home.server.history(of: House.user).map(\.id)
            #expect(Set(ids).count == ids.count)
        }
    }

    /// One life up to the moment before its end.
    /// - Returns: where the listener was, at a time before now, how fast it goes on from there, and went before at most.
    private func live(
        _ home: House, _ random: inout SeededNumbers, _ ledger: inout Ledger
    ) async throws -> (place: Double, at: ContinuousClock.Instant, rate: Double, fastest: Double) {
        // What is lost was heard at the speed of before where it has just been changed.
        var fastest = try await home.status().rate
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: try await home.done("seek", "\(Int.random(in: 0...70, using: &random))")
            case 1: try await home.done("seek", "+\(Int.random(in: 1...9, using: &random))")
            case 2:
                try await home.done("pause")
                ledger.paused(at: .now)
                try await home.done("play")
                ledger.plays(at: .now)
            case 3:
                let rate = [1, 1.5, 2].randomElement(using: &random)!
                try await home.done("speed", "\(rate)")
                fastest = max(fastest, rate)
            case 4: try await home.run("playerctl", ["-p", "dogear", "next"])
            default: try await Task.sleep(for: .milliseconds(Int.random(in: 0...1500, using: &random)))
            }
        }
        let status = try await home.status()
        if status.position > 80 { try await home.done("seek", "10") }
        // The moment of death is what is random here, not something waited for.
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...400, using: &random)))
        let asked = ContinuousClock.now
        let last = try await home.status()
        return (last.position, asked, last.rate, fastest)
    }

    /// What the killed one left on the disk.
    private func place(_ home: House, _ life: Int) async throws -> Double {
        let copy = "\(home.home)/life-\(life)"
        try await home.run("cp", ["-r", home.state, copy])
        // With the seconds that are in memory, which outlives the process.
        try await home.run("cp", ["-r", home.memory, "\(copy)/memory"])
        let store = try Store.open(at: "\(copy)/state.sqlite", memory: "\(copy)/memory") {
            Issue.record("life \(life): \($0)")
        }
        #expect(store.notice == nil, "life \(life): the database is damaged")
        // Written together, or not at all.
        let history = try await store.history(limit: .max)
        for stretch in try await store.stretches() {
            let told = history.filter { $0.session == stretch.id }.reduce(BookTime.zero) { $0 + $1.listened }
            #expect(told == stretch.listened, "life \(life): \(stretch) has \(told.seconds) s of history")
        }
        return try #require(try await store.lastPlayed(), "life \(life): no place").place.position.seconds
    }
}

/// How long it may, and must, have played.
private struct Ledger: CustomStringConvertible {
    private(set) var most = 0.0
    private(set) var least = 0.0
    private(set) var death = ContinuousClock.now
    private var began: ContinuousClock.Instant? = .now
    private var playing: ContinuousClock.Instant? = .now

    mutating func begins(at now: ContinuousClock.Instant) { began = now }
    mutating func plays(at now: ContinuousClock.Instant) { playing = now }

    mutating func paused(at now: ContinuousClock.Instant) {
        least += playing.map { seconds(now - $0) } ?? 0
        playing = nil
    }

    mutating func died(at now: ContinuousClock.Instant) {
        paused(at: now)
        most += began.map { seconds(now - $0) } ?? 0
        began = nil
        death = now
    }

    var description: String { "between \(least) and \(most) s played" }
}
