public import Listening

/// MPEG transport streams (ISO/IEC 13818-1), as far as the time goes at which one begins.
public enum TransportStream {
    private static let packet = 188
    private static let sync: UInt8 = 0x47
    /// Of both times: in a second, and before they begin anew after some 26 hours.
    private static let rate = 90_000.0
    private static let turn: Int64 = 1 << 33

    /// When the sound in it begins on the timeline of what it was made from.
    ///
    /// ffmpeg, told to keep the times (`-copyts`), writes them with its multiplexer's delay on the clock of the stream, and
    /// that delay once more on the sound, for whoever decodes it: twice the clock less the sound is the time that was kept.
    /// - Parameter bytes: the first of a segment.
    /// - Returns: from zero up to 26.5 hours, after which it begins anew; nil where these bytes do not tell.
    public static func start(of bytes: [UInt8]) -> BookTime? {
        var clock: Int64?
        var at = 0
        while at + packet <= bytes.count, bytes[at] == sync {
            let (next, isStart) = (at + packet, bytes[at + 1] & 0x40 != 0)
            var payload = at + 4
            let has = bytes[at + 3] >> 4 & 3
            if has & 2 != 0 {
                let length = Int(bytes[payload])
                if length >= 7, bytes[payload + 1] & 0x10 != 0, clock == nil {
                    // Its 33 bits, at the head of 40.
                    clock = bytes.number(at: payload + 2, count: 5).map { $0 >> 7 }
                }
                payload += 1 + length
            }
            if has & 1 != 0, isStart, let clock, let sound = sound(bytes[min(payload, next)..<next]) {
                return .seconds(Double((2 * clock - sound + 2 * turn) % turn) / rate)
            }
            at = next
        }
        return nil
    }

    /// How much later than its playlist says a segment begins. A server that transcodes from a place on numbers what it
    /// makes as though that lay on the playlist's grid.
    /// - Parameters:
    ///   - start: what ``start(of:)`` says.
    ///   - grid: when it begins by the playlist.
    ///   - files: when the files begin that the server joins. Audiobookshelf counts from the start of that with the place.
    ///   - expected: what it is where the server still transcodes for the place it was first asked for; else it is next to
    ///     nothing. Of several files that may be meant it is the one that comes nearest to one of both.
    /// - Returns: less than zero where the packets of a file are long; zero where its times are of another kind.
    public static func delay(
        of start: BookTime, against grid: BookTime, files: [BookTime], expected: BookTime
    ) -> BookTime {
        let around = Double(turn) / rate
        func strangeness(_ delay: Double) -> Double { min(abs(delay), abs(delay - expected.seconds)) }
        let delays = ([.zero] + files).map { (start + $0 - grid).seconds.remainder(dividingBy: around) }
        let delay = delays.filter(usual.contains).min { strangeness($0) < strangeness($1) }
        return .seconds(delay ?? 0)
    }

    /// Seconds: up to a segment of Audiobookshelf's; and as much before that, where nothing in a file is a place to begin at.
    private static let usual = -6.0...6.5

    /// The time at the head of an elementary stream's packet.
    private static func sound(_ head: ArraySlice<UInt8>) -> Int64? {
        let bytes = head.prefix(14).map(Int64.init)
        guard bytes.count == 14, bytes[0] == 0, bytes[1] == 0, bytes[2] == 1, bytes[7] & 0x80 != 0 else { return nil }
        return (bytes[9] >> 1 & 7) << 30 | bytes[10] << 22 | (bytes[11] >> 1) << 15 | bytes[12] << 7 | bytes[13] >> 1
    }
}
