internal import EventLoop
internal import Framing
internal import Listening

/// An HLS playlist, and the way to what it names. GStreamer asks for that by address, and gets it through the same reader
/// as everything else: with its patience, its certificates and its headers.
final class Playlist: Sendable {
    /// Seconds for which a server may deny that there is such a segment: it has just been asked to transcode from there.
    static let patience = 20.0
    /// Bytes of its text, some hundred hours.
    static let largest: Int64 = 4 << 20
    /// Seconds until it is asked once more.
    static let pause = 0.5

    private let stream: AudioStream
    private let transcoding: Transcoding
    private let shelf: any ByteShelf
    private let text = Locked<[UInt8]>([])
    /// The last few segments, by address: a seek among them asks for them once more.
    private let recent = Locked<[(url: String, file: StreamFile)]>([])
    /// When the last few segments begin by the playlist, and how much later they do.
    private let delays = Locked<[(grid: BookTime, delay: BookTime)]>([])
    /// Bytes in which a segment says when it begins.
    private static let beginning = 16 * 188
    /// Scheme, host and port.
    private let origin: String
    /// Path and query: what the playlist names is joined to that.
    let path: String

    init(_ stream: AudioStream, _ transcoding: Transcoding, shelf: any ByteShelf) {
        self.stream = stream
        self.transcoding = transcoding
        self.shelf = shelf
        (origin, path) = Self.split(stream.url)
    }

    /// - Parameter address: a path, of the playlist's own server, or scheme and host as well.
    func segment(at address: String) -> StreamFile {
        let url = address.hasPrefix("/") ? origin + address : address
        // What opens our server is not for others to see.
        let isOwn = Self.split(url).origin.lowercased() == origin.lowercased()
        let segment = AudioStream(
            url: url, headers: isOwn ? stream.headers : [:], caFile: isOwn ? stream.caFile : nil)
        return recent.withLock { recent in
            if let known = recent.first(where: { $0.url == url }) { return known.file }
            let file = StreamFile(reader: shelf.reader(of: segment), duration: .zero)
            recent = recent.suffix(2) + [(url, file)]
            return file
        }
    }

    /// Whether the server has forgotten all of it, and will make no more.
    func isGone() async -> Bool {
        let reader = shelf.reader(of: stream)
        defer { reader.close() }
        do throws(EngineFailure) { _ = try await reader.size() } catch {
            return error == .notFound || error == .refused
        }
        return false
    }

    /// - Parameter bytes: the first of a segment.
    func begins(_ url: String, with bytes: [UInt8]) {
        let text = text.withLock { $0 }
        guard let start = TransportStream.start(of: Array(bytes.prefix(Self.beginning))),
            let grid = MediaPlaylist.start(of: url, in: text)
        else { return }
        let delay = TransportStream.delay(
            of: start, against: grid, files: transcoding.joints, expected: transcoding.delay)
        delays.withLock { $0 = $0.filter { $0.grid != grid }.suffix(31) + [(grid, delay)] }
    }

    /// How much later what is at a time of the playlist begins; nil: it has not been read lately.
    func delay(at time: BookTime) -> BookTime? {
        delays.withLock { delays in
            delays.filter { $0.grid <= time + .seconds(0.05) }.max { $0.grid < $1.grid }?.delay
        }
    }

    /// Where to open it.
    /// - Parameter text: the whole of it.
    func cut(_ text: [UInt8], before place: BookTime) -> Cut? {
        self.text.withLock { $0 = text }
        // A frame more or less is no reason to begin behind the place.
        let known = delays.withLock { $0.last.map { $0.delay + .seconds(0.1) } }
        return MediaPlaylist.cut(text, before: place, delay: known)
    }

    /// Whether this is a whole address in it.
    func names(_ url: String) -> Bool {
        let url = Array(url.utf8)
        return text.withLock { text in
            text.split(separator: UInt8(ascii: "\n")).contains { $0 == url[...] || $0 == url + [UInt8(ascii: "\r")] }
        }
    }

    /// Scheme, host and port; and what comes behind, at least a slash.
    private static func split(_ url: String) -> (origin: String, path: String) {
        let host = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        let end = url[host...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let path = String(url[end...].prefix { $0 != "#" })
        return (String(url[..<end]), path.hasPrefix("/") ? path : "/" + path)
    }
}
