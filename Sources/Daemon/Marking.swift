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
        let target: BookTime? =
            switch kind {
            case .restart: .zero
            case .unfinish: place.position.map { Stretch.unfinished($0, of: duration) }
            case .finish, .place: place.position
            }
        if player.item?.id == id, let target {
            if kind == .finish { send(.stop) }
            if kind != .unfinish || player.isFinished {
                send(.replace(target, finished: kind == .finish, kind.cause))
            }
        } else if let here = place.position, let target, kind != .unfinish || place.isFinished {
            keep(kind.cause, of: id, from: here, to: target)
        }
        return try await write(kind, of: row.item, id, target, duration: duration, finished: kind == .finish)
    }

    /// Takes back the last move of an item: the one that plays or would go on if nothing is named.
    func undo(_ what: String) async throws(ControlError) -> UndoReport {
        let isBack = what.isEmpty ? try await goBackToWhatWasSleptThrough(try await everyMove()) : false
        let row = try await one(what)
        let id = try playable(row, what)
        // Whoever looks may be the first to learn of a move.
        let known = player.item?.id == id ? nil : await lastPlace(of: id)
        guard let move = Move.next(in: try await everyMove(), of: id) else {
            throw ControlError(
                .notFound, "nothing to undo for '\(row.item.title)': nothing has moved your place that is still known")
        }
        let present = player.item.flatMap { $0.id == id ? $0 : nil }
        let length = present?.duration ?? max(known?.duration ?? .zero, row.duration.map(BookTime.seconds) ?? .zero)
        if length > .zero, move.from > length + .second {
            throw ControlError(
                .failed,
                "'\(row.item.title)' is \(TimeText.clock(length)) long and ends before \(TimeText.clock(move.from)), where "
                    + "you were; undo again once it is as long as it was")
        }
        let from: BookTime
        // The mark is back as well.
        let isFinished = move.cause == .unfinish
        if let present {
            try mayMove()
            // Nobody was where it was gone back to.
            from = isBack ? move.to : position
            if isFinished {
                send(.stop)
                send(.replace(move.from, finished: true, .undo))
                _ = try await write(.finish, of: row.item, id, move.from, duration: present.duration, finished: true)
            } else {
                send(.seek(to: move.from, .undo))
            }
        } else {
            // What was loaded may have left meanwhile.
            let place = if let known { known } else { await lastPlace(of: id) }
            from = place.position ?? move.to
            keep(.undo, of: id, from: from, to: move.from)
            _ = try await write(
                isFinished ? .finish : .place, of: row.item, id, move.from, duration: max(place.duration, length),
                finished: isFinished)
        }
        return UndoReport(
            item: row.item, from: from.seconds, position: move.from.seconds, finished: isFinished,
            undone: moveRow(move, row.item))
    }

    private func everyMove() async throws(ControlError) -> [Move] {
        do throws(StoreError) { return try await store.moves() } catch { throw ControlError(.failed, "\(error)") }
    }

    /// Where the sleep timer ended with an item the queue stands at the next, or plays it by now: who wakes up there means
    /// the one before.
    /// - Returns: whether that is so.
    /// - Throws: where it cannot be gone back to: what is there instead has moves of its own, which are not meant.
    private func goBackToWhatWasSleptThrough(_ moves: [Move]) async throws(ControlError) -> Bool {
        guard let previous = queue.previous, let last = Move.next(in: moves), last.cause == .sleep,
            last.item == previous.item.id, last.item != player.item?.id
        else { return false }
        go(to: previous, .back)
        await arrival()
        guard player.item?.id == last.item else {
            throw queueTrouble.map { ControlError(.failed, $0) } ?? ControlError(Self.overtaken)
        }
        return true
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
        guard id.isOfShelf, shelves.problem(of: id) == nil else { return ItemHead(unknown: id) }
        let details = await inTime { try? await self.shelves.details(id) } ?? nil
        return details?.row.item ?? ItemHead(unknown: id)
    }

    /// A podcast as a whole has no place.
    func playable(_ row: ItemRow, _ what: String) throws(ControlError) -> ItemID {
        let id = try id(of: row, what)
        guard row.item.kind != "podcast" else {
            throw ControlError(
                .usage, "'\(row.item.title)' is a podcast; name one of its episodes ('dogear show \(id)' lists them)")
        }
        return id
    }

    /// Where the listener is in an item, played now or not; nil as position if nobody who can be asked knows. Where another
    /// device went on that is taken, and what it took the place of can be undone.
    private func lastPlace(of id: ItemID) async -> (position: BookTime?, duration: BookTime, isFinished: Bool) {
        let present = player.item.flatMap { $0.id == id ? $0 : nil }
        // Played to its end it stands at its start; that is no place of the listener's.
        if let present, !player.isFinished { return (position, present.duration, false) }
        let own = (try? await store.place(of: id)) ?? nil
        let knowsOurs = sync.hasTold(id)
        let answer = id.isOfShelf ? await inTime { await self.shelves.answer(on: id) } ?? nil : nil
        let server = answer ?? nil
        let lengths = [present?.duration, server?.duration, own?.duration].compactMap(\.self)
        let duration = lengths.first { $0 > .zero } ?? .zero
        guard let own, let server, isOutdone(own, by: server, knowsOurs: knowsOurs) else {
            if let known = own ?? server { return (known.position, duration, known.isFinished) }
            // Who never began it is at its start, where that is sure.
            let isUnbegun = if id.isOfShelf && answer == nil { false } else { await store.wasNeverBegun(id) }
            return (isUnbegun ? .zero : nil, duration, false)
        }
        if player.item?.id != id { take(server, over: own) }
        return (server.position, duration, server.isFinished)
    }

    /// Keeps the place here and tells the server: now if it answers at once, else when it does.
    private func write(
        _ kind: ProgressWrite.Kind, of item: ItemHead, _ id: ItemID, _ target: BookTime?, duration: BookTime,
        finished: Bool
    ) async throws(ControlError) -> ProgressReport {
        let now = time.now
        let known = (try? await store.place(of: id)) ?? nil
        let made = max(commandTime(of: id, at: now), known.map { $0.updated + 1 } ?? .min)
        if let target {
            let place = Place(item: id, position: target, duration: duration, isFinished: finished, updated: made)
            if player.item?.id == id { told = place }
            do throws(StoreError) { try await store.write(.place(place)) } catch {
                throw ControlError(.failed, "\(error)")
            }
            wrote(place)
        } else if finished {
            // Nobody here knows a place in it; that it is finished the next command is to see all the same.
            librarian?.note([Place(item: id, position: .zero, duration: duration, isFinished: true, updated: made)])
        }
        var report = ProgressReport(item: item, position: (target ?? .zero).seconds, finished: finished, sent: true)
        guard id.isOfShelf else { return report }
        sync { sync in
            sync.write(ProgressWrite(item: id, kind: kind, position: target, duration: duration, made: made), now)
        }
        await drain(limit: patience, of: id.account)
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
