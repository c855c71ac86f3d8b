internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Glibc
internal import Listening
internal import Logging
internal import Store

/// What was listened to, when, and for how long: from the journal, and from the servers, which know of other devices.
extension Service {
    /// How long these commands wait for servers: what they ask for takes a server longer than a place.
    private var longPatience: BookTime { max(.seconds(3), patience) }

    /// The day of the listener's calendar, at a moment of this computer's clock.
    func day(at wall: Int64) -> Day {
        var seconds = time_t(wall / 1000)
        var broken = tm()
        // The listener may have travelled.
        tzset()
        let east = localtime_r(&seconds, &broken) == nil ? 0 : broken.tm_gmtoff
        return Day(wallSeconds: Int64(seconds) + Int64(east))
    }

    /// The day of what is heard now. Asked for once a second, and the system looks at a file for it.
    func today(at wall: Int64) -> Day {
        // Where a day ends, a minute does, in every time zone.
        let minute = wall / 60_000
        if let today, today.minute == minute { return today.day }
        let day = day(at: wall)
        today = (minute, day)
        return day
    }

    // MARK: History

    func history(_ what: String, limit: Int) async throws(ControlError) -> HistoryReport {
        let limit = limit.clamped(to: 1...5000)
        let id = what.isEmpty ? nil : try await meant(what).1
        let here = try await stored { () throws(StoreError) in
            try await self.store.history(of: id, least: .second, limit: limit)
        }
        var report = HistoryReport(rows: [])
        var heads: [ItemID: ItemHead] = [:]
        for item in Set(here.map(\.item)) { heads[item] = await knownHead(of: item) }
        for sitting in here {
            report.rows.append(
                HistoryReport.Row(
                    started: sitting.started, ended: sitting.ended,
                    item: heads[sitting.item] ?? ItemHead(unknown: sitting.item),
                    from: sitting.from.seconds, to: sitting.to.seconds, listened: sitting.listened.seconds,
                    source: "here", account: shelves.accountName(of: sitting.item)))
        }
        let shelf = id.flatMap { ShelfItemID($0) }
        for (account, answer) in await askServers(
            id,
            { client throws(ShelfError) in
                try await client.sessions(of: shelf, limit: limit).rows
            })
        {
            switch answer {
            case .success(let sessions):
                let known = (try? await store.known(sessions: sessions.map(\.id))) ?? []
                for session in sessions where !known.contains(session.id) && session.listened > .zero {
                    report.rows.append(row(session, account))
                }
            case .failure(let problem): report.problems.append(problem.sentence)
            }
        }
        report.rows.sort { ($0.started, $0.ended) > ($1.started, $1.ended) }
        report.rows = Array(report.rows.prefix(limit))
        return report
    }

    private func row(_ session: ShelfSession, _ account: Account) -> HistoryReport.Row {
        HistoryReport.Row(
            started: session.started, ended: session.updated, item: head(session), from: session.from.seconds,
            to: session.to.seconds, listened: session.listened.seconds, source: "server",
            device: session.device, account: account.name)
    }

    private func head(_ session: ShelfSession) -> ItemHead {
        ItemHead(
            id: session.item.description, title: session.title, authors: [session.author].compactMap(\.self),
            kind: ShelfItemID(session.item)?.episode == nil ? "book" : "episode", podcast: session.podcast)
    }

    // MARK: Statistics

    func stats(days count: Int) async throws(ControlError) -> StatsReport {
        guard (1...3660).contains(count) else {
            throw ControlError(.usage, "statistics are of 1 to 3660 days, not \(count)")
        }
        let today = day(at: time.now.wall)
        let first = today - (count - 1)
        var heads: [ItemID: ItemHead] = [:]
        var servers: [String: Tally.Counted] = [:]
        var names: [String] = []
        var problems: [String] = []
        let since = time.now.wall - Int64(count + 1) * 86_400_000
        for (account, answer) in await askServers(
            nil,
            { client throws(ShelfError) in
                let counted = try await client.statistics()
                return (counted, try await client.sessions(since: since))
            })
        {
            switch answer {
            case .success(let (counted, sessions)):
                names.append(account.name)
                var items: [ItemID: BookTime] = [:]
                for session in sessions where session.day.map({ $0 >= first }) ?? false {
                    items[session.item, default: .zero] += session.listened
                    heads[session.item] = head(session)
                }
                servers[account.id] = Tally.Counted(total: counted.total, days: counted.days, items: items)
            case .failure(let problem): problems.append(problem.sentence)
            }
        }
        let here = try await stored { () throws(StoreError) in try await self.store.listened() }
        let owed = sync.unsent.filter { $0.listened > $0.sentListened }.map {
            Tally.Row(
                day: day(at: $0.updated - shelves.clockOffset(of: $0.item)), item: $0.item,
                listened: $0.listened - $0.sentListened)
        }
        let tally = Tally(since: first, here: here, owed: owed, servers: servers)
        let rows = (0..<count).map { index in
            let share = tally.days[first + index] ?? Tally.Share()
            return StatsReport.DayRow(
                date: "\(first + index)", server: share.server.seconds, local: share.local.seconds)
        }
        var items: [StatsReport.ItemTime] = []
        for (item, share) in tally.ranking.prefix(10) {
            var head = await knownHead(of: item)
            if head.kind.isEmpty, let told = heads[item] { head = told }
            items.append(
                StatsReport.ItemTime(item: head, server: share.server.seconds, local: share.local.seconds))
        }
        return StatsReport(
            total: .init(server: tally.total.server.seconds, local: tally.total.local.seconds),
            streak: tally.streak(today: today), days: rows, items: items, servers: names, problems: problems)
    }

    // MARK: Servers

    private struct Unanswered: Error { let sentence: String }

    /// Asks all servers at once, or that of one item, and waits only so long.
    private func askServers<Answer: Sendable>(
        _ id: ItemID?, _ body: @escaping @Sendable (ShelfClient) async throws(ShelfError) -> Answer
    ) async -> [(Account, Result<Answer, Unanswered>)] {
        let accounts = shelves.accounts.filter { account in id.map { $0.account == account.id } ?? true }
        let asked = accounts.map { account in
            (
                account,
                Task { @LoopActor () -> Result<Answer, Unanswered> in
                    let answer = await self.inTime(within: self.longPatience) {
                        () async -> Result<Answer, ShelfError> in
                        do throws(ShelfError) {
                            return .success(try await body(try self.shelves.client(account)))
                        } catch {
                            return .failure(error)
                        }
                    }
                    switch answer {
                    case .success(let answer)?: return .success(answer)
                    case .failure(let error)?: return .failure(Unanswered(sentence: "\(error)"))
                    case nil:
                        return .failure(
                            Unanswered(
                                sentence: "\(account.server) did not answer in time; this is what is known here"))
                    }
                }
            )
        }
        var answers: [(Account, Result<Answer, Unanswered>)] = []
        for (account, task) in asked { answers.append((account, await task.value)) }
        return answers
    }
}

extension ShelfClient {
    /// The sessions that were changed since then, in milliseconds since 1970; 4,000 at most.
    fileprivate func sessions(since: Int64) async throws(ShelfError) -> [ShelfSession] {
        var found: [ShelfSession] = []
        for page in 0..<20 {
            let (rows, isLast) = try await sessions(limit: 200, page: page)
            found += rows
            if isLast || rows.last.map({ $0.updated < since }) ?? true { break }
        }
        return found
    }
}
