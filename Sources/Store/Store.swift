internal import EventLoop
internal import GRDB
public import Listening
internal import Synchronization

/// The journal: where the listener is, what was listened to and not yet delivered, accounts, cached descriptions.
///
/// One connection on one serial line: everything is done in the order in which it was given, and a read sees what was
/// given before it. Beside it only checkpoints are made, with a connection of their own. A database whose file was removed
/// meanwhile, or is damaged, is made anew before the next write.
///
/// SQLite keeps a write-ahead log with `synchronous = NORMAL`: a commit survives the death of the process at any moment,
/// and the death of the machine once a checkpoint has called fsync. A checkpoint follows the first write after the last
/// one by four seconds, and every ``flush()``. Of what plays each tenth second is written so, and those between into a file
/// that is in memory: a process that is killed loses none of them, and a power cut ten seconds, four, and the time one write
/// takes, within the fifteen that are promised.
public final class Store: Sendable {
    /// A uuid made once for this database: what servers know this installation by.
    public let deviceID: String
    /// For the listener, if the database was damaged and a new one had to begin.
    public let notice: StoreNotice?

    private let path: String
    /// What is given to it is done by one thread, one after the other.
    private let line: ThreadExecutor
    private let naps: Sleep
    private let keeper: Keeper
    /// SQLite makes one at a time, of files that keep their names as long.
    private let checkpoints = Locked(())
    /// Nil: never.
    private let checkpointAfter: Duration?
    private let retryAfter: Duration
    private let onTrouble: @Sendable (StoreTrouble) -> Void
    private let given = Atomic<Int>(0)
    private let ticks: Locked<Ticks>

    /// Opens the database, making it and its folder if they are missing: folder 0700, files 0600. A damaged one is set
    /// aside as `<path>.damaged-YYYYMMDD-HHMMSS` and ``notice`` says so. Blocks while it reads: not for the Loop.
    /// - Parameters:
    ///   - memory: a folder in memory that outlives the process, made if it is missing; nil: all is written to the database.
    ///   - onTrouble: called on the database's line when writes nobody waits for begin to fail, and when they work again.
    public static func open(
        at path: String, memory: String? = nil, onTrouble: @escaping @Sendable (StoreTrouble) -> Void
    ) throws(StoreError) -> Store {
        try open(at: path, memory: memory, checkpointAfter: usualCheckpoint, onTrouble: onTrouble)
    }

    static func open(
        at path: String, memory: String? = nil, checkpointAfter: Duration?, retryAfter: Duration = usualRetry,
        onTrouble: @escaping @Sendable (StoreTrouble) -> Void
    ) throws(StoreError) -> Store {
        do {
            let refuge = RefugeFile(in: memory, for: path)
            let left = refuge?.left()
            let (queue, notice) =
                try left.map {
                    try Opening(path: path).moveIn(from: $0.database, isWhole: $0.isWhole)
                } ?? Opening(path: path).open()
            if left != nil { refuge?.remove() }
            return try Store(queue, path, notice, checkpointAfter, retryAfter, nil, memory, onTrouble)
        } catch { throw StoreError(error, path: path) }
    }

    private static let usualCheckpoint = Duration.seconds(4)

    private static let usualRetry = Duration.seconds(5)
    private static let rareRetry = Duration.seconds(60)

    /// A journal in memory, for when its file cannot be opened, so that playing still works. All that can be read of the
    /// file is in it from the start, and it moves into the file soon after that can be opened again.
    /// - Parameters:
    ///   - path: nil: it ends with the process.
    ///   - memory: as for a file: what was heard last may be there alone. The journal is kept there meanwhile.
    ///   - onTrouble: as for a file; it counts as having begun.
    public static func inMemory(
        for path: String? = nil, memory: String? = nil,
        onTrouble: @escaping @Sendable (StoreTrouble) -> Void = { _ in }
    ) throws(StoreError) -> Store {
        try inMemory(for: path, memory: memory, retryAfter: usualRetry, onTrouble: onTrouble)
    }

    static func inMemory(
        for path: String?, memory: String? = nil, retryAfter: Duration,
        onTrouble: @escaping @Sendable (StoreTrouble) -> Void
    ) throws(StoreError) -> Store {
        do {
            let file = RefugeFile(in: memory, for: path)
            let left = file?.left()
            let found = try left ?? path.flatMap { try Opening(path: $0).copyInMemory() }
            let queue = try left?.database ?? file?.begin(with: found) ?? found?.database ?? DatabaseQueue()
            try Schema.migrator.migrate(queue)
            let refuge = path.map { _ in Refuge(isWhole: found?.isWhole ?? false, file: file) }
            return try Store(queue, path ?? "the memory", nil, usualCheckpoint, retryAfter, refuge, memory, onTrouble)
        } catch { throw StoreError(error, path: path ?? "the memory") }
    }

    private init(
        _ queue: DatabaseQueue, _ path: String, _ notice: StoreNotice?, _ checkpointAfter: Duration?,
        _ retryAfter: Duration, _ refuge: Refuge?, _ memory: String?,
        _ onTrouble: @escaping @Sendable (StoreTrouble) -> Void
    ) throws {
        self.keeper = Keeper(queue, path, refuge: refuge)
        self.path = path
        self.notice = notice
        self.checkpointAfter = checkpointAfter
        self.retryAfter = retryAfter
        self.onTrouble = onTrouble
        let deviceID = try queue.write { try Opening.deviceID($0) }
        self.deviceID = deviceID
        let file = memory.map { TickFile("\($0)/\(deviceID)") }
        if let record = file?.record { try queue.write { try record.write(to: $0) } }
        // What it says goes on from rows of the file: from those in memory nobody could go on.
        self.ticks = Locked(Ticks(refuge == nil ? file : nil))
        self.naps = Sleep()
        self.line = ThreadExecutor(name: "store", wait: naps)
        if refuge != nil { line.run { self.tryAgainLater() } }
    }

    deinit { line.end() }

    /// Writes these in one transaction and returns at once: for the Loop. If that fails they are held in memory, for as
    /// long as the process lives, and tried again every five seconds until it works; `onTrouble` is told.
    public func post(_ entries: Entry...) { post(entries) }

    public func post(_ entries: [Entry]) {
        enqueue(isOfPlace: entries.contains(where: \.isPlace)) { self.tryToCommit(entries) }
    }

    /// On the line.
    private func write(_ tick: Tick) {
        if tryToCommit(tick.entries) { ticks.withLock { $0.wrote(tick) } }
    }

    /// On the line.
    /// - Returns: false if they are held.
    @discardableResult private func tryToCommit(_ entries: [Entry]) -> Bool {
        do { try commit(entries) } catch {
            hold(entries, StoreError(error, path: path))
            return false
        }
        return true
    }

    /// What playing writes once a second: the place, the listening time and the history, together or not at all.
    /// - Parameters:
    ///   - at: milliseconds since 1970, this computer's clock.
    ///   - goesOn: nothing but time has passed since the last, and more is to come: the database may wait.
    public func journal(place: Place, stretch: Stretch?, sitting: Sitting? = nil, at: Int64, goesOn: Bool = false) {
        let tick = Tick(place: place, stretch: stretch, sitting: sitting, at: at)
        if goesOn, ticks.withLock({ $0.mayWait(tick) }) { return }
        enqueue(tick, isOfPlace: true) { self.write(tick) }
    }

    /// Writes these in one transaction. When it returns they survive the death of the process; see ``flush()`` for that
    /// of the machine. When it throws, none of them was written nor will be.
    public func write(_ entries: Entry...) async throws(StoreError) { try await write(entries) }

    public func write(_ entries: [Entry]) async throws(StoreError) {
        try await onLine(isOfPlace: entries.contains(where: \.isPlace)) { try self.commit(entries) }
    }

    /// Returns once everything posted before is written and survives the death of the process.
    /// - Throws: if some of it cannot be, which stays held.
    public func posted() async throws(StoreError) {
        try await onLine { if !self.keeper.held.isEmpty, let failure = self.keeper.failure { throw failure } }
    }

    /// Returns once everything given to the store before is on the disk.
    /// - Throws: if some of it still cannot be written, which stays held.
    public func flush() async throws(StoreError) {
        try await onLine {
            self.keeper.wait(isUrgent: true)
            defer { self.keeper.wait(isUrgent: false) }
            if !self.keeper.held.isEmpty || self.keeper.look() == .gone { try self.commit([], isUrgent: true) }
            self.leaveRefuge(isUrgent: true)
            try self.checkpoint(isUrgent: true)
        }
    }

    /// In its turn, after all that was given before. Changes nothing.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        try await onLine { try self.mended { try self.keeper.read(body) } }
    }

    private func onLine<Value: Sendable>(
        isOfPlace: Bool = false, _ body: @escaping @Sendable () throws -> Value
    ) async throws(StoreError) -> Value {
        let result: Result<Value, StoreError> = await withCheckedContinuation { done in
            enqueue(isOfPlace: isOfPlace) {
                do { done.resume(returning: .success(try body())) } catch {
                    done.resume(returning: .failure(StoreError(error, path: self.path)))
                }
            }
        }
        return try result.get()
    }

    /// - Parameters:
    ///   - tick: what `body` writes in place of the one that waits.
    ///   - isOfPlace: it writes of a place.
    private func enqueue(_ tick: Tick? = nil, isOfPlace: Bool, _ body: @escaping @Sendable () -> Void) {
        given.add(1, ordering: .relaxed)
        // Under the lock: what is given after the one that waits is done after it.
        ticks.withLock { ticks in
            let waiting = ticks.given(tick, isOfPlace: isOfPlace)
            line.run {
                if let waiting { self.write(waiting) }
                body()
                self.given.subtract(1, ordering: .releasing)
            }
        }
    }

    /// Something that was given to it is not done. Whoever waits for what is done has been resumed before.
    var isBusy: Bool { given.load(ordering: .acquiring) > 0 }

    /// On the line.
    private func commit(_ entries: [Entry], isUrgent: Bool = false) throws {
        try mended(isUrgent: isUrgent) {
            try lookAtFile()
            try keeper.database.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    for entry in keeper.held { try entry.write(to: db) }
                    for entry in entries { try entry.write(to: db) }
                    return .commit
                }
            }
        }
        keeper.letGo()
        leaveRefuge(isUrgent: false)
        // On a full disk what needs no more room is still written, until it does: that is not the end of it.
        if keeper.isFailing, !keeper.isInRefuge, !keeper.checkpointFailed, keeper.hasRoom { recovered() }
        checkpointLater()
    }

    /// On the line. Nothing else may be written for hours, and what is held would be lost with the process.
    private func tryAgainLater() {
        guard keeper.mayRecover, !keeper.retryIsDue else { return }
        keeper.retryIsDue = true
        after(keeper.isOutdated ? Self.rareRetry : retryAfter) { store in
            store.keeper.retryIsDue = false
            // Something else that was written meanwhile may have ended it.
            if store.keeper.mayRecover { try? store.commit([]) }
            if store.keeper.checkpointFailed { try? store.checkpoint() }
            store.tryAgainLater()
        }
    }

    /// On the line.
    private func after(_ delay: Duration, _ body: @escaping (Store) -> Void) {
        _ = naps.timer(after: delay) { [weak self] in if let self { body(self) } }
    }

    /// On the line. What is written into a file that is gone, or was spoiled, is found by nobody.
    private func lookAtFile() throws {
        var finding = keeper.look()
        if finding == .gone {
            let aside = try checkpoints.withLock { _ in try keeper.renew() }
            onTrouble(.renewed(path: path, setAside: aside))
            finding = keeper.look()
        }
        switch finding {
        case .sound, .gone: break
        case .spoiled: throw StoreError.damaged(path: path)
        // Finds out what is missing.
        case .shortened:
            try checkpointOnLine()
            keeper.acceptLog()
        }
    }

    /// On the line. Does it once more in a new database, if this one turns out to be damaged.
    private func mended<Value>(isUrgent: Bool = false, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            guard case .damaged = StoreError(error, path: path),
                let notice = try checkpoints.withLock({ _ in
                    try keeper.replace(deviceID: deviceID, isUrgent: isUrgent)
                })
            else { throw error }
            onTrouble(.replaced(notice))
            return try body()
        }
    }

    private func leaveRefuge(isUrgent: Bool) {
        let (isDone, notice) = keeper.leaveRefuge(isUrgent: isUrgent)
        if isDone { recovered() }
        if let notice { onTrouble(.replaced(notice)) }
    }

    private func recovered() {
        keeper.failure = nil
        onTrouble(.ended)
    }

    /// On the line.
    private func checkpointLater() {
        guard let checkpointAfter, !keeper.checkpointIsDue else { return }
        keeper.checkpointIsDue = true
        after(checkpointAfter) { $0.checkpointBeside() }
    }

    /// On the line, which goes on writing meanwhile: on a busy disk an fsync takes seconds, and what waited for its end
    /// would be lost with the process. (The first write after it waits for one all the same, of the log's header.) What
    /// goes wrong is found out, and mended, by the one on the line.
    private func checkpointBeside() {
        keeper.checkpointIsDue = false
        guard !keeper.isCheckpointing else { return checkpointLater() }
        keeper.isCheckpointing =
            keeper.isSound
            && onOwnThread {
                let isDone = self.checkpoints.withLock { _ in Opening(path: self.path).checkpoint() }
                self.line.run {
                    self.keeper.isCheckpointing = false
                    if isDone { self.checkpointed() } else { self.checkpointHere() }
                }
            }
        if !keeper.isCheckpointing { checkpointHere() }
    }

    /// On the line.
    private func checkpointHere() {
        do { try checkpoint() } catch {
            keeper.checkpointFailed = true
            tell(StoreError(error, path: path))
        }
    }

    /// On the line. The write-ahead log reaches the disk first, then what it says reaches the database.
    private func checkpoint(isUrgent: Bool = false) throws {
        keeper.checkpointIsDue = false
        try mended(isUrgent: isUrgent) {
            try lookAtFile()
            try checkpointOnLine()
        }
        checkpointed()
    }

    private func checkpointOnLine() throws {
        try checkpoints.withLock { _ in
            try keeper.database.writeWithoutTransaction { db in _ = try db.checkpoint(.passive) }
        }
    }

    /// On the line.
    private func checkpointed() {
        keeper.measure()
        guard keeper.checkpointFailed else { return }
        keeper.checkpointFailed = false
        if keeper.failure != nil, keeper.held.isEmpty { recovered() }
    }

    /// On the line.
    private func hold(_ entries: [Entry], _ error: StoreError) {
        if error.mayPass { keeper.hold(entries) }
        tell(error)
    }

    private func tell(_ error: StoreError) {
        let isNews = !keeper.isFailing
        keeper.failure = error
        if isNews { onTrouble(.began(error)) }
        tryAgainLater()
    }
}
