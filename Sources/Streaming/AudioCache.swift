internal import Folders
internal import Glibc

/// A folder with the bytes of streams, bounded in size: what was used longest ago goes first, what is being read never.
///
/// Each stream has a file of bytes, with holes where nothing was fetched, a record of what is there, and at times notes of
/// what was found out by reading it, all named by a hash: nothing in the folder tells what is listened to, or where from.
@StreamingActor final class AudioCache {
    private let folder: String
    /// Bytes; 0: nothing outlives its readers.
    private let limit: Int64
    private let write: KeptFile.Write
    private let room: KeptFile.Room
    private var inUse: [String: KeptBytes] = [:]

    nonisolated init(
        folder: String, limit: Int64, write: @escaping KeptFile.Write = KeptFile.plainWrite,
        room: @escaping KeptFile.Room = KeptFile.plainRoom
    ) {
        self.room = room
        self.folder = folder
        self.limit = limit
        self.write = write
    }

    /// - Parameter identity: nil: nobody can tell whether other bytes are the same; forgotten when it is let go.
    func open(_ identity: String?) -> KeptBytes {
        do throws(FolderError) { try PrivateFiles.makeFolder(folder) } catch {
            return KeptBytes(file: nil)
        }
        guard let identity, limit > 0 else {
            trim()
            return KeptBytes(file: KeptFile(nil, in: folder, write: write, room: room))
        }
        let name = Self.name(of: identity)
        if let kept = inUse[name] { return kept }
        let known = record(of: name)
        guard let file = KeptFile(path(name, .bytes), in: folder, write: write, room: room) else {
            return KeptBytes(file: nil)
        }
        let isSound = known.map { $0.ranges.end <= file.size } ?? false
        if !isSound {
            unlink(path(name, .record))
            unlink(path(name, .notes))
            file.clear()
        }
        Upkeep.touch(path(name, .bytes))
        let kept = KeptBytes(
            file: file, record: path(name, .record), notes: path(name, .notes), known: isSound ? known : nil
        ) { [weak self] in self?.trim() }
        inUse[name] = kept
        trim()
        return kept
    }

    /// After the last reader of it.
    func close(_ kept: KeptBytes) {
        kept.recordKept()
        guard let name = inUse.first(where: { $0.value === kept })?.key else { return }
        inUse[name] = nil
        Upkeep.touch(path(name, .bytes))
        trim()
    }

    /// Makes the folder as small as it may be.
    func trim() {
        var files: [Upkeep.File] = []
        for name in names() where inUse[name] == nil {
            var bytes = stat()
            guard access(path(name, .record), F_OK) == 0, stat(path(name, .bytes), &bytes) == 0 else {
                remove(name)
                continue
            }
            files.append(Upkeep.File(name: name, size: Int64(bytes.st_blocks) * 512, used: bytes.st_mtim))
        }
        let left = limit - inUse.values.reduce(0) { $0 + $1.bytesOnDisk }
        for name in Upkeep.surplus(of: files, over: left) { remove(name) }
    }

    /// The record first: bytes without one claim nothing.
    private func remove(_ name: String) {
        unlink(path(name, .record))
        unlink(path(name, .notes))
        unlink(path(name, .bytes))
    }

    private func record(of name: String) -> KeptRecord? {
        let bytes = try? PrivateFiles.read(path(name, .record))
        return bytes.flatMap { KeptRecord($0) }
    }

    /// Of everything here that is ours and whole.
    private func names() -> Set<String> {
        var names: Set<String> = []
        for file in Upkeep.names(in: folder) {
            let parts = file.split(separator: ".", omittingEmptySubsequences: false)
            if parts.count == 2, parts[0].count == 32, Ending(rawValue: String(parts[1])) != nil {
                names.insert(String(parts[0]))
            } else if parts.count == 3, Ending(rawValue: String(parts[1])) != nil {
                unlink("\(folder)/\(file)")  // a crash came between writing and renaming
            } else if file.hasPrefix(KeptFile.unkept) {
                unlink("\(folder)/\(file)")  // or between making and removing
            }
        }
        return names
    }

    private enum Ending: String { case bytes, record, notes }

    private func path(_ name: String, _ ending: Ending) -> String { "\(folder)/\(name).\(ending.rawValue)" }

    nonisolated static func name(of identity: String) -> String {
        var hash = ContentHash()
        hash.add(identity)
        return hash.hex
    }
}
