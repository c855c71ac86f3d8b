import Foundation
import TestSupport
import Testing

/// The interactive view with the real daemon, a server and sound.
@Suite struct ViewTests {
    private func view(_ house: House, _ variables: [String: String] = [:]) throws -> PseudoTerminal {
        try PseudoTerminal(
            Child.built("dogear"),
            environment: house.environment.merging(["TERM": "xterm-256color", "COLORTERM": "truecolor"]) { $1 }
                .merging(variables) { $1 })
    }

    @Test func aBookIsFoundPlayedAndSteered() async throws {
        try await House.signedIn { house, _ in
            try await eventually("an index") {
                try await house.done("search", "tidebook", "--json").contains("Tidebook") ? true : nil
            }
            let terminal = try view(house)
            try await terminal.shows("Nothing is begun that is not finished.")
            terminal.type("/tdebook")
            try await terminal.until("a row") {
                $0.lines.contains { $0.contains("Tidebook") && $0.contains("Ada Ebb") }
            }
            terminal.type("\r\r")
            try await house.status("playing") { $0.state == .playing && $0.item?.title == "Tidebook" }
            terminal.type("5")
            // The picture is one colour, teal, in half blocks.
            let player = try await terminal.shows("▀▀▀▀▀▀▀▀")
            let points = Set(player.styles.joined()).filter { $0.contains("38;2") }
                .map { $0.split(separator: ";").compactMap { Int($0) } }
            #expect(points.contains { $0[3] < 20 && 100...150 ~= $0[4] && 100...150 ~= $0[5] }, "\(points)")
            try await terminal.shows("3  Slack Water")
            terminal.type("n")
            try await terminal.shows("Chapter 2/3 “The Flood”")
            terminal.type("]")
            try await house.status("faster") { $0.rate == 1.1 }
            terminal.type(" ")
            try await terminal.shows("Paused")
            terminal.type("u")
            try await terminal.shows("Back where you were before the last jump.")
            terminal.type("q")
            #expect(try await terminal.end() == 0)
            #expect(terminal.modes == terminal.found)
        }
    }

    @Test func aTerminalThatShowsPicturesGetsOne() async throws {
        try await House.signedIn { house, _ in
            try await house.done("play", "tidebook")
            let terminal = try view(house, ["TERM": "xterm-kitty"])
            let screen = try await terminal.until("a picture") { $0.image?.isWhole == true }
            let png = try #require(Data(base64Encoded: screen.image?.data ?? ""))
            #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47]) && screen.unknown.isEmpty)
            #expect(!screen.text.contains("▀"))
            terminal.type("1")
            try await terminal.until("none on other pages") { $0.image == nil && $0.text.contains("Tidebook") }
            terminal.type("5")
            try await terminal.until("the picture again") { $0.image?.isWhole == true }
        }
    }

    @Test func theDaemonIsKilledUnderIt() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook")
            let terminal = try view(house)
            try await terminal.shows("Playing")
            daemon.send(SIGKILL)
            _ = await daemon.end()
            try await terminal.shows("The daemon does not run.")
            try await house.daemon()
            try await terminal.until("the new one is followed") {
                !$0.text.contains("does not run") && $0.text.contains("Tidebook")
            }
            terminal.type(" ")
            try await terminal.shows("Playing")
            try await house.done("pause")
            try await terminal.shows("Paused")
        }
    }

    @Test func aDaemonThatLeftIsStartedByAKey() async throws {
        try await House.signedIn { house, daemon in
            try await house.done("play", "tidebook")
            let terminal = try view(house)
            try await terminal.shows("Playing")
            daemon.send(SIGTERM)
            _ = await daemon.end()
            try await terminal.shows("The daemon does not run.")
            // No bus has a way to start it here: the view does.
            terminal.type(" ")
            try await terminal.until("it plays again") {
                $0.text.contains("Playing") && !$0.text.contains("does not run")
            }
        }
    }
}
