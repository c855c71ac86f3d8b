internal import EventLoop
internal import Framing
internal import Listening

/// One stream's file, for as long as it is near what is heard.
final class StreamFile: Sendable {
    let reader: any ByteReader
    let duration: BookTime
    /// What is in it, if it is no audio itself.
    let playlist: Playlist?
    private let known = Locked<Int64?>(nil)
    private let state = Locked(State())

    private struct State {
        var finder: FrameFinder?
        /// As it is kept.
        var memory: [UInt8] = []
    }

    init(reader: any ByteReader, duration: BookTime, playlist: Playlist? = nil) {
        self.reader = reader
        self.duration = duration
        self.playlist = playlist
    }

    /// Nil before the reader was asked.
    var knownSize: Int64? { known.withLock { $0 } }

    func size() async throws(EngineFailure) -> Int64 {
        if let size = knownSize { return size }
        let size = try await reader.size()
        known.withLock { $0 = size }
        return size
    }

    /// How to open it so that what is at `offset` is soon heard.
    func opening(at offset: BookTime) async throws(EngineFailure) -> Opening {
        let size = try await size()
        guard let cut = try await cut(before: offset, size: size) else {
            return Opening(whole: self, size: size, reachesAll: true)
        }
        return Opening(file: self, size: size, cut: cut, reachesAll: false)
    }

    private func cut(before offset: BookTime, size: Int64) async throws(EngineFailure) -> Cut? {
        if let playlist {
            let text = try await reader.read(at: 0, count: Int(min(size, Playlist.largest)))
            return playlist.cut(text, before: offset)
        }
        let finder = await finder()
        let cut = try await finder.cut(before: offset)
        let memory = await finder.memory()
        // Nobody who listens waits for that.
        Task { await remember(memory) }
        return cut
    }

    private func finder() async -> FrameFinder {
        if let finder = state.withLock({ $0.finder }) { return finder }
        let memory = await reader.memory()
        return state.withLock { state in
            if let finder = state.finder { return finder }
            let finder = FrameFinder(reader: reader, hint: duration, memory: memory)
            state = State(finder: finder, memory: memory)
            return finder
        }
    }

    private func remember(_ memory: [UInt8]) async {
        let isNews = state.withLock { state in
            defer { state.memory = memory }
            return state.memory != memory && !memory.isEmpty
        }
        if isNews { await reader.remember(memory) }
    }

    func close() { reader.close() }
}

/// A file, and how it is presented to the pipeline.
struct Opening: Sendable {
    let file: StreamFile
    /// Of the whole file.
    let size: Int64
    let cut: Cut
    /// Its demuxer finds any place by itself, at once and exactly.
    let reachesAll: Bool

    /// Added to what the pipeline counts, makes the time in the file.
    /// - Parameter first: what the pipeline counts at the very start. flacparse of 1.22 counts from the first frame it
    ///   sees, although each frame knows its time; should another take the frame's word, that is the time.
    func origin(first: BookTime) -> BookTime {
        if cut.hasOwnTimes && first > cut.time - .second { return .zero }
        return transcoded(at: first) ?? cut.time
    }
}

extension Opening {
    /// The same where the server transcodes, which may have begun anew since it was opened; nil: it does not tell.
    /// - Parameter counted: where the pipeline is.
    func transcoded(at counted: BookTime) -> BookTime? {
        file.playlist?.delay(at: cut.time + counted).map { cut.time + $0 }
    }

    /// From its first byte.
    init(whole file: StreamFile, size: Int64, reachesAll: Bool) {
        self.init(file: file, size: size, cut: .wholly, reachesAll: reachesAll)
    }
}

extension Cut {
    static let wholly = Cut(byte: 0, time: .zero, head: [], hasOwnTimes: false)
}

/// The streams of one load that are open: the one being heard and the one after it.
final class Crate: Sendable {
    private struct State {
        var files: [Int: StreamFile] = [:]
        /// The last that was given to the pipeline.
        var feed: Feed?
        var isClosed = false
    }

    let stamps: FileStamps
    private let shelf: any ByteShelf
    private let reel: Reel
    private let starves: @Sendable (Feed) -> Void
    private let state = Locked(State())

    init(shelf: any ByteShelf, reel: Reel, starves: @escaping @Sendable (Feed) -> Void) {
        self.shelf = shelf
        self.reel = reel
        stamps = FileStamps(reel.tracks)
        self.starves = starves
    }

    /// The last that was given to the pipeline.
    var feed: Feed? { state.withLock { $0.feed } }

    func file(_ track: Int) -> StreamFile? {
        guard case .stream(let stream) = reel.tracks[track].audio else { return nil }
        return state.withLock { state in
            guard !state.isClosed else { return nil }
            if let file = state.files[track] { return file }
            let file = StreamFile(
                reader: shelf.reader(of: stream), duration: reel.tracks[track].duration,
                playlist: stream.transcoding.map { Playlist(stream, $0, shelf: shelf) })
            state.files[track] = file
            return file
        }
    }

    /// This track is heard now: the size of the next will be needed, everything else no more.
    func settle(on track: Int) {
        let next = track + 1
        let old = state.withLock { state in
            let old = state.files.filter { $0.key != track && $0.key != next }
            for key in old.keys { state.files[key] = nil }
            return old.values.map { $0 }
        }
        for file in old { file.close() }
        guard next < reel.tracks.count, let file = file(next), file.knownSize == nil else { return }
        Task { _ = try? await file.size() }
    }

    /// Whether the track can be handed over without waiting for a server.
    func isReady(_ track: Int) -> Bool {
        guard let file = state.withLock({ $0.files[track] }) else { return false }
        return file.knownSize != nil && file.playlist == nil
    }

    /// What a track that follows another is read through.
    func feedFromStart(of track: Int) -> Feed? {
        guard let file = file(track), let size = file.knownSize else { return nil }
        return feed(of: Opening(whole: file, size: size, reachesAll: false))
    }

    /// A feed for the pipeline; the one before has been read to its end or is not wanted any more.
    func feed(of opening: Opening) -> Feed {
        let feed = Feed(opening, starves: starves)
        let (old, isClosed) = state.withLock { state in
            defer { state.feed = feed }
            return (state.feed, state.isClosed)
        }
        old?.close()
        if isClosed { feed.close() }
        return feed
    }

    func dropFeed() {
        let old = state.withLock { state in
            defer { state.feed = nil }
            return state.feed
        }
        old?.close()
    }

    func close() {
        let (files, feed) = state.withLock { state in
            defer {
                state.files = [:]
                state.feed = nil
                state.isClosed = true
            }
            return (state.files.values.map { $0 }, state.feed)
        }
        feed?.close()
        for file in files { file.close() }
    }
}
