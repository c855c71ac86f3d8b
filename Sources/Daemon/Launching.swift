internal import Audiobookshelf
internal import Catalogue
internal import Control
internal import DBus
internal import EventLoop
internal import Launchers
internal import Listening
internal import Logging
internal import SDBus
internal import Store
internal import Terminal

/// What launchers find and play: from the index alone, whatever the network does.
extension Service: @LoopActor LauncherFace {
    func exportLaunchers() throws(BusError) {
        try bus.export(searchProviderInterface, at: LauncherName.search, face: self as any LauncherFace)
        try bus.export(runnerInterface, at: LauncherName.runner, face: self as any LauncherFace)
    }

    /// Asked before anything else: that is what started us, and nobody thinks of playing.
    func greet() {
        guard starter == .unknown, !isRestored || isStartedForThis else { return }
        starter = .launcher
        if isRestored { announce(seeked: false) }
    }

    /// The bus started us for a message that may come late on a busy machine: nothing else has been asked for since.
    private var isStartedForThis: Bool {
        environment["DBUS_STARTER_ADDRESS"] != nil && time.now.monotonic - began < 60_000_000 && opening == 0
            && !player.wantsPlay
    }

    func find(_ words: String, limit: Int, _ answer: @escaping @Sendable ([LauncherResult]) -> Void) {
        greet()
        // It asks for these words no second time.
        guard isRestored else { return early.append { self.find(words, limit: limit, answer) } }
        Task { @LoopActor in
            let found = try? await self.librarian?.catalogue.search(words, limit: limit * 2)
            // A podcast is not played itself: its episodes are.
            var entries = (found?.rows ?? []).filter(\.item.isPlayable).map(self.entry)
            let known = Set(entries.map(\.row.item.id))
            let typed = Words.asked(words)
            let (played, meant) = await self.playedHere(typed)
            let isOutdone = found.map { self.isOutdone(meant, by: $0, typed) } ?? false
            let here = isOutdone ? [] : played.map { Entry($0) }
            entries += here.filter { !known.contains($0.row.item.id) }
            let ways = [typed, known.isEmpty ? meant : found?.words ?? []]
            let wanted = Ranking.meant(ways, among: entries.map(\.row))
            if !here.isEmpty { entries = Ranking.sorted(entries, by: \.row, for: wanted) }
            let least = Self.leastFit(typed)
            let fitting = entries.filter {
                Ranking.score($0.row, wanted) >= least || Ranking.isByName($0.row, typed)
            }
            let best = Array(fitting.prefix(limit))
            answer(best.map { self.result($0, wanted) })
            // KRunner asks for nothing else; with the next letter they are there.
            await self.fetchMissingCovers(of: best)
        }
    }

    func look(_ ids: [String], _ answer: @escaping @Sendable ([LauncherResult]) -> Void) {
        greet()
        guard isRestored else { return early.append { self.look(ids, answer) } }
        Task { @LoopActor in
            let ids = ids.prefix(50).compactMap { ItemID($0) }
            let rows = (try? await self.librarian?.catalogue.rows(ids)) ?? []
            var entries = Dictionary(rows.map { ($0.item.id, self.entry($0)) }) { first, _ in first }
            for id in ids where entries[id] == nil {
                guard let item = try? await self.store.item(id) else { continue }
                entries[id] = Entry(item, place: (try? await self.store.place(of: id)) ?? nil)
            }
            answer(ids.compactMap { entries[$0] }.map { self.result($0, []) })
            await self.fetchMissingCovers(of: ids.compactMap { entries[$0] })
        }
    }

    /// Launchers ask about whatever is typed, sums and programs too, where a letter or two and numbers are part of anything:
    /// what they begin is meant then, by one letter what is called so, and by a long number a title that has it.
    /// - Returns: of ``Ranking/score(_:_:)``.
    private static func leastFit(_ typed: [String]) -> Int {
        let scalars = typed.joined().unicodeScalars
        // Writing that has no letters says more with each sign.
        guard scalars.allSatisfy({ $0.value < 0x2E80 }) else { return 0 }
        if scalars.count == 1 { return 4 }
        if scalars.count == 2 { return 3 }
        guard scalars.allSatisfy({ $0.properties.numericType != nil }) else { return 0 }
        return typed.count == 1 ? 2 : 3
    }

    private func fetchMissingCovers(of entries: [Entry]) async {
        let missing = entries.filter { remaining($0.cover) == nil }
        await fetchCovers(of: missing.compactMap { ItemID($0.row.item.id) }.filter { $0.isOfShelf })
    }

    func choose(_ id: String) {
        // Nothing of ours; as words it might mean anything.
        guard let item = ItemID(id) else { return log.notice("a launcher chose what is no item") }
        askedByListener()
        guard isRestored else { return early.append { self.choose(id) } }
        Task { @LoopActor in
            let before = self.opening
            self.willAnswer(isRead: false)
            defer { self.answered(isRead: false) }
            do throws(ControlError) { _ = try await self.choose(id, "") } catch {
                self.log.warning("what a launcher chose does not play", metadata: ["why": "\(error)"])
                let title = await self.knownTitle(of: item)
                // Unless something else was asked for meanwhile.
                if self.opening <= before + 1 { self.notices?.cannotPlay(item, title, error) }
            }
        }
    }

    func choose(best words: String) {
        find(words, limit: 1) { results in
            if let best = results.first { LoopActor.onLoop { self.choose(best.id) } }
        }
    }

    private func entry(_ found: CatalogueRow) -> Entry { Entry(row: row(found), cover: found.cover) }

    private func result(_ entry: Entry, _ wanted: [String]) -> LauncherResult {
        let item = entry.row.item
        let fit = Words.fit(title: Words.split(item.title), others: [], wanted)
        let people = Clean.isolated(Clean.line(item.podcast ?? item.authors.joined(separator: ", ")))
        let details = [people, heard(entry.row)].filter { !$0.isEmpty }.joined(separator: " · ")
        return LauncherResult(
            id: item.id, title: Clean.line(item.title), detail: Clean.leftToRight(details),
            cover: entry.cover.flatMap { shelves.covers.holds($0) ? $0 : nil },
            closeness: fit == 4 ? .whole : fit == 3 ? .beginning : .some)
    }

    private func heard(_ row: ItemRow) -> String {
        if row.finished { return "finished" }
        guard let position = row.position, position > 0, let duration = row.duration else { return "" }
        return "\(TimeText.length(.seconds(max(0, duration - position)))) left"
    }
}

/// What is known of a result.
private struct Entry {
    let row: ItemRow
    /// A picture that was once fetched; it may be gone.
    let cover: String?

    init(row: ItemRow, cover: String?) {
        self.row = row
        self.cover = cover
    }

    init(_ item: Item, place: Place?) { self.init(row: ItemRow(item, place: place), cover: item.coverPath) }

    init(_ played: Played) { self.init(played.item, place: played.place) }
}
