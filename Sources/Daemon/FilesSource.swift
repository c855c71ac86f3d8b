internal import Folders
internal import GStreamer
internal import Listening
internal import LocalFiles
internal import Store
internal import Terminal

/// Local files and folders as a source. `path:<absolute path>` names one as the listener does; the item found is named
/// after its content, so that a moved file keeps its place.
struct FilesSource: Source {
    private let store: Store
    private let files: FileSource

    init(store: Store, covers: CoverCache) {
        self.store = store
        files = FileSource(inspector: GStreamerInspector.ofFiles, covers: covers) { try? await store.item($0) }
    }

    func find(_ id: ItemID) async throws(SourceError) -> Found {
        let opened: OpenedFiles
        guard let path = id.source == "path" ? id.key : await known(id) else {
            throw SourceError(.notFound, Sentences.neverPlayed(id))
        }
        do throws(LocalFilesError) { opened = try await files.open(path: path) } catch {
            guard case .notFound(let path) = error, id.source == "file" else { throw SourceError(error) }
            throw SourceError(
                .notFound, "it is not at \(path) any more; play it from where it is now, and it goes on at its place")
        }
        let item = opened.item
        if id.source == "file", item.id != id, await !isSuccessor(item, of: id) {
            throw SourceError(
                .notFound, "the audio at \(path) is another one now; play it by its path")
        }
        return Found(id: item.id, title: item.title, memory: opened)
    }

    /// For who only looks: nothing is played, and no place is settled.
    static func item(of found: Found) throws(SourceError) -> Item { try found.lookedAt(as: OpenedFiles.self).item }

    func open(_ found: Found) async throws(SourceError) -> Opened {
        let opened = try found.lookedAt(as: OpenedFiles.self)
        if let before = opened.before { await settle(opened.item, after: before) }
        return Opened(item: opened.item, place: await inherited(opened.item), remark: opened.leftOut.remark)
    }

    /// Of the same files another timeline may come: one of them could not be read before, or is measured anew. A place in it
    /// stays where it is heard. A bookmark in what is missing now stays as it is.
    private func settle(_ item: Item, after before: Item) async {
        guard item.tracks != before.tracks else { return }
        var entries = await bookmarks(of: before.id, as: item) { item.same($0, in: before) }
        if var place = (try? await store.place(of: item.id)) ?? nil,
            let position = item.place(from: before, place.position), position != place.position
        {
            place.position = position
            place.duration = item.duration
            entries.append(.place(place))
        }
        // With the timeline that they are on.
        if !entries.isEmpty { try? await store.write(entries + [.item(item)]) }
    }

    /// The place in what was there before its content changed, also where it was there before that: its own place is an
    /// older one then. What was finished is not where more of it has come.
    private func inherited(_ item: Item) async -> Place? {
        guard let url = item.url,
            let former = try? await store.played(at: url, besides: item.id, limit: Self.generations)
        else { return nil }
        // Of a moment that is not there a bookmark waits where it was made, until it is there again.
        var entries: [Entry] = []
        for old in former.reversed() where item.isSuccessor(of: old.item) {
            entries += await bookmarks(of: old.item.id, as: item) { item.same($0, in: old.item) }
        }
        if !entries.isEmpty { try? await store.write(entries) }
        guard let old = former.first, item.isSuccessor(of: old.item), await isOlder(item.id, than: old.place) else {
            return nil
        }
        if let rate = (try? await store.rate(among: [old.item.id])) ?? nil {
            try? await store.write(.rate(item.id, rate.rate))
        }
        let isOver = old.place.isFinished
        let position = item.place(from: old.item, isOver ? old.item.duration : old.place.position)
        guard let place = position ?? (isOver ? item.duration : nil) else { return nil }
        return Place(
            item: item.id, position: place, duration: item.duration, isFinished: position == nil,
            updated: old.place.updated)
    }

    /// Of what lay at one path, so many are looked at.
    private static let generations = 20

    /// - Returns: false also where its own place cannot be read.
    private func isOlder(_ item: ItemID, than place: Place) async -> Bool {
        do throws(StoreError) {
            return try await store.place(of: item).map { $0.updated < place.updated } ?? true
        } catch {
            return false
        }
    }

    /// Those of what was there before, where they are now. None of those that stay is written over.
    private func bookmarks(of old: ItemID, as item: Item, _ place: (BookTime) -> BookTime?) async -> [Entry] {
        let known = (try? await store.bookmarks(of: old)) ?? []
        let here = known.map { ($0, place($0.time)) }
        let staying = Set(old == item.id ? here.filter { $1 == nil }.map(\.0.time) : [])
        let moving = here.compactMap { bookmark, time in
            time.flatMap { staying.contains($0) ? nil : (bookmark, time: $0) }
        }
        // One may come to where another was.
        return moving.map { .removeBookmark($0.0.id) }
            + moving.map { bookmark, time in
                .bookmark(
                    Bookmark(
                        item: item.id, time: time, title: bookmark.title, created: bookmark.created,
                        made: bookmark.made))
            }
    }

    /// What was asked for has changed, and is still the same to a listener.
    private func isSuccessor(_ item: Item, of id: ItemID) async -> Bool {
        guard let old = (try? await store.item(id)) ?? nil, item.isSuccessor(of: old) else { return false }
        guard let place = (try? await store.place(of: id)) ?? nil, !place.isFinished else { return true }
        return item.place(from: old, place.position) != nil
    }

    /// Where a file was when it was last played.
    private func known(_ id: ItemID) async -> String? {
        guard let item = try? await store.item(id) else { return nil }
        return item.url.flatMap(Arguments.path(ofFile:))
    }
}

extension Found {
    /// Of sources that know all of it once they have found it.
    func lookedAt<Memory>(as type: Memory.Type = Memory.self) throws(SourceError) -> Memory {
        guard let memory = memory as? Memory else { throw SourceError(.failed, "'\(title)' was not looked at") }
        return memory
    }
}

extension SourceError {
    init(_ error: LocalFilesError) {
        switch error {
        case .notFound: self.init(.notFound, "\(error)")
        case .noAudio, .tooMuch, .tooDeep, .forbidden, .empty, .notRegular, .unnameable, .unreadable, .list,
            .missingDecoder:
            self.init(.failed, "\(error)")
        }
    }
}
