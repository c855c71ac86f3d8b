internal import HTTP
public import Listening

/// This installation, as servers show it to their people.
public struct ShelfDevice: Hashable, Sendable {
    /// Made once per installation: the server allows each device one open session.
    public let id: String
    /// Of dogear.
    public let version: String
    /// The computer's name, or "Desktop".
    public let model: String

    public init(id: String, version: String, model: String = "Desktop") {
        self.id = id
        self.version = version
        self.model = model
    }

    /// Without a model and a client's name the server makes up "null null".
    var json: JSON {
        [
            "deviceId": .string(id), "clientName": "Dogear", "clientVersion": .string(version),
            "manufacturer": "Linux", "model": .string(model.trimmingBlanks.isEmpty ? "Desktop" : model),
        ]
    }
}

/// A session the server has opened for one item: what to play and from where.
public struct OpenSession: Sendable {
    public let id: String
    public let item: Item
    /// Where the server has the listener; 0 if the item was finished or never opened.
    public let place: BookTime
    /// What the server had before the session; nil if the item was never opened.
    public let progress: ShelfProgress?
}

/// An item that was looked at and can be played.
public struct Playable: Sendable {
    public let id: ShelfItemID
    public var title: String { episode?.title ?? source.metadata.title }
    let source: ItemPayload
    let episode: EpisodePayload?
}

extension ShelfClient {
    /// `GET /api/items/:id?expanded=1`, before a session is opened: the server answers for an e-book or a podcast as a
    /// whole too, with a session that cannot be played.
    ///
    /// Of a podcast the episode is found that its listener would hear next: see ``EpisodePayload/next(of:_:isSerial:)``.
    /// - Throws: ``ShelfError/notPlayable(reason:)``, ``ShelfError/notFound(what:)``.
    public func find(_ id: ShelfItemID) async throws(ShelfError) -> Playable {
        let source = try await expanded(id)
        if source.isPodcast, !source.isMissing, id.episode == nil {
            let progress = try await progressByItem()
            func shelf(_ episode: EpisodePayload) -> ShelfItemID? {
                ShelfItemID(account: account.id, item: id.item, episode: episode.id)
            }
            let next = EpisodePayload.next(
                of: source.episodes, { shelf($0).flatMap { progress[$0] } }, isSerial: source.metadata.isSerial)
            // With where the listener is in it.
            if let episode = next.flatMap(shelf) { return try await find(episode) }
        }
        return Playable(id: id, source: source, episode: try playable(source, id))
    }

    /// `POST /api/items/:id/play[/:episodeId]`. Closes whatever session this device had open.
    /// - Parameter mimeTypes: all that can be decoded here, such as `audio/mpeg`; for others the server transcodes.
    public func play(
        _ found: Playable, device: ShelfDevice, mimeTypes: [String]
    ) async throws(ShelfError) -> OpenSession {
        let (id, source, episode) = (found.id, found.source, found.episode)
        let body: JSON = [
            "deviceInfo": device.json, "supportedMimeTypes": .array(mimeTypes.map { .string($0) }),
            "mediaPlayer": "dogear", "forceDirectPlay": false, "forceTranscode": false,
        ]
        let (call, sent) = (Call.play(id, body: body), now())
        let answer = try PlayPayload(await json(call), call.endpoint)
        if let opened = answer.opened { observe(stamp: opened, sent: sent) }
        guard !answer.tracks.isEmpty else {
            throw .notPlayable(reason: "'\(source.metadata.title)' has no audio on the server")
        }
        guard let answer = answer.measured else {
            throw .notPlayable(
                reason: """
                    the server does not say how long the files of '\(source.metadata.title)' are, so that no place in \
                    it would be right; ask whoever runs it to scan the item again
                    """)
        }
        let tracks = try await tracks(of: answer, id)
        return OpenSession(
            id: answer.id, item: item(id, source, episode, answer, tracks), place: answer.place,
            progress: source.progress.flatMap { $0.episode == id.episode ? $0.progress : nil })
    }

    /// - Returns: the episode meant, nil for a book.
    private func playable(_ item: ItemPayload, _ id: ShelfItemID) throws(ShelfError) -> EpisodePayload? {
        let title = item.metadata.title
        if item.isMissing {
            throw .notPlayable(
                reason: """
                    the files of '\(title)' are missing on the server; ask whoever runs it to look and to scan the \
                    library again
                    """)
        }
        if item.isPodcast {
            guard let wanted = id.episode else {
                let why = item.episodes.isEmpty ? "has no episodes" : "is heard to its end"
                throw .notPlayable(
                    reason: "'\(title)' is a podcast that \(why); 'dogear show \(id.id)' lists its episodes")
            }
            guard let episode = item.episodes.first(where: { $0.id == wanted }) else {
                throw .notFound(what: "this episode of '\(title)'")
            }
            return episode
        }
        guard id.episode == nil else { throw .notFound(what: "this episode of '\(title)'") }
        guard item.trackCount > 0 else {
            let instead = item.hasEbook ? "only an e-book" : "no audio"
            throw .notPlayable(reason: "'\(title)' has \(instead) on the server, nothing to listen to")
        }
        return nil
    }

    private func item(
        _ id: ShelfItemID, _ source: ItemPayload, _ episode: EpisodePayload?, _ answer: PlayPayload, _ tracks: [Track]
    ) -> Item {
        let metadata = source.metadata
        var item = Item(
            id: id.id, kind: episode == nil ? .book : .episode, title: episode?.title ?? metadata.title,
            authors: metadata.authors, narrators: metadata.narrators, series: metadata.series,
            podcast: episode == nil ? nil : metadata.title, duration: answer.duration, tracks: tracks,
            chapters: answer.chapters)
        item.subtitle = episode == nil ? metadata.subtitle : episode?.subtitle
        item.genres = metadata.genres
        item.published =
            episode == nil ? metadata.published : episode?.published.map(isoDate(milliseconds:)) ?? episode?.pubDate
        item.summary = episode == nil ? metadata.summary : episode?.summary
        item.language = metadata.language
        return item
    }

    // MARK: Where the audio is

    private func tracks(of answer: PlayPayload, _ id: ShelfItemID) async throws(ShelfError) -> [Track] {
        let secrets = try await current()
        let custom = Dictionary(secrets.headers.map { ($0.name, $0.value) }) { _, last in last }
        var isPublic = false
        if answer.transcoding == nil, let first = answer.tracks.first {
            isPublic = await publicTracks(session: answer.id, index: first.index, secrets)
        }
        return answer.tracks.map { track in
            let url =
                isPublic
                ? server.url(["public", "session", answer.id, "track", "\(track.index)"])
                : server.url(ofServer: track.contentURL)
            let bearer = isPublic || answer.transcoding != nil ? [:] : ["Authorization": "Bearer \(secrets.bearer)"]
            let stream = AudioStream(
                url: url, headers: custom.merging(bearer) { _, own in own }, caFile: account.caFile,
                transcoding: answer.transcoding,
                identity: answer.transcoding == nil ? identity(of: track, id) : nil)
            return Track(start: track.start, duration: track.duration, audio: .stream(stream), title: track.title)
        }
    }

    /// The file's inode changes with the file, and so do its size and its time where the server tells them.
    private func identity(of track: PlayPayload.AudioTrack, _ id: ShelfItemID) -> String? {
        guard let file = track.contentURL.split(separator: "/").last else { return nil }
        let rest = [track.size, track.modified].map { $0.map { "\($0)" } ?? "" }
        return ([id.id.key, String(file)] + rest).joined(separator: "/")
    }

    /// Whether this server has the urls that a session's id alone opens and that outlive the access token: since 2.22,
    /// tried once by asking for one. Servers without it may answer any path with the page of their web client.
    private func publicTracks(session: String, index: Int, _ secrets: Secrets) async -> Bool {
        if let hasPublicTracks { return hasPublicTracks }
        let request = HTTPRequest(
            "HEAD", server.url(["public", "session", session, "track", "\(index)"]), headers: secrets.headers,
            caFile: account.caFile, timeout: 15)
        guard let response = try? await transport.send(request) else { return false }
        let isAudio = (200..<300).contains(response.status) && !response.isText
        if isAudio || response.status == 404 || response.status == 200 { hasPublicTracks = isAudio }
        return isAudio
    }
}

/// The answer of `play`: a session over one timeline. Times in decimal seconds.
struct PlayPayload: Sendable {
    struct AudioTrack: Sendable {
        /// From 1; part of the public url.
        let index: Int
        let start: BookTime
        var duration: BookTime
        let title: String?
        let contentURL: String
        /// Bytes.
        let size: Int64?
        /// Milliseconds since 1970.
        let modified: Int64?
    }

    let id: String
    /// Milliseconds since 1970, by the server's clock.
    let opened: Int64?
    let place: BookTime
    let duration: BookTime
    /// `playMethod` 2: the only track is an HLS playlist.
    let transcoding: Transcoding?
    let chapters: [Chapter]
    private(set) var tracks: [AudioTrack]

    init(_ json: JSON, _ endpoint: String) throws(ShelfError) {
        guard let id = json["id"].text else { throw .missing(field: "id", endpoint: endpoint) }
        guard case .array(let elements) = json["audioTracks"] else {
            throw .missing(field: "audioTracks", endpoint: endpoint)
        }
        self.id = id
        opened = json["startedAt"].integer
        place = max(.zero, .seconds(json["currentTime"].number ?? json["startTime"].number ?? 0))
        duration = max(.zero, .seconds(json["duration"].number ?? 0))
        chapters = Chapter.list(json["chapters"])
        var tracks: [AudioTrack] = []
        for (offset, track) in elements.enumerated() {
            // A track that cannot be had would move every later place: better no session than a wrong one.
            guard let url = track["contentUrl"].text else {
                throw .missing(field: "audioTracks.contentUrl", endpoint: endpoint)
            }
            tracks.append(
                AudioTrack(
                    index: Int((track["index"].integer ?? Int64(offset + 1)).clamped(to: 0...1_000_000)),
                    start: .seconds(track["startOffset"].number ?? 0),
                    duration: max(.zero, .seconds(track["duration"].number ?? 0)), title: track["title"].text,
                    contentURL: url, size: track["metadata"]["size"].integer,
                    modified: track["metadata"]["mtimeMs"].integer))
        }
        self.tracks = tracks
        let isTranscoded = json["playMethod"].integer == 2 || tracks.first?.contentURL.contains(".m3u8") == true
        transcoding = isTranscoded ? Self.transcoding(json, place) : nil
    }

    /// With all tracks as long as they are. One whose length the server has lost is what the others leave of the whole; of
    /// two, every later place would be another than before.
    /// - Returns: nil where that cannot be told.
    var measured: PlayPayload? {
        let lost = tracks.indices.filter { tracks[$0].duration <= .zero }
        guard let index = lost.first else { return self }
        let rest = tracks.reduce(duration) { $0 - $1.duration }
        guard lost.count == 1, rest > .second else { return nil }
        var answer = self
        answer.tracks[index].duration = rest
        return answer
    }

    /// The server begins half a minute before the place, and numbers segments of six seconds from the one there.
    private static func transcoding(_ json: JSON, _ place: BookTime) -> Transcoding {
        let begin = max(0, (json["startTime"].number ?? place.seconds) - 30)
        var files: [JSON] = []
        if case .array(let tracks) = json["libraryItem"]["media"]["tracks"] { files = tracks }
        return Transcoding(
            joints: files.dropFirst().compactMap { $0["startOffset"].number.map { .seconds($0) } },
            delay: .seconds(begin.truncatingRemainder(dividingBy: 6)))
    }
}
