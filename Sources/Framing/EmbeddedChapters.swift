public import Listening

/// Chapters in a file that GStreamer does not show: those of MP4 and of ID3.
public enum EmbeddedChapters {
    /// - Returns: what the file says, in its order.
    /// - Throws: what the reader does.
    public static func read(_ reader: any ByteReader) async throws(EngineFailure) -> [Chapter] {
        let file = Window(reader, size: Int(clamping: try await reader.size()))
        let chapters = try await MP4Chapters.read(file)
        return chapters.isEmpty ? try await ID3Chapters.read(file) : chapters
    }
}

/// A file of which many small parts are read, most of them near each other.
final class Window {
    let size: Int
    private let reader: any ByteReader
    private var piece = Piece(start: 0, bytes: [], isLast: false)
    /// Bytes.
    private static let least = 16 << 10

    init(_ reader: any ByteReader, size: Int) {
        self.reader = reader
        self.size = size
    }

    /// - Returns: nil if the file does not have all of them.
    func bytes(at offset: Int, count: Int) async throws(EngineFailure) -> [UInt8]? {
        guard offset >= 0, count >= 0, offset <= size, count <= size - offset else { return nil }
        if Int64(offset) < piece.start || Int64(offset + count) > piece.end {
            piece = try await Piece.read(
                reader, at: Int64(offset), count: max(count, Self.least), size: Int64(size))
        }
        let start = offset - Int(piece.start)
        guard count <= piece.bytes.count - start else { return nil }
        return Array(piece.bytes[start..<start + count])
    }
}
