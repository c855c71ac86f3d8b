internal import HTTP
public import Listening

extension ShelfClient {
    /// `GET /api/me/progress/:item[/:episode]`.
    /// - Returns: nil if this user has never opened it.
    public func progress(of id: ShelfItemID) async throws(ShelfError) -> ShelfProgress? {
        let call = Call.progress(id)
        do throws(ShelfError) {
            let json = try await json(call)
            guard let payload = ProgressPayload(json) else {
                throw ShelfError.missing(field: "libraryItemId", endpoint: call.endpoint)
            }
            return payload.progress
        } catch {
            if case .notFound = error { return nil }
            throw error
        }
    }

    /// Carries out a listener's command with `PATCH /api/me/progress`. Safe to repeat.
    ///
    /// The server checks nothing, so its place is read first: where another device went on after the command was given,
    /// whatever the command, that is newer and stays.
    ///
    /// Two ways of the server are heeded: a place in the middle sent with `isFinished: true` takes the finish back, so
    /// it is left out; and `isFinished: false` moves a finished item to its start, whatever place is sent along. Another
    /// place takes the finish back too and stays, so that is what `unfinish` sends, in one request: there is no moment
    /// at which the server has lost the place, and no answer whose loss would cost it.
    public func write(_ write: ProgressWrite) async throws(ShelfError) {
        guard let id = ShelfItemID(write.item) else { throw .notFound(what: write.item.description) }
        let known = try await progress(of: id)
        let command = write
        var write = write
        write.made = credible(write.made)
        if let known, isOutdone(write, by: known, id) { return report(.outdone(command)) }
        let duration = max(.zero, write.duration)
        var target = known?.position ?? .zero
        var fields: [String: JSON] = [:]
        if duration > .zero { fields["duration"] = .number(duration.seconds) }
        if write.made > 0 { fields["lastUpdate"] = .number(Double(write.made)) }
        switch write.kind {
        case .finish:
            fields["isFinished"] = true
            if let position = write.position, duration > .zero, duration - position < BookTime(microseconds: 9_500_000)
            {
                fields["currentTime"] = .number(max(0, position.seconds))
                target = position
            }
        case .unfinish, .place:
            guard let place = Self.place(for: write, known) else { return }
            target = place
            fields["currentTime"] = .number(place.seconds)
            // Nothing to lose there, and the one place where a change may be none.
            if place == .zero { fields["isFinished"] = false }
            let whole = duration > .zero ? duration : known?.duration ?? .zero
            if whole > .zero { fields["progress"] = .number((place.seconds / whole.seconds).clamped(to: 0...1)) }
        case .restart:
            target = .zero
            fields["isFinished"] = false
            fields["currentTime"] = 0
            fields["progress"] = 0
        }
        var word = Told(place: target, at: write.made, sent: serverNow, isFinished: write.kind == .finish)
        // A record that is there is dated as we say, whenever this comes.
        if known != nil, write.made > 0 { word.latest = write.made }
        if let known, known.position > .zero, !isTold(known, of: id) {
            report(.overwriting(Place(item: write.item, known), with: write.position ?? target))
        }
        tell(id, word)
        _ = try await answer(.patchProgress(id, body: .object(fields)))
        answered(id, word, .accepted(placeTaken: true))
        // A record that this made is dated by the server's clock, which would outdo what was listened to since the command.
        if known == nil, write.made > 0 { _ = try await answer(.patchProgress(id, body: .object(fields))) }
    }

    /// Whether another device went on after the command was given, which is then no longer what the listener wants. What
    /// an earlier run of ours told late is noted by the server under the time at which it came.
    private func isOutdone(_ write: ProgressWrite, by server: ShelfProgress, _ id: ShelfItemID) -> Bool {
        let isOfThisRun = told[id] != nil && write.made >= clock.now(at: began)
        return server.updated > write.made + Place.clockTolerance + (isOfThisRun ? 0 : Sync.freshness)
            && !isTold(server, of: id)
    }

    private func isTold(_ server: ShelfProgress, of id: ShelfItemID) -> Bool {
        told[id]?.contains { $0.isNear(server.position, noted: server.updated) } ?? false
    }

    /// The place that makes an item unfinished: the listener's, or the server's own where nobody else knows one; not in
    /// the last seconds, where it would be finished again, and not quite the one that the server has, for only a change
    /// counts.
    /// - Returns: nil if nothing is to be done.
    private static func place(for write: ProgressWrite, _ known: ShelfProgress?) -> BookTime? {
        guard let wanted = write.position ?? (known?.isFinished == true ? known?.position : nil) else { return nil }
        let duration = max(write.duration, known?.duration ?? .zero)
        // The very end counts as heard in `reportable`; here it was taken back.
        let inside = duration > .zero ? min(wanted, duration - BookTime(microseconds: 1)) : wanted
        let place = max(.zero, Stretch.reportable(inside, of: duration))
        guard let known, known.isFinished, (place - known.position).microseconds.magnitude < 1000 else { return place }
        return max(.zero, place - BookTime(microseconds: 10_000))
    }

    func user() async throws(ShelfError) -> UserPayload {
        let user = try UserPayload(await json(.me), Call.me.endpoint)
        if let id = user.id { report(.user(id)) }
        return user
    }

    func progress(_ user: UserPayload) -> [ShelfItemID: ShelfProgress] {
        let pairs = user.progress.compactMap { payload in
            payload.key(account: account.id).map { ($0, payload.progress) }
        }
        return Dictionary(pairs) { a, b in a.updated >= b.updated ? a : b }
    }

    func progressByItem() async throws(ShelfError) -> [ShelfItemID: ShelfProgress] { progress(try await user()) }
}
