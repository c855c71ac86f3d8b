internal import EventLoop
internal import Framing
internal import Listening
internal import Synchronization

/// What one source element reads: a stream's file, or the part of it behind a cut as though that were the whole.
///
/// GStreamer asks on threads of its own, which wait here; the answers come from tasks. An answer that nobody waits for any
/// more, after a flush or another question, is dropped.
final class Feed: Sendable {
    enum Outcome: Hashable, Sendable {
        /// So many bytes were copied, fewer than asked only at the end.
        case bytes(Int)
        case end
        /// A segment that cannot be had: it is not to be passed over.
        case failed
        /// The pipeline flushes or stops.
        case interrupted
    }

    /// What a streaming thread waits for.
    struct Want: Hashable, Sendable {
        let offset: Int64
        let count: Int
    }

    private struct State {
        var isFlushing = false
        var isClosed = false
        /// Of the last question.
        var ticket: UInt64 = 0
        var answer: Result<[UInt8], EngineFailure>?
        /// The last answer: many small questions in a row are answered from it.
        var block: (offset: Int64, bytes: [UInt8])
        /// The end of what was last given.
        var given: Int64 = 0
        var want: Want?
        /// Since when hardly anything was here that had not just come; nil: there is plenty.
        var isShortSince: ContinuousClock.Instant?
        var failure: EngineFailure?
        /// Of a playlist: what was last asked for of all it names.
        weak var segment: Feed?
        /// One that the server does not have, and since when.
        var missing: (uri: String, since: ContinuousClock.Instant)?
        /// The server has forgotten all that a playlist names.
        var isGone = false

        /// Copies as many of these as there is room for.
        mutating func give(_ bytes: ArraySlice<UInt8>, at offset: Int64, to target: UnsafeMutableRawBufferPointer)
            -> Int
        {
            let part = bytes.prefix(target.count)
            target.copyBytes(from: part)
            given = offset + Int64(part.count)
            return part.count
        }
    }

    let number: UInt64
    /// What GStreamer asks for it by.
    let uri: String
    /// The length of what is presented; nil: it is seen at its end.
    let size: Int64?
    private let fileSize: Int64
    /// Bytes in a second, as though each had as many; nil when the file is not known to last.
    private let rate: Double?
    /// Bytes: about half a second.
    private let plenty: Int64
    private let reader: any ByteReader
    private let cut: Cut
    private let playlist: Playlist?
    var isPlaylist: Bool { playlist != nil }
    /// The playlist that names this.
    private let list: Feed?
    /// Told when hardly anything has been here for a while but what had just come, and again while that goes on.
    private let starves: @Sendable (Feed) -> Void
    private let state: Monitor<State>

    static let scheme = "dogear-feed"
    private static let numbers = Atomic<UInt64>(0)
    private static let open = Locked<[UInt64: Feed]>([:])
    /// As much as is taken at once of what is here.
    private static let blockSize: Int64 = 1 << 16
    /// Of what is not known to last.
    private static let plentyOfUnknown: Int64 = 16_384
    /// Shorter waits are nothing to speak of.
    private static let notice = Duration.milliseconds(100)

    init(_ opening: Opening, starves: @escaping @Sendable (Feed) -> Void) {
        number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
        reader = opening.file.reader
        playlist = opening.file.playlist
        list = nil
        uri = "\(Self.scheme)://\(number)\(playlist?.path ?? "")"
        cut = opening.cut
        state = Monitor(State(block: (offset: opening.cut.byte, bytes: [])))
        fileSize = opening.size
        let duration = opening.file.duration
        rate = duration > .zero && playlist == nil ? Double(fileSize) / duration.seconds : nil
        plenty = Int64(Self.bytes(of: 0.5, at: rate) ?? Int(Self.plentyOfUnknown))
        size = Int64(cut.head.count) + max(0, opening.size - cut.byte)
        self.starves = starves
        Self.open.withLock { $0[number] = self }
    }

    /// What a playlist names.
    private init(_ file: StreamFile, at uri: String, of list: Feed) {
        number = list.number
        self.uri = uri
        reader = file.reader
        playlist = nil
        self.list = list
        cut = .wholly
        state = Monitor(State(block: (offset: 0, bytes: [])))
        fileSize = .max
        size = nil
        rate = nil
        plenty = Self.plentyOfUnknown
        starves = list.starves
        let isClosed = list.state.withLock { state in
            state.segment = self
            return state.isClosed
        }
        if isClosed { state.change { $0.isClosed = true } }
    }

    /// What GStreamer asks for by its address: an open feed, or what the playlist of one names.
    static func find(_ uri: String) -> Feed? {
        let start = "\(scheme)://"
        guard uri.hasPrefix(start) else {
            let list = open.withLock { $0.values.first { $0.playlist?.names(uri) ?? false } }
            return list?.segment(at: uri, as: uri)
        }
        let rest = uri.dropFirst(start.count)
        let number = rest.prefix { $0 != "/" }
        guard let feed = UInt64(number).flatMap({ number in open.withLock { $0[number] } }) else { return nil }
        return feed.uri == uri ? feed : feed.segment(at: String(rest.dropFirst(number.count)), as: uri)
    }

    private func segment(at address: String, as uri: String) -> Feed? {
        playlist.map { Feed($0.segment(at: address), at: uri, of: self) }
    }

    /// Lets go of whoever waits, for good.
    func close() {
        state.change { $0.isClosed = true }
        state.withLock { $0.segment }?.close()
        if list == nil { Self.open.withLock { $0[number] = nil } }
    }

    func set(flushing: Bool) { state.change { $0.isFlushing = flushing } }

    /// What is behind a cut, as GStreamer calls it; nil: it finds out. That would mean reads in the middle and at the
    /// end, of a file whose kind is known.
    var type: String? {
        guard cut.byte > 0 else { return nil }
        if playlist != nil { return "application/x-hls" }
        if cut.head.starts(with: Array("OggS".utf8)) { return "application/ogg" }
        return cut.head.starts(with: Array("fLaC".utf8)) ? "audio/x-flac" : "audio/mpeg, mpegversion=(int)1"
    }

    /// Why it ends before its size; the first that the reader threw.
    var failure: EngineFailure? { state.withLock { $0.failure } }
    /// Of a playlist that the server still has, it does not have all.
    var lacksSegment: Bool { state.withLock { $0.failure == .notFound && $0.missing != nil && !$0.isGone } }
    /// What is being waited for now, by itself or by the segment that is played.
    var want: Want? {
        let (want, segment) = state.withLock { ($0.want, $0.segment) }
        return want ?? segment?.want
    }

    /// What a server says of size and duration may be nonsense.
    private static func bytes(of seconds: Double, at rate: Double?) -> Int? {
        rate.map { Int(($0 * seconds).clamped(to: 4096...262_144)) }
    }

    /// How much is here behind the last bytes that were asked for, in time as though each second had as many bytes; nil when
    /// the file is not known to last.
    var ahead: BookTime? {
        guard let rate, rate > 0 else { return nil }
        let (end, left) = state.withLock { state in
            if let want = state.want { return (want.offset, 0 as Int64) }
            let end = state.block.offset + Int64(state.block.bytes.count)
            return (end, (end - state.given).clamped(to: 0...Int64(state.block.bytes.count)))
        }
        return .seconds(Double(left + reader.available(from: end)) / rate)
    }

    /// Copies the bytes from `offset` on. Blocks until they are here, or nobody wants them any more.
    func fill(_ target: UnsafeMutableRawBufferPointer, from offset: Int64) -> Outcome {
        var done = 0
        if offset < cut.head.count, offset >= 0 {
            let part = cut.head[Int(offset)...].prefix(target.count)
            target.copyBytes(from: part)
            done = part.count
        }
        while done < target.count {
            let place = cut.byte + offset + Int64(done) - Int64(cut.head.count)
            let rest = UnsafeMutableRawBufferPointer(rebasing: target[done...])
            switch copy(to: rest, from: place) {
            case .bytes(let count): done += count
            case .end: return done > 0 ? .bytes(done) : .end
            case .failed: return .failed
            case .interrupted: return .interrupted
            }
        }
        return .bytes(done)
    }

    /// What nobody wants any more. hlsdemux, which may be reading its playlist anew, takes nothing but an error for an
    /// answer then, and holds up the pipeline until it has one.
    private var closed: Outcome { playlist == nil ? .interrupted : .failed }

    /// - Parameter offset: in the file itself.
    private func copy(to target: UnsafeMutableRawBufferPointer, from offset: Int64) -> Outcome {
        let have: Outcome? = state.withLock { state in
            if state.isFlushing || state.isClosed { return state.isFlushing ? .interrupted : closed }
            let skipped = offset - state.block.offset
            if skipped >= 0, skipped < state.block.bytes.count {
                return .bytes(state.give(state.block.bytes[Int(skipped)...], at: offset, to: target))
            }
            // GStreamer may ask for a playlist or a segment once more.
            return state.failure == nil || list != nil || playlist != nil ? nil : .end
        }
        if let have { return have }
        let here = reader.available(from: offset)
        let count = max(target.count, Int(min(here, Self.blockSize)))
        switch ask(Want(offset: offset, count: count), isShort: here < min(plenty, fileSize - offset)) {
        case .bytes(let bytes):
            let count = state.withLock { $0.give(bytes[...], at: offset, to: target) }
            return count == 0 ? .end : .bytes(count)
        case .failed: return list == nil ? .end : .failed
        case .interrupted: return state.withLock { $0.isClosed && !$0.isFlushing } ? closed : .interrupted
        }
    }

    private enum Answer {
        case bytes([UInt8])
        case failed(EngineFailure)
        case interrupted
    }

    private func ask(_ want: Want, isShort: Bool) -> Answer {
        let now = ContinuousClock.now
        let (ticket, since) = state.withLock { state in
            state.ticket += 1
            state.answer = nil
            state.want = want
            // Small questions may each be answered soon, and all of them together too slowly.
            state.isShortSince = isShort ? state.isShortSince ?? now : nil
            return (state.ticket, state.isShortSince ?? now)
        }
        let reading = Task { [self] in
            do throws(EngineFailure) {
                take(.success(try await read(want)), for: ticket)
            } catch {
                take(.failure(error), for: ticket)
            }
        }
        // Also of what is here: it may be gone again, and has to be fetched anew, before it is read.
        let watch = Task { [self] in
            guard (try? await Task.sleep(until: since + Self.notice, clock: .continuous)) != nil else { return }
            state.withLock { if $0.isShortSince == since { $0.isShortSince = .now } }
            starves(self)
        }
        defer { watch.cancel() }
        let answer: Answer = state.wait { state in
            if state.isClosed || state.isFlushing {
                state.ticket += 1
                state.want = nil
                state.isShortSince = nil
                return .interrupted
            }
            guard let answer = state.answer else { return nil }
            state.want = nil
            state.answer = nil
            switch answer {
            case .success(let bytes):
                state.block = (want.offset, bytes)
                return .bytes(bytes)
            case .failure(let failure):
                state.failure = state.failure ?? failure
                return .failed(failure)
            }
        }
        if case .interrupted = answer { reading.cancel() }
        if case .failed(let failure) = answer { list?.state.change { $0.failure = failure } }
        return answer
    }

    private func read(_ want: Want) async throws(EngineFailure) -> [UInt8] {
        while true {
            do throws(EngineFailure) {
                let bytes = try await reader.read(at: want.offset, count: want.count)
                list?.state.change { list in
                    list.missing = nil
                    list.failure = nil
                }
                if want.offset == 0 { list?.playlist?.begins(uri, with: bytes) }
                return bytes
            } catch {
                guard error == .notFound, let list, await list.isExpected(uri) else { throw error }
            }
        }
    }

    /// Whether a segment that the server does not have may be there by now; after a while.
    private func isExpected(_ uri: String) async -> Bool {
        let (since, isFirst) = state.withLock { state in
            if let missing = state.missing, missing.uri == uri { return (missing.since, false) }
            let now = ContinuousClock.now
            state.missing = (uri, now)
            return (now, true)
        }
        guard since.duration(to: .now) < .seconds(Playlist.patience) else { return false }
        if isFirst, await playlist?.isGone() ?? true {
            // GStreamer asks three times more.
            state.change { state in
                state.isGone = true
                state.missing = (uri, .now - .seconds(Playlist.patience))
            }
            return false
        }
        return (try? await Task.sleep(for: .seconds(Playlist.pause))) != nil
    }

    private func take(_ answer: Result<[UInt8], EngineFailure>, for ticket: UInt64) {
        state.change { if $0.ticket == ticket { $0.answer = answer } }
    }

    /// Waits until about two seconds are here from what is waited for on, or nothing more comes.
    func refill() async {
        let (want, segment) = state.withLock { ($0.want, $0.segment) }
        guard let want else { return await segment?.refill() ?? () }
        let enough = Self.bytes(of: 2, at: rate) ?? 32_768
        _ = try? await read(Want(offset: want.offset, count: max(want.count, enough)))
    }
}
