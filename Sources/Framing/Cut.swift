public import Listening

/// Where to begin reading so that a given time is soon heard: a decoder given ``head`` and then the file's bytes from
/// ``byte`` on plays from ``time``.
public struct Cut: Hashable, Sendable {
    /// Where the first byte of a whole frame is, in the file.
    public let byte: Int64
    /// When that frame begins, on the file's own timeline: at or before what was asked.
    public let time: BookTime
    /// What a decoder must see before the frame: the metadata of a flac file, the first pages of an Ogg
    /// file; nothing for mp3.
    public let head: [UInt8]
    /// Each frame says where it is (flac, Ogg), though not every decoder goes by that: GStreamer 1.22 takes the first frame
    /// it sees for zero, in these as in mp3, so that ``time`` is to be added to its times in all of them.
    public let hasOwnTimes: Bool

    public init(byte: Int64, time: BookTime, head: [UInt8], hasOwnTimes: Bool) {
        self.byte = byte
        self.time = time
        self.head = head
        self.hasOwnTimes = hasOwnTimes
    }
}
