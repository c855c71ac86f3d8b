internal import Listening

/// `CHAP` frames of ID3v2.3 and 2.4, which mp3 audiobooks have and GStreamer does not show.
enum ID3Chapters {
    private static let largestTag = 64 << 20
    private static let mostChapters = 10_000
    /// Bytes.
    private static let longestTitle = 1 << 11

    static func read(_ file: Window) async throws(EngineFailure) -> [Chapter] {
        guard var head = try await file.bytes(at: 0, count: 10).map(ByteCursor.init),
            head.take(3)?.elementsEqual("ID3".utf8) == true,
            let version = head.number(1), version == 3 || version == 4, head.skip(1), let flags = head.number(1),
            let size = synchsafe(&head), size <= largestTag, var bytes = try await file.bytes(at: 10, count: size)
        else { return [] }
        // In version 3 the whole tag has zeros put in; in version 4 each frame says so.
        if flags & 0x80 != 0, version == 3 { bytes = resynchronised(bytes) }
        var tag = ByteCursor(bytes)
        if flags & 0x40 != 0 {
            guard let extended = version == 4 ? synchsafe(&tag).map({ $0 - 4 }) : tag.number(4), tag.skip(extended)
            else {
                return []
            }
        }
        var chapters: [Chapter] = []
        while chapters.count < mostChapters, let frame = frame(&tag, version) {
            if frame.id == "CHAP", let chapter = chapter(frame.body, version) { chapters.append(chapter) }
        }
        return chapters.sorted { $0.start < $1.start }
    }

    private static func chapter(_ body: [UInt8], _ version: Int) -> Chapter? {
        guard let end = body.firstIndex(of: 0) else { return nil }
        var rest = ByteCursor(body[(end + 1)...])
        guard let start = rest.number(4), let stop = rest.number(4), rest.skip(8) else { return nil }
        var title = ""
        while let frame = frame(&rest, version) {
            if frame.id == "TIT2" { title = text(frame.body) }
        }
        return Chapter(
            title: title, start: BookTime(microseconds: Int64(start) * 1000),
            end: BookTime(microseconds: Int64(stop) * 1000))
    }

    private static func frame(_ reader: inout ByteCursor, _ version: Int) -> (id: String, body: [UInt8])? {
        guard let name = reader.take(4), name.first != 0 else { return nil }
        guard let size = version == 4 ? size(&reader) : reader.number(4), let flags = reader.number(2),
            let body = reader.take(size)
        else { return nil }
        return (String(decoding: name, as: UTF8.self), content(Array(body), flags, version))
    }

    /// What a frame holds, without what its flags put before or into it; nothing where it is compressed or encrypted.
    private static func content(_ body: [UInt8], _ flags: Int, _ version: Int) -> [UInt8] {
        guard version == 4 else {
            return flags & 0xC0 != 0 ? [] : Array(body.dropFirst(flags & 0x20 != 0 ? 1 : 0))
        }
        guard flags & 0x0C == 0 else { return [] }
        // The group it belongs to, and its length once it is resynchronised.
        let head = (flags & 0x40 != 0 ? 1 : 0) + (flags & 0x01 != 0 ? 4 : 0)
        let rest = Array(body.dropFirst(head))
        return flags & 0x02 != 0 ? resynchronised(rest) : rest
    }

    /// Of a frame of version 4. iTunes and ffmpeg (its table of contents, from some 25 chapters on) write all eight bits of
    /// each byte, where the specification has seven: what leads to another frame is meant, else to the end.
    private static func size(_ reader: inout ByteCursor) -> Int? {
        var plain = reader
        guard let safe = synchsafe(&reader), let whole = plain.number(4) else { return nil }
        for isMeant in [isName, isEnd] {
            for size in [safe, whole] {
                var next = reader
                // Behind the flags and what it holds.
                if next.skip(2 + size), isMeant(Array(next.take(4) ?? [])) { return size }
            }
        }
        return safe
    }

    private static func isName(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { 0x41...0x5A ~= $0 || 0x30...0x39 ~= $0 }
    }

    private static func isEnd(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { $0 == 0 } }

    /// Seven bits of each byte.
    private static func synchsafe(_ reader: inout ByteCursor) -> Int? {
        reader.take(4)?.reduce(0) { $0 << 7 | Int($1 & 0x7f) }
    }

    private static func resynchronised(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() where !(byte == 0 && index > 0 && bytes[index - 1] == 0xff) {
            result.append(byte)
        }
        return result
    }

    private static func text(_ body: [UInt8]) -> String {
        guard let encoding = body.first else { return "" }
        let bytes = body.dropFirst().prefix(longestTitle)
        let decoded: String
        switch encoding {
        case 0: decoded = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case 3: decoded = String(decoding: bytes, as: UTF8.self)
        default:
            let isLittle = bytes.starts(with: [0xff, 0xfe])
            let hasMark = isLittle || bytes.starts(with: [0xfe, 0xff])
            let pairs = Array(hasMark ? bytes.dropFirst(2) : bytes)
            let units = stride(from: 0, to: pairs.count - 1, by: 2).map { index in
                let (a, b) = (UInt16(pairs[index]), UInt16(pairs[index + 1]))
                return isLittle ? b << 8 | a : a << 8 | b
            }
            decoded = String(decoding: units, as: UTF16.self)
        }
        return String(decoded.prefix { $0 != "\0" })
    }
}
