/// Looks into audio files without playing them: the room GStreamer has the real one.
public protocol Inspector: Sendable {
    /// Opens the file, reads what its tags say and makes sure that its audio can be decoded.
    /// - Throws: ``EngineFailure/missingDecoder(what:package:)``, or ``EngineFailure/unreadable(track:reason:)`` with
    ///   track 0, when it could not be played.
    func inspect(path: String) async throws(EngineFailure) -> FileFacts
}

/// What one audio file says of itself. Everything but the duration may be missing, and any of it may be nonsense.
public struct FileFacts: Hashable, Sendable {
    public var duration = BookTime.zero
    public var title: String?
    public var album: String?
    public var artists: [String] = []
    public var albumArtists: [String] = []
    /// Audiobooks keep their narrator here.
    public var composers: [String] = []
    public var genres: [String] = []
    /// A year or an ISO 8601 date.
    public var date: String?
    public var summary: String?
    public var chapters: [Chapter] = []
    public var cover: Picture?

    public init() {}

    /// - Parameters:
    ///   - length: what the file's own bytes come to, where that is more than it says.
    ///   - embedded: what they say of chapters; where they say nothing the inspector's stay.
    public mutating func repair(length: BookTime?, chapters embedded: [Chapter]) {
        duration = max(duration, length ?? .zero)
        chapters = Timeline.repaired(chapters: embedded.isEmpty ? chapters : embedded, duration: duration)
    }
}

/// A picture as it was found; not looked into.
public struct Picture: Hashable, Sendable {
    public let bytes: [UInt8]
    public init(bytes: [UInt8]) { self.bytes = bytes }
}
