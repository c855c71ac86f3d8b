import Control
import DBus
import EventLoop
import Foundation
import SDBus
import StandIn
import TestSupport
import Testing

/// The real daemon beside a logind and a NetworkManager of the test's own.
@Suite(.inTime) struct SleepTests {
    /// - Parameter body: also told what becomes of the locks.
    private func beside(
        _ body: (House, FakeMachine, inout AsyncStream<FakeMachine.Event>.Iterator) async throws -> Void
    ) async throws {
        try await withPrivateBus { system in
            let fake = try await FakeMachine(on: system.address)
            try await House.with(extra: ["DBUS_SYSTEM_BUS_ADDRESS": system.address]) { house in
                try await house.daemon()
                try await house.logIn()
                var events = fake.events.makeAsyncIterator()
                try await body(house, fake, &events)
            }
            await fake.close()
        }
    }

    @Test func beforeSleepThePlaceIsOnTheDiskAndWithTheServer() async throws {
        try await beside { house, fake, events in
            #expect(await fake.requests.isEmpty, "nothing plays, nothing is asked for")
            try await house.done("play", "tidebook", "--at", "31")
            #expect(await events.next() == .granted(mode: "delay"))
            #expect(await fake.requests == [["sleep", "Dogear", "to keep the place of what plays", "delay"]])
            try await house.status("on its way") { $0.position > 32 }
            let asked = ContinuousClock.now
            try await fake.prepareForSleep(true)
            #expect(await events.next() == .released(mode: "delay"))
            // logind's patience.
            #expect(ContinuousClock.now - asked < .seconds(5 * Sanitizer.patience))
            // At the moment of the release all of it has been done: the computer could be gone now.
            let known = try #require(house.server.progress(of: House.user, item: Library.book)?.currentTime)
            let slept = try await house.status()
            #expect(slept.state == .paused && slept.unsent == 0)
            #expect(abs(known - slept.position) < 0.05, "\(known) on the server, \(slept.position) here")
            try await fake.prepareForSleep(false)
            // Never by itself.
            try await house.done("settings", "log.level", "debug")
            #expect(try await house.status().state == .paused)
            try await house.done("play")
            #expect(await events.next() == .granted(mode: "delay"))
        }
    }

    @Test func aServerThatHangsDoesNotHoldSleepUp() async throws {
        try await beside { house, fake, events in
            try await house.done("play", "tidebook", "--at", "31")
            #expect(await events.next() == .granted(mode: "delay"))
            try await house.status("on its way") { $0.position > 32 }
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/session/**", times: .max)
            let asked = ContinuousClock.now
            try await fake.prepareForSleep(true)
            #expect(await events.next() == .released(mode: "delay"))
            #expect(ContinuousClock.now - asked < .seconds(5 * Sanitizer.patience))
            let slept = try await house.status()
            // The battery runs out.
            try await house.kill()
            gate.release()
            house.server.clearFaults()
            let back = try await house.status()
            #expect(abs(back.position - slept.position) < 0.05, "\(slept.position) became \(back.position)")
            try await house.progress("where it fell asleep") { abs(($0.currentTime ?? 0) - slept.position) < 0.5 }
        }
    }

    @Test func theComputerIsKeptAwakeOnlyBySetting() async throws {
        try await beside { house, fake, events in
            try await house.done("play", "tidebook")
            #expect(await events.next() == .granted(mode: "delay"))
            try await house.done("settings", "system.inhibit-sleep", "true")
            #expect(await events.next() == .granted(mode: "block"))
            try await house.done("pause")
            let released = [
                await events.next(), await events.next(),
            ]
            #expect(released == [.released(mode: "block"), .released(mode: "delay")])
            let doctor = try await house.dogear("doctor")
            #expect(doctor.output.contains("logind is here") && doctor.output.contains("NetworkManager tells"))
        }
    }

    @Test func aNetworkThatComesBackIsUsedAtOnce() async throws {
        try await beside { house, fake, events in
            try await house.done("settings", "log.level", "debug")
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 1.5 }
            await fake.network(state: 20, connectivity: 1)
            await house.server.stop()
            try await house.done("pause")
            try await house.status("unsent") { $0.unsent == 1 }
            _ = try await house.server.start()
            await fake.network(state: 70, connectivity: 4)
            try await house.status("sent") { $0.unsent == 0 }
            let log = try String(contentsOfFile: house.log, encoding: .utf8)
            #expect(log.contains("a sign"), "\(log)")
        }
    }

    @Test func anotherPlayerPausesOnlyBySetting() async throws {
        try await House.signedIn { house, _ in
            let other = try await Bus(.at(house.bus.address)) { _ in }
            func begins() async throws {
                for status in ["Paused", "Playing"] {
                    try await other.emit(
                        "PropertiesChanged",
                        [
                            .string("org.mpris.MediaPlayer2.Player"),
                            .variants([("PlaybackStatus", .string(status))]), .strings([]),
                        ], of: "org.freedesktop.DBus.Properties", at: "/org/mpris/MediaPlayer2")
                }
                // Behind it on the same connection.
                _ = try await other.call(ControlName.bus, "/", "org.freedesktop.DBus.Peer", "Ping")
            }
            try await house.done("play", "tidebook")
            try await begins()
            #expect(try await house.status().state == .playing)
            try await house.done("settings", "playback.pause-for-others", "true")
            try await begins()
            try await house.status("paused") { $0.state == .paused }
            // Asked for by the listener it plays beside the other.
            try await house.done("play")
            #expect(try await house.status().state == .playing)
            await other.close()
        }
    }
}
