import DBus
import EventLoop
import Foundation
import Listening
import SDBus
import TestSupport
import Testing

@testable import Machine

/// A time that a test turns by hand.
@LoopActor private final class HandTime: Timekeeper {
    private var timers: [LoopTimer] = []
    nonisolated var now: Moment { Moment(monotonic: 0, wall: 0) }

    func timer(after: BookTime, _ body: @escaping @LoopActor () -> Void) -> LoopTimer {
        let timer = LoopTimer(deadline: after.microseconds, body: body)
        timers.append(timer)
        return timer
    }

    var waits: [Double] { timers.filter(\.isPending).map { Double($0.deadline) / 1e6 } }
    func fire() { for timer in timers where timer.isPending { timer.fire() } }
}

/// What a machine said, to be waited for.
@LoopActor private final class Signs {
    private let (stream, feed) = AsyncStream<MachineSign>.makeStream()
    private(set) var all: [MachineSign] = []
    private(set) var said: [String] = []

    func machine(_ address: String, time: any Timekeeper = RealTime()) -> Machine {
        let machine = Machine(bus: .at(address), time: time) {
            self.said.append($0)
        } onSign: { sign in
            self.all.append(sign)
            self.feed.yield(sign)
        }
        machine.begin()
        return machine
    }

    func next() async -> MachineSign? {
        for await sign in stream { return sign }
        return nil
    }
}

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct MachineTests {
    @Test @LoopActor func sleepWaitsWhileALockIsHeld() async throws {
        try await withPrivateBus { bus in
            let fake = try FakeMachine(on: bus.address)
            var events = fake.events.makeAsyncIterator()
            let signs = Signs()
            let machine = signs.machine(bus.address)
            machine.delaysSleep = true
            #expect(await events.next(isolation: LoopActor.shared) == .granted(mode: "delay"))
            #expect(fake.requests.first?.prefix(2) == ["sleep", "Dogear"])
            try fake.prepareForSleep(true)
            #expect(await signs.next() == .willSleep)
            #expect(fake.held == ["delay"])
            machine.delaysSleep = false
            #expect(await events.next(isolation: LoopActor.shared) == .released(mode: "delay"))
            try fake.prepareForSleep(false)
            #expect(await signs.next() == .woke)
            #expect(machine.facts.hasLogind && machine.facts.hasNetworkManager && !machine.facts.watchesRoutes)
            fake.close()
        }
    }

    @Test @LoopActor func aLockIsOnlyHeldWhileItIsWanted() async throws {
        try await withPrivateBus { bus in
            let fake = try FakeMachine(on: bus.address)
            var events = fake.events.makeAsyncIterator()
            let machine = Signs().machine(bus.address)
            try await until("logind") { machine.facts.hasLogind }
            // Asked for, and no longer wanted when the answer comes.
            machine.delaysSleep = true
            machine.delaysSleep = false
            #expect(await events.next(isolation: LoopActor.shared) == .granted(mode: "delay"))
            #expect(await events.next(isolation: LoopActor.shared) == .released(mode: "delay"))
            machine.preventsSleep = true
            #expect(await events.next(isolation: LoopActor.shared) == .granted(mode: "block"))
            #expect(fake.held == ["block"])
            machine.preventsSleep = false
            #expect(await events.next(isolation: LoopActor.shared) == .released(mode: "block"))
            fake.close()
        }
    }

    @Test @LoopActor func aNewLogindIsAskedAgain() async throws {
        try await withPrivateBus { bus in
            let fake = try FakeMachine(on: bus.address)
            var events = fake.events.makeAsyncIterator()
            let machine = Signs().machine(bus.address)
            machine.delaysSleep = true
            #expect(await events.next(isolation: LoopActor.shared) == .granted(mode: "delay"))
            try fake.restart()
            try await until("the lock of the new one") { fake.requests.count > 1 && fake.held == ["delay"] }
            #expect(machine.facts.hasLogind)
            fake.close()
        }
    }

    @Test @LoopActor func whereNobodyIsNothingHappens() async throws {
        let nowhere = Signs()
        let machine = nowhere.machine("unix:path=/nonexistent/bus")
        machine.delaysSleep = true
        #expect(!machine.facts.hasLogind && machine.facts.watchesRoutes)
        #expect(nowhere.said.count == 1, "\(nowhere.said)")
        try await withPrivateBus { bus in
            let time = HandTime()
            let empty = Signs()
            let machine = empty.machine(bus.address, time: time)
            machine.delaysSleep = true
            try await until("the kernel to be asked") { machine.facts.watchesRoutes }
            #expect(!machine.facts.hasLogind && empty.all.isEmpty)
        }
    }

    @Test @LoopActor func aLostBusIsTakenUpAgain() async throws {
        try await withPrivateBus { bus in
            let time = HandTime()
            let signs = Signs()
            let machine = signs.machine(bus.address, time: time)
            machine.delaysSleep = true
            let fake = try FakeMachine(on: bus.address)
            try await until("the lock") { fake.held == ["delay"] }
            bus.cut()
            try await until("the wait") { time.waits == [2] }
            #expect(!machine.facts.hasLogind && machine.facts.watchesRoutes)
            // A program that is killed may still be there for a moment.
            try await until("the end of the bus") { (try? Bus(.at(bus.address)) { _ in }) == nil }
            time.fire()
            #expect(time.waits == [4], "still gone: \(signs.said)")
            let revived = try bus.revive()
            let again = try FakeMachine(on: bus.address)
            time.fire()
            try await until("the lock of the new one") { again.held == ["delay"] }
            try await until("all else") { !machine.facts.watchesRoutes && time.waits.isEmpty }
            again.close()
            revived.send(SIGTERM)
            _ = await revived.end()
        }
    }

    @Test @LoopActor func aNetworkThatComesIsASign() async throws {
        try await withPrivateBus { bus in
            let fake = try FakeMachine(on: bus.address)
            fake.state = 40
            let signs = Signs()
            let machine = signs.machine(bus.address)
            try await until("NetworkManager to be asked") { fake.reads > 0 }
            #expect(machine.facts.hasNetworkManager)
            fake.network(state: 70, connectivity: 4)
            #expect(await signs.next() == .networkIsBack)
            fake.network(state: 20, connectivity: 1)
            fake.network(state: 60, connectivity: 2)
            #expect(await signs.next() == .networkIsBack)
            // Behind the portal.
            fake.network(state: 60, connectivity: 4)
            #expect(await signs.next() == .networkIsBack)
            fake.network(state: 50, connectivity: 4)
            try fake.prepareForSleep(true)
            #expect(await signs.next() == .willSleep, "less network is no sign")
            fake.close()
        }
    }
}

@Suite struct RouteMessageTests {
    private func message(_ type: UInt16, _ body: [UInt8], length: UInt32? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: length ?? UInt32(16 + body.count)) { bytes += $0 }
        withUnsafeBytes(of: type) { bytes += $0 }
        bytes += [UInt8](repeating: 0, count: 10) + body
        return bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }

    @Test func addressesAndDefaultRoutesAreSigns() {
        let address: [UInt8] = [2, 24, 0x80, 0, 2, 0, 0, 0]
        let tentative: [UInt8] = [10, 64, 0x40, 0, 2, 0, 0, 0]
        let ofTheWire: [UInt8] = [10, 64, 0x80, 253, 2, 0, 0, 0]
        let everywhere: [UInt8] = [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
        let somewhere: [UInt8] = [2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
        let nowhere: [UInt8] = [2, 0, 0, 0, 254, 3, 0, 7, 0, 0, 0, 0]
        func isSign(_ bytes: [UInt8]) -> Bool { RouteMessages.isSign(bytes[...]) }
        #expect(isSign(message(20, address)) && isSign(message(24, everywhere)))
        #expect(isSign(message(24, somewhere) + message(20, address)), "the second of two")
        for (type, body) in [
            (20, tentative), (20, ofTheWire), (24, somewhere), (24, nowhere), (21, address), (25, everywhere),
        ] as [(UInt16, [UInt8])] {
            #expect(!isSign(message(type, body)), "\(type) \(body)")
        }
        // What is cut short or lies about its length.
        #expect(!isSign([]) && !isSign([1, 2, 3]) && !isSign(message(20, address, length: 4000)))
        #expect(!isSign(message(20, address, length: 3)) && !isSign(message(20, [])))
    }
}

/// One that says what it does, and nothing else.
@LoopActor private struct SomePlayer {
    let bus: Bus

    init(_ address: String, as name: String? = nil) throws {
        bus = try Bus(.at(address)) { _ in }
        if let name { _ = try bus.own(name) }
    }

    func says(_ status: String) throws {
        try bus.emit(
            "PropertiesChanged",
            [
                .string("org.mpris.MediaPlayer2.Player"), .variants([("PlaybackStatus", .string(status))]),
                .strings([]),
            ], of: "org.freedesktop.DBus.Properties", at: "/org/mpris/MediaPlayer2")
    }
}

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct OtherPlayersTests {
    @Test @LoopActor func onlyAnotherPlayerThatBeginsCounts() async throws {
        try await withPrivateBus { bus in
            let own = try Bus(.at(bus.address)) { _ in }
            _ = try own.own("org.mpris.MediaPlayer2.dogear")
            let (begun, feed) = AsyncStream<Void>.makeStream()
            var count = 0
            let others = OtherPlayers(bus: own) {
                count += 1
                feed.yield()
            }
            var iterator = begun.makeAsyncIterator()
            let proxy = try SomePlayer(bus.address, as: "org.mpris.MediaPlayer2.playerctld")
            let player = try SomePlayer(bus.address)
            let another = try SomePlayer(bus.address)
            try player.says("Playing")
            _ = try await player.bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
            others.isWatching = true
            _ = try await own.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
            try own.emit(
                "PropertiesChanged",
                [
                    .string("org.mpris.MediaPlayer2.Player"), .variants([("PlaybackStatus", .string("Playing"))]),
                    .strings([]),
                ], of: "org.freedesktop.DBus.Properties", at: "/org/mpris/MediaPlayer2")
            try proxy.says("Playing")
            try player.says("Paused")
            try player.says("Playing")
            await iterator.next(isolation: LoopActor.shared)
            #expect(count == 1)
            try player.says("Playing")  // its next song
            _ = try await player.bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
            try another.says("Playing")
            await iterator.next(isolation: LoopActor.shared)
            #expect(count == 2)
            others.isWatching = false
            try player.says("Stopped")
            try player.says("Playing")
            _ = try await player.bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
            _ = try await own.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus.Peer", "Ping")
            #expect(count == 2)
            for bus in [own, proxy.bus, player.bus, another.bus] { bus.close() }
        }
    }
}
