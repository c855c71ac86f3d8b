internal import HTTP
internal import Listening

extension ShelfClient {
    /// `GET /api/items/:id/cover`, scaled by the server; an episode has its podcast's.
    /// - Returns: the whole file; nil if there is none, or nothing that is a PNG or JPEG.
    public func cover(of id: ShelfItemID, width: Int = 600) async throws(ShelfError) -> [UInt8]? {
        do throws(ShelfError) {
            let bytes = try await answer(.cover(id, width: width)).body
            return PictureFormat(of: bytes) == nil ? nil : bytes
        } catch {
            switch error {
            case .notFound, .notAudiobookshelf: return nil
            default: throw error
            }
        }
    }
}
