import TestSupport

/// One thing that happens in a sequence.
enum Step: Hashable, Sendable {
    // The listener.
    case play, pause, toggle, stop, next, previous
    case open(Thing)
    case openAt(Thing, Double)
    case skip(Int)
    /// 0 to 1 of the whole item.
    case seek(share: Double)
    /// So many seconds before the end.
    case seekNearEnd(Int)
    case seekToStart
    case rate(Double)
    /// As it is typed.
    case sleepTimer(String)
    case finish(Thing?)
    case unfinish(Thing?)
    case restart(Thing?)
    // Time.
    case listen(Int)
    case wait(minutes: Int)
    case playToEnd
    // Other devices.
    /// Writes the progress now.
    case rival(Thing, share: Double)
    case rivalFinishes(Thing)
    /// Delivers now what it heard so many minutes ago.
    case rivalDelivers(Thing, share: Double, minutesAgo: Int)
    // The machine.
    case kill
    case powerCut(after: Int)
    case leave
    case audioFails(isGone: Bool)
    case audioWaits(Int)
    /// `isTold`: dogear is asked beforehand, as logind does, and told afterwards.
    case sleep(minutes: Int, isTold: Bool)
    // The server.
    case serverRestarts
    case serverDown(seconds: Int)
    case skew(seconds: Int)
    case tokensExpire
    case loginRevoked
    case fault(Endpoint, Fault, times: Int)
}

extension Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .play, .pause, .toggle, .stop, .next, .previous, .seekToStart, .playToEnd, .kill, .leave, .serverRestarts,
            .tokensExpire, .loginRevoked:
            "\(name)"
        case .open(let thing): "open \(thing.name)"
        case .openAt(let thing, let place): "open \(thing.name) at \(place)"
        case .skip(let offset): "skip by \(offset) s"
        case .seek(let share): "seek to \(share) of it"
        case .seekNearEnd(let seconds): "seek to \(seconds) s before the end"
        case .rate(let rate): "rate \(rate)"
        case .sleepTimer(let text): "sleep \(text)"
        case .finish(let thing): "finish \(thing?.name ?? "this")"
        case .unfinish(let thing): "unfinish \(thing?.name ?? "this")"
        case .restart(let thing): "restart \(thing?.name ?? "this")"
        case .listen(let seconds): "listen for \(seconds) s"
        case .wait(let minutes): "wait for \(minutes) min"
        case .rival(let thing, let share): "another device moves \(thing.name) to \(share) of it"
        case .rivalFinishes(let thing): "another device finishes \(thing.name)"
        case .rivalDelivers(let thing, let share, let ago):
            "another device delivers \(thing.name) at \(share) of it, heard \(ago) min ago"
        case .powerCut(let seconds): "power cut \(seconds) s after the disk was safe"
        case .audioFails(let isGone): "the audio \(isGone ? "is gone" : "fails")"
        case .audioWaits(let seconds): "the audio waits for \(seconds) s"
        case .sleep(let minutes, let isTold):
            "the computer sleeps for \(minutes) min\(isTold ? "" : ", and nobody tells")"
        case .serverDown(let seconds): "server down for \(seconds) s"
        case .skew(let seconds): "server's clock \(seconds) s ahead"
        case .fault(let endpoint, let fault, let times): "next \(times) \(endpoint.rawValue): \(fault)"
        }
    }

    private var name: String {
        switch self {
        case .seekToStart: "seek to the start"
        case .playToEnd: "play to the end"
        case .serverRestarts: "server restarts"
        case .tokensExpire: "access tokens expire"
        case .loginRevoked: "login revoked"
        case .play: "play"
        case .pause: "pause"
        case .toggle: "toggle"
        case .stop: "stop"
        case .next: "next"
        case .previous: "previous"
        case .kill: "kill"
        case .leave: "leave and start"
        default: ""
        }
    }
}

/// What a sequence is drawn with.
struct Dice: RandomNumberGenerator, Sendable {
    private var numbers: SeededNumbers

    init(seed: UInt64) {
        var first = SeededNumbers(seed: seed)
        numbers = SeededNumbers(seed: first.next() ^ 0x5eed)
    }

    mutating func next() -> UInt64 { numbers.next() }
    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}

extension Step {
    /// What happens under a seed: most of the time somebody listens, and something breaks.
    static func sequence(seed: UInt64, count: Int) -> [Step] {
        var dice = Dice(seed: seed)
        var steps: [Step] = [.open(dice.pick(Thing.all)), .listen(dice.number(1...60))]
        while steps.count < count { steps.append(draw(&dice)) }
        return seed.isMultiple(of: 2) ? withSleepTimers(steps, seed) : steps
    }

    /// Drawn apart, so that everything else happens as it would without them.
    private static func withSleepTimers(_ steps: [Step], _ seed: UInt64) -> [Step] {
        var dice = Dice(seed: ~seed)
        return steps.flatMap { step in
            guard dice.number(0...7) == 0 else { return [step] }
            return [step, .sleepTimer(dice.pick(["10", "30", "2m", "chapter", "chapter:2", "item", "+20", "off"]))]
        }
    }

    private static let table: [(weight: Int, make: @Sendable (inout Dice) -> Step)] = [
        (26, { .listen(length(&$0)) }),
        (10, { _ in .play }), (6, { _ in .pause }), (4, { _ in .toggle }), (3, { _ in .stop }),
        (7, { .open($0.pick(Thing.all)) }),
        (
            2,
            {
                let thing = $0.pick(Thing.all)
                return .openAt(thing, Double($0.number(0...Int(thing.length - 20))))
            }
        ),
        (4, { .skip($0.pick([-300, -30, -15, 15, 30, 120, 600])) }),
        (4, { .seek(share: Double($0.number(0...99)) / 100) }),
        (2, { .seekNearEnd($0.number(1...14)) }), (1, { _ in .seekToStart }),
        (2, { _ in .next }), (2, { _ in .previous }),
        (2, { .rate($0.pick([0.5, 1, 1, 1.25, 2, 3])) }),
        (2, { .finish($0.pick([nil, nil, $0.pick(Thing.all)])) }),
        (1, { .unfinish($0.pick([nil, $0.pick(Thing.all)])) }),
        (1, { .restart($0.pick([nil, nil, $0.pick(Thing.all)])) }),
        (1, { _ in .playToEnd }),
        (4, { .wait(minutes: $0.pick([1, 2, 5, 12, 45, 90, 600])) }),
        (2, { .rival($0.pick(Thing.all), share: Double($0.number(1...90)) / 100) }),
        (1, { .rivalFinishes($0.pick(Thing.all)) }),
        (
            1,
            {
                .rivalDelivers(
                    $0.pick(Thing.all), share: Double($0.number(1...90)) / 100, minutesAgo: $0.number(1...60))
            }
        ),
        (4, { _ in .kill }), (3, { .powerCut(after: $0.number(0...14)) }), (2, { _ in .leave }),
        (2, { .audioFails(isGone: $0.number(0...1) == 0) }), (1, { .audioWaits($0.number(1...40)) }),
        (2, { .sleep(minutes: $0.pick([1, 3, 40, 500]), isTold: $0.number(0...3) > 0) }),
        (3, { _ in .serverRestarts }), (4, { .serverDown(seconds: $0.pick([1, 5, 20, 60, 300, 1800])) }),
        (1, { .skew(seconds: $0.pick([-86400, -3600, -45, 0, 10, 300, 3600, 86400])) }),
        (2, { _ in .tokensExpire }), (1, { $0.number(0...3) == 0 ? .loginRevoked : .tokensExpire }),
        (18, { .fault(endpoint(&$0), fault(&$0), times: $0.pick([1, 1, 1, 2, 3])) }),
    ]
    private static let total = table.reduce(0) { $0 + $1.weight }

    private static func draw(_ dice: inout Dice) -> Step {
        var left = dice.number(0...total - 1)
        for row in table {
            left -= row.weight
            if left < 0 { return row.make(&dice) }
        }
        return .play
    }

    private static func length(_ dice: inout Dice) -> Int {
        switch dice.number(0...9) {
        case 0...4: dice.number(1...20)
        case 5...8: dice.number(20...90)
        default: dice.number(90...600)
        }
    }

    private static func endpoint(_ dice: inout Dice) -> Endpoint {
        dice.pick([.sync, .sync, .sync, .close, .local, .local, .progress, .play, .refresh, .item])
    }

    static let faults: [Fault] = [
        .delay(1), .delay(4), .delay(20), .late(1), .dropBefore, .dropAfter, .cut, .corrupt,
        .status(401), .status(404), .status(500), .statusAfter(500), .busy(retryAfter: 5), .busy(retryAfter: 100),
        .page,
    ]
    private static func fault(_ dice: inout Dice) -> Fault { dice.pick(faults) }
}
