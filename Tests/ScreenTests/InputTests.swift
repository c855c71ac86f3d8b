import Screen
import TestSupport
import Testing

@Suite struct InputTests {
    private func parsed(_ text: String) -> [Input] {
        var parser = InputParser()
        return parser.feed(text.utf8) + parser.timeout()
    }

    @Test(arguments: [
        ("a", [Input.key(.text("a"))]), ("é日👩", [.key(.text("é")), .key(.text("日")), .key(.text("👩"))]),
        ("\u{1B}[A\u{1B}OB", [.key(.up), .key(.down)]), ("\u{1B}[5~\u{1B}[6~", [.key(.pageUp), .key(.pageDown)]),
        ("\u{1B}", [.key(.escape)]), ("\u{1B}\u{1B}", [.key(.escape), .key(.escape)]),
        ("\r\t\u{7F}", [.key(.enter), .key(.tab), .key(.backspace)]),
        ("\u{1B}[Z", [.key(.backTab)]), ("\u{3}\u{1A}", [.key(.control("c")), .key(.control("z"))]),
        ("\u{1B}[<0;10;5M\u{1B}[<0;10;5m", [.mouse(Mouse(.press, x: 9, y: 4)), .mouse(Mouse(.release, x: 9, y: 4))]),
        (
            "\u{1B}[<32;1;1M\u{1B}[<64;2;3M\u{1B}[<65;2;3M",
            [
                .mouse(Mouse(.drag, x: 0, y: 0)), .mouse(Mouse(.wheelUp, x: 1, y: 2)),
                .mouse(Mouse(.wheelDown, x: 1, y: 2)),
            ]
        ),
        ("\u{1B}[200~q\u{1B}[Ax\u{1B}[201~z", [.paste("q\u{1B}[Ax"), .key(.text("z"))]),
        ("\u{1B}[I\u{1B}[O", [.focus(true), .focus(false)]), ("\u{1B}x", [.alt(.text("x"))]),
        ("\u{1B}[1;3C\u{1B}[1;5C", [.alt(.right), .key(.right)]),
        ("\u{1B}[15~\u{1B}OP", [.key(.function(5)), .key(.function(1))]),
        ("\u{1B}]11;rgb:0/0/0\u{7}a\u{1B}]x\u{1B}\\b", [.key(.text("a")), .key(.text("b"))]),
        ("\u{1B}[99;99xA", [.key(.text("A"))]), ("\u{1B}[<0;0;0Ma", [.key(.text("a"))]),
    ])
    func keys(_ text: String, _ inputs: [Input]) {
        #expect(parsed(text) == inputs)
        // However it is cut into pieces.
        var parser = InputParser()
        var all: [Input] = []
        for byte in text.utf8 { all += parser.feed([byte]) }
        all += parser.timeout()
        #expect(all == inputs)
    }

    @Test func aLoneEscapeIsTheCallersToDecide() {
        var parser = InputParser()
        let first = parser.feed([0x1B])
        #expect(first.isEmpty && parser.isWaiting)
        let late = parser.timeout()
        #expect(late == [.key(.escape)] && !parser.isWaiting)
        let parts = [parser.feed([0x1B]), parser.feed(Array("[B".utf8))]
        #expect(parts == [[], [.key(.down)]])
        let begun = parser.feed([0xE6, 0x97])
        #expect(begun.isEmpty && parser.isWaiting)
        let rest = parser.feed([0xA5])
        #expect(rest == [.key(.text("日"))])
    }

    @Test func whateverComesItGoesOn() {
        var numbers = SeededNumbers(seed: 41)
        let spice: [[UInt8]] = [
            [0x1B], Array("\u{1B}[".utf8), Array("\u{1B}[<".utf8), Array("\u{1B}[200~".utf8), Array("\u{1B}]".utf8),
            [0xF0, 0x9F], [0x3B, 0x31], Array("\u{1B}O".utf8),
        ]
        for _ in 0..<3000 {
            var parser = InputParser()
            for _ in 0..<12 {
                var bytes = (0..<Int.random(in: 0..<9, using: &numbers)).map { _ in
                    UInt8.random(in: .min ... .max, using: &numbers)
                }
                bytes += spice.randomElement(using: &numbers)!
                _ = parser.feed(bytes)
                if Bool.random(using: &numbers) { _ = parser.timeout() }
            }
            // Out of whatever it was in, keys are keys again.
            _ = parser.feed(Array("\u{1B}[201~".utf8))
            _ = parser.timeout()
            _ = parser.feed([0x07])
            _ = parser.timeout()
            let key = parser.feed([0x61])
            #expect(key == [.key(.text("a"))])
        }
    }

    /// None of what is pasted may pass for a key, however much it is, nor keep keys from being heard for ever.
    @Test(arguments: [true, false]) func anEndlessPasteEnds(isTold: Bool) {
        var parser = InputParser()
        var inputs = parser.feed("\u{1B}[200~".utf8)
        for _ in 0..<40 { inputs += parser.feed([UInt8](repeating: 0x61, count: 65536)) }
        #expect(inputs.isEmpty && parser.isWaiting)
        let end = isTold ? parser.feed("\u{1B}[201~".utf8) : parser.timeout()
        #expect(end.count == (isTold ? 1 : 0) && !parser.isWaiting)
        let after = parser.feed("b".utf8)
        #expect(after == [.key(.text("b"))])
    }
}
