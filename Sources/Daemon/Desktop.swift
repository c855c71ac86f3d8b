internal import Control
internal import DBus
internal import EventLoop
internal import Folders
internal import FoundationEssentials
internal import GStreamer
internal import Glibc
internal import Listening
internal import Logging
internal import MPRIS
internal import Terminal

func processID() -> Int32 { getpid() }

/// What MPRIS clients ask for.
extension Service: @LoopActor PlayerFace {
    var partPosition: BookTime {
        if let positionBetween { return positionBetween }
        // First, or the whole player would be copied meanwhile.
        let place = engine.position(player.load)
        return player.partPosition(engine: place)
    }
    var isShownPresent: Bool { shown.trackID == player.trackID }
    var tracks: TrackRows { lists.tracks }
    var playlists: PlaylistRows { lists.playlists }
    var mimeTypes: [String] { mediaTypes }
    var uriSchemes: [String] { Address.schemes }
    var identity: String { profile.name.map { "Dogear (\($0))" } ?? "Dogear" }
    func quit() { onQuit() }

    static func desktopEntry(of profile: Profile, _ environment: [String: String]) -> String {
        let isThere =
            profile.name == nil
            || Paths.shared(environment).contains { folder in
                access(Paths.join(folder, "applications/\(profile.bus).desktop"), R_OK) == 0
            }
        return isThere ? profile.bus : ""
    }

    func open(uri: String, _ reply: Reply) {
        wishes += 1
        answer(reply) { () async throws(ControlError) in
            switch try self.address(uri) {
            case .file(let path): try await self.open(path: path, at: nil, whole: true)
            case .item(let id): try await self.open(id, at: nil)
            case .web(let url): try await self.open(url: url, at: nil, whole: true)
            }
        }
    }

    private func address(_ uri: String) throws(ControlError) -> Address {
        if let page = shelves.item(ofPage: uri) { return .item(page) }
        return try Address(uri)
    }

    // MARK: The list of tracks

    func addTrack(uri: String, after: ObjectPath, isCurrent: Bool, _ reply: Reply) {
        let entry = tracks.index(of: after).map { Addition.behind(key(ofTrack: $0)) }
        let addition = after == MPRISName.noTrack ? .first : entry ?? .last
        if isCurrent { wishes += 1 }
        answer(reply) { () async throws(ControlError) in
            let id = try self.address(uri).id
            guard isCurrent else { return try await self.add(id, addition) }
            var wish = Wish(.picked, plays: true)
            wish.addition = addition
            do throws(ControlError) { try await self.open(id, at: nil, as: wish) } catch {
                let isOvertaken = error == ControlError(Self.overtaken)
                // Added it is, whatever was asked for meanwhile, and where it only cannot be played now.
                do throws(ControlError) { try await self.add(id, addition, again: isOvertaken) } catch let failure {
                    throw isOvertaken ? failure : error
                }
                if !isOvertaken { throw error }
            }
        }
    }

    /// In the order in which it is asked for, though one has to be looked up for longer than another.
    /// - Parameter again: also if it is in the queue.
    private func add(_ id: ItemID, _ addition: Addition, again: Bool = true) async throws(ControlError) {
        let (before, clearing) = (added, clearings)
        let (turn, ending) = AsyncStream.makeStream(of: Never.self)
        added = turn
        // Nobody waits longer for another's server than for an answer.
        let timer = time.timer(after: Self.longest) { ending.finish() }
        func wait() async { if let before { for await _ in before {} } }
        defer {
            // Also behind one that cannot be added, which is said at once.
            Task { @LoopActor in
                await wait()
                timer.cancel()
                ending.finish()
            }
        }
        let item = try await described(id)
        await wait()
        guard clearing == clearings else {
            throw ControlError(.failed, "the queue was emptied meanwhile; this is not added")
        }
        guard again || !queue.line.contains(where: { $0.item.id == item.id }) else { return }
        line { addition.add(item, to: &$0) }
    }

    func removeTrack(_ index: Int) {
        let key = key(ofTrack: index)
        guard key == queue.present?.key else { return line { $0.remove(key) } }
        leaving = key
        letGo()
    }

    func goTo(track index: Int) {
        guard tracks.canEdit else {
            // Of what plays until another is heard there are no parts to go to any more.
            guard isShownPresent else { return }
            stay()
            send(.goTo(part: tracks.rows[index].index))
            return send(.play)
        }
        let key = key(ofTrack: index)
        if key == queue.present?.key {
            stay()
            return send(.play)
        }
        if let entry = queue.line.first(where: { $0.key == key }) { go(to: entry, .picked, plays: true) }
    }

    private func key(ofTrack index: Int) -> Queue.Key {
        Queue.Key(item: tracks.rows[index].item.id, copy: tracks.rows[index].copy)
    }

    func activate(playlist index: Int, _ reply: Reply) {
        let playlist = lists.choice[index]
        wishes += 1
        answer(reply) { () async throws(ControlError) in try await self.play(playlist) }
    }

    /// So long a caller, whose window may stand still meanwhile, waits to hear that something cannot be opened. After that
    /// it is on its way, and the status tells what becomes of it.
    private static let longest = BookTime.seconds(5)

    private func answer(_ reply: Reply, _ body: @escaping @LoopActor () async throws(ControlError) -> Void) {
        let timer = time.timer(after: Self.longest) { reply([]) }
        Task { @LoopActor in
            let ticket = self.opening + 1
            defer { timer.cancel() }
            do throws(ControlError) {
                try await body()
                if timer.isPending { reply([]) }
            } catch {
                guard !timer.isPending else {
                    return reply.fail(error.kind == .usage ? .invalidArgs(error.message) : .failed(error.message))
                }
                guard self.opening <= ticket else { return }
                self.queueTrouble = "what was asked for cannot be played: \(error.message)"
                self.emitStatus()
            }
        }
    }

    // MARK: What can be played

    /// What GStreamer can play; known some milliseconds after the start.
    func learn(mediaTypes: [String]) {
        self.mediaTypes = mediaTypes
        shelves.mediaTypes = mediaTypes
        if ownsMPRIS { bus.propertiesChanged(["SupportedMimeTypes"], of: MPRISName.root, at: MPRISName.path) }
    }
}

/// What a client hands in to be opened.
enum Address: Hashable {
    case file(path: String)
    case item(ItemID)
    case web(url: String)

    static let schemes = ["file", "http", "https", "dogear"]

    /// - Throws: a sentence that does not repeat the address: it may hold a password.
    init(_ uri: String) throws(ControlError) {
        guard uri.utf8.count <= WebAddress.longest else {
            throw ControlError(.usage, "no address is that long; dogear opens those of up to 64 KiB")
        }
        guard let colon = uri.firstIndex(of: ":"), case let scheme = uri[..<colon].lowercased(),
            scheme.first?.isLetter == true,
            scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "+.-".contains($0)) })
        else { throw ControlError(.usage, "that is no address; dogear opens \(Self.known)") }
        switch scheme {
        case "file":
            guard let path = Arguments.path(ofFile: uri) else {
                throw ControlError(.usage, "that is no file of this computer; write file:///folder/file")
            }
            self = .file(path: path)
        case "dogear":
            var text = uri[uri.index(after: colon)...]
            if text.hasPrefix("//") { text = text.dropFirst(2) }
            guard let id = text.removingPercentEncoding.flatMap(ItemID.init), id.isOfShelf || id.source == "file"
            else {
                throw ControlError(
                    .usage, "that names no item; write dogear: and an item's id, as 'dogear list --ids' shows it")
            }
            self = .item(id)
        case "http", "https":
            guard WebAddress(uri) != nil else {
                throw ControlError(.usage, "that names no server; write \(scheme)://SERVER/PATH")
            }
            self = .web(url: uri)
        default:
            throw ControlError(
                .usage, "dogear cannot open '\(scheme.prefix(20)):' addresses; it opens \(Self.known)")
        }
    }

    private static var known: String { schemes.map { "\($0):" }.joined(separator: ", ") }

    /// As sources know it.
    var id: ItemID {
        switch self {
        case .file(let path): ItemID(source: "path", key: path)
        case .item(let id): id
        case .web(let url): ItemID(source: "address", key: url)
        }
    }
}
