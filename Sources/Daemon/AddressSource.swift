internal import Folders
internal import Framing
internal import GStreamer
internal import HTTP
internal import Listening
internal import Store

/// Audio anywhere on the web as a source. `address:<as given>` names it once, `url:<hash>` from then on. Places are kept
/// here; nothing is told to anybody.
actor AddressSource: Source {
    private let store: Store
    private let transport: any Transport
    private let shelf: any ByteShelf
    private let covers: CoverCache
    private let inspector = GStreamerInspector.ofStreams
    /// What was played in this run. An address with a login or a query is kept nowhere else.
    private var known: [ItemID: (address: WebAddress, item: Item)] = [:]

    /// What it is called once it was played; the address itself stays out of sight.
    private nonisolated func name(of address: WebAddress) -> ItemID { address.id(salt: store.deviceID) }

    init(store: Store, transport: any Transport, shelf: any ByteShelf, covers: CoverCache) {
        self.store = store
        self.transport = transport
        self.shelf = shelf
        self.covers = covers
    }

    func find(_ id: ItemID) async throws(SourceError) -> Found {
        let address = try await address(of: id)
        let (stream, problem) = await stream(at: address)
        let item: Item
        if let played = known[name(of: address)]?.item {
            // All of it may be here.
            item = played.streamed(from: stream)
        } else if let problem {
            throw problem
        } else {
            item = try await look(at: address, stream)
        }
        known[item.id] = (address, item)
        return Found(id: item.id, title: item.title, memory: item)
    }

    func open(_ found: Found) async throws(SourceError) -> Opened {
        Opened(item: try found.lookedAt())
    }

    private func address(of id: ItemID) async throws(SourceError) -> WebAddress {
        if id.source == "address" {
            guard let address = WebAddress(id.key) else {
                throw SourceError(.usage, "that is no address; it begins with https:// and the name of a server")
            }
            guard !address.isPlaylist else {
                throw SourceError(.usage, "\(address.host) has a playlist there; play the address of the audio itself")
            }
            return address
        }
        if let address = known[id]?.address { return address }
        let kept = (try? await store.item(id))?.flatMap { $0.url.flatMap { WebAddress($0) } }
        guard let kept, name(of: kept) == id else {
            let host = kept.map { " at \($0.host)" } ?? ""
            throw SourceError(
                .notFound, "its address\(host) is not kept, for it may hold a login; play it by its address once more")
        }
        return kept
    }

    /// Where it is today: an address may only point at another. And why asking there for audio is no use.
    private func stream(at address: WebAddress) async -> (AudioStream, problem: SourceError?) {
        var place = address
        var authorization = address.authorization
        var problem: SourceError?
        for hop in 0...Self.mostHops {
            let headers = authorization.map { [HTTPHeader("Authorization", $0)] } ?? []
            let answer: HTTPResponse
            do throws(TransportError) {
                answer = try await transport.send(HTTPRequest("HEAD", place.url, headers: headers, timeout: 10))
            } catch {
                if error.isFinal {
                    problem = SourceError(.unreachable, "\(error); check the network and the address")
                }
                break
            }
            if answer.status == 204 {
                problem = SourceError(.notFound, "\(place.host) has nothing there; check the address")
            } else if (200..<300).contains(answer.status), answer.isText {
                problem = SourceError(
                    .failed,
                    """
                    \(place.host) has a web page there; play the address of the audio itself, or sign in if that is an \
                    Audiobookshelf server: 'dogear login ADDRESS'
                    """)
            }
            guard (300..<400).contains(answer.status), let location = answer[header: "Location"] else { break }
            guard hop < Self.mostHops else {
                problem = SourceError(.failed, "\(place.host) sends on in circles; check the address")
                break
            }
            guard let next = place.redirected(to: location) else {
                problem = SourceError(
                    .failed,
                    "\(place.host) sends on to where dogear does not follow: out of https, or out of the web; check the address"
                )
                break
            }
            // A login is for the server that it was given for.
            if next.origin != place.origin { authorization = next.authorization }
            place = next
        }
        let stream = AudioStream(
            url: place.url, headers: authorization.map { ["Authorization": $0] } ?? [:],
            identity: name(of: address).description)
        return (stream, problem)
    }

    /// Podcasts are counted by several services, one behind the other.
    private static let mostHops = 10

    private func look(at address: WebAddress, _ stream: AudioStream) async throws(SourceError) -> Item {
        var facts: FileFacts
        do throws(EngineFailure) { facts = try await inspector.inspect(stream, through: shelf) } catch {
            throw SourceError(error, of: address)
        }
        let more = await more(of: stream)
        facts.repair(length: more.length, chapters: more.chapters)
        var item = Item(
            id: name(of: address), kind: .file, title: facts.title ?? facts.album ?? address.name,
            authors: facts.albumArtists.isEmpty ? facts.artists : facts.albumArtists, narrators: facts.composers,
            tracks: [Track(start: .zero, duration: facts.duration, audio: .stream(stream), title: facts.title)],
            chapters: facts.chapters)
        item.album = facts.album
        item.genres = facts.genres
        item.published = facts.date
        item.summary = facts.summary
        item.coverPath = facts.cover.flatMap { covers.keep($0.bytes) }
        item.url = address.shown
        return item
    }

    /// What may lie anywhere in the file: a server that gives it too slowly is not waited for.
    private func more(of stream: AudioStream) async -> (chapters: [Chapter], length: BookTime?) {
        let reader = shelf.reader(of: stream)
        let limit = Task {
            if (try? await Task.sleep(for: .seconds(5))) != nil { reader.close() }
        }
        defer {
            limit.cancel()
            reader.close()
        }
        let chapters = try? await EmbeddedChapters.read(reader)
        let length = try? await FrameFinder(reader: reader, hint: .zero).untoldLength(bySizeAlone: true)
        return (chapters ?? [], length)
    }
}

extension TransportError {
    /// Asking for the audio itself would come to the same.
    fileprivate var isFinal: Bool {
        switch self {
        case .unreachable, .certificate, .tls: true
        default: false
        }
    }
}

extension SourceError {
    fileprivate init(_ failure: EngineFailure, of address: WebAddress) {
        switch failure {
        case .notFound: self.init(.notFound, "there is nothing at that address of \(address.host); check it")
        case .refused: self.init(.failed, "\(address.host) refuses it; an address may hold a user and a password")
        case .unreachable(let reason):
            self.init(.unreachable, "the audio does not come: \(reason); check the address, or try again later")
        case .unreadable(_, let reason), .other(let reason), .noSink(let reason):
            self.init(.failed, "what \(address.host) has there cannot be played: \(reason)")
        case .missingDecoder: self.init(.failed, failure.sentence)
        }
    }
}
