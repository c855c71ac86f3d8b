/// How a box of an MP4 file begins.
struct BoxHead: Sendable {
    /// Four letters.
    let kind: [UInt8]
    /// Bytes of the head itself.
    let length: Int
    /// Bytes of the whole box, as it says; nil: all that follows.
    let size: Int?

    /// As many bytes as one may have.
    static let longest = 16

    /// - Parameter bytes: the first of the box, as far as they are there.
    /// - Returns: nil if it ends within its head.
    init?(_ bytes: some Sequence<UInt8>) {
        var head = ByteCursor(bytes)
        guard let short = head.number(4), let kind = head.take(4) else { return nil }
        self.kind = Array(kind)
        guard short == 1 else {
            (length, size) = (8, short == 0 ? nil : short)
            return
        }
        guard let long = head.take(8) else { return nil }
        (length, size) = (16, Int(clamping: long.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
    }
}
