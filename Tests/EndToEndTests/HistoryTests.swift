import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// What was listened to, told again: after a kill, without a network, with other devices, and drawn.
@Suite struct HistoryTests {
    private func listen(_ house: House, _ what: String, from place: Int, for seconds: Double = 2) async throws {
        try await house.done("play", what, "--at", "\(place)")
        try await house.status("on its way") { $0.position > Double(place) + seconds }
        try await house.done("pause")
    }

    private func file(_ house: House) throws -> String {
        let path = "\(house.home)/tide.m4b"
        try FileManager.default.copyItem(atPath: "\(Sounds.folder)/e2e/tide/tide.m4b", toPath: path)
        return path
    }

    @Test func whatWasHeardStaysAfterItIsDelivered() async throws {
        try await House.signedIn { house, _ in
            #expect(try await house.report(HistoryReport.self, "history").rows.isEmpty)
            try await listen(house, "tidebook", from: 10)
            let path = try file(house)
            try await listen(house, path, from: 50)
            try await house.status("sent") { $0.unsent == 0 }
            try await house.done("sync")
            let rows = try await house.report(HistoryReport.self, "history").rows
            #expect(rows.map(\.item.kind) == ["file", "book"] && rows.allSatisfy { $0.source == "here" }, "\(rows)")
            let book = try #require(rows.last)
            #expect(abs(book.from - 10) < 1 && (12..<25).contains(book.to) && book.account != nil)
            #expect(abs(book.listened - house.listened) < 0.1, "\(book.listened) here, \(house.listened) there")
            #expect(try await house.report(HistoryReport.self, "history", path).rows.count == 1)
            #expect(
                try await house.report(HistoryReport.self, "history", "--limit", "1").rows.map(\.item.kind) == ["file"])
            #expect(try await house.done("history").split(separator: "\n").count == 2)
            await house.server.stop()
            let off = try await house.dogear("history")
            #expect(
                off.code == 0 && off.output.split(separator: "\n").count == 2 && off.errors.contains("cannot reach"))
        }
    }

    @Test func whereverItIsKilledTheHistoryHasIt() async throws {
        try await House.with(keyring: .absent) { house in
            let path = try file(house)
            for life in 1...3 {
                let daemon = try await house.daemon()
                try await house.done("play", path, "--at", "\(life * 10)")
                try await house.status("on its way") { $0.position > Double(life * 10) + 2.2 }
                daemon.send(SIGKILL)
                _ = await daemon.end()
            }
            try await house.daemon()
            let rows = try await house.report(HistoryReport.self, "history").rows
            #expect(rows.count == 3)
            for (row, life) in zip(rows, [3, 2, 1]) {
                #expect(abs(row.from - Double(life * 10)) < 1 && row.listened > 1 && row.to > row.from, "\(row)")
            }
        }
    }

    @Test func otherDevicesAreInIt() async throws {
        try await House.signedIn { first, _ in
            try await listen(first, "tidebook", from: 10)
            try await first.done("stop")
            try await first.status("sent") { $0.unsent == 0 }
            try await first.withAnother { second in
                try await listen(second, "three rooms", from: 5)
                try await second.done("stop")
                try await second.status("sent") { $0.unsent == 0 }
                let there = try await second.report(HistoryReport.self, "history").rows
                #expect(
                    there.map(\.source) == ["here", "server"] && there.map(\.item.title) == ["Three Rooms", "Tidebook"])
            }
            let here = try await first.report(HistoryReport.self, "history").rows
            #expect(here.map(\.source) == ["server", "here"], "\(here)")
            #expect(here.first?.device?.contains("Dogear") == true)
            let one = try await first.report(HistoryReport.self, "history", "three rooms").rows
            #expect(one.map(\.item.title) == ["Three Rooms"])
        }
    }

    // MARK: Statistics

    @Test func statisticsAreWhatWasPlayed() async throws {
        try await House.signedIn { house, _ in
            let none = try await house.report(StatsReport.self, "stats")
            #expect(none.days.count == 30 && none.total.seconds == 0 && none.streak == 0 && none.items.isEmpty)
            try await listen(house, "tidebook", from: 10)
            let path = try file(house)
            try await listen(house, path, from: 50)
            try await house.status("sent") { $0.unsent == 0 }
            try await house.done("sync")
            let local = try #require(try await house.report(HistoryReport.self, "history", path).rows.first).listened
            let report = try await house.report(StatsReport.self, "stats", "--days", "7")
            #expect(
                abs(report.total.server - house.listened) < 0.01 && abs(report.total.local - local) < 0.01, "\(report)")
            let today = try #require(report.days.last)
            #expect(report.days.count == 7 && abs(today.seconds - house.listened - local) < 0.01 && report.streak == 1)
            #expect(Set(report.items.map(\.item.kind)) == ["book", "file"] && report.servers.count == 1)

            // What the server has not got is counted here, and once it has, there.
            let id = try #require(report.items.first { $0.item.kind == "book" }).item.id
            try await house.done("play", id)
            await house.server.stop()
            let place = try await house.status().position
            try await house.status("on its way") { $0.position > place + 2 }
            try await house.done("pause")
            let off = try await house.report(StatsReport.self, "stats")
            #expect(off.problems.count == 1 && off.total.server == 0 && off.total.local > report.total.seconds + 1)
            _ = try await house.server.start()
            try await house.done("sync")
            let on = try await house.report(StatsReport.self, "stats")
            #expect(abs(on.total.seconds - off.total.seconds) < 0.1, "\(on.total), was \(off.total)")
            #expect(abs(on.total.server - house.listened) < 0.01)
        }
    }

    @Test func whatIsOwedIsCountedBesideTheServer() async throws {
        try await House.signedIn { house, _ in
            house.server.fail(.serverError, method: "POST", path: "/api/session/**", times: .max)
            try await listen(house, "tidebook", from: 10)
            let report = try await house.report(StatsReport.self, "stats")
            #expect(report.servers.count == 1 && report.total.server == 0 && report.total.local > 1.5, "\(report)")
        }
    }

    @Test func theyAreDrawn() async throws {
        try await House.signedIn { house, _ in
            try await listen(house, "tidebook", from: 10)
            try await house.done("sync")
            let svg = "\(house.home)/stats.svg"
            try await house.done("stats", "--output", svg)
            let text = try String(contentsOfFile: svg, encoding: .utf8)
            #expect(text.hasPrefix("<svg") && text.contains("Tidebook"))
            let taken = try await house.dogear("stats", "--output", svg)
            #expect(taken.code == 1 && taken.errors.contains("--force"), "\(taken)")
            // Drawn from the same text, by a strict reader of XML.
            let png = "\(house.home)/stats.png"
            try await house.done("stats", "-o", png)
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: png)))
            #expect(bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) && bytes.count > 1000)
            // Its width, in the header.
            let width: Int = bytes[16..<20].reduce(0) { (sum: Int, byte: UInt8) -> Int in sum << 8 | Int(byte) }
            #expect(width == 720)
        }
    }
}
