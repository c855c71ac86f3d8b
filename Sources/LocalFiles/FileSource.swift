public import Folders
internal import Framing
internal import Glibc
public import Listening

/// What a file or folder is to listen to.
public struct OpenedFiles: Sendable {
    public let item: Item
    /// Of a folder: what in it cannot be played, and why.
    public let leftOut: [LocalFilesError]
    /// What was found in the same files the last time, where they were looked into anew: its timeline may be another one.
    public let before: Item?
}

/// Files and folders on this computer as things to listen to.
public struct FileSource: Sendable {
    private let inspector: any Inspector
    private let covers: CoverCache
    private let known: @Sendable (ItemID) async -> Item?
    /// Rises when files are read otherwise than before, so that what is known of them is read anew.
    private static let reading = "3"

    /// - Parameter known: what an earlier ``open(path:)`` has found, where that was kept. Inspecting a hundred files takes
    ///   seconds, and finds the same while they are.
    public init(
        inspector: any Inspector, covers: CoverCache, known: @escaping @Sendable (ItemID) async -> Item? = { _ in nil }
    ) {
        self.inspector = inspector
        self.covers = covers
        self.known = known
    }

    /// A file, or a folder as one book of the files in it and in the folders within.
    ///
    /// Its name, `file:<hash>`, comes from the content of the audio: it stays when files are moved or renamed, and
    /// changes when their bytes do, tags among them.
    /// What cannot be played in a folder is left out of the book, but counts for its name.
    /// - Parameter path: absolute.
    public func open(path: String) async throws(LocalFilesError) -> OpenedFiles {
        guard let resolved = realpath(path, nil) else {
            throw path.unicodeScalars.contains("\u{FFFD}") ? .unnameable(path: path) : FileBytes.error(path)
        }
        defer { free(resolved) }
        let path = String(cString: resolved)
        var status = stat()
        guard stat(path, &status) == 0 else { throw FileBytes.error(path) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        let found = isFolder ? try AudioFiles.list(path) : AudioFiles.Found(audio: [path])
        var leftOut = found.leftOut
        guard !found.audio.isEmpty else { throw leftOut.first ?? .noAudio(folder: path) }

        var hash = ContentHash()
        var inspection = ContentHash()
        inspection.add("\(Self.reading) \(path)")
        for file in found.audio {
            let bytes = try FileBytes(file)
            hash.add(bytes)
            inspection.addName(of: bytes)
        }
        for case let picture? in found.pictures.lazy.map({ try? FileBytes($0) }) { inspection.addName(of: picture) }
        let id = ItemID(source: "file", key: hash.hex)
        let before = await known(id)
        if let before, before.inspection == inspection.hex, before.coverPath.map(covers.holds) != false {
            return OpenedFiles(item: before, leftOut: leftOut, before: nil)
        }

        var parts: [Part] = []
        for file in found.audio {
            let bytes = try FileBytes(file)
            do throws(LocalFilesError) {
                guard bytes.size > 0 else { throw .empty(path: file) }
                let facts = try await facts(of: file, bytes)
                // Nothing but a header: GStreamer (1.22) would read a wav of this kind for ever.
                guard facts.duration > .zero || bytes.size > Self.longestHeader else { throw .empty(path: file) }
                parts.append(Part(path: file, facts: facts))
            } catch {
                guard isFolder, error.isOfOneFile else { throw error }
                leftOut.append(error)
            }
        }
        if parts.isEmpty, let first = leftOut.first { throw first }
        var item = item(id: id, path: path, isFolder: isFolder, parts: parts, pictures: found.pictures)
        // What was left out may be there the next time.
        if parts.count == found.audio.count { item.inspection = inspection.hex }
        return OpenedFiles(item: item, leftOut: leftOut, before: before)
    }

    /// Bytes: of a wav with what programs write beside the format. Less than a twentieth of a second in any other kind.
    private static let longestHeader: Int64 = 256

    private struct Part {
        let path: String
        let facts: FileFacts
    }

    private func facts(of path: String, _ bytes: FileBytes) async throws(LocalFilesError) -> FileFacts {
        let end = FileEnd(size: Int64(bytes.size)) { bytes.bytes(at: Int($0), count: $1) ?? [] }
        // decodebin may keep that to itself (1.22), and all others wait for as long as it is looked into.
        if end.isBeforeIndex { throw .unreadable(path: path, reason: "its end is missing: was it cut short?") }
        let chapters = (try? await EmbeddedChapters.read(FileReader(bytes))) ?? []
        do throws(EngineFailure) {
            var facts = try await inspector.inspect(path: path)
            let length = try? await FrameFinder(reader: FileReader(bytes), hint: .zero).untoldLength()
            facts.repair(length: length, chapters: chapters)
            return facts
        } catch {
            switch error {
            case .missingDecoder(let what, let package):
                throw .missingDecoder(path: path, what: what, package: package)
            case .unreadable where AudioName.isList(path): throw .list(path: path)
            case .unreadable(_, let reason), .other(let reason), .unreachable(let reason), .noSink(let reason):
                throw .unreadable(path: path, reason: reason)
            case .notFound: throw .notFound(path: path)
            case .refused: throw .forbidden(path: path)
            }
        }
    }

    private func item(id: ItemID, path: String, isFolder: Bool, parts: [Part], pictures: [String]) -> Item {
        var tracks: [Track] = []
        var chapters: [Chapter] = []
        var start = BookTime.zero
        for part in parts {
            let title = part.facts.title ?? AudioFiles.stem(part.path)
            tracks.append(
                Track(start: start, duration: part.facts.duration, audio: .file(path: part.path), title: title))
            let end = start + part.facts.duration
            if part.facts.chapters.isEmpty {
                // One file without chapters has none; in a folder each file is one.
                if parts.count > 1 { chapters.append(Chapter(title: title, start: start, end: end)) }
            } else {
                chapters += part.facts.chapters.map {
                    Chapter(title: $0.title, start: start + $0.start, end: start + $0.end)
                }
            }
            start = end
        }
        let all = parts.map(\.facts)
        let name = isFolder ? AudioFiles.name(path) : AudioFiles.stem(path)
        let title = isFolder ? all.lazy.compactMap(\.album).first : all[0].title ?? all[0].album
        let authors = all.first { !$0.albumArtists.isEmpty }?.albumArtists ?? all.first { !$0.artists.isEmpty }?.artists
        var item = Item(
            id: id, kind: isFolder ? .book : .file, title: title ?? name, authors: authors ?? [],
            narrators: all.first { !$0.composers.isEmpty }?.composers ?? [], tracks: tracks, chapters: chapters)
        if !isFolder { item.album = all[0].album }
        item.genres = all.first { !$0.genres.isEmpty }?.genres ?? []
        item.published = all.lazy.compactMap(\.date).first
        item.summary = all.lazy.compactMap(\.summary).first
        let picture = all.lazy.compactMap(\.cover).first ?? Covers.besideAudio(pictures)
        item.coverPath = picture.flatMap { covers.keep($0.bytes) }
        item.url = fileURL(path)
        return item
    }
}
