import Control
import EventLoop
import Foundation
import Listening

@testable import Daemon

/// Plays steps against a rig and judges what came of them.
@LoopActor struct Sequence {
    struct Verdict: Sendable {
        let violations: [String]
        let log: [String]
    }

    private let rig: Rig
    private let isLogged: Bool

    /// - Parameter seed: of what is left to chance besides the steps.
    static func run(_ steps: [Step], seed: UInt64, isLogged: Bool = true) async throws -> Verdict {
        let rig = try Rig(seed: seed)
        try await rig.begin()
        let sequence = Sequence(rig: rig, isLogged: isLogged)
        for (number, step) in steps.enumerated() {
            sequence.note("\(number + 1). \(step)")
            try await sequence.perform(step)
            sequence.noteWish()
            sequence.note("     -> \(sequence.state)")
            if !rig.ledger.violations.isEmpty { break }
        }
        if rig.ledger.violations.isEmpty {
            try await sequence.converge()
            await sequence.judge()
        }
        let verdict = Verdict(violations: rig.ledger.violations, log: rig.proxy.lines)
        await rig.end()
        return verdict
    }

    private func note(_ line: String) {
        if isLogged { rig.proxy.note(line) }
    }

    private var state: String {
        let seconds = Double(rig.time.now.monotonic - 1_000_000) / 1_000_000
        return
            "\(String(format: "%.3f", seconds)) \(rig.thing?.name ?? "nothing") \(rig.service.player.phase) at \(rig.service.position.seconds), unsent \(rig.service.sync.unsent.count)+\(rig.service.sync.unsentWrites.count)"
    }

    // MARK: Doing

    private func perform(_ step: Step) async throws {
        switch step {
        case .play: await command(.play(what: "", at: ""))
        case .pause: await send(.pause(.listener))
        case .toggle: await send(.toggle)
        case .stop: await send(.stop)
        case .next: await move { .next }
        case .previous: await move { .previous }
        case .open(let thing): await command(.play(what: thing.id, at: ""))
        case .openAt(let thing, let place): await open(thing, at: place)
        case .skip(let offset): await seek { $0 + Double(offset) }
        case .seek(let share): await seek { [length = rig.thing?.length ?? 0] _ in length * share }
        case .seekNearEnd(let seconds): await seek { [length = rig.thing?.length ?? 0] _ in length - Double(seconds) }
        case .seekToStart: await seek { _ in 0 }
        case .rate(let rate): await send(.rate(rate))
        case .sleepTimer(let text):
            rig.ledger.fades = true
            await command(.sleep(text))
        case .finish(let thing): await mark(.finish, thing)
        case .unfinish(let thing): await mark(.unfinish, thing)
        case .restart(let thing): await mark(.restart, thing)
        case .listen(let seconds): await rig.pass(Double(seconds))
        case .wait(let minutes):
            if rig.service.player.wantsPlay { await send(.pause(.listener)) }
            await rig.pass(Double(minutes) * 60)
        case .playToEnd: await playToEnd()
        case .rival(let thing, let share): rival(thing, share * thing.length, finished: false)
        case .rivalFinishes(let thing): rival(thing, thing.length, finished: true)
        case .rivalDelivers(let thing, let share, let minutes): deliver(thing, share * thing.length, minutes)
        case .kill: try await rig.kill()
        case .powerCut(let seconds): try await rig.cutPower(after: Double(seconds))
        case .leave: try await rig.leaveAndReturn()
        case .audioFails(let isGone):
            rig.life.engine.fail(isGone ? .notFound : .unreachable(reason: "it broke"))
            if let thing = rig.thing { rig.ledger.soundFailed(thing, rate: rig.service.player.rate) }
            await rig.settle()
        case .audioWaits(let seconds):
            rig.life.engine.starve(true)
            await rig.pass(Double(seconds))
            rig.life.engine.starve(false)
            await rig.settle()
        case .sleep(let minutes, let isTold): await sleep(minutes, isTold)
        case .serverRestarts: rig.upstream.restart()
        case .serverDown(let seconds):
            rig.proxy.setDown(true)
            let proxy = rig.proxy
            _ = rig.time.timer(after: .seconds(Double(seconds))) { proxy.setDown(false) }
        case .skew(let seconds):
            // Forward only once the server has noted times: what was set back refuses all that is older.
            let isFresh = Thing.all.allSatisfy { rig.upstream.place(of: $0) == nil }
            let skew = Int64(seconds) * 1000
            rig.sky.set(isFresh ? skew : max(rig.sky.skew, skew), at: rig.time.now.wall)
            await rig.pass(0.001)
        case .tokensExpire: rig.upstream.expireTokens()
        case .loginRevoked: rig.upstream.revoke()
        case .fault(let endpoint, let fault, let times): rig.proxy.fail(endpoint, fault, times: times)
        }
    }

    private func send(_ event: Player.Event) async {
        rig.service.send(event)
        await rig.settle()
        await rig.pass(0.1)
    }

    private func move(_ event: () -> Player.Event) async {
        let event = event()
        let before = rig.service.position
        rig.ledger.isMoving = true
        rig.service.send(event)
        rig.ledger.isMoving = false
        noteMove(from: before)
        await rig.settle()
        await rig.pass(0.1)
    }

    private func seek(_ goal: (Double) -> Double) async {
        guard let thing = rig.thing else { return }
        let goal = min(max(0, goal(rig.service.position.seconds)), thing.length)
        await move { .seek(to: .seconds(goal)) }
    }

    /// A move of what is not loaded is told by the player alone.
    private func noteMove(from before: BookTime) {
        guard let thing = rig.thing, rig.service.position != before else { return }
        let place = rig.service.position.seconds
        switch rig.service.player.phase {
        case .stopped, .opening:
            rig.ledger.moved(thing, to: place)
            rig.ledger.wishes(thing, at: place)
        // What is being loaded for the former place moves on once it is there.
        case .loading:
            rig.ledger.moved(thing, to: place)
            rig.ledger.wishes(thing, at: before.seconds, place)
        case .playing, .paused, .empty: break
        }
    }

    /// An item is given with the place that was asked for: a place of the listener's from now on, but one that is written
    /// down only when the engine has confirmed it.
    private func noteWish() {
        guard let thing = rig.thing, case .loading = rig.service.player.phase else { return }
        rig.ledger.mayBegin(thing, at: rig.service.position.seconds)
    }

    private func open(_ thing: Thing, at place: Double) async {
        rig.ledger.wishes(thing, at: place)
        await command(.play(what: thing.id, at: "\(place)"))
    }

    private enum Outcome { case done, failed, unknown }

    @discardableResult
    private func command(_ command: Command, within seconds: Double = 15) async -> Outcome {
        let service = rig.service
        let word = Word()
        await rig.answered(within: seconds) {
            do throws(ControlError) {
                _ = try await service.answer(command)
                word.outcome = .done
            } catch {
                word.outcome = .failed
                word.error = error.message
            }
        }
        if let error = word.error { note("     \(error.prefix(120))") }
        if word.outcome == .unknown { note("     no answer yet") }
        return word.outcome
    }

    @LoopActor private final class Word {
        var outcome = Outcome.unknown
        var error: String?
    }

    private func mark(_ kind: ProgressWrite.Kind, _ thing: Thing?) async {
        guard let thing = thing ?? rig.thing else { return }
        rig.ledger.isMoving = true
        // However long the server takes: what is said next is said after it.
        let outcome =
            switch kind {
            case .finish: await command(.finish(what: thing.id), within: 120)
            case .unfinish: await command(.unfinish(what: thing.id), within: 120)
            case .restart: await command(.restart(what: thing.id), within: 120)
            case .place: Outcome.failed
            }
        rig.ledger.isMoving = false
        switch outcome {
        case .done: rig.ledger.marked(thing, kind)
        case .failed: break
        case .unknown: rig.ledger.blame("'\(kind.rawValue)' was not answered")
        }
    }

    private func sleep(_ minutes: Int, _ isTold: Bool) async {
        let service = rig.service
        if isTold {
            service.send(.pause(.system))
            // So long sleep is put off, as `Surroundings` does.
            await rig.answered(within: 2) { await service.handIn(within: .seconds(1.5)) }
        }
        // What is heard up to now is heard now.
        rig.life.engine.settle()
        rig.time.sleep(Double(minutes) * 60)
        if isTold { service.networkIsBack() }
        await rig.settle()
    }

    private func playToEnd() async {
        guard let thing = rig.thing else { return }
        await command(.play(what: "", at: ""))
        guard rig.service.player.phase == .playing else { return }
        let left = (thing.length - rig.service.position.seconds) / rig.service.player.rate
        await rig.pass(left + 1)
    }

    private func rival(_ thing: Thing, _ place: Double, finished: Bool) {
        // Nearer to the end the server would take it as finished.
        let place = finished ? place : min(place, thing.length - 11)
        rig.upstream.write(thing, place: place, finished: finished)
        let now = rig.time.now.wall
        let isContested = rig.proxy.isSlow
        rig.ledger.change(thing) { entry in
            entry.rival = Ledger.Rival(place: place, finished: finished, at: now, isContested: isContested)
        }
    }

    private func deliver(_ thing: Thing, _ place: Double, _ minutes: Int) {
        let place = min(place, thing.length - 11)
        let now = rig.time.now.wall
        let at = now - Int64(minutes) * 60_000
        let before = rig.upstream.place(of: thing)
        rig.upstream.deliver(thing, place: place, listened: 30, at: at + rig.sky.skew)
        rig.ledger.change(thing) { entry in
            // The first word about an item counts as said now, whatever it says (audiobookshelf.md, section 6).
            let at = before == nil ? now : at
            // The server compares it with the time at which it heard of ours.
            let isTaken = rig.upstream.place(of: thing).map { abs($0.position - place) < 0.01 } ?? false
            guard isTaken else { return }
            // Which is later goes by the server's clock (audiobookshelf.md, section 6), and that may have been set since.
            let later = at + rig.sky.skew - rig.sky.stamp(entry.at)
            let isByClock = entry.at > 0 && rig.sky.skew != rig.sky.stamp(entry.at) - entry.at && later > 0
            let said = max(at, entry.rival?.at ?? .min, isByClock ? min(now, entry.at + later) : .min)
            entry.rival = Ledger.Rival(place: place, finished: false, at: said)
        }
    }

    // MARK: Judging

    /// All is well again, and stays so until there is nothing left to do.
    private func converge() async throws {
        note("all is well again")
        rig.proxy.clear()
        rig.proxy.setDown(false)
        await rig.pass(61)
        if rig.service.player.wantsPlay { await send(.pause(.listener)) }
        rig.life.engine.settle()
        await logInAgain()
        await rig.pass(2 * 3600)
        // What waited for its turn may be what finds the login ended.
        if await logInAgain() { await rig.pass(2 * 3600) }
        // What seemed refused for good waits for the listener to say that it is to be tried again.
        await command(.sync(retry: true))
        await rig.pass(3600)
        note("     -> \(state)")
    }

    @discardableResult
    private func logInAgain() async -> Bool {
        guard rig.service.shelves.accounts.contains(where: \.isSignedOut) else { return false }
        note("a new login")
        if rig.proxy.refusedLogins == 0 { rig.ledger.blame("the login was given up for no reason") }
        let request = LoginRequest(
            address: rig.proxy.address, user: Upstream.user, secrets: LoginSecrets(password: Upstream.password))
        await command(.login(request))
        return true
    }

    private func judge() async {
        let ledger = rig.ledger
        do {
            for row in try await rig.life.store.stretches() where row.isUnsent || row.delivery == .parked {
                ledger.blame("a stretch was never sent: \(row)")
            }
            for row in try await rig.life.store.progressWrites() {
                ledger.blame("a command was never sent: \(row)")
            }
        } catch {
            ledger.blame("the journal cannot be read: \(error)")
        }
        let ids = rig.upstream.history.map(\.id)
        if Set(ids).count != ids.count { ledger.blame("a session is twice in the history") }
        for (thing, entry) in ledger.entries.sorted(by: { $0.key.name < $1.key.name }) { judge(thing, entry) }
        for row in rig.upstream.history { note("  history \(row.line)") }
    }

    private func judge(_ thing: Thing, _ entry: Ledger.Entry) {
        let listened = rig.upstream.listened(to: thing)
        let missing = entry.played - listened
        if missing < -0.2 || missing > entry.slack + 0.2 {
            rig.ledger.blame(
                "\(thing.name): played \(entry.played) s, the server has \(listened) (\(entry.slack) may be missing)")
        }
        let place = rig.upstream.place(of: thing)
        let doubt = Ledger.doubt + (entry.isInherited ? Sync.freshness : 0)
        let isTheirs =
            entry.rival.map { !$0.isContested && $0.at > max(entry.at, entry.begunAt) + doubt } ?? false
            && !entry.isMisdated
        let mayBeTheirs =
            entry.rival.map { $0.isContested || $0.at >= entry.at - Ledger.doubt || entry.isMisdated } ?? false
        if isTheirs, let rival = entry.rival {
            guard let place, place.isFinished == rival.finished, abs(place.position - rival.place) < 1 else {
                return rig.ledger.blame("\(thing.name): another device's newer place \(rival) became \(place as Any)")
            }
            return
        }
        // Nothing heard and nothing moved: the server need not know.
        guard let place else {
            if entry.played - entry.slack > 1.5 || entry.finished == true {
                rig.ledger.blame("\(thing.name): the server knows no place")
            }
            return
        }
        var places = entry.places
        if let rival = entry.rival, mayBeTheirs {
            if place.isFinished == rival.finished, abs(place.position - rival.place) < 1 { return }
            // Both spoke at once. It is not finished, wherever the other left it; or it was begun anew over the other's place.
            if entry.isUnfinished { places.append(rival.place...rival.place) }
            if let begun = entry.begun, !place.isFinished, abs(place.position - begun) < 1 { return }
        }
        if let finished = entry.finished, place.isFinished != finished {
            return rig.ledger.blame("\(thing.name): finished is \(place.isFinished), should be \(finished)")
        }
        if entry.finished != false { return }
        let ranges = places.map { range in
            min(range.lowerBound, thing.length - 10.5)...min(range.upperBound, thing.length - 10.5)
        }
        if !ranges.contains(where: { $0.lowerBound - 1 <= place.position && place.position <= $0.upperBound + 1 }) {
            rig.ledger.blame(
                "\(thing.name): the server is at \(place.position), the listener at \(ranges), rival \(entry.rival as Any), at \(entry.at)"
            )
        }
    }
}
