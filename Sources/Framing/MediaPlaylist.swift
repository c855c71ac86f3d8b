public import Listening

/// A playlist of HLS (RFC 8216): the segments of one recording, each with its length.
public enum MediaPlaylist {
    /// What holds for more than the segment it stands before, or says that these are no segments.
    private static let binding = [
        "#EXT-X-KEY", "#EXT-X-MAP", "#EXT-X-BYTERANGE", "#EXT-X-DISCONTINUITY", "#EXT-X-STREAM-INF",
        "#EXT-X-I-FRAMES-ONLY",
    ]

    /// Where to begin so that the segment before that with `time` is the first: the server may have nothing yet before that,
    /// and what it makes may begin up to a segment late, see ``TransportStream/delay(of:against:files:)``.
    /// - Parameter text: the whole playlist.
    /// - Returns: nil for the first segment, and for what cannot be begun elsewhere: a list of playlists, a broadcast, one
    ///   with keys or byte ranges.
    public static func cut(_ text: [UInt8], before time: BookTime) -> Cut? {
        var last: (byte: Int, time: Double)?
        var before: (byte: Int, time: Double)?
        let frame = read(text) { _, byte, begin in
            if last == nil || begin <= time.seconds { (before, last) = (last, (byte, begin)) }
        }
        guard let frame, frame.isWhole, let before, before.byte > frame.head else { return nil }
        return Cut(
            byte: Int64(before.byte), time: .seconds(before.time), head: Array(text[..<frame.head]), hasOwnTimes: false)
    }

    /// When a segment begins by the lengths of those before it.
    /// - Parameter address: of the segment, with or without its server.
    /// - Returns: nil if it is not named there.
    public static func start(of address: String, in text: [UInt8]) -> BookTime? {
        var start: BookTime?
        let frame = read(text) { name, _, begin in
            if start == nil, address == name || address.hasSuffix("/" + name) { start = .seconds(begin) }
        }
        return frame == nil ? nil : start
    }

    /// - Parameter each: gets a segment's name, its first byte with what stands before it, and when it begins, in seconds.
    /// - Returns: where the first segment stands, and whether the last one does; nil if these are not segments of one
    ///   recording that can be had apart from each other.
    private static func read(
        _ text: [UInt8], each: (_ name: Substring, _ byte: Int, _ begin: Double) -> Void
    ) -> (head: Int, isWhole: Bool)? {
        var isWhole = false
        /// Behind what stands before all segments.
        var head: Int?
        var start = 0
        /// Of the segment that is being read.
        var length: Double?
        var byte = 0
        var passed = 0.0
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            let line = String(decoding: text[start..<end], as: UTF8.self).prefix { $0 != "\r" }
            if binding.contains(where: line.hasPrefix) { return nil }
            if line == "#EXT-X-ENDLIST" { isWhole = true }
            if line.hasPrefix("#EXTINF:") {
                if head == nil { (head, byte) = (start, start) }
                length = Double(line.dropFirst(8).prefix { $0 != "," }).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
                if length == nil { return nil }
            } else if !line.isEmpty, !line.hasPrefix("#") {
                guard let seconds = length else { return nil }
                each(line, byte, passed)
                passed += seconds
                length = nil
                byte = end + 1
            }
            start = end + 1
        }
        return head.map { ($0, isWhole) }
    }
}
