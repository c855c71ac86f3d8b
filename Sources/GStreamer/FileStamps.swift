internal import EventLoop
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

    func hasChanged(_ track: Int) -> Bool {
        guard case .file(let path) = tracks[track].audio, let before = known.withLock({ $0[track] }) else {
            return false
        }
        return Stamp(path) != before
    }
}
