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

    /// All of this user's progress, out of `GET /api/me`: every server version has it there.
    public func allProgress() async throws(ShelfError) -> [ItemID: ShelfProgress] {
        Dictionary(try await progressByItem().map { ($0.key.id, $0.value) }) { first, _ in first }
    }

    /// Carries out a listener's command with `PATCH /api/me/progress`. Safe to repeat.
    ///
    /// Two ways of the server are heeded: a place in the middle sent with `isFinished: true` takes the finish back, so
    /// it is left out; and an item that is no longer finished is moved to its start, a place sent along is dropped. So
    /// `unfinish` sends the place by itself afterwards, unless it is one in the last ten seconds, which would finish the
    /// item again.
    public func write(_ write: ProgressWrite) async throws(ShelfError) {
        guard let id = ShelfItemID(write.item) else { throw .notFound(what: write.item.description) }
        tell(id, write.kind == .restart ? .zero : told[id]?.last?.place ?? .zero, at: write.made)
        let duration = max(.zero, write.duration)
        let position = max(.zero, write.position)
        let isNearEnd = duration > .zero && duration - position < BookTime(microseconds: 9_500_000)
        var fields: [String: JSON] = [:]
        if duration > .zero { fields["duration"] = .number(duration.seconds) }
        if write.made > 0 { fields["lastUpdate"] = .number(Double(write.made)) }
        switch write.kind {
        case .finish:
            fields["isFinished"] = true
            if isNearEnd { fields["currentTime"] = .number(position.seconds) }
            _ = try await answer(.patchProgress(id, body: .object(fields)))
        case .unfinish:
            _ = try await answer(.patchProgress(id, body: ["isFinished": false]))
            guard position > .zero, duration == .zero || duration - position > BookTime(microseconds: 10_500_000) else {
                return
            }
            fields["currentTime"] = .number(position.seconds)
            if duration > .zero {
                fields["progress"] = .number((position.seconds / duration.seconds).clamped(to: 0...1))
            }
            _ = try await answer(.patchProgress(id, body: .object(fields)))
        case .restart:
            fields["isFinished"] = false
            fields["currentTime"] = 0
            fields["progress"] = 0
            _ = try await answer(.patchProgress(id, body: .object(fields)))
        }
    }

    func user() async throws(ShelfError) -> UserPayload {
        try UserPayload(await json(.me), Call.me.endpoint)
    }

    func progress(_ user: UserPayload) -> [ShelfItemID: ShelfProgress] {
        let pairs = user.progress.compactMap { payload in
            payload.key(account: account.id).map { ($0, payload.progress) }
        }
        return Dictionary(pairs) { a, b in a.updated >= b.updated ? a : b }
    }

    func progressByItem() async throws(ShelfError) -> [ShelfItemID: ShelfProgress] { progress(try await user()) }
}
