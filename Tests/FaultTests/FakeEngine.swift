import EventLoop
import Listening

/// What the ledger must know of what is heard. Times in microseconds of the fake clock.
@LoopActor protocol Hearing: AnyObject {
    /// A load is confirmed here; nothing was heard of it yet.
    func loaded(_ length: BookTime, at place: BookTime)
    /// Sound from one place to another, which took so long.
    func heard(_ length: BookTime, from: BookTime, to: BookTime, for time: BookTime)
    func sought(_ length: BookTime, from: BookTime, to: BookTime)
    func ended(_ length: BookTime)
}

/// Makes no sound, in fake time. On the Loop only.
final class FakeEngine: Engine {
    private let state: State

    @LoopActor init(time: LifeTime, hearing: any Hearing, report: @escaping @LoopActor (EngineReport) -> Void) {
        state = State(time: time, hearing: hearing, report: report)
    }

    func load(_ load: LoadID, tracks: [Track], at place: BookTime, rate: Double, volume: Double) {
        LoopActor.assumeIsolated { state.load(load, tracks, place, rate) }
    }
    func play(_ load: LoadID) { LoopActor.assumeIsolated { state.play(load) } }
    func pause(_ load: LoadID) { LoopActor.assumeIsolated { state.pause(load) } }
    func seek(_ load: LoadID, to place: BookTime) { LoopActor.assumeIsolated { state.seek(load, place) } }
    func setRate(_ load: LoadID, _ rate: Double) { LoopActor.assumeIsolated { state.setRate(load, rate) } }
    func setVolume(_ volume: Double) {}
    func fade(_ load: LoadID, _ fading: Fading?) {}
    func setSound(_ options: SoundOptions) {}
    func unload() { LoopActor.assumeIsolated { state.unload() } }
    func position(_ load: LoadID) -> BookTime? { LoopActor.assumeIsolated { state.position(load) } }
    func buffered(_ load: LoadID) -> BookTime? { nil }

    /// The stream fails under the player.
    func fail(_ failure: EngineFailure) { LoopActor.assumeIsolated { state.fail(failure) } }
    /// What is being opened cannot be.
    func refuse(_ failure: EngineFailure) { LoopActor.assumeIsolated { state.refuse(failure) } }
    /// Sound stops for want of data, or goes on.
    func starve(_ waits: Bool) { LoopActor.assumeIsolated { state.starve(waits) } }
    /// Notes what was heard up to now: before a death.
    func settle() { LoopActor.assumeIsolated { state.settle() } }
    /// Its clock stands still, and it does not say so, until ``settle()``.
    func stand() { LoopActor.assumeIsolated { state.stand() } }
    /// The clock that the sound follows stood still for so long.
    func slip(by time: BookTime) { LoopActor.assumeIsolated { state.slip(by: time) } }
    /// Another rate takes so long to be there, and as long again to be heard, as does what is told to play.
    func begin(after delay: BookTime) { LoopActor.assumeIsolated { state.delay = delay } }
    var isSounding: Bool { LoopActor.assumeIsolated { state.since != nil } }
    var rate: Double { LoopActor.assumeIsolated { state.rate } }

    @LoopActor final class State {
        private let time: LifeTime
        private let hearing: any Hearing
        private let report: @LoopActor (EngineReport) -> Void
        private var load = LoadID(number: 0)
        private var length = BookTime.zero
        private var isLoaded = false
        private var isConfirmed = false
        private var wantsPlay = false
        private var isStarved = false
        private var aim = 0
        private var isSeeking = false
        private var base = BookTime.zero
        private(set) var since: Int64?
        private(set) var rate = 1.0
        var delay = BookTime.zero
        private var end: LoopTimer?

        init(time: LifeTime, hearing: any Hearing, report: @escaping @LoopActor (EngineReport) -> Void) {
            self.time = time
            self.hearing = hearing
            self.report = report
        }

        func load(_ load: LoadID, _ tracks: [Track], _ place: BookTime, _ rate: Double) {
            unload()
            self.load = load
            isLoaded = true
            length = tracks.reduce(.zero) { $0 + $1.duration }
            base = place
            self.rate = rate
            _ = time.timer(after: .seconds(0.04)) {
                guard self.load == load, self.isLoaded else { return }
                self.isConfirmed = true
                self.hearing.loaded(self.length, at: place)
                self.report(EngineReport(load, .ready(at: place)))
            }
        }

        func play(_ load: LoadID) {
            guard load == self.load, isLoaded else { return }
            wantsPlay = true
            runLater()
        }

        func pause(_ load: LoadID) {
            guard load == self.load else { return }
            wantsPlay = false
            halt()
        }

        func seek(_ load: LoadID, _ place: BookTime) {
            guard load == self.load, isLoaded else { return }
            halt()
            hearing.sought(length, from: base, to: place)
            base = place
            aim += 1
            isSeeking = true
            _ = time.timer(after: .seconds(0.02)) { [aim] in
                guard self.load == load, self.isLoaded, self.aim == aim else { return }
                self.isSeeking = false
                self.run()
                self.report(EngineReport(load, .seeked(to: place)))
            }
        }

        func setRate(_ load: LoadID, _ rate: Double) {
            guard load == self.load else { return }
            halt()
            self.rate = rate
            guard delay > .zero else { return run() }
            _ = time.timer(after: delay) {
                self.report(EngineReport(load, .wentOn))
                self.runLater()
            }
        }

        func unload() {
            halt()
            isLoaded = false
            isConfirmed = false
            wantsPlay = false
            isStarved = false
            isSeeking = false
        }

        func position(_ load: LoadID) -> BookTime? {
            load == self.load && isConfirmed ? here : nil
        }

        func fail(_ failure: EngineFailure) {
            guard isLoaded, isConfirmed else { return }
            let load = load
            halt()
            isConfirmed = false
            report(EngineReport(load, .failed(failure)))
        }

        func refuse(_ failure: EngineFailure) {
            guard isLoaded, !isConfirmed else { return }
            isLoaded = false
            report(EngineReport(load, .failed(failure)))
        }

        func starve(_ waits: Bool) {
            guard isLoaded, isConfirmed, waits != isStarved else { return }
            halt()
            isStarved = waits
            run()
            report(EngineReport(load, .buffering(waits)))
        }

        func settle() {
            halt()
            run()
        }

        func stand() { halt() }

        func slip(by time: BookTime) {
            halt()
            base = base - time
            run()
        }

        private var here: BookTime {
            guard let since else { return base }
            let passed = Double(time.now.monotonic - since) * rate
            return min(length, base + BookTime(microseconds: Int64(passed.rounded())))
        }

        private func runLater() {
            guard delay > .zero else { return run() }
            _ = time.timer(after: delay) { self.run() }
        }

        private func run() {
            guard wantsPlay, isLoaded, isConfirmed, !isStarved, !isSeeking, since == nil else { return }
            since = time.now.monotonic
            let load = load
            end = time.timer(after: .seconds((length - base).seconds / rate)) {
                guard self.load == load, self.since != nil else { return }
                self.halt()
                self.wantsPlay = false
                self.base = self.length
                self.hearing.ended(self.length)
                self.report(EngineReport(load, .ended))
            }
        }

        private func halt() {
            end?.cancel()
            guard let since else { return }
            let there = here
            self.since = nil
            hearing.heard(
                length, from: base, to: there, for: BookTime(microseconds: time.now.monotonic - since))
            base = there
        }
    }
}
