/// One request for bytes under way.
@StreamingActor final class Transfer {
    /// Where the next byte that arrives belongs; before the answer, where it was asked to begin.
    private(set) var next: Int64
    /// Behind the last byte it brings; nil: nobody knows.
    private(set) var end: Int64?
    /// Its end, which is not known beforehand, can be told from a break.
    private(set) var saysItsEnd = true
    /// When it was started, for the delays between tries.
    let started = ContinuousClock.now
    /// When the answer came; before that, when it was started.
    private(set) var answeredAt = ContinuousClock.now
    /// When it last brought something, or was let go on.
    private(set) var heardAt = ContinuousClock.now
    private(set) var hasBrought = false
    /// Counts up with each look at what is wanted, and with each read.
    private(set) var lastLook = 0
    private(set) var lastRead = 0
    var task: Task<Void, Never>?
    private(set) var isParked = false
    private var parked: CheckedContinuation<Void, Never>?

    init(from offset: Int64, to end: Int64?) {
        next = offset
        self.end = end
    }

    func isWanted(look: Int, read: Int) {
        lastLook = look
        lastRead = read
    }

    func begin(at offset: Int64, end: Int64?, saysItsEnd: Bool) {
        self.saysItsEnd = saysItsEnd
        next = offset
        self.end = end
        answeredAt = .now
        heardAt = answeredAt
    }

    /// - Parameter isNew: some of it was not here before.
    func advance(_ count: Int, isNew: Bool) {
        hasBrought = hasBrought || isNew
        next += Int64(count)
        heardAt = .now
    }

    /// Stands still while the reading is elsewhere: the server waits.
    func park() { isParked = true }

    func unpark() {
        if isParked { heardAt = .now }
        isParked = false
        parked?.resume()
        parked = nil
    }

    func permission() async {
        guard isParked else { return }
        await withCheckedContinuation { parked = $0 }
    }

    func cancel() {
        task?.cancel()
        unpark()
    }
}
