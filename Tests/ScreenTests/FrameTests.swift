import Screen
import TestSupport
import Testing

/// What is written onto the screen, and what a terminal makes of the changes.
@Suite struct FrameTests {
    private func shown(_ frames: [Frame], _ size: Size, colors: Colors = .sixteen) -> Emulator {
        var terminal = Emulator(columns: size.columns, rows: size.rows)
        terminal.feed("\u{1B}[?7l".utf8)
        var last: Frame?
        for frame in frames {
            terminal.feed((Changes.picture(from: last, to: frame) + Changes.from(last, to: frame, colors: colors)).utf8)
            last = frame
        }
        return terminal
    }

    @Test func textsAreCutAndHarmless() {
        var frame = Frame(Size(columns: 12, rows: 2))
        #expect(frame.write("Moby-Dick or the Whale", at: 0, 0, columns: 12) == 12)
        #expect(frame.line(0) == "Moby-Dick o…")
        frame.write("a\u{1B}[2J\u{202E}b\nc", at: 0, 1, columns: 12)
        #expect(frame.line(1) == "a [2Jb c")
        #expect(frame.write("far away", at: 20, 5, columns: 5) == 20)
    }

    @Test func whatIsChosenHasNoPatchesOfColour() {
        var frame = Frame(Size(columns: 8, rows: 1))
        frame.write("▶", .good, at: 0, 0, columns: 1)
        frame.write("Emma", .bold, at: 2, 0, columns: 6)
        frame.paint(Area(x: 0, y: 0, columns: 8, rows: 1), .chosen)
        let terminal = shown([frame], frame.size)
        #expect(terminal.styles[0][0] == "0;7" && terminal.styles[0][2] == "0;1;7")
    }

    @Test(arguments: [
        (Colors.none, "0;1"), (.sixteen, "0;1;33;40"), (.many, "0;1;38;5;136;48;5;16"),
        (.all, "0;1;38;2;190;105;40;48;2;0;0;0"),
    ])
    func inTheDarkNothingIsBright(colors: Colors, bold: String) {
        var frame = Frame(Size(columns: 4, rows: 2))
        frame.write("Emma", .bold, at: 0, 0, columns: 4)
        frame.paint(Area(x: 0, y: 1, columns: 4, rows: 1), .chosen)
        frame.darken()
        let terminal = shown([Frame(frame.size), frame], frame.size, colors: colors)
        #expect(terminal.styles[0][0] == bold)
        #expect(terminal.styles[1].allSatisfy { !$0.split(separator: ";").contains("7") })
    }

    @Test func wideCharactersTakeTwoPlacesAndAreNeverHalved() {
        var frame = Frame(Size(columns: 6, rows: 1))
        frame.write("日本語", at: 0, 0, columns: 6)
        #expect(frame.line(0) == "日本語")
        frame.write("x", at: 1, 0, columns: 1)
        #expect(frame.line(0) == " x本語")
        frame.write("y", at: 2, 0, columns: 1)
        #expect(frame.line(0) == " xy 語")
        frame.write("日本語", at: 0, 0, columns: 5)
        #expect(frame.line(0).hasPrefix("日本…"))
        var zalgo = Frame(Size(columns: 6, rows: 1))
        zalgo.write("a" + String(repeating: "\u{301}", count: 500) + "b", at: 0, 0, columns: 6)
        #expect(zalgo.line(0).unicodeScalars.count < 15 && zalgo.line(0).hasSuffix("b"))
    }

    @Test func nothingIsWrittenWhereNothingChanged() {
        var frame = Frame(Size(columns: 20, rows: 3))
        frame.write("Emma", .bold, at: 2, 1, columns: 10)
        #expect(Changes.from(frame, to: frame, colors: .all).isEmpty)
        var next = frame
        next.write("Ema", .bold, at: 2, 1, columns: 10)
        let changes = Changes.from(frame, to: next, colors: .all)
        #expect(!changes.isEmpty && changes.utf8.count < 40, "\(changes.debugDescription)")
    }

    @Test func aTerminalShowsTheFrameWhateverWasThereBefore() {
        var numbers = SeededNumbers(seed: 7)
        let words = ["Emma", "日本", "é", "👩‍👩‍👧", "━━──", "ẞ", "…", " ", "\u{1B}[2J", "a\u{301}"]
        let size = Size(columns: 23, rows: 7)
        for colors in [Colors.none, .sixteen, .many, .all] {
            var frames: [Frame] = []
            var frame = Frame(size)
            for _ in 0..<60 {
                if Int.random(in: 0..<8, using: &numbers) == 0 { frame.clear(frame.area) }
                for _ in 0..<6 {
                    let style: Style = [.plain, .bold, .chosen, .accent].randomElement(using: &numbers)!
                    frame.write(
                        words.randomElement(using: &numbers)! + words.randomElement(using: &numbers)!, style,
                        at: Int.random(in: 0..<25, using: &numbers), Int.random(in: 0..<9, using: &numbers),
                        columns: Int.random(in: 0..<12, using: &numbers))
                }
                frames.append(frame)
                let terminal = shown(frames, size, colors: colors)
                #expect(terminal.lines == (0..<size.rows).map(frame.line))
                #expect(terminal.unknown.isEmpty)
            }
        }
    }

    @Test func withoutColoursNoneAreSent() {
        var frame = Frame(Size(columns: 10, rows: 2))
        frame.write("good", Style.good.with(.bold), at: 0, 0, columns: 10)
        frame.picture(Pixels(width: 2, height: 2, bytes: Array(repeating: 200, count: 12))!, in: frame.area.row(1))
        let none = Changes.from(nil, to: frame, colors: .none)
        #expect(!none.contains("32") && !none.contains("38;") && !none.contains("48;"))
        #expect(none.contains("[0;1m"))
        #expect(Changes.from(nil, to: frame, colors: .all).contains("38;2;200;200;200;48;2;200;200;200"))
        #expect(Changes.from(nil, to: frame, colors: .many).contains("38;5;251"))
    }

    @Test(arguments: [
        (["TERM": "xterm-256color"], Colors.many), (["TERM": "xterm-256color", "COLORTERM": "truecolor"], .all),
        (["TERM": "xterm-256color", "NO_COLOR": "1"], .none), (["TERM": "linux"], .sixteen), (["TERM": "vt220"], .none),
        ([:], .none), (["TERM": "xterm-kitty"], .all), (["TERM": "xterm", "NO_COLOR": ""], .sixteen),
    ])
    func theEnvironmentSaysWhichColours(_ environment: [String: String], _ colors: Colors) {
        #expect(Colors(environment: environment) == colors)
    }

    @Test func aListKeepsWhatIsChosenInSight() {
        var place = ListPlace()
        place.chosen = 4999
        place.fit(count: 5000, rows: 10)
        #expect(place.first == 4990)
        place.chosen = -3
        place.fit(count: 5000, rows: 10)
        #expect(place.chosen == 0 && place.first == 0)
        place.scroll(by: 50, count: 5000, rows: 10)
        #expect(place.first == 50 && place.chosen == 50)
        place.fit(count: 3, rows: 10)
        #expect(place.chosen == 2 && place.first == 0)
        place.fit(count: 0, rows: 0)
        #expect(place.chosen == 0 && place.first == 0)
    }

    @Test func aFieldIsEdited() {
        var field = TextField()
        for character in "hobitt" { _ = field.handle(.text(character)) }
        _ = field.handle(.left)
        _ = field.handle(.backspace)
        #expect(field.string == "hobit")
        _ = field.handle(.home)
        field.insert("the\n\u{1B}[2J")
        #expect(field.string == "the [2Jhobit" && field.cursor == 7)
        #expect(field.shown(columns: 5).cursor < 5)
        _ = field.handle(.control("w"))
        #expect(field.string == "the hobit")
        _ = field.handle(.end)
        field.insert(String(repeating: "x", count: 5000))
        #expect(field.text.count == 200)
        let isEdited = field.handle(.up)
        #expect(!isEdited)
    }

    @Test func aPictureOfTheTerminalsOwnComesAndGoes() {
        let size = Size(columns: 30, rows: 12)
        let empty = Frame(size)
        var frame = empty
        frame.write("beside", at: 20, 0, columns: 10)
        let image = Image(name: "a", png: (0..<10_000).map { UInt8($0 & 255) }, width: 200, height: 100)
        let area = frame.show(image, in: Area(x: 2, y: 1, columns: 16, rows: 8))
        #expect(area == Area(x: 2, y: 1, columns: 16, rows: 4))
        let there = shown([empty, frame], size)
        #expect(there.image?.x == 2 && there.image?.y == 1 && there.image?.isWhole == true)
        #expect(there.image?.keys["c"] == "16" && there.image?.keys["r"] == "4" && there.image?.data.count == 13336)
        #expect(there.unknown.isEmpty && there.lines[0].hasSuffix("beside"))
        #expect(shown([frame, empty], size).image == nil)
        var later = frame
        later.write("more", at: 20, 5, columns: 10)
        #expect(Changes.from(frame, to: later, colors: .all).utf8.count < 60)
        #expect(Changes.picture(from: frame, to: later).isEmpty, "it is not sent again")
        // Moved it is only shown elsewhere.
        var moved = empty
        moved.show(image, in: Area(x: 5, y: 2, columns: 8, rows: 8))
        #expect(Changes.picture(from: frame, to: moved).isEmpty)
        let other = shown([empty, frame, moved], size)
        #expect(other.image?.x == 5 && other.image?.keys["c"] == "8" && other.image?.data == there.image?.data)
        // Within a frame there is never more than a terminal waits for.
        #expect(Changes.from(nil, to: frame, colors: .all).utf8.count < 1000)
    }

    @Test(arguments: [
        (["TERM": "xterm-kitty"], PictureKind.kitty), (["TERM": "xterm-256color"], .blocks), (["TERM": "xterm"], .none),
        (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], .kitty),
        (["TERM": "tmux-256color", "TERM_PROGRAM": "WezTerm"], .blocks),
        (["TERM": "xterm-kitty", "NO_COLOR": "1"], .none), (["TERM": "xterm-kitty", "TMUX": "/tmp/x"], .blocks),
    ])
    func theEnvironmentSaysWhichPictures(_ environment: [String: String], _ kind: PictureKind) {
        #expect(PictureKind(environment: environment) == kind)
    }

    @Test func theClipboardTakesBase64() {
        var terminal = Emulator(columns: 10, rows: 2)
        terminal.feed(Clipboard.copy("Emma\n").utf8)
        #expect(terminal.clipboard == "RW1tYQo=" && terminal.unknown.isEmpty)
    }
}
