internal import Audiobookshelf
internal import Catalogue
internal import Control
internal import DBus
internal import EventLoop
internal import Launchers
internal import Listening
internal import Logging
internal import SDBus
internal import Terminal

/// What launchers find and play: from the index alone, whatever the network does.
extension Service: @LoopActor LauncherFace {
    func exportLaunchers() throws(BusError) {
        try bus.export(searchProviderInterface, at: LauncherName.search, face: self as any LauncherFace)
        try bus.export(runnerInterface, at: LauncherName.runner, face: self as any LauncherFace)
    }

    func find(_ words: String, limit: Int, _ answer: @escaping @Sendable ([LauncherResult]) -> Void) {
        guard let catalogue = librarian?.catalogue else { return answer([]) }
        Task { @LoopActor in
            let found = try? await catalogue.search(words, limit: limit * 2)
            // A podcast is not played itself: its episodes are.
            let rows = (found?.rows ?? []).filter(\.item.isPlayable).prefix(limit)
            answer(self.results(Array(rows), found?.words ?? []))
        }
    }

    func look(_ ids: [String], _ answer: @escaping @Sendable ([LauncherResult]) -> Void) {
        guard let catalogue = librarian?.catalogue else { return answer([]) }
        Task { @LoopActor in
            let rows = (try? await catalogue.rows(ids.prefix(50).compactMap { ItemID($0) })) ?? []
            answer(self.results(rows, []))
            self.fetchCovers(rows.filter { $0.cover.map { !self.shelves.covers.holds($0) } ?? true }.map(\.item.id))
        }
    }

    func choose(_ id: String) {
        // A launcher may have started us.
        guard isRestored else { return early.append { self.choose(id) } }
        Task { @LoopActor in
            do throws(ControlError) { _ = try await self.answer(.play(what: id, at: "")) } catch {
                // There is no window to say it in; 'dogear status' does, and the log.
                self.log.warning("what a launcher chose does not play", metadata: ["why": "\(error)"])
            }
        }
    }

    func choose(best words: String) {
        find(words, limit: 1) { results in
            if let best = results.first { LoopActor.onLoop { self.choose(best.id) } }
        }
    }

    private func results(_ rows: [CatalogueRow], _ wanted: [String]) -> [LauncherResult] {
        rows.map { found in
            let item = found.item
            let details = [item.podcast ?? item.authors.joined(separator: ", ")] + heard(found)
            return LauncherResult(
                id: item.id.description, title: Clean.line(item.title),
                detail: Clean.line(details.filter { !$0.isEmpty }.joined(separator: " · ")),
                cover: found.cover.flatMap { shelves.covers.holds($0) ? $0 : nil },
                isClose: Words.fit(title: Words.split(item.title), others: [], wanted) >= 3)
        }
    }

    private func heard(_ found: CatalogueRow) -> [String] {
        guard let place = found.place, place.position > .zero || place.isFinished else { return [] }
        if place.isFinished { return ["finished"] }
        return ["\(TimeText.length(max(.zero, found.item.duration - place.position))) left"]
    }

    /// For the next time: one after the other, so that what plays is not kept waiting.
    private func fetchCovers(_ ids: [ItemID]) {
        guard let catalogue = librarian?.catalogue, !ids.isEmpty else { return }
        Task { @LoopActor in
            for id in ids.prefix(10) {
                if let path = await self.shelves.fetchCover(of: id) { try? await catalogue.setCover(path, of: id) }
            }
        }
    }
}
