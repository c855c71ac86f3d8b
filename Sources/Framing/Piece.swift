internal import Listening

/// Some bytes of a file, and where they are in it.
struct Piece {
    let start: Int64
    let bytes: [UInt8]
    /// Nothing follows in the file.
    let isLast: Bool

    var end: Int64 { start + Int64(bytes.count) }

    /// Reads `count` bytes. A reader that gives fewer has reached the end, whatever it said of the size.
    static func read(
        _ reader: any ByteReader, at start: Int64, count: Int, size: Int64
    ) async throws(EngineFailure) -> Piece {
        guard !Task.isCancelled else { throw .other(reason: "no longer wanted") }
        let wanted = Int(min(Int64(count), max(size - start, 0)))
        guard wanted > 0 else { return Piece(start: start, bytes: [], isLast: true) }
        let bytes = try await reader.read(at: start, count: wanted)
        return Piece(start: start, bytes: bytes, isLast: bytes.count < wanted || start + Int64(wanted) >= size)
    }
}
