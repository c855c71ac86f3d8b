public import Listening

/// A playlist of HLS (RFC 8216): the segments of one recording, each with its length.
public enum MediaPlaylist {
    /// What holds for more than the segment it stands before, or says that these are no segments.
    private static let binding = [
        "#EXT-X-KEY", "#EXT-X-MAP", "#EXT-X-BYTERANGE", "#EXT-X-DISCONTINUITY", "#EXT-X-STREAM-INF",
        "#EXT-X-I-FRAMES-ONLY",
    ].map { Array($0.utf8) }
    private static let end = Array("#EXT-X-ENDLIST".utf8)
    private static let length = Array("#EXTINF:".utf8)

    /// Where to begin so that the segment with `time` is the first, or that before it: the server may have nothing yet before
    /// that.
    /// - Parameters:
    ///   - text: the whole playlist.
    ///   - delay: how much later than the playlist says the segments begin, see
    ///     ``TransportStream/delay(of:against:files:expected:)``; nil: by up to a segment, which makes it the one before.
    /// - Returns: nil for the first segment, and for what cannot be begun elsewhere: a list of playlists, a broadcast, one
    ///   with keys or byte ranges.
    public static func cut(_ text: [UInt8], before time: BookTime, delay: BookTime?) -> Cut? {
        let time = (time - (delay ?? .zero)).seconds
        var here: (byte: Int, time: Double)?
        var before: (byte: Int, time: Double)?
        let frame = read(text) { _, byte, begin in
            if here == nil || begin <= time { (before, here) = (here, (byte, begin)) }
        }
        guard let frame, frame.isWhole, let first = delay == nil ? before : here, first.byte > frame.head else {
            return nil
        }
        return Cut(
            byte: Int64(first.byte), time: .seconds(first.time), head: Array(text[..<frame.head]), hasOwnTimes: false)
    }

    /// When a segment begins by the lengths of those before it.
    /// - Parameter address: of the segment, with or without its server.
    /// - Returns: nil if it is not named there.
    public static func start(of address: String, in text: [UInt8]) -> BookTime? {
        let address = Array(address.utf8)
        let slash = UInt8(ascii: "/")
        var start: BookTime?
        let frame = read(text) { name, _, begin in
            guard start == nil, address.count >= name.count, address.suffix(name.count) == name else { return }
            let rest = address.dropLast(name.count)
            if rest.isEmpty || rest.last == slash || name.first == slash { start = .seconds(begin) }
        }
        return frame == nil ? nil : start
    }

    /// - Parameter each: gets a segment's name, its first byte with what stands before it, and when it begins, in seconds.
    /// - Returns: where the first segment stands, and whether the last one does; nil if these are not segments of one
    ///   recording that can be had apart from each other.
    private static func read(
        _ text: [UInt8], each: (_ name: ArraySlice<UInt8>, _ byte: Int, _ begin: Double) -> Void
    ) -> (head: Int, isWhole: Bool)? {
        var isWhole = false
        /// Behind what stands before all segments.
        var head: Int?
        var start = 0
        /// Of the segment that is being read.
        var seconds: Double?
        var byte = 0
        var passed = 0.0
        while start < text.count {
            let stop = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            var line = text[start..<stop]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            if line.first != UInt8(ascii: "#"), !line.isEmpty {
                guard let lasts = seconds else { return nil }
                each(line, byte, passed)
                passed += lasts
                seconds = nil
                byte = stop + 1
            } else if line.starts(with: length) {
                if head == nil { (head, byte) = (start, start) }
                let number = line.dropFirst(length.count).prefix { $0 != UInt8(ascii: ",") }
                seconds = Double(String(decoding: number, as: UTF8.self)).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
                if seconds == nil { return nil }
            } else if binding.contains(where: { line.starts(with: $0) }) {
                return nil
            } else if line == end[...] {
                isWhole = true
            }
            start = stop + 1
        }
        return head.map { ($0, isWhole) }
    }
}
