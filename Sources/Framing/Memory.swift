/// How the frames of an mp3 file follow each other, as far as it is known.
enum Pacing: Hashable, Sendable {
    case unknown
    case even(EvenPace)
    case uneven
}

/// What was found out about an mp3 file, so that it need not be read again.
struct Memory: Hashable, Sendable {
    let size: Int64
    let pacing: Pacing
    /// Ascending in both.
    let marks: [FrameIndex.Mark]

    private static let version: UInt8 = 1

    init(size: Int64, pacing: Pacing, marks: [FrameIndex.Mark]) {
        (self.size, self.pacing, self.marks) = (size, pacing, marks)
    }

    /// A version, then numbers of seven bits a byte, the lowest first: size, pace, and how far each mark is behind the
    /// one before.
    var bytes: [UInt8] {
        var bytes = [Self.version]
        func add(_ number: Int64) {
            var rest = UInt64(max(0, number))
            while rest > 0x7F {
                bytes.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            bytes.append(UInt8(rest))
        }
        add(size)
        switch pacing {
        case .unknown: add(0)
        case .uneven: add(1)
        case .even(let pace):
            for number in [2, pace.bytes, pace.frames, pace.tolerance] { add(number) }
        }
        var last = FrameIndex.Mark(byte: 0, frame: 0)
        for mark in marks {
            add(mark.byte - last.byte)
            add(mark.frame - last.frame)
            last = mark
        }
        return bytes
    }

    /// Nil for anything that ``bytes`` did not give.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        func number() -> Int64? {
            var value: Int64 = 0
            for shift in stride(from: Int64(0), to: 49, by: 7) {
                guard let byte = rest.popFirst() else { return nil }
                value |= Int64(byte & 0x7F) << shift
                if byte < 0x80 { return value }
            }
            return nil
        }
        guard rest.popFirst() == Self.version, let size = number(), let kind = number() else { return nil }
        self.size = size
        switch kind {
        case 0: pacing = .unknown
        case 1: pacing = .uneven
        case 2:
            guard let bytes = number(), let frames = number(), let tolerance = number(),
                frames > 0, bytes / frames > 4, bytes < 1 << 32, tolerance < 8
            else { return nil }
            pacing = .even(EvenPace(bytes: bytes, frames: frames, tolerance: tolerance))
        default: return nil
        }
        var marks: [FrameIndex.Mark] = []
        while !rest.isEmpty {
            let last = marks.last ?? .init(byte: 0, frame: 0)
            guard let byte = number(), let frame = number(), last.byte + byte < 1 << 48, last.frame + frame < 1 << 48
            else { return nil }
            marks.append(.init(byte: last.byte + byte, frame: last.frame + frame))
        }
        self.marks = marks
    }
}
