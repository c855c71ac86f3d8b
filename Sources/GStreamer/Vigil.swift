/// Notices that nothing more comes of a file, and nothing ever says so: where one Ogg file is joined to another, GStreamer
/// (1.22) stops reading without a word.
///
/// It counts looks and not time: a process or a computer that stood still takes one, however long that was.
struct Vigil {
    /// So many in a row at which nothing has come since the one before.
    static let limit = 4
    static let reason = "nothing comes of it from there on; it may be damaged, or several files in one"

    private var last: UInt64?
    private var idle = 0

    /// - Parameters:
    ///   - stirs: how often something of the file has been read or decoded.
    ///   - isHeldUp: by the sound output, whose affair it is then.
    /// - Returns: whether the file is to be given up.
    mutating func isInVain(after stirs: UInt64, isHeldUp: Bool) -> Bool {
        defer { last = stirs }
        idle = stirs == last && !isHeldUp ? idle + 1 : 0
        return idle >= Self.limit
    }
}

extension Turn {
    /// From now on, while something is to come of a file on disk. Of a stream the bytes are waited for.
    func beginVigil() {
        vigil = Vigil()
        nextLook()
    }

    private func nextLook() {
        looking?.cancel()
        guard isWatched else { return }
        looking = post(.look, after: .seconds(openingLimit / Double(Vigil.limit)))
    }

    private var isWatched: Bool {
        let isAwaited =
            switch phase {
            case .seeking: true
            case .steady: isPlaying
            case .finding, .waking, .opening, .ended, .failed: false
            }
        return isAwaited && !needle.reel.isStream(needle.lastTrack)
    }

    func look() {
        guard isWatched else { return }
        guard vigil.isInVain(after: pipeline.stirs, isHeldUp: pipeline.isHeldUpBySink) else { return nextLook() }
        fail(.unreadable(track: needle.lastTrack, reason: Vigil.reason))
    }
}
