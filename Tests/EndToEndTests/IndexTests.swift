import Control
import DBus
import EventLoop
import Foundation
import Listening
import SDBus
import StandIn
import Store
import TestSupport
import Testing

/// The index of the libraries: filled after the login, there without a network, true to what the server tells.
@Suite struct IndexTests {
    private func list(_ house: House, _ arguments: String...) async throws -> ListReport {
        let outcome = try await house.run(Child.built("dogear"), arguments + ["--json"])
        guard outcome.code == 0 else { throw TestFailure("dogear \(arguments): \(outcome.errors)") }
        return try JSONDecoder().decode(ListReport.self, from: Data(outcome.output.utf8))
    }

    private func titles(_ house: House, _ arguments: String...) async throws -> [String] {
        let outcome = try await house.run(Child.built("dogear"), arguments + ["--json"])
        guard outcome.code == 0 else { return [] }
        return try JSONDecoder().decode(ListReport.self, from: Data(outcome.output.utf8)).items.map(\.item.title)
    }

    /// Two users of one server have the same libraries and items: each is named by its account.
    @Test func twoUsersOfOneServer() async throws {
        try await House.ofTwo { house in
            try await house.done("libraries", "--refresh")
            let report = try await house.report(LibrariesReport.self, "libraries")
            let accounts = Set(report.libraries.map(\.account))
            #expect(accounts.count == 2 && report.libraries.count == 4)
            #expect(report.libraries.allSatisfy { $0.known == ($0.mediaType == "book" ? 3 : 1) }, "\(report)")
            let several = try await house.dogear("list", "Books")
            #expect(several.code == 64 && accounts.allSatisfy { several.errors.contains("\($0)/") }, "\(several)")
            for account in accounts {
                for name in ["\(account)/Books", "\(account)/books"] + report.libraries.map(\.address) {
                    guard name.hasPrefix(account) else { continue }
                    let list = try await house.report(ListReport.self, "list", name)
                    #expect(!list.items.isEmpty && list.items.allSatisfy { $0.account == account }, "\(name)")
                }
            }
            let ambiguous = try await house.dogear("play", "tidebook")
            #expect(ambiguous.code == 2 && accounts.allSatisfy { ambiguous.errors.contains($0) }, "\(ambiguous)")
        }
    }

    @Test func withoutANetwork() async throws {
        try await House.signedIn { house, _ in
            let report = try await house.report(LibrariesReport.self, "libraries", "--refresh")
            #expect(report.libraries.map(\.name) == ["Books", "Podcasts"])
            #expect(report.libraries.map(\.items) == [3, 1] && report.libraries.map(\.known) == [3, 1])
            #expect(report.refreshing == false)

            await house.server.stop()
            #expect(try await titles(house, "search", "tidebok") == ["Tidebook"])
            #expect(try await titles(house, "search", "doors") == ["Three Rooms"])
            #expect(try await titles(house, "search", "echoes") == ["Echoes"])
            #expect(try await titles(house, "list", "Books") == ["Paper Only", "Three Rooms", "Tidebook"])
            #expect(try await titles(house, "list", "--narrator", "current") == ["Tidebook"])
            #expect(try await titles(house, "list", "--genre", "sea", "--author", "flow") == ["Tidebook"])
            // What was published or added last comes first; what only is to be read does not come.
            #expect(try await Set(titles(house, "latest")) == ["Echoes", "Tidebook", "Three Rooms"])
            let show = try await house.report(ShowReport.self, "show", "tidebook")
            #expect(show.row.item.authors == ["Ada Ebb", "Bo Flow"] && show.genres == ["Sea"])
            #expect(try await house.dogear("play", "tidebook").code == 4)
            #expect(try await house.dogear("libraries", "--refresh").code == 4)

            let files = try FileManager.default.attributesOfItem(
                atPath: "\(house.home)/.cache/dogear/catalogue.sqlite")
            #expect(files[.posixPermissions] as? Int == 0o600)
        }
    }

    /// What is known is found all the same, with a word on why it gets no newer.
    @Test func withALoginThatIsOver() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            house.server.expireAccessTokens()
            house.server.revokeRefreshTokens()
            #expect(try await house.dogear("play", "tidebook").code == 3)
            let refresh = try await house.run(Child.built("dogear"), ["libraries", "--refresh"])
            #expect(refresh.code == 3 && refresh.errors.contains("no longer accepts this login"), "\(refresh)")
            for (arguments, found) in [
                (["search", "rooms"], "Three Rooms"), (["list", "Books"], "Tidebook"), (["latest"], "Echoes"),
            ] {
                let outcome = try await house.run(Child.built("dogear"), arguments)
                #expect(outcome.code == 0 && outcome.output.contains(found), "\(arguments): \(outcome)")
                #expect(outcome.errors.contains("no longer accepts this login"), "\(arguments): \(outcome)")
            }
        }
    }

    @Test func itSurvivesARestartAndGoesWithTheAccount() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            try await house.kill()
            await house.server.stop()
            try await house.daemon()
            #expect(try await titles(house, "search", "rooms") == ["Three Rooms"])
            try await house.done("logout")
            #expect(try await house.dogear("search", "rooms").code == 3)
            let file = try Data(contentsOf: URL(fileURLWithPath: "\(house.home)/.cache/dogear/catalogue.sqlite"))
            #expect(file.range(of: Data("Three Rooms".utf8)) == nil)
        }
    }

    /// Also by servers, while they have not been read.
    @Test func withoutANameAllLibrariesAreListed() async throws {
        try await House.signedIn { house, _ in
            for isRead in [false, true] {
                if isRead { try await house.done("libraries", "--refresh") }
                let titles = try await Set(titles(house, "list"))
                #expect(titles.isSuperset(of: ["Tidebook", "Three Rooms", "The Loopback Hour"]), "\(titles)")
                #expect(try await self.titles(house, "list", "--limit", "1").count == 1)
            }
        }
    }

    @Test func whatIsRefusedIsSaid() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            for (arguments, code, words) in [
                (["list", "--author", "nobody"], Int32(2), "no author 'nobody'"),
                (["list", "--author", "doors", "--genre", "sea"], 2, "nothing fits"),
                (["list", "Books", "--page", "9"], 2, "there is 1 page"),
                (["list", "Podcasts", "--narrator", "current"], 64, "no narrators"),
                (["list", "--collection", "a", "--playlist", "b"], 64, "exclude each other"),
                (["list", "Nowhere"], 2, "no library 'Nowhere'"),
                (["list", "Books", "--sort", "colour"], 64, "is no order"), (["search", "xyzzyx"], 2, "Nothing found"),
            ] {
                let outcome = try await house.run(Child.built("dogear"), arguments)
                #expect(outcome.code == code && outcome.errors.contains(words), "\(arguments): \(outcome)")
            }
        }
    }

    /// While something is loaded the server tells what comes and goes.
    @Test func whatTheServerTells() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            try await house.done("pause")
            try await house.done("libraries", "--refresh")
            let books = try #require(try Library.all.get().first)
            var new = StandInItem(id: DerivedIDs.new, title: "Nightfall", relPath: "night", addedAt: 1_800_000_000_000)
            new.authors = ["N. Ight"]
            house.server.putItem(new, library: books.id)
            _ = try await eventually("the new item") {
                try await titles(house, "search", "nightfall").first
            }
            new.title = "Daybreak"
            new.updatedAt += 1
            house.server.putItem(new, library: books.id)
            _ = try await eventually("the changed item") { try await titles(house, "search", "daybreak").first }
            #expect(try await titles(house, "search", "nightfall").isEmpty)
            house.server.deleteItem(DerivedIDs.new)
            _ = try await eventually("the removed item to go") {
                try await titles(house, "search", "daybreak").isEmpty ? true : nil
            }
            #expect(try await titles(house, "list", "Books").count == 3)
            let gone = try await house.dogear("play", "abs:\(try await account(house))/\(DerivedIDs.new)")
            #expect(gone.code == 2, "\(gone)")
        }
    }

    /// Nobody tells of it: the next reading does not see it.
    @Test func whatIsRemovedMeanwhile() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            #expect(try await titles(house, "list", "Books").count == 3)
            house.server.deleteItem(Library.files)
            try await house.done("libraries", "--refresh")
            #expect(try await titles(house, "list", "Books") == ["Paper Only", "Tidebook"])
        }
    }

    /// A word that is typed in one go is asked for once.
    @Test func theSearchThatStartsTheDaemonFindsWhatTheServersHave() async throws {
        try await House.with(activation: true) { house in
            let daemon = try await house.daemon()
            try await house.logIn()
            try await house.done("libraries", "--refresh")
            try await house.done("play", "tidebook", "--at", "42")
            try await house.done("pause")
            daemon.send(SIGTERM)
            _ = await daemon.end()
            let found = try await house.gnomeSearch("GetInitialResultSet", "['tide']")
            #expect(found.contains(Library.book), "\(found)")
            // Whoever types a program's name has no player to be, and to get the keys of another.
            #expect(try await house.run("playerctl", ["-l"]).output == "")
            #expect(try await house.status().position >= 42)
            #expect(try await house.playerctl("status") == "Paused")
        }
    }

    /// A word that a library has is meant before one that was only guessed, and parts of words are no more than that.
    @Test func whatIsTypedIsMeant() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            let path = "\(house.home)/Tude.mp3"
            try Sounds.run([
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", "\(Sounds.folder)/e2e/rooms/01.mp3", "-c", "copy",
                "-metadata", "title=About a Tude", path,
            ])
            try await house.done("play", path)
            try await house.done("pause")
            let matches = try await house.krunner("tude")
            #expect(matches.hasPrefix("([('file:"), "\(matches)")
            #expect(try await house.done("play", "tude").contains("About a Tude"))
            // Launchers ask for whatever is typed.
            for noise in ["t", "a", "2+2"] { #expect(try await house.krunner(noise) == "(@a(sssida{sv}) [],)\n") }
            #expect(try await house.krunner("ti").contains("'Tidebook'"))
            let number = "\(house.home)/451.mp3"
            try Sounds.run([
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", path, "-c", "copy", "-metadata",
                "title=Fahrenheit 451", "-metadata", "artist=Amos Oz", number,
            ])
            try await house.done("play", number)
            for typed in ["451", "oz"] { #expect(try await house.krunner(typed).contains("'Fahrenheit 451'")) }
            #expect(try await house.krunner("am") == "(@a(sssida{sv}) [],)\n")
        }
    }

    @Test func launchers() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            let id = "abs:\(try await account(house))/\(Library.book)"
            #expect(try await house.gnomeSearch("GetInitialResultSet", "['tide']") == "(['\(id)'],)\n")
            let narrowed = try await house.gnomeSearch("GetSubsearchResultSet", "['\(id)']", "['tide', 'xyzzyx']")
            #expect(narrowed == "(@as [],)\n")
            #expect(try await house.gnomeSearch("GetInitialResultSet", "['\" OR *', '^']") == "(@as [],)\n")
            let metas = try await house.gnomeSearch("GetResultMetas", "['\(id)', 'abs:no/such', 'nonsense']")
            #expect(metas.contains("'name': <'Tidebook'>") && metas.contains("Ada Ebb, Bo Flow"), "\(metas)")
            // The cover comes with the next look.
            _ = try await eventually("a cover") {
                try await house.gnomeSearch("GetResultMetas", "['\(id)']").contains("covers/") ? true : nil
            }
            let matches = try await house.krunner("tidebook")
            #expect(matches.contains("'Tidebook'") && matches.contains("/covers/"), "\(matches)")
            _ = try await house.gnomeSearch("ActivateResult", "'\(id)'", "['tide']", "uint32 0")
            try await house.status("playing") { $0.state == .playing && $0.item?.id == id }
            // Launchers wait for nobody.
            await house.server.stop()
            #expect(try await house.gnomeSearch("GetInitialResultSet", "['rooms']").contains(Library.files))
            // They have no window either: what does not come is told where it is seen.
            let desk = try await FakeNotifications(on: house.bus.address)
            _ = try await house.gnomeSearch("ActivateResult", "'\(id)'", "['tide']", "uint32 0")
            _ = try await house.gnomeSearch("ActivateResult", "'file:gone'", "['gone']", "uint32 0")
            let told = try await eventually("a notification") { await desk.shown.last }
            #expect(["'Tidebook' cannot be played", "It cannot be played"].contains(told.title), "\(told)")
            #expect(told.body.hasSuffix(".") && told.body.first?.isLowercase == false, "\(told)")
            await desk.leave()
        }
    }

    /// Who pressed a key sees nothing of it.
    @Test func whatIsLongOnItsWayIsTold() async throws {
        try await House.signedIn(extra: ["DOGEAR_PATIENCE": "0.1"]) { house, _ in
            try await house.done("play", "tidebook")
            try await house.done("stop")
            let desk = try await FakeNotifications(on: house.bus.address)
            let id = try await #require(house.status().item?.id)
            for (isStopped, choice) in [(false, ""), (true, ""), (false, "launcher"), (true, "menu")] {
                let (count, gate) = (await desk.shown.count, StandInGate())
                house.server.fail(.hold(gate), path: "/api/items/**", times: .max)
                async let menu = choice == "menu" ? house.dogear("play", "--notify") : nil
                if choice == "launcher" {
                    _ = try await house.gnomeSearch("ActivateResult", "'\(id)'", "['tide']", "uint32 0")
                } else if choice.isEmpty {
                    try await house.playerctl("play")
                }
                let told = try await eventually("a notification") { await desk.shown.dropFirst(count).first }
                #expect(told.title == "'Tidebook' is still on its way" && told.body.hasPrefix("It "), "\(told)")
                if isStopped { try await house.playerctl("stop") }
                house.server.clearFaults()
                gate.release()
                if !isStopped { try await house.status("playing") { $0.state == .playing } }
                _ = try await eventually("it to go") { await desk.closed.last == told.number ? true : nil }
                try await house.done("stop")
                #expect(try await menu?.code ?? 0 == 0)
            }
            #expect(await desk.shown.count == 4)
            #expect(await desk.closed.count == 4)
            await desk.leave()
        }
    }

    @Test func whatIsPausedOnItsWayIsPromisedNoMore() async throws {
        try await House.signedIn(extra: ["DOGEAR_PATIENCE": "0.1"]) { house, _ in
            try await house.done("libraries", "--refresh")
            let id = try await house.report(ShowReport.self, "show", "tidebook").row.item.id
            try await house.done("play", "three rooms")
            let desk = try await FakeNotifications(on: house.bus.address)
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/items/**", times: .max)
            _ = try await house.gnomeSearch("ActivateResult", "'\(id)'", "['tide']", "uint32 0")
            let first = try await eventually("a notification") { await desk.shown.first }
            #expect(first.title == "'Tidebook' is still on its way" && first.body.hasPrefix("It plays"), "\(first)")
            try await house.playerctl("pause")
            let second = try await eventually("another") { await desk.shown.dropFirst().first }
            #expect(second.title == first.title && second.body.hasPrefix("It stands ready"), "\(second)")
            house.server.clearFaults()
            gate.release()
            try await house.status("ready") { $0.item?.title == "Tidebook" && $0.state == .paused }
            await desk.leave()
        }
    }

    @Test func aServerThatHangsKeepsNobodyFromWhatIsKnown() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            let gate = StandInGate()
            house.server.fail(.hold(gate), path: "/api/items/**", times: .max)
            let began = ContinuousClock.now
            let shown = try await house.report(ShowReport.self, "show", "three rooms")
            // Not what is known once the request has been given up, after half a minute.
            #expect(ContinuousClock.now - began < .seconds(28))
            #expect(shown.row.item.title == "Three Rooms" && shown.chapters.isEmpty, "as the index knows it")
            gate.release()
        }
    }

    @Test func anEndedLoginIsTold() async throws {
        try await House.signedIn { house, daemon in
            let desk = try await FakeNotifications(on: house.bus.address)
            try await house.done("libraries", "--refresh")
            house.server.expireAccessTokens()
            house.server.revokeRefreshTokens()
            #expect(try await house.dogear("libraries", "--refresh").code == 3)
            let notice = try await eventually("a notification") { await desk.shown.first }
            #expect(notice.title.contains("needs a new login"))
            #expect(!notice.body.contains(House.password))
            // Nobody but who has shown it can take it away.
            daemon.send(SIGTERM)
            #expect(await daemon.end() == 0)
            _ = try await eventually("it to go with dogear") { await desk.closed == [notice.number] ? true : nil }
            try await house.daemon()
            _ = try await eventually("it again") { await desk.shown.count == 2 ? true : nil }
            try await house.logIn()
            _ = try await eventually("it to go") { await desk.closed.count == 2 ? true : nil }
            await desk.leave()
        }
    }

    /// What was chosen, and not only that some login has ended.
    @Test func whatIsChosenAfterTheLoginEndedIsNamed() async throws {
        try await House.signedIn { house, _ in
            try await house.done("libraries", "--refresh")
            let id = try await house.report(ShowReport.self, "show", "tidebook").row.item.id
            let desk = try await FakeNotifications(on: house.bus.address)
            house.server.expireAccessTokens()
            house.server.revokeRefreshTokens()
            _ = try await house.gnomeSearch("ActivateResult", "'\(id)'", "['tide']", "uint32 0")
            let notice = try await eventually("a notification") { await desk.shown.first }
            #expect(notice.title == "'Tidebook' needs a new login", "\(notice)")
            #expect(notice.body.hasPrefix("It plays after 'dogear login 127.0.0.1"), "\(notice)")
            try await house.logIn()
            _ = try await eventually("it to go") { await desk.closed == [notice.number] ? true : nil }
            #expect(await desk.shown.count == 1)
            await desk.leave()
        }
    }

    @Test func whatWaitsForADayIsTold() async throws {
        try await House.signedIn { house, _ in
            try await house.kill()
            await house.server.stop()
            try await keepOldListening(house)
            let desk = try await FakeNotifications(on: house.bus.address)
            try await house.daemon()
            let notice = try await eventually("a notification") { await desk.shown.first }
            #expect(
                notice.title.contains("not on the server yet") && notice.actions == ["send", "Send now", "default", ""])
            try await desk.choose("send", of: notice.number)
            let failed = try await eventually("why it could not") { await desk.shown.dropFirst().first }
            #expect(failed.title == "It could not be sent" && failed.body.contains("It is kept"), "\(failed)")
            #expect(failed.number == notice.number)
            try await house.server.start()
            try await desk.choose("send", of: notice.number)
            try await house.status("sent") { $0.unsent == 0 }
            #expect(abs(house.listened - 10) < 0.01)
            _ = try await eventually("it to go") { await desk.closed == [notice.number] ? true : nil }
            await desk.leave()
        }
    }

    @Test func whoWantsNoNotificationsGetsNone() async throws {
        try await House.signedIn { house, _ in
            try await house.done("settings", "system.notifications", "off")
            try await house.kill()
            await house.server.stop()
            try await keepOldListening(house)
            let desk = try await FakeNotifications(on: house.bus.address)
            try await house.daemon()
            // What the daemon says at its start comes before its answers.
            #expect(try await house.status().unsent == 1)
            #expect(await desk.shown.isEmpty)
            await desk.leave()
        }
    }

    /// Ten seconds of listening that no server has accepted for two days.
    private func keepOldListening(_ house: House) async throws {
        let store = try Store.open(at: "\(house.state)/state.sqlite") { _ in }
        let account = try #require(try await store.accounts().first)
        let then = Int64(Date().timeIntervalSince1970 * 1000) - 2 * 86_400_000
        var stretch = Stretch(
            id: UUID().uuidString.lowercased(), item: ItemID(source: "abs", key: "\(account.id)/\(Library.book)"),
            started: then, startPlace: .zero, duration: .seconds(100), delivery: .local)
        (stretch.updated, stretch.place, stretch.listened) = (then + 10_000, .seconds(10), .seconds(10))
        stretch.isClosed = true
        try await store.write(.stretch(stretch))
        try await store.flush()
    }

    private func account(_ house: House) async throws -> String {
        let text = try await house.done("accounts", "--json")
        let report = try JSONDecoder().decode(AccountsReport.self, from: Data(text.utf8))
        return try #require(report.accounts.first?.id)
    }

    private enum DerivedIDs { static let new = "11111111-0000-4000-8000-0000000000aa" }
}
