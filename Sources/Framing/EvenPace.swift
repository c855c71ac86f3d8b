/// Frames of one bit rate: where each is follows from its number.
struct EvenPace: Hashable, Sendable {
    /// Bytes of a frame on average, as a fraction: with 44.1 kHz an encoder makes up the rest by padding some frames.
    let bytes: Int64
    let frames: Int64
    /// How far from there a frame may be: encoders differ in which frame they pad.
    let tolerance: Int64

    /// The ways encoders pad: as the standard says, never, always.
    static func all(for word: UInt32, format: MPEGFormat) -> [EvenPace] {
        let bits = format.bits(of: word)
        let bytes = format.samples / 8 * bits
        let slot: Int64 = format.layer == 1 ? 4 : 1
        let exact = EvenPace(
            bytes: bytes, frames: format.rate, tolerance: bytes % (format.rate * slot) == 0 ? 0 : slot)
        let padding: UInt32 = 1 << 9
        return bits == 0
            ? []
            : [exact]
                + [word & ~padding, word | padding].compactMap { word in
                    format.size(of: word).map { EvenPace(bytes: Int64($0), frames: 1, tolerance: 0) }
                }
    }

    /// Where frame `number` begins, counted from the first.
    func byte(of number: Int64) -> Int64 { scaled(number, by: bytes, over: frames) }

    /// Which frame begins `byte` behind the first; nil when none does.
    func number(at byte: Int64) -> Int64? {
        let number = scaled(byte, by: frames, over: bytes)
        return [number, number + 1].first { abs(self.byte(of: $0) - byte) <= tolerance }
    }
}
