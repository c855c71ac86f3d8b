/// What a person does at a terminal.
public enum Input: Hashable, Sendable {
    case key(Key)
    /// With Alt held, or Esc before it.
    case alt(Key)
    case paste(String)
    case mouse(Mouse)
    case focus(Bool)
}

public enum Key: Hashable, Sendable {
    case text(Character)
    /// A lower-case letter with Ctrl held.
    case control(Character)
    case enter, tab, backTab, backspace, escape
    case up, down, left, right, home, end, pageUp, pageDown, insert, delete
    /// From 1.
    case function(Int)
}

public struct Mouse: Hashable, Sendable {
    public enum Kind: Hashable, Sendable { case press, drag, release, wheelUp, wheelDown }
    public var kind: Kind
    /// From 0.
    public var x: Int
    public var y: Int

    public init(_ kind: Kind, x: Int, y: Int) {
        self.kind = kind
        self.x = x
        self.y = y
    }
}

/// Makes keys of the bytes of a terminal, however they are cut into pieces.
public struct InputParser: Sendable {
    private var bytes: [UInt8] = []
    private var pasted: [UInt8]?
    /// Longer sequences are no keys of any terminal.
    private static let longestSequence = 64
    private static let longestPaste = 1 << 20

    public init() {}

    /// An Esc came, of which only time can tell whether more belongs to it: call ``timeout()`` when nothing follows.
    public var isWaiting: Bool { !bytes.isEmpty && (pasted == nil || isPasteTooLong) }

    /// The rest of it is no keys all the same, until its end comes or nothing does.
    private var isPasteTooLong: Bool { pasted?.count == Self.longestPaste }

    public mutating func feed(_ more: some Sequence<UInt8>) -> [Input] {
        bytes += more
        return parse(isOver: false)
    }

    /// Nothing came for a while: what is there is all there will be.
    public mutating func timeout() -> [Input] {
        if isPasteTooLong { (pasted, bytes) = (nil, []) }
        return pasted == nil ? parse(isOver: true) : []
    }

    private mutating func parse(isOver: Bool) -> [Input] {
        var inputs: [Input] = []
        var start = 0
        while start < bytes.count {
            if pasted != nil {
                start = paste(from: start, &inputs)
                if pasted == nil { continue }
                break
            }
            guard let (input, length) = one(at: start, isOver: isOver) else { break }
            if let input { inputs.append(input) }
            start += length
        }
        bytes.removeFirst(min(start, bytes.count))
        return inputs
    }

    /// - Returns: nil if more bytes are needed; no input for what means nothing.
    private mutating func one(at start: Int, isOver: Bool) -> (Input?, Int)? {
        let first = bytes[start]
        if first == 0x1B { return escape(at: start, isOver: isOver) }
        guard let (key, length) = plain(at: start, isOver: isOver) else { return nil }
        return (key.map(Input.key), length)
    }

    private func plain(at start: Int, isOver: Bool) -> (Key?, Int)? {
        let first = bytes[start]
        switch first {
        case 0x09: return (.tab, 1)
        case 0x0A, 0x0D: return (.enter, 1)
        case 0x08, 0x7F: return (.backspace, 1)
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x00, 0x1C...0x1F: return (nil, 1)
        case 0x20...0x7E: return (.text(Character(Unicode.Scalar(first))), 1)
        default: return letter(at: start, isOver: isOver)
        }
    }

    /// UTF-8 of several bytes; what is none is dropped byte by byte.
    private func letter(at start: Int, isOver: Bool) -> (Key?, Int)? {
        let length = bytes[start] >= 0xF0 ? 4 : bytes[start] >= 0xE0 ? 3 : bytes[start] >= 0xC2 ? 2 : 1
        guard length > 1, bytes[start] < 0xF5 else { return (nil, 1) }
        let there = bytes[start..<min(start + length, bytes.count)]
        if there.dropFirst().contains(where: { $0 & 0xC0 != 0x80 }) { return (nil, 1) }
        guard there.count == length else { return isOver ? (nil, there.count) : nil }
        guard let text = String(validating: there, as: UTF8.self), let character = text.first,
            text.unicodeScalars.first.map({ $0.value >= 0xA0 }) == true
        else { return (nil, length) }
        return (.text(character), length)
    }

    private mutating func escape(at start: Int, isOver: Bool) -> (Input?, Int)? {
        guard start + 1 < bytes.count else { return isOver ? (.key(.escape), 1) : nil }
        switch bytes[start + 1] {
        case UInt8(ascii: "["): return sequence(at: start, isOver: isOver)
        case UInt8(ascii: "O"):
            guard start + 2 < bytes.count else { return isOver ? (.alt(.text("O")), 2) : nil }
            return (Self.letters[bytes[start + 2]].map(Input.key), 3)
        case 0x1B:
            // Two Escs, or an Esc and an arrow: each for itself.
            return (.key(.escape), 1)
        case UInt8(ascii: "]"), UInt8(ascii: "P"), UInt8(ascii: "_"), UInt8(ascii: "^"):
            return string(at: start, isOver: isOver)
        default:
            guard let (key, length) = plain(at: start + 1, isOver: isOver) else { return nil }
            return (key.map(Input.alt), length + 1)
        }
    }

    /// `ESC [ … letter`.
    private mutating func sequence(at start: Int, isOver: Bool) -> (Input?, Int)? {
        var end = start + 2
        while end < bytes.count, end - start < Self.longestSequence, 0x20...0x3F ~= bytes[end] { end += 1 }
        guard end < bytes.count else { return isOver ? (nil, end - start) : nil }
        let length = end - start + 1
        // Cut short by something else, or endless: it is dropped up to there.
        guard 0x40...0x7E ~= bytes[end] else { return (nil, max(1, length - 1)) }
        let text = bytes[(start + 2)..<end]
        if text.first == UInt8(ascii: "<") { return (mouse(text.dropFirst(), bytes[end]), length) }
        let numbers = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(number)
        if bytes[end] == UInt8(ascii: "~") {
            if numbers.first == 200 { pasted = [] }
            return (numbers.first.flatMap { Self.numbered[$0] }.map { held($0, numbers) }, length)
        }
        if text.isEmpty, bytes[end] == UInt8(ascii: "I") || bytes[end] == UInt8(ascii: "O") {
            return (.focus(bytes[end] == UInt8(ascii: "I")), length)
        }
        if bytes[end] == UInt8(ascii: "Z") { return (.key(.backTab), length) }
        return (Self.letters[bytes[end]].map { held($0, numbers) }, length)
    }

    /// The second number says which keys are held: 3 is Alt, others are no matter here.
    private func held(_ key: Key, _ numbers: [Int]) -> Input {
        numbers.count > 1 && numbers[1] == 3 ? .alt(key) : .key(key)
    }

    /// Answers of the terminal, `ESC ] … BEL` or `… ESC \`: of no use here.
    private func string(at start: Int, isOver: Bool) -> (Input?, Int)? {
        var end = start + 2
        while end < bytes.count, end - start < 4096 {
            if bytes[end] == 0x07 { return (nil, end - start + 1) }
            if bytes[end] == 0x1B {
                guard end + 1 < bytes.count else { return isOver ? (nil, end - start) : nil }
                return (nil, end - start + (bytes[end + 1] == UInt8(ascii: "\\") ? 2 : 0))
            }
            end += 1
        }
        if end - start == 2, isOver { return (.alt(.text(Character(Unicode.Scalar(bytes[start + 1])))), 2) }
        return isOver || end - start >= 4096 ? (nil, end - start) : nil
    }

    /// `ESC [ < button ; column ; row M`, or `m` when it is let go.
    private func mouse(_ text: ArraySlice<UInt8>, _ last: UInt8) -> Input? {
        let numbers = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map(number)
        guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
        let (button, x, y) = (numbers[0], numbers[1] - 1, numbers[2] - 1)
        if button & 64 != 0 {
            return button & 3 == 0
                ? .mouse(Mouse(.wheelUp, x: x, y: y)) : button & 3 == 1 ? .mouse(Mouse(.wheelDown, x: x, y: y)) : nil
        }
        guard button & 3 == 0 else { return nil }
        if last == UInt8(ascii: "m") { return .mouse(Mouse(.release, x: x, y: y)) }
        return last == UInt8(ascii: "M") ? .mouse(Mouse(button & 32 == 0 ? .press : .drag, x: x, y: y)) : nil
    }

    private func number(_ digits: ArraySlice<UInt8>) -> Int {
        guard !digits.isEmpty, digits.count < 8 else { return 0 }
        var value = 0
        for digit in digits {
            guard 0x30...0x39 ~= digit else { return 0 }
            value = value * 10 + Int(digit - 0x30)
        }
        return value
    }

    /// Takes what belongs to the paste; ``pasted`` is nil again when its end has come.
    /// - Returns: where it goes on.
    private mutating func paste(from start: Int, _ inputs: inout [Input]) -> Int {
        let mark = Array("\u{1B}[201~".utf8)
        var all = pasted ?? []
        for end in start..<bytes.count where bytes[end] == 0x1B && bytes[end...].starts(with: mark) {
            all += bytes[start..<end]
            inputs.append(.paste(String(decoding: all.prefix(Self.longestPaste), as: UTF8.self)))
            pasted = nil
            return end + mark.count
        }
        // The last bytes may be the beginning of the mark.
        let sure = max(start, bytes.count - mark.count + 1)
        all += bytes[start..<sure]
        pasted = Array(all.prefix(Self.longestPaste))
        return sure
    }

    private static let letters: [UInt8: Key] = [
        UInt8(ascii: "A"): .up, UInt8(ascii: "B"): .down, UInt8(ascii: "C"): .right, UInt8(ascii: "D"): .left,
        UInt8(ascii: "H"): .home, UInt8(ascii: "F"): .end, UInt8(ascii: "M"): .enter,
        UInt8(ascii: "P"): .function(1), UInt8(ascii: "Q"): .function(2), UInt8(ascii: "R"): .function(3),
        UInt8(ascii: "S"): .function(4),
    ]

    private static let numbered: [Int: Key] = [
        1: .home, 2: .insert, 3: .delete, 4: .end, 5: .pageUp, 6: .pageDown, 7: .home, 8: .end, 11: .function(1),
        12: .function(2), 13: .function(3), 14: .function(4), 15: .function(5), 17: .function(6), 18: .function(7),
        19: .function(8), 20: .function(9), 21: .function(10), 23: .function(11), 24: .function(12),
    ]
}
