internal import HTTP
internal import Listening

/// One file on a server and what is here of it, for all who read it: decides what to fetch next, and from where.
///
/// Each reader wants the bytes it waits for, then those behind the place where it reads. For what is missing there are
/// up to two transfers: one at the place of reading, and one where the reading was before, which stands still in case it
/// comes back. Each asks for a bounded range, so that nothing is left hanging while there is enough.
@StreamingActor final class RemoteFile {
    nonisolated let kept: KeptBytes
    private let transport: any StreamingTransport
    private let limits: StreamLimits
    private var stream: AudioStream
    private var readers: [Int: Place] = [:]
    private var lastReader = 0
    private let reads = Waits<[UInt8]>()
    private let sizes = Waits<Int64>()
    private var transfers: [Transfer] = []
    private var looks = 0
    private var readCount = 0
    /// The server gives only the whole.
    private var isWhole = false
    /// The server gives the whole when it is asked whether the file is still the same.
    private var isIfRangeIdle = false
    /// Where the whole ended that did not say how long it is, and might as well have broken off there.
    private var seemingSize: Int64?

    private var failures = 0
    private var tlsFailures = 0
    private var lastReason: String?
    private var retryAt: ContinuousClock.Instant?
    private var alarm: Task<Void, any Error>?
    /// How often in a row a transfer that was waited for brought nothing for too long.
    private var silences = 0
    private var watch: Task<Void, any Error>?
    /// The server has said no: only a read that needs it asks again.
    private var isRefused = false

    /// Where one reader is.
    private struct Place {
        /// Of its last read.
        var from: Int64 = 0
        /// Behind its last read.
        var to: Int64 = 0
    }

    init(_ stream: AudioStream, kept: KeptBytes, transport: any StreamingTransport, limits: StreamLimits) {
        self.stream = stream
        self.kept = kept
        self.transport = transport
        self.limits = limits
    }

    // MARK: Readers

    /// - Parameter stream: the same bytes; its address and headers are newer than those of earlier readers.
    func attach(_ stream: AudioStream) -> Int {
        if self.stream != stream {
            self.stream = stream
            // What the earlier address or login is told says nothing of this one.
            for transfer in transfers { drop(transfer) }
            isRefused = false
            retryAt = nil
            forgive()
        }
        lastReader += 1
        readers[lastReader] = Place()
        return lastReader
    }

    /// - Returns: whether it was the last one.
    func detach(_ reader: Int) -> Bool {
        readers[reader] = nil
        reads.end(reader: reader)
        sizes.end(reader: reader)
        steer()
        return readers.isEmpty
    }

    func size(for reader: Int) async -> Result<Int64, EngineFailure> {
        if let size = kept.facts.size { return .success(size) }
        isRefused = false
        var patience: Task<Void, any Error>?
        defer { patience?.cancel() }
        return await sizes.wait(reader, for: 0..<1) { number in
            patience = Task { [limits, weak self] in
                let deadline = ContinuousClock.now + .seconds(limits.measuring)
                repeat {
                    try await Task.sleep(for: .seconds(limits.patience))
                } while self?.mayComeToAnEnd ?? false && .now < deadline
                self?.giveUp(number)
            }
            steer()
        }
    }

    private func giveUp(_ number: Int) {
        let host = host(of: stream.url)
        sizes.end(
            number,
            .failure(isMeasuring ? endless(host) : .unreachable(reason: lastReason ?? "\(host) does not answer")))
    }

    func read(_ range: Range<Int64>, for reader: Int) async -> Result<[UInt8], EngineFailure> {
        guard readers[reader] != nil else { return .failure(.ended) }
        let range = range.clamped(to: 0..<largest)
        readCount += 1
        readers[reader] = Place(from: range.lowerBound, to: range.upperBound)
        if let bytes = bytes(range) {
            steer()
            return .success(bytes)
        }
        isRefused = false
        return await reads.wait(reader, for: range) { _ in steer() }
    }

    /// - Returns: nil unless all of it is here.
    private func bytes(_ range: Range<Int64>) -> [UInt8]? { kept.read(range.clamped(to: 0..<size)) }

    private var size: Int64 { kept.facts.size ?? .max }

    /// Gives out what has come.
    private func serve() {
        if let size = kept.facts.size { sizes.end(all: .success(size)) }
        for wait in reads.list {
            if let bytes = bytes(wait.range) { reads.end(wait.number, .success(bytes)) }
        }
    }

    private func fail(_ failure: EngineFailure) {
        isRefused = true
        sizes.end(all: .failure(failure))
        reads.end(all: .failure(failure))
    }

    /// Those that bring the whole without saying how much it is.
    private var measuring: [Transfer] { transfers.filter { $0.end == nil && $0.next > 0 } }
    private var isMeasuring: Bool { !measuring.isEmpty }

    /// The whole comes faster than it is heard.
    private var mayComeToAnEnd: Bool {
        measuring.contains { Double($0.next) > limits.broadcast * ((.now - $0.answeredAt) / .seconds(1)) }
    }

    // MARK: What to fetch

    private struct Target {
        let offset: Int64
        /// As far as is worth asking.
        let end: Int64
        let isUrgent: Bool
    }

    /// What is missing, the most pressing first.
    private var targets: [Target] {
        if readers.isEmpty || isRefused { return [] }
        var targets = reads.list.compactMap { wait in
            missing(wait.range.clamped(to: 0..<size), isUrgent: true)
        }
        if kept.facts.size == nil {
            let offset = kept.here { $0.run(from: 0) }
            targets.append(Target(offset: offset, end: offset + limits.first, isUrgent: true))
        }
        for place in readers.values {
            if let target = missing(ahead(of: place), isUrgent: false) { targets.append(target) }
        }
        return targets
    }

    private func missing(_ range: Range<Int64>, isUrgent: Bool) -> Target? {
        kept.here { $0.firstMissing(in: range) }
            .map { Target(offset: $0, end: range.upperBound, isUrgent: isUrgent) }
    }

    private func ahead(of place: Place) -> Range<Int64> {
        place.to..<(isWhole && kept.isOnDisk ? .max : place.to + limits.ahead)
    }

    /// Lets the transfers that bring what is wanted go on, the others stand still, and starts what is missing.
    private func steer() {
        serve()
        kept.holdInMemory(only: readers.values.map { max(0, $0.from - limits.gap)..<$0.to + limits.ahead + limits.gap })
        looks += 1
        for target in targets.map(bounded) where target.offset < target.end {
            if let transfer = transfers.first(where: { brings(target, $0) }), !isSilent(transfer, target) {
                transfer.isWanted(look: looks, read: readCount)
            } else {
                begin(target)
            }
        }
        for transfer in transfers { transfer.lastLook == looks ? transfer.unpark() : transfer.park() }
        if readers.isEmpty { for transfer in transfers { drop(transfer) } }
    }

    /// Whether a transfer that somebody waits for has brought nothing for so long that another may do better. It is
    /// dropped then; until then it is looked at again when its time is up.
    private func isSilent(_ transfer: Transfer, _ target: Target) -> Bool {
        guard target.isUrgent else { return false }
        let patience = min(limits.idle, limits.silence * Double(1 << min(silences, 8)))
        let deadline = transfer.heardAt + .seconds(patience)
        guard transfer.isParked || deadline > .now else {
            silences += 1
            drop(transfer)
            return true
        }
        if watch == nil {
            watch = Task { [weak self] in
                try await Task.sleep(until: deadline, clock: .continuous)
                self?.watch = nil
                self?.steer()
            }
        }
        return false
    }

    private func bounded(_ target: Target) -> Target {
        Target(offset: target.offset, end: min(target.end, size), isUrgent: target.isUrgent)
    }

    private func brings(_ target: Target, _ transfer: Transfer) -> Bool {
        let reach = isWhole ? .max : limits.gap
        return transfer.next <= target.offset && target.offset - transfer.next <= reach
            && target.offset < transfer.end ?? .max
    }

    private func begin(_ target: Target) {
        if let retryAt, retryAt > .now { return alarm(at: retryAt) }
        if !target.isUrgent && !isWhole && isFarAhead(target) { return }
        let most = isWhole ? 1 : 2
        if transfers.count >= most {
            let unwanted = transfers.filter { $0.lastLook < looks }.min { $0.lastLook < $1.lastLook }
            guard let unwanted else { return }
            drop(unwanted)
        }
        let transfer =
            isWhole
            ? Transfer(from: 0, to: kept.facts.size)
            : Transfer(from: target.offset, to: end(of: target))
        transfer.isWanted(look: looks, read: readCount)
        transfers.append(transfer)
        transfer.task = Task { await self.run(transfer) }
    }

    /// There is enough for now: what is read then comes in few large pieces.
    private func isFarAhead(_ target: Target) -> Bool {
        readers.values.allSatisfy { !ahead(of: $0).contains(target.offset) || target.offset - $0.to > limits.ahead / 2 }
    }

    /// The more is here before it, the more is asked for, up to what is here behind it.
    private func end(of target: Target) -> Int64 {
        let before = kept.here { $0.run(upTo: target.offset) }
        let some = target.offset + min(limits.ahead, max(limits.first, before * 4))
        let end = target.isUrgent ? max(some, target.end) : min(some, target.end)
        let next = kept.here { $0.firstHere(from: target.offset) } ?? .max
        return min(end, next, size)
    }

    private func drop(_ transfer: Transfer) {
        transfers.removeAll { $0 === transfer }
        transfer.cancel()
    }

    // MARK: Fetching

    private func run(_ transfer: Transfer) async {
        let outcome: Outcome
        do throws(TransportError) {
            outcome = try await fetch(transfer)
        } catch {
            outcome = Outcome(error, isTLSTriedOften: tlsFailures >= 2)
            if case .tls = error { tlsFailures += 1 }
        }
        guard holds(transfer) else { return }
        transfers.removeAll { $0 === transfer }
        conclude(outcome, of: transfer)
        steer()
    }

    /// - Returns: when the transfer is over; its like once it was dropped.
    private func fetch(_ transfer: Transfer) async throws(TransportError) -> Outcome {
        let offset = isWhole ? nil : transfer.next
        let host = host(of: stream.url)
        let asked = request(transfer)
        let response = try await transport.stream(asked)
        guard holds(transfer) else { return .again }
        switch Answer(response.head, askedFrom: offset, known: kept.facts) {
        case .bytes(let first, let last, let facts):
            if kept.facts.contradicts(facts) {
                for other in transfers where other !== transfer { drop(other) }
                kept.restart(facts)
            } else if response.head.status == 200 && offset != nil {
                if asked.isConditional && !isIfRangeIdle {
                    isIfRangeIdle = true
                    return .again
                }
                for other in transfers where other !== transfer { drop(other) }
                isWhole = true
            }
            kept.learn(facts)
            if last == nil && response.head.isBroadcast { return .never(endless(host)) }
            transfer.begin(at: first, end: last, saysItsEnd: response.head.saysItsEnd)
            steer()
        case .size(let size):
            for other in transfers where other !== transfer { drop(other) }
            kept.restart(RemoteFacts(size: size))
            return .again
        case .noRanges:
            isWhole = true
            for other in transfers where other !== transfer { drop(other) }
            return .again
        case .never(let failure): return .never(failure)
        case .later(let reason, let retryAfter):
            return .later(reason: "\(host) \(reason)", retryAfter: retryAfter)
        }
        while transfer.end.map({ transfer.next < $0 }) ?? true {
            if isWhole ? isComplete : isHere(behind: transfer) { return .done }
            await transfer.permission()
            guard holds(transfer), let bytes = try await response.body.next() else { break }
            guard holds(transfer) else { break }
            take(bytes, transfer)
            if transfer.end == nil, let failure = tooMuch(transfer, host) { return .never(failure) }
        }
        if let end = transfer.end, transfer.next < end {
            return broken(host)
        }
        // The whole once more, to the same end, is no break.
        if transfer.end == nil && !transfer.saysItsEnd && transfer.next != seemingSize && !isComplete {
            seemingSize = transfer.next
            return broken(host)
        }
        return .done
    }

    private func broken(_ host: String) -> Outcome {
        .later(reason: "the connection to \(host) broke", retryAfter: nil)
    }

    /// How long it is would only be known at its end.
    private func tooMuch(_ transfer: Transfer, _ host: String) -> EngineFailure? {
        if transfer.next >= limits.largestUnsized { return endless(host) }
        guard !kept.isOnDisk, transfer.next >= limits.ahead else { return nil }
        return .other(reason: "\(host) does not say how much it sends, and the disk has no room to find out")
    }

    private func endless(_ host: String) -> EngineFailure {
        .other(reason: "\(host) sends a broadcast, or something else without an end: dogear plays what has one")
    }

    /// What comes next was fetched by another transfer.
    private func isHere(behind transfer: Transfer) -> Bool {
        let run = kept.here { $0.run(from: transfer.next) }
        return run > limits.gap || transfer.next + run >= transfer.end ?? .max
    }

    private var isComplete: Bool {
        kept.facts.size.map { size in kept.here { $0.run(from: 0) } >= size } ?? false
    }

    private func take(_ bytes: [UInt8], _ transfer: Transfer) {
        // More than was announced is not part of the file.
        let room = transfer.end.map { Int(clamping: $0 - transfer.next) } ?? .max
        let bytes = bytes.count > room ? Array(bytes[..<room]) : bytes
        guard !bytes.isEmpty else { return }
        let isNew = kept.keep(bytes, at: transfer.next)
        if isNew { forgive() }
        transfer.advance(bytes.count, isNew: isNew)
        kept.recordKept(after: limits.recorded)
        // One that has brought all leaves at once; until then it must not push out the other.
        if transfer.next < transfer.end ?? .max { steer() } else { serve() }
    }

    private func conclude(_ outcome: Outcome, of transfer: Transfer) {
        switch outcome {
        case .done:
            if !transfer.hasBrought { countFailure() }
            if transfer.end == nil && !isComplete { kept.learn(RemoteFacts(size: transfer.next)) }
            kept.recordKept()
            for other in transfers where other.lastRead + forgotten < readCount { drop(other) }
        case .again: countFailure()
        case .never(let failure): fail(failure)
        case .later(let reason, let retryAfter):
            failures += 1
            lastReason = reason
            let usual = max(transfer.started + .seconds(limits.delay(afterFailures: failures)), soonest)
            let asked = ContinuousClock.now + .seconds(min(retryAfter ?? 0, limits.longestRetryAfter))
            retryAt = max(usual, asked)
            kept.recordKept()
        }
    }

    /// Of what is no trouble by itself, unless it happens again and again.
    private func countFailure() {
        failures += 1
        if failures > 3 { retryAt = .now + .seconds(limits.delay(afterFailures: failures)) }
    }

    private var soonest: ContinuousClock.Instant { .now + .seconds(limits.delay(afterFailures: 1)) }

    private func forgive() {
        failures = 0
        silences = 0
        tlsFailures = 0
        lastReason = nil
    }

    private func alarm(at moment: ContinuousClock.Instant) {
        alarm?.cancel()
        alarm = Task { [weak self] in
            try await Task.sleep(until: moment, clock: .continuous)
            self?.steer()
        }
    }

    private func holds(_ transfer: Transfer) -> Bool { transfers.contains { $0 === transfer } }

    private func request(_ transfer: Transfer) -> HTTPRequest {
        var headers = stream.headers.sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) }
        if !isWhole {
            let last = transfer.end.map { "\($0 - 1)" } ?? ""
            headers.append(HTTPHeader("Range", "bytes=\(transfer.next)-\(last)"))
            if !isIfRangeIdle, let validator = kept.facts.validator, kept.here({ $0.total }) > 0 {
                headers.append(HTTPHeader("If-Range", validator))
            }
        }
        var request = HTTPRequest("GET", stream.url, headers: headers, caFile: stream.caFile, timeout: nil)
        request.connectTimeout = limits.connect
        request.idleTimeout = limits.idle
        return request
    }
}

/// After so many reads elsewhere nobody comes back to where a transfer stands still.
private let forgotten = 16

/// No file is, and sums of places in one stay numbers.
private let largest: Int64 = 1 << 53

extension HTTPResponse {
    /// Of an Icecast or Shoutcast server.
    fileprivate var isBroadcast: Bool { headers.contains { $0.name.lowercased().hasPrefix("icy-") } }

    /// Of a body without a length: its last chunk says so. HTTP/2's last frame would, but is not seen here: what comes by
    /// it is made sure of.
    fileprivate var saysItsEnd: Bool { self[header: "Transfer-Encoding"]?.lowercased().contains("chunked") ?? false }
}

extension HTTPRequest {
    fileprivate var isConditional: Bool { headers.contains { $0.name == "If-Range" } }
}
