import Control
import Foundation
import TestSupport
import Testing

/// A command whose answer does not come, as when a server hangs.
@Suite(.enabled(if: PrivateBus.isPossible)) struct WaitingTests {
    @Test(arguments: [(1, "books.example.org:8000"), (2, "the servers"), (0, "an answer")])
    func whatIsWaitedForIsSaidAndTakenBack(_ accounts: Int, _ whom: String) async throws {
        let home = try Program.Home()
        let bus = try PrivateBus(in: home)
        let daemon = try await FakeDaemon(on: bus.address)
        let isShow: @Sendable (Command) -> Bool = { if case .chapters = $0 { true } else { false } }
        await daemon.holds(isShow)
        await daemon.answers { command in
            guard !isShow(command) else {
                return ChaptersReport(item: ViewTests.emma, chapters: [], current: nil)
            }
            return AccountsReport(
                accounts: (0..<accounts).map {
                    .init(
                        id: "\($0)", server: "https://books.example.org:8000/private", user: "ada", login: "tokens",
                        serverVersion: nil, signedIn: true, unsent: 0)
                })
        }
        let terminal = try PseudoTerminal(
            TestSupport.Child.built("dogear"), ["chapters"],
            environment: [
                "HOME": home.path, "PATH": "/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "DBUS_SESSION_BUS_ADDRESS": bus.address,
            ])
        let screen = try await terminal.shows("waiting for \(whom)…")
        #expect(!screen.text.contains("private"))
        await daemon.release()
        #expect(try await terminal.end() == 0)
        try await terminal.until("the line for the answer") { !$0.text.contains("waiting") }
        #expect(terminal.screen.unknown.isEmpty)
        await daemon.leave()
    }

    @Test func aRefreshThatStandsStillSaysSo() async throws {
        let home = try Program.Home()
        let bus = try PrivateBus(in: home)
        let daemon = try await FakeDaemon(on: bus.address)
        var report = LibrariesReport(libraries: [
            .init(id: "books", name: "Books", mediaType: "book", account: "ada@books.example.org")
        ])
        (report.refreshing, report.libraries[0].known, report.libraries[0].items) = (true, 7, 9)
        await daemon.answers { [report] command in
            if case .refresh = command { report } else { AccountsReport(accounts: []) }
        }
        let terminal = try PseudoTerminal(
            TestSupport.Child.built("dogear"), ["libraries", "--refresh"],
            environment: [
                "HOME": home.path, "PATH": "/usr/bin:/bin", "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "DBUS_SESSION_BUS_ADDRESS": bus.address,
            ])
        try await terminal.shows("Reading: Books 7 of 9")
        try await terminal.shows("waiting for")
        report.libraries[0].known = 8
        try await daemon.emit("Refreshed", report)
        try await terminal.shows("Reading: Books 8 of 9")
        report.refreshing = false
        try await daemon.emit("Refreshed", report)
        #expect(try await terminal.end() == 0)
        #expect(!terminal.text.contains("waiting"))
        await daemon.leave()
    }
}
