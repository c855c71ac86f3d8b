internal import EventLoop
internal import Framing
internal import Glibc
internal import Listening

/// What the files of a load looked like when they were opened. One that was written to since, cut or copied over, ends
/// where the pipeline happened to read nothing more, which says nothing of the item.
final class FileStamps: Sendable {
    private struct Stamp: Equatable {
        let size: Int64
        let seconds: Int
        let nanoseconds: Int

        /// Nil where there is no such file.
        init?(_ path: String) {
            var info = stat()
            guard stat(path, &info) == 0 else { return nil }
            size = Int64(info.st_size)
            seconds = info.st_mtim.tv_sec
            nanoseconds = info.st_mtim.tv_nsec
        }
    }

    private let tracks: [Track]
    private let known = Locked<[Int: Stamp]>([:])

    init(_ tracks: [Track]) { self.tracks = tracks }

    /// A track is about to be opened. May wait for the disk.
    func note(_ track: Int) {
        guard case .file(let path) = tracks[track].audio else { return }
        let stamp = Stamp(path)
        known.withLock { $0[track] = stamp }
    }

    /// Where it ends early, this is why. May wait for the disk.
    func isBroken(_ track: Int) -> Bool {
        guard case .file(let path) = tracks[track].audio else { return false }
        return hasChanged(track, path) || Self.isIncomplete(path)
    }

    private func hasChanged(_ track: Int, _ path: String) -> Bool {
        guard let before = known.withLock({ $0[track] }) else { return false }
        return Stamp(path) != before
    }

    /// Whether the file itself says that more of it was written than is there. Flac counts its samples, and MP4 is made of
    /// boxes that tell their sizes; what others say of their length may be a guess.
    private static func isIncomplete(_ path: String) -> Bool {
        switch AudioName.ending(path) {
        case "flac": return true
        case "m4b", "m4a", "mp4", "m4p": break
        default: return false
        }
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { return false }
        var offset = 0
        for _ in 0..<mostBoxes where offset < info.st_size {
            var bytes = [UInt8](repeating: 0, count: BoxHead.longest)
            let count = pread(file, &bytes, bytes.count, off_t(offset))
            guard let head = BoxHead(bytes.prefix(max(0, count))) else { return true }
            guard let size = head.size, size >= head.length else { return false }
            guard size <= Int(info.st_size) - offset else { return true }
            offset += size
        }
        return false
    }

    /// A file of fragments has thousands.
    private static let mostBoxes = 100_000
}
