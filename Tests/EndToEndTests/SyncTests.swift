import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// `dogear sync` with servers that answer, do not, and refuse.
@Suite struct SyncTests {
    private func sync(_ house: House, _ arguments: String...) async throws -> (code: Int32, rows: [SyncReport.Row]) {
        let outcome = try await house.run(Child.built("dogear"), ["sync", "--json"] + arguments)
        return (outcome.code, try JSONDecoder().decode(SyncReport.self, from: Data(outcome.output.utf8)).rows)
    }

    @Test func whatWaitsIsSaidAndSentWhenTheServerIsBack() async throws {
        try await House.signedIn { house, _ in
            #expect(try await sync(house).code == 0)
            try await house.done("play", "tidebook")
            try await house.status("on its way") { $0.position > 1 }
            await house.server.stop()
            try await house.done("pause")
            let off = try await sync(house)
            #expect(off.code == 4)
            #expect(off.rows.map(\.outcome) == [.unreachable] && off.rows.first?.kind == "listening", "\(off.rows)")
            #expect(off.rows.first?.reason?.contains("cannot reach") == true, "\(off.rows)")
            #expect(off.rows.first?.item.title == "Tidebook")
            _ = try await house.server.start()
            let on = try await sync(house)
            #expect(on.code == 0, "\(on.rows)")
            let listened = house.listened
            #expect(listened > 0.5)
            #expect(try await sync(house).rows.isEmpty)
            #expect(house.listened == listened)
        }
    }

    /// As one does whose process was stopped: connections are taken, and nothing is answered.
    @Test(arguments: ["finish", "restart"]) func aServerThatHangsKeepsNobodyWaiting(_ command: String) async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            try await house.done("play", "three rooms", "--at", "30")
            try await house.done("play", "tidebook", "--at", "40")
            try await house.status("on its way") { $0.position > 41 }
            try await house.done("pause")
            try await house.status("sent") { $0.unsent == 0 }
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/**", times: .max)
            // What is loaded, and what is only known; far less than a request's patience, which is half a minute.
            for what in [[], ["three", "rooms"]] {
                let begun = ContinuousClock.now
                let outcome = try await house.run(Child.built("dogear"), [command] + what)
                #expect(outcome.code == 0 && outcome.output.contains("will be sent"), "\(outcome)")
                #expect(ContinuousClock.now - begun < .seconds(15 * Sanitizer.patience))
            }
            let here = try await house.status("marked") { $0.unsent > 0 }
            #expect(command == "restart" ? here.position == 0 : here.position > 41)
            gate.release()
            for item in [Library.book, Library.files] {
                try await house.progress("told", of: item) {
                    command == "finish" ? $0.isFinished : $0.currentTime == 0
                }
            }
            try await house.status("sent") { $0.unsent == 0 }
        }
    }

    @Test(arguments: [403, 404, 400]) func aRefusedCommandStaysUntilSomebodyDecides(_ status: Int) async throws {
        try await House.signedIn { house, daemon in
            let fault = house.server.fail(
                .status(status, body: "no"), method: "PATCH", path: "/api/me/progress/**", times: .max)
            let refused = try await house.dogear("finish", "tidebook")
            #expect(refused.code == 1 && refused.output.contains("refused"), "\(refused)")
            let parked = try await house.status()
            #expect(parked.parked == 1 && parked.unsent == 0)
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            let again = try await sync(house, "--retry")
            #expect(again.code == 1 && again.rows.map(\.outcome) == [.refused] && again.rows.first?.kind == "finish")
            house.server.clearFault(fault)
            #expect(try await sync(house).code == 1, "not by itself")
            #expect(house.server.progress(of: House.user, item: Library.book) == nil)
            #expect(try await sync(house, "--retry").code == 0)
            try await house.progress("finished") { $0.isFinished }
            #expect(try await house.status().parked == 0)
        }
    }

    @Test func aRefusedRowIsGivenUpByItsName() async throws {
        try await House.signedIn { house, _ in
            house.server.fail(.status(403, body: "no"), method: "PATCH", path: "/api/me/progress/**")
            try await house.dogear("finish", "tidebook")
            let id = try #require(try await sync(house).rows.first?.id)
            let unknown = try await house.dogear("sync", "--forget", "nobody", "--yes")
            #expect(unknown.code == 2)
            #expect(try await house.done("sync", "--forget", id, "--yes").contains("Given up: Tidebook"))
            #expect(try await sync(house).rows.isEmpty)
            #expect(try await house.status().parked == 0)
        }
    }

    @Test func anEndReachedWithoutTheServerIsToldLater() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook", "--at", "93")
            try await house.status("on its way") { $0.position > 93.3 }
            await house.server.stop()
            try await house.status("at its end") { $0.state == .stopped }
            let off = try await sync(house)
            #expect(off.code == 4 && Set(off.rows.map(\.kind)) == ["listening", "finish"], "\(off.rows)")
            let kept = try await house.dogear("logout")
            #expect(kept.code == 1 && kept.errors.contains("would be lost"))
            _ = try await house.server.start()
            #expect(try await sync(house).code == 0)
            let end = try #require(house.server.progress(of: House.user, item: Library.book))
            #expect(end.isFinished && end.currentTime == 100)
            #expect(abs(house.listened - 7) < 2, "\(house.listened)")
        }
    }

    @Test func killedInTheLastSecondsNothingIsFinished() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook", "--at", "91")
            let last = try await house.status("near its end") { $0.position > 92.2 }.position
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            #expect(try await sync(house).code == 0)
            let known = try await house.progress("before the end") { $0.currentTime == 89.5 }
            #expect(!known.isFinished)
            try await house.done("play")
            #expect(try await house.status().position >= last - 1.1, "here it is not forgotten")
            try await house.progress("finished") { $0.isFinished }
        }
    }
}
