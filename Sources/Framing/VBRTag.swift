internal import Listening

/// What an encoder left in a first frame without sound: how many frames and bytes follow, and sometimes where they are.
struct VBRTag: Sendable {
    /// Of the audio, without the tag's own frame.
    let frames: Int64?
    /// Of the audio with the tag's own frame.
    let bytes: Int64?
    /// Xing, Info: 100 places, each in 256ths of the bytes, where each hundredth of the time begins.
    let hundredths: [UInt8]?
    /// VBRI: bytes of each stretch of ``framesPerStretch`` frames.
    let stretches: [Int64]
    let framesPerStretch: Int64
    /// GStreamer 1.22 leaves Xing and Info frames out, and plays a VBRI frame as a frame of silence.
    let isHeard: Bool

    /// - Parameter offset: where the frame begins in `bytes`, of which `size` are the frame's.
    init?(in bytes: [UInt8], at offset: Int, size: Int, format: MPEGFormat) {
        guard format.layer == 3, offset >= 0, offset + 4 <= bytes.count else { return nil }
        let frame = [UInt8](bytes[offset..<min(offset + size, bytes.count)])
        let isMono = MPEGFormat.isMono(MPEGFormat.word(frame, 0))
        // The tag follows the side information, whose size depends on version and channels.
        let place = 4 + (format.isFirstVersion ? (isMono ? 17 : 32) : (isMono ? 9 : 17))
        if frame.has("Xing", at: place) || frame.has("Info", at: place) {
            guard let flags = frame.number(at: place + 4, count: 4) else { return nil }
            var next = place + 8
            func field(_ flag: Int64, _ length: Int) -> Int? {
                guard flags & flag != 0, next + length <= frame.count else { return nil }
                defer { next += length }
                return next
            }
            frames = field(1, 4).flatMap { frame.number(at: $0, count: 4) }
            self.bytes = field(2, 4).flatMap { frame.number(at: $0, count: 4) }
            hundredths = field(4, 100).map { [UInt8](frame[$0..<$0 + 100]) }
            (stretches, framesPerStretch, isHeard) = ([], 0, false)
        } else if frame.has("VBRI", at: 36), let count = frame.number(at: 54, count: 2),
            let scale = frame.number(at: 56, count: 2), let width = frame.number(at: 58, count: 2),
            let each = frame.number(at: 60, count: 2)
        {
            self.bytes = frame.number(at: 46, count: 4)
            frames = frame.number(at: 50, count: 4)
            let entries = (1...4).contains(width) ? (0..<Int(count)) : 0..<0
            stretches = entries.compactMap { entry in
                frame.number(at: 62 + entry * Int(width), count: Int(width)).map { $0 * scale }
            }
            (hundredths, framesPerStretch, isHeard) = (nil, each, true)
        } else {
            return nil
        }
    }
}
