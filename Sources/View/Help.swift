/// What the keys do, for people.
enum Help {
    /// At the bottom, the most useful first; what does not fit is left out.
    static func keys(of state: ViewState) -> [(String, String)] {
        if state.isTyping { return [("Enter", "to the list"), ("Esc", "clear"), ("Ctrl-C", "leave")] }
        let rest = [("?", "keys"), ("q", "leave")]
        switch state.tab {
        case .player:
            return [("Space", state.status.state == .playing ? "pause" : "play")] + rest + [
                ("← →", "skip"), ("n p", "chapter"), ("[ ]", "speed"), ("- +", "volume"), ("s", "sleep"), ("u", "undo"),
                ("Enter", "go to chapter"),
            ]
        case .queue:
            return [("Enter", "play")] + rest + [("x", "remove"), ("J K", "move"), ("Space", "pause")]
        case .logs:
            return [("e", "level")] + rest + [("y", "copy all"), ("c", "clear"), ("Enter", "whole line")]
        case .continued, .latest, .library:
            let library: [(String, String)] =
                state.currentList == .library ? [("/", "search"), ("L", "library"), ("o", "order")] : [("/", "search")]
            return [("Enter", "play")] + rest + [("a", "queue"), ("A", "next"), ("f", "finish"), ("i", "more")]
                + library
        }
    }

    static let lines = """
        Everywhere
          1 to 6, Tab     the pages
          Space           pause, or go on
          ← →, h l        skip back and forward
          n p             next and previous chapter
          [ ] =           slower, faster, normal speed
          - +             softer, louder
          u               undo the last jump
          s               end listening later: sleep
          b               bedroom: a dark screen, and sleep; again for light
          /               search
          Ctrl-L          draw everything anew
          q               close what is above, or leave; what plays goes on
          Ctrl-C          leave from anywhere
          Ctrl-Z          back to the shell for a while

        In lists
          ↑ ↓, k j        choose; PgUp, PgDn, g, G go further
          Enter           play, or open a podcast; Esc comes back
          a A             to the end of the queue; play next
          f               finish, or take that back
          i               everything about it
          L o r           in the library: the next library, another order, read again

        In the queue
          x               remove
          J K             move down and up

        In the player
          Enter           go to the chapter that is chosen
          f               finish what plays

        In the log
          e               the least that is shown
          y               copy everything that is shown
          c C             hide what is there now; show it again
          Enter           the whole line

        The mouse: pages and rows (twice: Enter), the wheel, and the lines that show the place.
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
