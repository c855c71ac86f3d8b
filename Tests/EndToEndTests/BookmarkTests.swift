import Control
import Foundation
import StandIn
import TestSupport
import Testing

/// Bookmarks: made, named, removed, jumped to and exported, without a network too, and shared with other devices.
@Suite struct BookmarkTests {
    private func titles(_ house: House, _ what: String = "tidebook") async throws -> [String] {
        try await house.report(BookmarksReport.self, "bookmarks", what).bookmarks.map(\.title)
    }

    /// What the server has, as `time title`.
    private func there(_ house: House, _ user: String = House.user) -> [String] {
        house.server.bookmarks(of: user).map { "\($0["time"]?.number ?? -1) \($0["title"]?.text ?? "")" }.sorted()
    }

    private func load(_ house: House, _ what: String = "tidebook", at place: String = "40") async throws {
        try await house.done("play", what, "--at", place)
        try await house.done("pause")
        try await house.done("seek", place)
        try await house.status("there") { $0.state == .paused }
    }

    private func posts(_ house: House) -> Int {
        house.server.requests.count { $0.method == "POST" && $0.path.hasSuffix("/bookmark") }
    }

    @Test func oneIsMadeNamedJumpedToAndRemoved() async throws {
        try await House.signedIn { house, _ in
            let nothing = try await house.dogear("bookmark")
            #expect(nothing.code == 2 && nothing.errors.contains("nothing is loaded"), "\(nothing)")
            #expect(try await house.dogear("bookmarks").code == 2)
            try await load(house)
            let made = try await house.report(BookmarkReport.self, "bookmark")
            #expect(made.outcome == .made && made.bookmark.time == 40 && !made.bookmark.unsent)
            #expect(made.bookmark.title == "The Flood, 0:40" && made.bookmark.chapter == "The Flood")
            #expect(made.bookmark.kept == "server" && there(house) == ["40.0 The Flood, 0:40"])
            // At the same place again: nothing new; with another title it is that.
            #expect(try await house.report(BookmarkReport.self, "bookmark").outcome == .unchanged)
            #expect(try await house.report(BookmarkReport.self, "bookmark", "High", "tide").outcome == .renamed)
            try await house.done("seek", "10.7")
            #expect(try await house.report(BookmarkReport.self, "bookmark", "Ebb").bookmark.number == 1)
            #expect(there(house) == ["10.0 Ebb", "40.0 High tide"])

            try await house.done("seek", "bookmark:2")
            try await house.status("at the second") { $0.position == 40 }
            try await house.done("play", "--at", "bookmark:1")
            let status = try await house.status("playing") { $0.state == .playing }
            #expect((10..<30).contains(status.position))
            try await house.done("stop")
            try await house.done("play", "three rooms")
            try await house.done("play", "tidebook", "--at", "bookmark:2")
            #expect((40..<60).contains(try await house.status().position))
            try await house.done("pause")
            let far = try await house.dogear("seek", "bookmark:3")
            #expect(far.code == 2 && far.errors.contains("bookmarks 1 to 2, not 3"), "\(far)")
            let none = try await house.dogear("play", "three rooms", "--at", "bookmark:1")
            #expect(none.code == 2 && none.errors.contains("has no bookmarks"), "\(none)")

            try await house.done("bookmarks", "tidebook", "--rename", "1", "Low tide")
            #expect(there(house) == ["10.0 Low tide", "40.0 High tide"])
            let out = try await house.dogear("bookmarks", "tidebook", "--remove", "9")
            #expect(out.code == 2 && out.errors.contains("1 to 2"), "\(out)")
            #expect(
                try await house.report(BookmarkReport.self, "bookmarks", "tidebook", "--remove", "1").outcome
                    == .removed
            )
            #expect(there(house) == ["40.0 High tide"])
            #expect(try await titles(house) == ["High tide"])
            #expect(try await house.done("bookmarks", "tidebook").contains("0:40\tHigh tide"))
        }
    }

    @Test func madeWithoutANetworkItIsDeliveredOnce() async throws {
        try await House.signedIn { house, daemon in
            try await load(house)
            try await house.status("sent") { $0.unsent == 0 }
            await house.server.stop()
            let made = try await house.report(BookmarkReport.self, "bookmark", "Alone")
            #expect(made.bookmark.unsent)
            try await house.done("seek", "20")
            try await house.done("bookmark", "And again")
            try await house.done("bookmarks", "--rename", "1", "Renamed alone")
            try await house.done("seek", "25")
            try await house.done("bookmark", "Never mind")
            try await house.done("bookmarks", "--remove", "2")
            #expect(try await house.status().unsent >= 2)
            let sync = try await house.dogear("sync", "--json")
            #expect(sync.code == 4)
            let rows = try JSONDecoder().decode(SyncReport.self, from: Data(sync.output.utf8)).rows
            #expect(rows.filter { $0.kind == "bookmark" }.map(\.position) == [40, 20], "\(rows)")
            #expect(rows.filter { $0.kind == "unbookmark" }.map(\.position) == [25])
            // Listed at once, with a word about the server.
            let list = try await house.dogear("bookmarks")
            #expect(list.code == 0 && list.output.contains("not sent yet") && list.errors.contains("cannot reach"))
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            #expect(try await titles(house, "tidebook") == ["Renamed alone", "Alone"])
            house.server.forgetRequests()
            _ = try await house.server.start()
            try await house.done("sync")
            #expect(there(house) == ["20.0 Renamed alone", "40.0 Alone"])
            #expect(posts(house) == 2)
            try await house.status("sent") { $0.unsent == 0 }
            #expect(try await titles(house) == ["Renamed alone", "Alone"])
            #expect(posts(house) == 2)
        }
    }

    /// As one does whose process was stopped: connections are taken, and nothing is answered.
    @Test func aServerThatHangsKeepsNobodyWaiting() async throws {
        try await House.signedIn(extra: House.hasty) { house, _ in
            try await load(house)
            try await house.status("sent") { $0.unsent == 0 }
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/**", times: .max)
            for arguments in [["bookmark", "Hung"], ["bookmarks"], ["bookmarks", "--all"], ["history"], ["stats"]] {
                let begun = ContinuousClock.now
                let outcome = try await house.run(Child.built("dogear"), arguments)
                #expect(outcome.code == 0, "\(arguments): \(outcome)")
                #expect(ContinuousClock.now - begun < .seconds(15 * Sanitizer.patience))
                let isTold = outcome.errors.contains("did not answer in time")
                #expect(isTold == (arguments[0] != "bookmark"), "\(arguments): \(outcome)")
            }
            #expect(try await house.done("bookmarks").contains("not sent yet"))
            gate.release()
            house.server.clearFaults()
            try await house.done("sync")
            #expect(there(house) == ["40.0 Hung"])
        }
    }

    /// The answer is lost, the server has it: told again, it is the same one.
    @Test(arguments: [StandInFault.dropBefore, .dropAfter, .serverError])
    func whateverBecomesOfTheAnswerThereIsOne(_ fault: StandInFault) async throws {
        try await House.signedIn { house, _ in
            try await load(house)
            house.server.fail(fault, method: "POST", path: "/api/me/item/*/bookmark")
            try await house.done("bookmark", "Doubt")
            try await house.done("sync")
            #expect(there(house) == ["40.0 Doubt"])
            #expect(try await titles(house) == ["Doubt"])
        }
    }

    @Test(arguments: [StandInVersion.v236, .v225]) func whatAnotherDeviceDoesIsSeenHere(_ version: StandInVersion)
        async throws
    {
        try await House.signedIn(version: version) { house, _ in
            house.server.putBookmark(of: House.user, item: Library.book, time: 5.25, title: "Before")
            house.server.putBookmark(of: House.user, item: Library.podcast, time: 1, title: "Nobody's")
            try await load(house)
            #expect(try await titles(house) == ["Before"])
            try await house.done("bookmark", "Mine")
            house.server.putBookmark(of: House.user, item: Library.book, time: 70, title: "Theirs")
            house.server.putBookmark(of: House.user, item: Library.book, time: 40, title: "Mine, renamed there")
            house.server.removeBookmark(of: House.user, item: Library.book, time: 5.25)
            #expect(try await titles(house) == ["Mine, renamed there", "Theirs"])
            // A time that is no whole second is removed by its own digits.
            house.server.putBookmark(of: House.user, item: Library.book, time: 33.3333333333, title: "Odd")
            #expect(try await titles(house) == ["Odd", "Mine, renamed there", "Theirs"])
            try await house.done("bookmarks", "--remove", "1")
            try await house.done("sync")
            #expect(there(house).contains { $0.hasSuffix("Odd") } == false)
        }
    }

    /// Told live: nobody asks for the list while the server is there to answer.
    @Test func itIsSeenWithoutBeingAskedFor() async throws {
        try await House.signedIn { house, _ in
            try await load(house)
            await house.server.waitForRequest { $0.method == "GET" && $0.path.hasSuffix("/api/me/bookmarks") }
            try await eventually("a live connection") {
                try await house.done("doctor").contains("tells at once what other devices do") ? true : nil
            }
            house.server.forgetRequests()
            house.server.putBookmark(of: House.user, item: Library.book, time: 12, title: "Live")
            await house.server.waitForRequest { $0.method == "GET" && $0.path.hasSuffix("/api/me/bookmarks") }
            try await eventually("the bookmark is here") {
                try await house.dogear("seek", "bookmark:1").code == 0 ? true : nil
            }
            #expect(try await house.status().position == 12)
        }
    }

    @Test func whatTheServerRefusesIsKeptAndTold() async throws {
        try await House.signedIn { house, _ in
            try await load(house)
            house.server.fail(.status(403, body: "Forbidden"), method: "POST", path: "/api/me/item/*/bookmark")
            let refused = try await house.dogear("bookmark", "Not", "for", "you")
            #expect(refused.code == 1 && refused.output.contains("refused"), "\(refused)")
            #expect(try await house.done("bookmarks").contains("refused"))
            #expect(try await house.status().parked == 1)
            let sync = try await house.dogear("sync")
            #expect(sync.code == 1 && sync.output.contains("a bookmark at 0:40"), "\(sync)")
            let logout = try await house.dogear("logout")
            #expect(logout.code == 1 && logout.errors.contains("would be lost"), "\(logout)")
            try await house.done("sync", "--retry")
            #expect(there(house) == ["40.0 Not for you"])
            #expect(try await house.status().parked == 0)
        }
    }

    @Test func episodesAndFilesKeepThemHere() async throws {
        try await House.signedIn { house, daemon in
            try await load(house, "echoes", at: "9")
            let made = try await house.report(BookmarkReport.self, "bookmark", "An echo")
            #expect(made.bookmark.kept == "here" && !made.bookmark.unsent)
            let file = "\(house.home)/tide.m4b"
            try FileManager.default.copyItem(atPath: "\(Sounds.folder)/e2e/tide/tide.m4b", toPath: file)
            try await load(house, file, at: "61")
            try await house.done("bookmark")
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await house.daemon()
            #expect(try await titles(house, "echoes") == ["An echo"])
            #expect(try await titles(house, file) == ["Slack Water, 1:01"])
            #expect(there(house).isEmpty && posts(house) == 0)
            try await house.done("play", file, "--at", "bookmark:1")
            #expect((61..<80).contains(try await house.status().position))
            let all = try await house.report(BookmarksReport.self, "bookmarks", "--all")
            #expect(Set(all.bookmarks.map(\.title)) == ["An echo", "Slack Water, 1:01"] && all.item == nil)
            try await house.done("bookmarks", file, "--remove", "1")
            #expect(try await titles(house, file).isEmpty)
        }
    }

    @Test func twoAccountsKeepTheirsApart() async throws {
        try await House.ofTwo { house in
            let accounts = try await house.report(AccountsReport.self, "accounts").accounts
            house.server.putBookmark(of: "bo", item: Library.book, time: 7, title: "Bo's")
            for (account, title) in zip(accounts, ["By \(accounts[0].user)", "By \(accounts[1].user)"]) {
                try await load(house, "abs:\(account.id)/\(Library.book)")
                try await house.done("bookmark", title)
            }
            #expect(there(house, "ada") == ["40.0 By ada"] && there(house, "bo") == ["40.0 By bo", "7.0 Bo's"])
            #expect(try await titles(house, "abs:\(accounts[0].id)/\(Library.book)") == ["By \(accounts[0].user)"])
            let bo = try #require(accounts.first { $0.user == "bo" })
            try await house.done("logout", bo.id)
            let all = try await house.report(BookmarksReport.self, "bookmarks", "--all")
            #expect(all.bookmarks.map(\.title) == ["By ada"])
        }
    }

    @Test func theyAreExported() async throws {
        try await House.signedIn { house, _ in
            try await load(house)
            try await house.done("bookmark", "# <b>*bold*</b> [link](x)")
            let file = "\(house.home)/tide.md"
            try await house.done("bookmarks", "--output", file)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.hasPrefix("# Tidebook\n\nAda Ebb, Bo Flow\n\n- **0:40** \\# \\<b\\>"), "\(text)")
            #expect(text == (try await house.done("bookmarks", "--markdown")))
            let taken = try await house.dogear("bookmarks", "--json", "--output", file)
            #expect(taken.code == 1 && taken.errors.contains("--force"), "\(taken)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            try await house.done("bookmarks", "--json", "--output", file, "--force")
            let report = try JSONDecoder().decode(
                BookmarksReport.self, from: try Data(contentsOf: URL(fileURLWithPath: file)))
            #expect(report.bookmarks.map(\.time) == [40])
            for path in ["\(house.home)/none/x.md", house.home + "/x.md/", house.home] {
                let bad = try await house.dogear("bookmarks", "--markdown", "--output", path, "--force")
                #expect(bad.code == 1 && bad.errors.contains("cannot write"), "\(bad)")
            }
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: house.home).allSatisfy { !$0.contains(".new-") })
        }
    }

    @Test func badTitles() async throws {
        try await House.signedIn { house, _ in
            try await load(house)
            for title in ["", " \t", "\u{202E}\u{200B}"] {
                let outcome = try await house.dogear("bookmark", title)
                #expect(outcome.code == 64 && outcome.errors.contains("must not be empty"), "\(outcome)")
            }
            let long = try await house.dogear("bookmark", String(repeating: "ä", count: 501))
            #expect(long.code == 64 && long.errors.contains("501 characters"), "\(long)")
            try await house.done("bookmark", "one\u{1B}[31m\ntwo\u{202E}")
            #expect(there(house) == ["40.0 one [31m two"])
            house.server.putBookmark(
                of: House.user, item: Library.book, time: 1,
                title: "\u{1B}]0;evil\u{7}\u{202E}\n" + String(repeating: "x", count: 100_000))
            let shown = try await house.done("bookmarks")
            #expect(!shown.contains("\u{1B}") && !shown.contains("\u{202E}") && shown.contains("]0;evil"))
            #expect(shown.split(separator: "\n").count == 2 && shown.count < 2000)
        }
    }
}
