public import Listening

/// A playlist of HLS (RFC 8216): the segments of one recording, each with its length.
public enum MediaPlaylist {
    /// What holds for more than the segment it stands before, or says that these are no segments.
    private static let binding = [
        "#EXT-X-KEY", "#EXT-X-MAP", "#EXT-X-BYTERANGE", "#EXT-X-DISCONTINUITY", "#EXT-X-STREAM-INF",
        "#EXT-X-I-FRAMES-ONLY",
    ]

    /// Where to begin so that the segment with `time` is the first: the server may have nothing before it yet.
    /// - Parameter text: the whole playlist.
    /// - Returns: nil for the first segment, and for what cannot be begun elsewhere: a list of playlists, a broadcast, one
    ///   with keys or byte ranges.
    public static func cut(_ text: [UInt8], before time: BookTime) -> Cut? {
        var isWhole = false
        /// Behind what stands before all segments.
        var head: Int?
        var start = 0
        /// Of the segment that is being read.
        var length: Double?
        var begin = 0
        var passed = 0.0
        var last: (byte: Int, time: Double)?
        while start < text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            let line = String(decoding: text[start..<end], as: UTF8.self).prefix { $0 != "\r" }
            if binding.contains(where: line.hasPrefix) { return nil }
            if line == "#EXT-X-ENDLIST" { isWhole = true }
            if line.hasPrefix("#EXTINF:") {
                head = head ?? start
                if last == nil { begin = start }
                length = Double(line.dropFirst(8).prefix { $0 != "," }).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
                if length == nil { return nil }
            } else if !line.isEmpty, !line.hasPrefix("#") {
                guard let seconds = length else { return nil }
                if last == nil || passed <= time.seconds { last = (begin, passed) }
                passed += seconds
                length = nil
                begin = end + 1
            }
            start = end + 1
        }
        guard isWhole, let head, let last, last.byte > head else { return nil }
        return Cut(
            byte: Int64(last.byte), time: .seconds(last.time), head: Array(text[..<head]), hasOwnTimes: false)
    }
}
