internal import Catalogue
internal import EventLoop
internal import Listening
internal import Logging
internal import Store

/// The lists there are to choose from: put together from memory, whatever the network and the disk do.
extension Service {
    /// So many items of a list are enough to choose from.
    static let choiceLimit = 20

    /// None of them empty, and without the queue.
    var choices: [Playlist] {
        let snapshot = librarian?.snapshot ?? CatalogueSnapshot()
        var lists = [Playlist(id: "continue", name: "Continue listening", items: continued(snapshot.continueListening))]
        lists.append(Playlist(id: "latest", name: "Latest", items: items(snapshot.latest)))
        for library in snapshot.libraries {
            lists.append(
                Playlist(
                    id: "library:\(library.account)/\(library.id)", name: "\(library.name): recently added",
                    items: items(library.newest)))
        }
        return lists.filter { !$0.items.isEmpty }
    }

    /// What the servers know goes by their order; files that were listened to since then come before it, others behind.
    private func continued(_ rows: [CatalogueSnapshot.Row]) -> [Item] {
        guard !rows.isEmpty else { return begun.items }
        let first = begun.items.prefix { !$0.id.isOfShelf }
        let others = begun.items.dropFirst(first.count).filter { !$0.id.isOfShelf }
        let known = items(rows).filter { !begun.finished.contains($0.id) }
        return Array((first + known + others).prefix(Self.choiceLimit))
    }

    private func items(_ rows: [CatalogueSnapshot.Row]) -> [Item] {
        rows.prefix(Self.choiceLimit).map { row in
            var item = Item(id: row.id, kind: .book, title: row.title, tracks: [])
            item.coverPath = remaining(row.cover)
            return item
        }
    }

    /// With all that the index knows of them.
    func described(_ items: [Item]) async -> [Item] {
        guard let catalogue = librarian?.catalogue else { return items }
        let rows = (try? await catalogue.rows(items.map(\.id))) ?? []
        let known = Dictionary(rows.map { ($0.item.id, $0) }) { first, _ in first }
        return items.map { item in
            // Which of a podcast's episodes is the next one, its server is asked.
            guard let found = known[item.id], found.item.kind != .podcast else { return item }
            let row = found.item
            var described = Item(
                id: row.id, kind: row.kind == .episode ? .episode : .book, title: row.title, authors: row.authors,
                narrators: row.narrators, series: row.series, podcast: row.podcast, duration: row.duration, tracks: [])
            described.coverPath = item.coverPath ?? remaining(found.cover)
            return described
        }
    }

    /// A place was written down: what can be gone on with is something else where an item was begun or finished.
    func wrote(_ place: Place) {
        if begun.heard(place) { librarian?.note([place]) }
    }

    /// Some list is another one now.
    func choicesChanged() {
        lists.isStale = true
        announceLists()
    }
}

/// What was begun here and not finished, as the journal knows it, the latest first.
@LoopActor final class Begun {
    private(set) var items: [Item] = []
    /// Of what was played here last. A server may say so later, and meanwhile otherwise.
    private(set) var finished: Set<ItemID> = []
    private let store: Store
    private var onChange: (() -> Void)?
    private var isReading = false
    /// Something happened while it was being read.
    private var isStale = false
    private var last: (item: ItemID, isFinished: Bool)?
    private let log = Logger(label: "Daemon")

    init(store: Store) { self.store = store }

    /// - Parameter body: called when the items are others than before.
    func listen(_ body: @escaping () -> Void) { onChange = body }

    /// A place was written down: looks again if that is news.
    /// - Returns: false if its item was the last that was begun, or finished, before.
    func heard(_ place: Place) -> Bool {
        if let last, last == (place.item, place.isFinished) { return false }
        last = (place.item, place.isFinished)
        refresh()
        return true
    }

    /// Reads the journal anew, once for all that happens meanwhile.
    func refresh() {
        isStale = isReading
        guard !isReading else { return }
        isReading = true
        Task { @LoopActor in
            let recent: [Played]
            do throws(StoreError) { recent = try await store.recent(limit: Service.choiceLimit * 2) } catch {
                log.debug("the journal could not be read", metadata: ["why": "\(error)"])
                recent = []
            }
            isReading = false
            if isStale { return refresh() }
            let new = recent.lazy.filter { !$0.place.isFinished }.prefix(Service.choiceLimit).map(\.item)
            let over = Set(recent.lazy.filter(\.place.isFinished).map(\.item.id))
            guard !new.elementsEqual(items) || over != finished else { return }
            items = Array(new)
            finished = over
            onChange?()
        }
    }
}
