internal import EventLoop
internal import Listening
internal import Logging
internal import Store

/// Lists of items that are known here: answers at once, from memory, whatever the network and the disk do.
@LoopActor protocol PlaylistShelf: AnyObject {
    /// None of them empty.
    var playlists: [Playlist] { get }
    /// Called when ``playlists`` are others than before.
    var onChange: (() -> Void)? { get set }
}

extension Service {
    /// Where lists come from, in the order in which they are shown. Another kind of them has its place here.
    var playlistShelves: [any PlaylistShelf] { [shelf] }

    func watchShelves() {
        for shelf in playlistShelves {
            shelf.onChange = { [weak self] in
                guard let self else { return }
                self.lists.isStale = true
                self.announceLists()
            }
        }
    }
}

/// Continue listening, as the journal knows it: what was begun here and not finished, the latest first.
@LoopActor final class JournalShelf: PlaylistShelf {
    /// So many are enough to choose from.
    private static let limit = 20

    var onChange: (() -> Void)?
    private(set) var playlists: [Playlist] = []
    private let store: Store
    private var isReading = false
    /// Something happened while it was being read.
    private var isStale = false
    private var item: ItemID?
    private let log = Logger(label: "Daemon")

    init(store: Store) { self.store = store }

    /// Looks again if another item is the present one than when it last looked.
    func refresh(of item: ItemID?) {
        guard item != self.item else { return }
        self.item = item
        refresh()
    }

    /// Reads the journal anew, once for all that happens meanwhile.
    func refresh() {
        isStale = isReading
        guard !isReading else { return }
        isReading = true
        Task { @LoopActor in
            let recent: [Played]
            do throws(StoreError) { recent = try await store.recent(limit: Self.limit * 2) } catch {
                log.debug("the journal could not be read", metadata: ["why": "\(error)"])
                recent = []
            }
            isReading = false
            if isStale { return refresh() }
            let items = recent.lazy.filter { !$0.place.isFinished }.prefix(Self.limit).map(\.item)
            let new = items.isEmpty ? [] : [Playlist(id: "continue", name: "Continue listening", items: Array(items))]
            guard new != playlists else { return }
            playlists = new
            onChange?()
        }
    }
}
