import ArgumentParser
import Control
import Glibc
import Screen
import Terminal
import Termios
import View

struct ShowView: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Look around, listen and steer on one screen, with keys and mouse. 'dogear' alone does the same.",
        discussion: """
            Example:
              dogear view
              dogear view --plain

            ? lists the keys; q leaves, and what plays goes on. With --plain nothing moves on the screen: you type numbers \
            and words and are answered in lines, which suits screen readers. Colours are the terminal's own; NO_COLOR in \
            the environment leaves them out. Covers are shown where there are 256 colours or more.
            """)

    @Flag(help: "Lines and numbers only: for screen readers, and terminals that can do nothing else.")
    var plain = false

    func perform() throws { try Self.show(plain: plain) }

    static func show(plain: Bool) throws {
        let isDumb = ["", "dumb"].contains(environment("TERM") ?? "")
        if plain || Terminals.areThere && isDumb { try PlainViewer.run() }
        guard Terminals.areThere else {
            throw ControlError(
                .usage,
                "the view needs a terminal for input and output; 'dogear status' tells what plays, and "
                    + "'dogear view --plain' reads words from a pipe")
        }
        try Viewer.run()
    }
}

enum Terminals {
    static var areThere: Bool { isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 }
}
