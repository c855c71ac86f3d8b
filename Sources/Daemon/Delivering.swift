internal import Control
internal import EventLoop
internal import Listening

/// `dogear sync`: sends what waits and says what became of it, row by row.
extension Service {
    /// Waits at most ten seconds for the servers.
    func deliverNow(retry: Bool) async -> SyncReport {
        send(.tick)
        if retry { sync { $0.retry(at: time.now) } }
        let rows = sync.rows
        sync { $0.hurry(at: time.now) }
        await drain(limit: .seconds(10))
        emitStatus()
        return await deliveryReport(rows)
    }

    /// What became of these rows up to now.
    func deliveryReport(_ rows: [Sync.Row]) async -> SyncReport {
        var report = SyncReport()
        for row in rows { report.rows.append(await delivery(row)) }
        return report
    }

    /// Gives up one refused row.
    func forget(_ id: String) async throws(ControlError) -> SyncReport {
        guard let row = sync.rows.first(where: { $0.id == id }) else {
            throw ControlError(.notFound, "nothing that waits is called '\(id)'; 'dogear sync' lists what does")
        }
        // Kept for the next login of the same user, and nobody knows whether there will be one.
        let isOrphan = shelves.accountName(of: row.item) == nil
        guard row.refusal != nil || isOrphan else {
            throw ControlError(
                .failed, "'\(id)' was not refused: it is sent when the server answers, and kept until then")
        }
        let dropped = await delivery(row)
        sync { $0.drop(row, isOrphan: isOrphan) }
        notices?.lookAtUnsent()
        emitStatus()
        return SyncReport(rows: [dropped])
    }

    private func delivery(_ row: Sync.Row) async -> SyncReport.Row {
        let item = await head(of: row.item)
        let account = shelves.accountName(of: row.item)
        var answer: SyncReport.Row =
            switch row {
            case .stretch(let stretch):
                SyncReport.Row(
                    id: row.id, kind: "listening", item: item, account: account, at: stretch.started,
                    position: stretch.place.seconds, listened: (stretch.listened - stretch.sentListened).seconds)
            case .write(let write):
                SyncReport.Row(
                    id: row.id, kind: write.kind.rawValue, item: item, account: account, at: write.made,
                    position: write.position?.seconds, listened: nil)
            case .bookmark(let bookmark):
                SyncReport.Row(
                    id: row.id, kind: bookmark.owed == .removal ? "unbookmark" : "bookmark", item: item,
                    account: account, at: bookmark.made, position: bookmark.time.seconds, listened: nil)
            }
        switch sync.standing(of: row, at: time.now) {
        case .accepted:
            let isOutdone = if case .write(let write) = row { shelves.outdone[write.item] == write.made } else { false }
            answer.outcome = isOutdone ? .outdone : .accepted
        case .refused(let why):
            answer.outcome = .refused
            answer.reason = why
        case .unsent(.signedOut):
            answer.outcome = .signedOut
            answer.reason = shelves.signedOutSentence(of: row.item)
        case .unsent(.putOff(let delay)):
            answer.outcome = .unreachable
            answer.reason = shelves.problem(of: row.item) ?? "the server did not answer"
            answer.again = delay.seconds
        case .unsent(.takesNoSessions(let delay)):
            answer.outcome = .unreachable
            answer.reason = "the server takes no listening of earlier sessions now"
            answer.again = delay.seconds
        case .unsent(.underWay):
            answer.outcome = .unreachable
            answer.reason = "the server has not answered yet; it is still being asked"
        }
        return answer
    }
}
