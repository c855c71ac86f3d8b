/// A literal IP address. Only the plain way of writing it: what else resolvers understand ("127.1", "0x7f.1") is no
/// address here, so that nothing is taken for private that may not be.
struct IPAddress {
    /// Four or sixteen.
    let bytes: [UInt8]
    var isSix: Bool { bytes.count == 16 }

    init?(_ text: String) {
        guard let bytes = text.contains(":") ? Self.six(text) : Self.four(text[...]) else { return nil }
        self.bytes = bytes
    }

    var isPrivate: Bool {
        if !isSix { return Self.isPrivate(four: bytes) }
        if bytes.dropLast().allSatisfy({ $0 == 0 }) { return bytes[15] == 1 }
        if bytes.prefix(10).allSatisfy({ $0 == 0 }) && bytes[10] == 0xFF && bytes[11] == 0xFF {
            return Self.isPrivate(four: Array(bytes[12...]))
        }
        return bytes[0] & 0xFE == 0xFC || (bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80)
    }

    private static func isPrivate(four bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (127, _), (10, _), (172, 16...31), (192, 168), (169, 254): true
        default: false
        }
    }

    private static func four(_ text: Substring) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            part.count <= 3 && part.utf8.allSatisfy { (48...57).contains($0) } && (part == "0" || !part.hasPrefix("0"))
                ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    private static func six(_ text: String) -> [UInt8]? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2, let head = groups(halves[0]), let tail = groups(halves.count == 2 ? halves[1] : "")
        else { return nil }
        if halves.count == 1 { return head.count == 16 ? head : nil }
        let gap = 16 - head.count - tail.count
        return gap >= 2 ? head + [UInt8](repeating: 0, count: gap) + tail : nil
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        if text.isEmpty { return [] }
        var bytes: [UInt8] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(".") {
                guard let last = four(part) else { return nil }
                bytes += last
            } else {
                guard (1...4).contains(part.count), part.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                    let group = UInt16(part, radix: 16)
                else { return nil }
                bytes += [UInt8(group >> 8), UInt8(group & 0xFF)]
            }
        }
        return bytes
    }
}
