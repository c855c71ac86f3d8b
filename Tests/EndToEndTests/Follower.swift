/// What a client knows that reads the properties once and then only follows signals, as Plasma does.
struct Follower {
    /// Microseconds of the track.
    var position = 0.0
    /// As ``Monitor/Message/at``.
    var at = 0
    var rate = 1.0
    var isPlaying = false
    /// Its place is yet to be told.
    private var isElsewhere = false

    func position(at moment: Int) -> Double {
        position + (isPlaying ? Double(moment - at) * rate : 0)
    }

    /// Told by a Seeked where the sound is, as it came late on a busy machine or caught up, and no jump was made.
    func isLate(_ message: Monitor.Message) -> Bool {
        guard isPlaying, !isElsewhere, message.field("member") == "Seeked", let place = message.arguments.first as? Int
        else {
            return false
        }
        return (25_000..<2_000_000).contains(abs(position(at: message.at) - Double(place)))
    }

    mutating func see(_ message: Monitor.Message) {
        guard message.field("path") == "/org/mpris/MediaPlayer2", message.field("type") == "signal" else { return }
        // Cinnamon takes 0 for what a broken player says.
        if message.field("member") == "Seeked", let position = message.arguments.first as? Int, position > 0 {
            (self.position, at, isElsewhere) = (Double(position), message.at, false)
        }
        guard message.arguments.first as? String == "org.mpris.MediaPlayer2.Player",
            let changed = message.arguments.dropFirst().first as? [String: [String: Any]]
        else { return }
        (position, at) = (position(at: message.at), message.at)
        if let status = changed["PlaybackStatus"]?["data"] as? String { isPlaying = status == "Playing" }
        if changed["Metadata"] != nil { isElsewhere = true }
        if let rate = changed["Rate"]?["data"] as? Double { self.rate = rate }
    }
}
