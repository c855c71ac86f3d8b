internal import Listening

/// Tags that stand before and behind the audio of a file and are no part of it.
enum Tags {
    /// As many bytes as tell the length of one.
    static let longestHead = 16

    /// How many bytes the tag takes that begins at `offset`: ID3v2, or APEv2 with its header. Nil when none does.
    static func length(in bytes: [UInt8], at offset: Int) -> Int64? {
        if bytes.has("ID3", at: offset), offset + 10 <= bytes.count {
            let size = bytes[offset + 6..<offset + 10]
            guard size.allSatisfy({ $0 < 0x80 }) else { return nil }
            let footer: Int64 = bytes[offset + 5] & 0x10 != 0 ? 10 : 0
            return 10 + size.reduce(0) { $0 << 7 | Int64($1) } + footer
        }
        if bytes.has("APETAGEX", at: offset), offset + 16 <= bytes.count {
            let size = Int64(bytes.lowFirst(at: offset + 12, count: 4) ?? 0)
            return 32 + size
        }
        return nil
    }

    /// Whether tags begin here that stand behind the audio: ID3v1, APE, Lyrics3, ID3v2.
    static func beginsTail(_ bytes: [UInt8], at offset: Int) -> Bool {
        bytes.has("TAG", at: offset) || bytes.has("APETAGEX", at: offset) || bytes.has("LYRICSBEGIN", at: offset)
            || bytes.has("ID3", at: offset)
    }

    /// Where the audio ends: before the tags at the end of the file, as far as `tail`, its last bytes, shows them.
    static func audioEnd(of tail: Piece) -> Int64 {
        let bytes = tail.bytes
        var end = bytes.count
        var missing: Int64 = 0
        // Each kind stands once at most; they come in any order.
        for _ in 0..<4 {
            var length: Int64 = 0
            if bytes.has("TAG", at: end - 128) {
                length = 128
            } else if bytes.has("APETAGEX", at: end - 32) {
                let size = Int64(bytes.lowFirst(at: end - 20, count: 4) ?? 0)
                length = max(size, 32) + (bytes[end - 9] & 0x80 != 0 ? 32 : 0)
            } else if bytes.has("LYRICS200", at: end - 9), end >= 15 {
                let digits = bytes[end - 15..<end - 9]
                guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { break }
                length = 15 + digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            } else if bytes.has("3DI", at: end - 10), bytes[end - 4..<end].allSatisfy({ $0 < 0x80 }) {
                length = 20 + bytes[end - 4..<end].reduce(0) { $0 << 7 | Int64($1) }
            }
            guard length > 0 else { break }
            // A tag longer than what was read: what stands before it stays unknown.
            guard length <= Int64(end) else {
                missing = length - Int64(end)
                end = 0
                break
            }
            end -= Int(length)
        }
        return max(0, tail.start + Int64(end) - missing)
    }
}

/// The tags before the audio of a file, passed over one after the other as they are read.
struct FrontTags {
    private(set) var end: Int64 = 0
    private var count = 0
    /// Files with several tags exist, with many of them hardly.
    private static let most = 16

    /// - Parameters:
    ///   - bytes: what stands at ``end``.
    ///   - size: of the file.
    /// - Returns: whether that was one more tag.
    mutating func pass(_ bytes: [UInt8], size: Int64) -> Bool {
        guard count < Self.most, let length = Tags.length(in: bytes, at: 0), end + length < size else { return false }
        end += length
        count += 1
        return true
    }
}
