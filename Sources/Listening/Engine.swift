/// Numbers each load, so that the last words of an earlier one are not taken for the present.
public struct LoadID: Hashable, Sendable {
    public let number: UInt64
    public init(number: UInt64) { self.number = number }
    public var next: LoadID { LoadID(number: number + 1) }
}

/// What makes sound: one item at a time, over its whole timeline. The room GStreamer has the real one.
///
/// Every call returns at once and is carried out in order elsewhere; what came of it is reported. Commands for a load
/// that is no longer the current one do nothing.
public protocol Engine: AnyObject, Sendable {
    /// Drops what was loaded, opens these tracks paused at `place` and reports `.ready` once the pipeline itself says
    /// that it is there, or `.failed`.
    func load(_ load: LoadID, tracks: [Track], at place: BookTime, rate: Double, volume: Double)
    func play(_ load: LoadID)
    func pause(_ load: LoadID)
    /// Exact, across track borders. Reports `.seeked` once confirmed; of several in a row only the last need be.
    func seek(_ load: LoadID, to place: BookTime)
    /// 0.5 to 3.0, pitch kept. Does not move the place, and reports `.wentOn` once it is heard.
    func setRate(_ load: LoadID, _ rate: Double)
    /// 0 to 1, linear in amplitude as MPRIS clients show it. Heard at once.
    func setVolume(_ volume: Double)
    /// Lets the sound die away beside the volume; nil: it is full at once. Every load begins full.
    func fade(_ load: LoadID, _ fading: Fading?)
    /// Of this load and those to come.
    func setSound(_ options: SoundOptions)
    /// Frees the pipeline and everything it holds.
    func unload()
    /// Where the sound is now, asked of the pipeline itself; callable from any thread, in microseconds of work.
    /// - Returns: nil before the load has confirmed its first place, and when nothing is loaded.
    func position(_ load: LoadID) -> BookTime?
    /// How much is here ahead of what is being read, in time of the item; callable from any thread.
    /// - Returns: nil for what is not read from a server, and when it is not known.
    func buffered(_ load: LoadID) -> BookTime?
}

/// What is done to the sound, whatever plays.
public struct SoundOptions: Hashable, Sendable {
    /// How much louder than it was recorded, 0 to 12 decibels, with the peaks held down.
    public var boost = 0.0
    /// Of silences only the edges are heard.
    public var skipsSilence = false

    public init(boost: Double = 0, skipsSilence: Bool = false) {
        self.boost = boost
        self.skipsSilence = skipsSilence
    }
}

/// Sound that dies away: it is gone in `left`; full it was `length` before that.
public struct Fading: Hashable, Sendable {
    public let left: BookTime
    public let length: BookTime

    public init(left: BookTime, length: BookTime) {
        self.left = left
        self.length = length
    }

    /// What samples are multiplied with, 1 to 0, when so much of it is left: by the square, for ears hear ratios.
    public func gain(left: BookTime) -> Double {
        guard length > .zero else { return 0 }
        let share = (left.seconds / length.seconds).clamped(to: 0...1)
        return share * share
    }
}

/// What an engine says of a load, in order, from any thread.
public struct EngineReport: Hashable, Sendable {
    public enum Word: Hashable, Sendable {
        /// Opened, and the first seek is confirmed at this place.
        case ready(at: BookTime)
        case seeked(to: BookTime)
        /// The place has moved by itself: over a silence that was left out, or back to what was not heard after all.
        case skipped
        /// It goes on where it was, after a moment without sound: at another rate, or in a file that had to be opened.
        case wentOn
        /// Sound stopped for want of data, or goes on.
        case buffering(Bool)
        /// Somebody has set the volume elsewhere, as with the desktop's mixer: 0 to 1.
        case volume(Double)
        /// What the sound came out of was taken away, and it goes on somewhere else: out of speakers, perhaps.
        case outputGone
        /// The last track was played to its end.
        case ended
        case failed(EngineFailure)
    }

    public let load: LoadID
    public let word: Word

    public init(_ load: LoadID, _ word: Word) {
        self.load = load
        self.word = word
    }
}

public enum EngineFailure: Error, Hashable, Sendable {
    /// `what` as GStreamer describes the format; `package` is the Debian package that has the decoder, if known.
    case missingDecoder(what: String, package: String?)
    /// 404: gone on the server, or the session is.
    case notFound
    /// 401 or 403.
    case refused
    /// The connection failed or broke and did not come back.
    case unreachable(reason: String)
    /// Not audio, damaged, empty.
    case unreadable(track: Int, reason: String)
    case noSink(reason: String)
    case other(reason: String)
}
