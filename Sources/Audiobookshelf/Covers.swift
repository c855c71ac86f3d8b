internal import HTTP
internal import Listening

/// A picture as the server sent it, whole.
public struct Cover: Hashable, Sendable {
    public enum Format: String, Hashable, Sendable { case png, jpeg }

    public let format: Format
    public let bytes: [UInt8]

    /// Known by how it begins: servers call things pictures that are none.
    init?(_ bytes: [UInt8]) {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            format = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            format = .jpeg
        } else {
            return nil
        }
        self.bytes = bytes
    }
}

extension ShelfClient {
    /// `GET /api/items/:id/cover`, scaled by the server; an episode has its podcast's.
    /// - Returns: nil if there is none, or nothing that is a PNG or JPEG.
    public func cover(of id: ShelfItemID, width: Int = 600) async throws(ShelfError) -> Cover? {
        do throws(ShelfError) {
            return Cover(try await answer(.cover(id, width: width)).body)
        } catch {
            switch error {
            case .notFound, .notAudiobookshelf: return nil
            default: throw error
            }
        }
    }
}
