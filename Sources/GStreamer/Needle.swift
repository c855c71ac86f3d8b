internal import EventLoop
internal import Listening

/// Where the sound of one load is. The only thing that the Loop, the gstreamer thread and GStreamer's streaming threads
/// share, so all of it is behind one small lock.
///
/// The pipeline counts from the start of the file it is in, and moves from one file to the next when the new stream
/// reaches the sink, which is before the old one has been heard to its end: in between ``Legs`` tells the place. What is
/// added to its count changes with that. A count asked for before and used after is thrown away (`generation`).
final class Needle: Sendable {
    let load: LoadID
    let reel: Reel

    private struct State {
        var outlet: Outlet?
        /// What the pipeline reads from.
        var crate: Crate?
        /// The file that is heard.
        var track = 0
        /// Added to what the pipeline counts: where in the file it was opened.
        var origin = BookTime.zero
        /// Handed to the pipeline, not yet at the sink.
        var coming: [Int] = []
        /// Announced to the sink, its segment is still to come.
        var announced: Int?
        /// What lies in the sink.
        var legs = Legs()
        /// Answered instead of asking: the target of a seek, the end of the item.
        var held: BookTime?
        /// The number of the last seek that was asked for.
        var aim = 0
        /// The number of the last seek that was confirmed.
        var seenAim = 0
        /// The gstreamer thread moves the pipeline: the next track must not be handed over meanwhile.
        var isMoving = true
        /// Nothing is answered before the first confirmed place.
        var isConfirmed = false
        /// The last answer: playing never goes backwards.
        var floor = BookTime.zero
        /// Counts the changes of what a file position means.
        var generation: UInt64 = 0
        /// The rate at which sound comes without a doubt, and since when; nil: it may stand.
        var run: (rate: Double, since: Int64)?
        /// The pipeline's last answer while it runs, and when that was.
        var mark: (place: BookTime, at: Int64, generation: UInt64)?
        /// Counts openings and flushes: a message from before one is not about what came after.
        var stamp: UInt64 = 0

        /// The file that is read for the sink.
        var lastTrack: Int { coming.last ?? announced ?? legs.atDoor ?? track }

        /// Goes over to what is heard at this running time; nil: all of it has been.
        mutating func follow(_ now: UInt64?, _ reel: Reel) {
            guard legs.isBetween else { return }
            if let now { guard legs.follow(now) else { return } } else { legs.finish() }
            generation += 1
            guard let track = legs.heard?.track, track != self.track else { return }
            self.track = track
            origin = .zero
            floor = max(floor, reel.tracks[track].start)
        }
    }

    private let state: Locked<State>

    /// Asking the pipeline costs some microseconds, a good part of a whole call on the bus: for so long its last answer is
    /// carried on by the clock instead. Microseconds.
    private static let carry: Int64 = 20_000
    /// A pipeline that was told to play may need so long until it does. Microseconds.
    private static let warmUp: Int64 = 300_000

    init(load: LoadID, reel: Reel) {
        self.load = load
        self.reel = reel
        self.state = Locked(State())
    }

    /// From any thread. See ``Engine/position(_:)``.
    var position: BookTime? {
        for _ in 0..<4 {
            let (answer, outlet, generation, isBetween) = state.withLock { state in
                guard state.isConfirmed else { return (nil as BookTime?, nil as Outlet?, 0 as UInt64, false) }
                if let held = state.held { return (held, nil, 0, false) }
                if let place = carried(state) {
                    state.floor = max(state.floor, place)
                    return (state.floor, nil, 0, false)
                }
                // Kept alive beyond the lock: should the load end meanwhile, a stopped pipeline is freed here.
                state.outlet?.pipeline.retain()
                return (state.floor, state.outlet, state.generation, state.legs.isBetween)
            }
            guard let outlet else { return answer }
            let count = isBetween ? outlet.runningTime.map { Int64(clamping: $0) } : outlet.filePosition
            outlet.pipeline.release()
            let settled: BookTime? = state.withLock { state in
                guard state.generation == generation else { return nil }
                guard let count else { return state.floor }
                if isBetween {
                    state.follow(UInt64(count), reel)
                    guard let filePosition = state.legs.filePosition(at: UInt64(count)) else { return state.floor }
                    state.floor = max(state.floor, place(state, filePosition: filePosition))
                } else {
                    let place = place(state, filePosition: count)
                    state.floor = max(state.floor, place)
                    // Not the floor: carried on from there, the place would go on where the sound stands.
                    if state.run != nil { state.mark = (place, Clock.monotonic, generation) }
                }
                return state.floor
            }
            if let settled { return settled }
        }
        return state.withLock { $0.isConfirmed ? $0.held ?? $0.floor : nil }
    }

    /// From any thread. See ``Engine/buffered(_:)``.
    var buffered: BookTime? { state.withLock { $0.crate }?.feed?.ahead }

    private func place(_ state: State, filePosition: Int64) -> BookTime {
        reel.place(
            track: state.track, filePosition: state.origin.nanoseconds + min(max(0, filePosition), .max / 2))
    }

    private func carried(_ state: State) -> BookTime? {
        guard let (rate, since) = state.run, let mark = state.mark, mark.generation == state.generation,
            !state.legs.isBetween
        else { return nil }
        let now = Clock.monotonic
        guard now - mark.at < Self.carry, mark.at - since > Self.warmUp else { return nil }
        let place = mark.place + BookTime(microseconds: Int64(Double(now - mark.at) * rate))
        let track = reel.tracks[state.track]
        return min(place, track.start + track.duration)
    }

    // MARK: the caller's side

    /// A pause was asked for: from here on only the pipeline knows.
    func mayStand() { state.withLock { $0.run = nil } }

    /// A seek was asked for: its target is the answer until it, or a later one, is confirmed.
    func take(aim place: BookTime) -> Int {
        state.withLock { state in
            let spot = reel.spot(at: place)
            state.held = reel.tracks[spot.track].start + spot.offset
            state.aim += 1
            return state.aim
        }
    }

    // MARK: the gstreamer thread's side

    /// The pipeline was told to play at this rate and has data; nil: it was told to stand, or to wait.
    func runs(at rate: Double?) {
        state.withLock { state in
            if state.run?.rate != rate { state.run = rate.map { ($0, Clock.monotonic) } }
        }
    }

    /// Both nil: the load is over.
    func attach(_ outlet: Outlet?, _ crate: Crate?) {
        state.withLock { state in
            state.outlet = outlet
            state.crate = crate
            state.generation += 1
        }
    }

    var track: Int { state.withLock { $0.track } }
    /// The track last handed to the pipeline: the one an error is about.
    var lastTrack: Int { state.withLock { $0.lastTrack } }
    var origin: BookTime { state.withLock { $0.origin } }
    var isMoving: Bool { state.withLock { $0.isMoving } }
    var stamp: UInt64 { state.withLock { $0.stamp } }

    /// The pipeline is stopped and will open this track.
    func open(_ track: Int) -> UInt64 {
        state.withLock { state in
            state.track = track
            state.origin = .zero
            state.coming = []
            state.announced = nil
            state.legs = Legs()
            state.isMoving = true
            state.generation += 1
            state.stamp += 1
            return state.stamp
        }
    }

    /// The pipeline will count from here in the file that it opens.
    func count(from origin: BookTime) {
        state.withLock { state in
            state.origin = origin
            state.generation += 1
        }
    }

    /// - Parameter filePosition: nanoseconds, as the pipeline counts now.
    func place(filePosition: Int64) -> BookTime { state.withLock { place($0, filePosition: filePosition) } }

    /// The pipeline is about to be moved: until it has settled, answer where it is going.
    /// - Returns: false if the next track has already been handed over: a seek would then move in the wrong file.
    func beginMove(to place: BookTime) -> Bool {
        state.withLock { state in
            state.isMoving = true
            state.run = nil
            state.held = state.held ?? place
            state.generation += 1
            return state.lastTrack == state.track
        }
    }

    /// The pipeline says it is there.
    /// - Parameter aim: of the seek this was; nil if it was none of the listener's.
    func settle(at place: BookTime, aim: Int?) {
        state.withLock { state in
            state.isMoving = false
            state.isConfirmed = true
            state.floor = place
            state.generation += 1
            if aim ?? state.seenAim == state.aim { state.held = nil }
            if let aim { state.seenAim = aim }
        }
    }

    /// From now on this is the answer, whatever the pipeline says: the end, or where it failed.
    /// - Parameter aim: the number of the last seek that the gstreamer thread knows of; nil: whatever was asked for.
    /// - Returns: false if another has been asked for: that stays the answer.
    @discardableResult func hold(at place: BookTime?, after aim: Int? = nil) -> Bool {
        state.withLock { state in
            guard aim == nil || aim == state.aim else { return false }
            state.held = place ?? state.held ?? state.floor
            return true
        }
    }

    // MARK: the streaming threads' side

    /// The pipeline asks what comes after the track it has read to the end.
    /// - Parameters:
    ///   - isEarly: told the track and how far it was played; true keeps the pipeline from going on.
    ///   - isReady: whether a track can be opened without waiting.
    /// - Returns: the track that is handed over.
    func handOver(unless isEarly: (Int, BookTime) -> Bool, if isReady: (Int) -> Bool) -> Int? {
        let position = isMoving ? nil : self.position
        return state.withLock { state in
            let read = state.lastTrack
            let next = read + 1
            guard !state.isMoving, let position, next < reel.tracks.count else { return nil }
            if state.coming.isEmpty, isEarly(read, max(position, reel.tracks[read].start)) { return nil }
            guard isReady(next) else { return nil }
            state.coming.append(next)
            return next
        }
    }

    /// A new stream is announced to the sink.
    func streamBegins() {
        state.withLock { state in
            guard !state.coming.isEmpty else { return }
            state.announced = state.coming.removeFirst()
            state.generation += 1
        }
    }

    /// A new stream was, and its segment is still to come.
    var isAnnounced: Bool { state.withLock { $0.announced != nil } }

    /// A segment comes to the sink. See ``Legs/Leg``.
    /// - Returns: whether it is heard after another one; ``letThrough()`` has to follow then.
    func segmentBegins(base: UInt64, start: Int64, rate: Double) -> Bool {
        state.withLock { state in
            let track = state.announced ?? state.legs.atDoor ?? state.track
            state.announced = nil
            guard state.legs.arrive(Legs.Leg(track: track, base: base, start: start, rate: rate)) else { return false }
            state.generation += 1
            return true
        }
    }

    /// Its first buffer is through, and with it the segment it counts in.
    /// - Returns: the file it is of.
    func letThrough() -> Int {
        state.withLock { state in
            state.legs.letThrough()
            return state.legs.atDoor ?? state.track
        }
    }

    /// The end of everything has been heard.
    func finish() { state.withLock { $0.follow(nil, reel) } }

    /// Whether the place has jumped over something that was left out since this was last asked, and how long it is until
    /// it does so next.
    func takeJumps() -> (isPast: Bool, next: BookTime?) {
        _ = position
        let (isPast, next, outlet) = state.withLock { state in
            let (isPast, next) = state.legs.takeCuts()
            state.outlet?.pipeline.retain()
            return (isPast, next, state.outlet)
        }
        defer { outlet?.pipeline.release() }
        guard let next, let now = outlet?.runningTime else { return (isPast, nil) }
        return (isPast, BookTime(microseconds: Int64(clamping: (next > now ? next - now : 0) / 1000)))
    }

    /// What was on its way to the sink is gone.
    func flushed() {
        state.withLock { state in
            state.legs = Legs()
            state.announced = nil
            state.stamp += 1
        }
    }
}
