internal import Control
internal import EventLoop
internal import Listening
internal import Store

/// The listener's word on an item: finished, not finished, from the start, back to where it was.
extension Service {
    func change(_ kind: ProgressWrite.Kind, _ what: String) async throws(ControlError) -> ProgressReport {
        let row = try await one(what)
        let id = try playable(row, what)
        let place = await lastPlace(of: id)
        let duration = place.duration > .zero ? place.duration : row.duration.map(BookTime.seconds) ?? .zero
        let here = place.position ?? .zero
        let target: BookTime =
            switch kind {
            case .restart: .zero
            // Taken back at the very end, the last seconds are still to be heard.
            case .unfinish where duration > .zero:
                min(here, max(.zero, Stretch.reportable(duration - BookTime(microseconds: 1), of: duration)))
            case .finish, .unfinish, .place: here
            }
        if player.item?.id == id {
            if kind == .finish { send(.stop) }
            if kind != .unfinish || player.isFinished {
                send(.replace(target, finished: kind == .finish, kind.cause))
            }
        } else {
            keep(kind.cause, of: id, from: here, to: target)
        }
        let isKnown = place.position != nil || kind == .restart
        return try await write(
            kind, of: row.item, id, isKnown ? target : nil, duration: duration, finished: kind == .finish)
    }

    /// Takes back the last move of an item: the one that plays or would go on if nothing is named.
    func undo(_ what: String) async throws(ControlError) -> UndoReport {
        let row = try await one(what)
        let id = try playable(row, what)
        let moves: [Move]
        do throws(StoreError) { moves = try await store.moves() } catch { throw ControlError(.failed, "\(error)") }
        guard let move = Move.next(in: moves, of: id) else {
            throw ControlError(
                .notFound, "nothing to undo for '\(row.item.title)': nothing has moved your place that is still known")
        }
        let from: BookTime
        if player.item?.id == id {
            from = position
            send(.seek(to: move.from, .undo))
        } else {
            let place = await lastPlace(of: id)
            from = place.position ?? move.to
            keep(.undo, of: id, from: from, to: move.from)
            _ = try await write(.place, of: row.item, id, move.from, duration: place.duration, finished: false)
        }
        return UndoReport(
            item: row.item, from: from.seconds, position: move.from.seconds, undone: moveRow(move, row.item))
    }

    func movesReport() async -> MovesReport {
        let moves = (try? await store.moves()) ?? []
        var heads: [ItemID: ItemHead] = [:]
        for id in Set(moves.map(\.item)) { heads[id] = await head(of: id) }
        return MovesReport(
            moves: zip(moves, Move.standings(moves)).map { move, standing in
                var row = moveRow(move, heads[move.item] ?? ItemHead(unknown: move.item))
                row.undone = standing == .undone
                return row
            })
    }

    private func moveRow(_ move: Move, _ item: ItemHead) -> MovesReport.Row {
        MovesReport.Row(
            at: move.at, item: item, from: move.from.seconds, to: move.to.seconds, cause: move.cause.rawValue)
    }

    /// What is known here of an item, however little.
    func head(of id: ItemID) async -> ItemHead {
        if let item = try? await known(id) { return ItemHead(item) }
        // Marked but never played here. A server that did not answer just now is not waited for.
        guard id.source == "abs", shelves.problem(of: id) == nil, let details = try? await shelves.details(id) else {
            return ItemHead(unknown: id)
        }
        return details.row.item
    }

    /// A podcast as a whole has no place.
    func playable(_ row: ItemRow, _ what: String) throws(ControlError) -> ItemID {
        guard let id = ItemID(row.item.id) else { throw ControlError(.notFound, "nothing found for '\(what)'") }
        guard row.item.kind != "podcast" else {
            throw ControlError(
                .usage, "'\(row.item.title)' is a podcast; name one of its episodes ('dogear show \(id)' lists them)")
        }
        return id
    }

    /// Where the listener is in an item, played now or not; nil as position if nobody who can be asked knows.
    private func lastPlace(of id: ItemID) async -> (position: BookTime?, duration: BookTime) {
        let isHere = player.item?.id == id
        let own = (try? await store.place(of: id)) ?? nil
        let server = id.source == "abs" ? await shelves.place(of: id) : nil
        let places = [own, server].compactMap(\.self)
        let lengths = [isHere ? player.item?.duration : nil, server?.duration, own?.duration].compactMap(\.self)
        let duration = lengths.first { $0 > .zero } ?? .zero
        // Played to its end it stands at its start; that is no place of the listener's.
        if isHere, !player.isFinished { return (position, duration) }
        return (places.max { $0.updated < $1.updated }?.position, duration)
    }

    /// Keeps the place here and tells the server, now if it can be asked.
    private func write(
        _ kind: ProgressWrite.Kind, of item: ItemHead, _ id: ItemID, _ target: BookTime?, duration: BookTime,
        finished: Bool
    ) async throws(ControlError) -> ProgressReport {
        let now = time.now
        let made = serverNow(of: id, at: now)
        if let target {
            let place = Place(item: id, position: target, duration: duration, isFinished: finished, updated: made)
            if player.item?.id == id { told = place }
            do throws(StoreError) { try await store.write(.place(place)) } catch {
                throw ControlError(.failed, "\(error)")
            }
        }
        var report = ProgressReport(item: item, position: (target ?? .zero).seconds, finished: finished, sent: true)
        guard id.source == "abs" else { return report }
        sync { sync in
            sync.write(ProgressWrite(item: id, kind: kind, position: target, duration: duration, made: made), now)
        }
        await drain(limit: .seconds(10))
        let waiting = sync.unsentWrites.first { $0.item == id }
        report.sent = waiting == nil
        report.refused = waiting?.refusal
        return report
    }
}

extension ItemHead {
    init(unknown id: ItemID) { self.init(id: id.description, title: id.description, authors: [], kind: "") }
}

extension ProgressWrite.Kind {
    fileprivate var cause: Player.JumpCause {
        switch self {
        case .finish: .finish
        case .unfinish: .unfinish
        case .restart: .restart
        case .place: .undo
        }
    }
}
