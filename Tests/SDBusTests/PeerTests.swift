import DBus
import EventLoop
import Glibc
import Listening
import Testing

@testable import SDBus

/// Something with state to serve.
@LoopActor private final class Lamp {
    var level = 0.5
    var switched = 0
    var word = "broken"
    var waiting: Reply?
}

private protocol LampFace: AnyObject {
    var brightness: Double { get set }
    var word: String { get }
    func press()
    func hold(_ reply: Reply)
}

extension Lamp: @LoopActor LampFace {
    var brightness: Double {
        get { level }
        set { level = newValue }
    }
    func press() { switched += 1 }
    func hold(_ reply: Reply) { waiting = reply }
}

private let lampInterface = BusInterface<any LampFace>(
    "org.example.Lamp",
    [
        .method("Press") { face, _ in
            face.press()
            return []
        },
        .method("Echo", in: ["Words": .strings, "Number": .int64], out: ["Words": .strings, "Number": .int64]) { $1 },
        .method("Refuse") { face, _ in throw BusError("org.example.Error.Broken", "the bulb is \(face.word)") },
        .later("Regret") { _, _, reply in reply.fail(BusError("org.example.Error.Broken", "oh \u{1FFFE}")) },
        .later("Hold", out: ["Word": .string]) { face, _, reply in face.hold(reply) },
        .property(
            "Level", .double, get: { .double($0.brightness) },
            set: { face, value in face.brightness = try value.double() }),
        .property("Facts", .variants, emits: .constant, get: { _ in .variants([("size", .int32(3))]) }),
        .signal("Burnt", ["When": .int64]),
    ])

/// Two ends of a socketpair: the one serves, the other calls, with no bus in between.
@LoopActor private struct Pair {
    let lamp = Lamp()
    let server: Bus
    let client: Bus

    init(onLost: @escaping @LoopActor (BusError) -> Void = { _ in }) throws {
        var ends: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        server = try Bus(.peer(ends[0], isServer: true), onLost: { _ in })
        client = try Bus(.peer(ends[1], isServer: false), onLost: onLost)
        try server.export(lampInterface, at: "/lamp", face: lamp as any LampFace)
    }

    func call(_ member: String, _ arguments: [Value] = [], on interface: String = "org.example.Lamp") async throws
        -> [Value]
    {
        try await client.call(nil, "/lamp", interface, member, arguments)
    }

    func properties(_ member: String, _ arguments: [Value]) async throws -> [Value] {
        try await call(member, arguments, on: "org.freedesktop.DBus.Properties")
    }

    func close() {
        client.close()
        server.close()
    }
}

@Suite(.serialized) struct PeerTests {
    @Test @LoopActor func methodsAreCalledAndAnswered() async throws {
        let pair = try Pair()
        _ = try await pair.call("Press")
        #expect(pair.lamp.switched == 1)
        let words: [Value] = [.strings(["a", "", "ü"]), .int64(.min)]
        #expect(try await pair.call("Echo", words) == words)
        pair.close()
    }

    @Test @LoopActor func errorsKeepTheirNameAndSentence() async throws {
        let pair = try Pair()
        await #expect(throws: BusError("org.example.Error.Broken", "the bulb is broken")) {
            _ = try await pair.call("Refuse")
        }
        for (member, arguments) in [("Nonsense", []), ("Press", [.string("too much")])] as [(String, [Value])] {
            await #expect(throws: BusError.self) { _ = try await pair.call(member, arguments) }
        }
        pair.close()
    }

    /// libsystemd refuses them, and a title may hold them.
    @Test @LoopActor func whatCannotBeSentIsReplaced() async throws {
        let pair = try Pair()
        let words = Value.strings(["a\u{FFFE}b", "\u{1FFFF}", "\u{E000}😀"])
        let answer = try await pair.call("Echo", [words, .int64(1)])
        #expect(answer == [.strings(["a\u{FFFD}b", "\u{FFFD}", "\u{E000}😀"]), .int64(1)])
        await #expect(throws: BusError("org.example.Error.Broken", "oh \u{FFFD}")) {
            _ = try await pair.call("Regret")
        }
        pair.lamp.word = "\u{FFFF}"
        await #expect(throws: BusError("org.example.Error.Broken", "the bulb is \u{FFFD}")) {
            _ = try await pair.call("Refuse")
        }
        pair.close()
    }

    @Test @LoopActor func anAnswerMayComeLater() async throws {
        let pair = try Pair()
        async let held = pair.call("Hold")
        _ = try await pair.call("Press")  // the bus goes on meanwhile
        while pair.lamp.waiting == nil { await Task.yield() }
        pair.lamp.waiting?([.string("now")])
        pair.lamp.waiting?([.string("twice")])
        #expect(try await held == [.string("now")])
        pair.close()
    }

    /// Who asks without end would fill the memory.
    @Test @LoopActor func onlySoManyAnswersAreWaitedFor() async throws {
        let pair = try Pair()
        var replies: [Reply] = []
        var answers: [Result<[Value], BusError>] = []
        for _ in 0..<1000 {
            pair.client.call(nil, "/lamp", "org.example.Lamp", "Hold") { answers.append($0) }
            while pair.lamp.waiting == nil { await Task.yield() }
            replies.append(pair.lamp.waiting!)
            pair.lamp.waiting = nil
        }
        let refused = await #expect(throws: BusError.self) { _ = try await pair.call("Hold") }
        #expect(refused?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        _ = try await pair.call("Press")
        #expect(pair.lamp.switched == 1 && answers.isEmpty)
        for reply in replies { reply([.string("now")]) }
        while answers.count < 1000 { await Task.yield() }
        async let held = pair.call("Hold")
        while pair.lamp.waiting == nil { await Task.yield() }
        pair.lamp.waiting?([.string("again")])
        #expect(try await held == [.string("again")])
        pair.close()
    }

    /// In whatever place of a message: one that nobody expects there is closed with it.
    @Test @LoopActor func descriptorsAreClosedWithTheirMessage() async throws {
        let pair = try Pair()
        // Who sends one waits until the other end has said that it takes them, and both are here.
        _ = try await pair.call("Press")
        for number in 0..<3 {
            var ends: [Int32] = [0, 0]
            #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
            defer { close(ends[0]) }
            let refused = await #expect(throws: BusError.self) {
                let value = Value.descriptor(Descriptor(owning: ends[1]))
                switch number {
                case 0: _ = try await pair.call("Echo", [.strings([]), value])
                case 1: _ = try await pair.call("Echo", [.array(.descriptor, [value]), .int64(1)])
                default:
                    _ = try await pair.properties(
                        "Set", [.string("org.example.Lamp"), .string("Level"), .variant(value)])
                }
            }
            #expect(
                refused.map { $0.name.contains("InvalidArgs") || $0.name.contains("UnknownMethod") } == true,
                "\(refused as Any)")
            // The end is heard when nobody has the other one any more.
            var ready = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
            for _ in 0..<1000 where poll(&ready, 1, 0) == 0 { await Task.yield() }
            #expect(ready.revents & Int16(POLLHUP) != 0)
        }
        pair.close()
    }

    /// Else a view would show what it asked for before the change, for ever.
    @Test @LoopActor func anAnswerComesBeforeTheSignalsSentAfterIt() async throws {
        let pair = try Pair()
        let (heard, feed) = AsyncStream<Value>.makeStream()
        let match = try pair.client.match(interface: "org.example.Lamp", member: "Burnt") { values, _ in
            feed.yield(values[0])
        }
        for time in 0..<100 as Range<Int64> {
            pair.client.call(nil, "/lamp", "org.example.Lamp", "Hold") { answer in
                feed.yield((try? answer.get().first) ?? .string("none"))
            }
            while pair.lamp.waiting == nil { await Task.yield() }
            pair.lamp.waiting?([.string("\(time)")])
            pair.lamp.waiting = nil
            try pair.server.emit("Burnt", [.int64(time)], of: "org.example.Lamp", at: "/lamp")
        }
        var order: [Value] = []
        var values = heard.makeAsyncIterator()
        while order.count < 200, let value = await values.next(isolation: LoopActor.shared) { order.append(value) }
        #expect(order == (0..<100 as Range<Int64>).flatMap { [.string("\($0)"), .int64($0)] })
        match.cancel()
        pair.close()
    }

    @Test @LoopActor func aCallThatCannotBeSentIsAnsweredAtOnce() async throws {
        let pair = try Pair()
        _ = try await pair.call("Press")
        var failures = 0
        pair.client.call(nil, "no path", "org.example.Lamp", "Press") { if case .failure = $0 { failures += 1 } }
        #expect(failures == 1)
        pair.close()
    }

    @Test @LoopActor func propertiesAreReadSetAndListed() async throws {
        let pair = try Pair()
        let lamp = Value.string("org.example.Lamp")
        _ = try await pair.properties("Set", [lamp, .string("Level"), .variant(.double(0.75))])
        #expect(pair.lamp.level == 0.75)
        #expect(try await pair.properties("Get", [lamp, .string("Level")]) == [.variant(.double(0.75))])
        let all = try await pair.properties("GetAll", [lamp])[0].dictionary()
        #expect(all.map(\.key).sorted() == ["Facts", "Level"])
        await #expect(throws: BusError.self) {
            _ = try await pair.properties("Set", [lamp, .string("Facts"), .variant(.variants([]))])
        }
        await #expect(throws: BusError.self) {
            _ = try await pair.properties("Set", [lamp, .string("Level"), .variant(.string("much"))])
        }
        pair.close()
    }

    @Test @LoopActor func changesCarryValues() async throws {
        let pair = try Pair()
        let (heard, feed) = AsyncStream<[Value]>.makeStream()
        let properties = "org.freedesktop.DBus.Properties"
        let match = try pair.client.match(interface: properties, member: "PropertiesChanged") { values, _ in
            feed.yield(values)
        }
        pair.lamp.level = 0.25
        pair.server.propertiesChanged(["Level"], of: "org.example.Lamp", at: "/lamp")
        var signals = heard.makeAsyncIterator()
        let values = try #require(await signals.next(isolation: LoopActor.shared))
        #expect(values[0] == .string("org.example.Lamp"))
        #expect(try values[1].dictionary().first?.value == .double(0.25))
        #expect(values[2] == .strings([]))
        match.cancel()
        pair.close()
    }

    /// A flood whose answers nobody takes stays where it is, and is answered once they are taken.
    @Test @LoopActor func whoDoesNotReadIsNotReadFrom() async throws {
        let pair = try Pair()
        _ = try await pair.call("Press")
        LoopActor.remove(pair.client)
        let words = [Value.strings([String(repeating: "a", count: 20_000)]), .int64(1)]
        var sent = 0
        var answered = 0
        // The sockets hold some hundreds.
        while sent < 2000 {
            for _ in 0..<20 {
                pair.client.call(nil, "/lamp", "org.example.Lamp", "Echo", words) { _ in answered += 1 }
                sent += 1
            }
            // What can be read has been read then.
            await turn()
        }
        #expect((1...Bus.mostWaiting + 1).contains(pair.server.waiting), "\(pair.server.waiting)")
        #expect(pair.client.waiting > 0 && answered == 0)
        LoopActor.add(pair.client)
        while answered < sent { await turn() }
        #expect(pair.server.waiting == 0)
        pair.close()
    }

    /// The Loop has looked at everything once more.
    @LoopActor private func turn() async {
        await withCheckedContinuation { continuation in
            _ = LoopActor.timer(after: .seconds(0.001)) { continuation.resume() }
        }
    }

    @Test @LoopActor func aLostPeerIsSaidOnce() async throws {
        let (lost, feed) = AsyncStream<BusError>.makeStream()
        let pair = try Pair { feed.yield($0) }
        // Messages that come one by one are taken so, and the end of the connection comes as one.
        for _ in 0..<20 { _ = try await pair.call("Press") }
        pair.server.close()
        var errors = lost.makeAsyncIterator()
        #expect(await errors.next(isolation: LoopActor.shared) != nil)
        #expect(pair.client.interest == nil, "a dead connection is not polled")
        pair.client.close()
    }
}
