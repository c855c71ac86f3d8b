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

    /// What is not there would end the sound of the one before, of which a second is left. May wait for the disk.
    /// - Parameter track: of one beyond the last, false.
    func isGone(_ track: Int) -> Bool {
        guard tracks.indices.contains(track), case .file(let path) = tracks[track].audio else { return false }
        return access(path, R_OK) != 0
    }

    /// Where it ends before its stated length, this is why. May wait for the disk.
    func isBroken(_ track: Int) -> Bool {
        guard case .file(let path) = tracks[track].audio else { return false }
        return hasChanged(track, path) || Self.isIncomplete(path)
    }

    /// Where it ends, more is missing: its length was measured of what is there. May wait for the disk.
    func breaksOff(_ track: Int) -> Bool {
        guard case .file(let path) = tracks[track].audio else { return false }
        return switch AudioName.ending(path) {
        case "mp3": Self.end(of: path, \.isInFrame)
        case "opus", "ogg", "oga", "spx": Self.end(of: path, \.isInPage)
        case "wav", "wave": Self.end(of: path, \.isInChunk)
        default: false
        }
    }

    private func hasChanged(_ track: Int, _ path: String) -> Bool {
        guard let before = known.withLock({ $0[track] }) else { return false }
        return Stamp(path) != before
    }

    /// Whether the file itself says that more of it was written than is there. Flac counts its samples, and MP4 and Matroska
    /// are made of boxes that tell their sizes; what others say of their length may be a guess.
    private static func isIncomplete(_ path: String) -> Bool {
        switch AudioName.ending(path) {
        case "flac": true
        case "m4b", "m4a", "mp4", "m4p": end(of: path, \.isInBox)
        case "mka", "mkv", "webm": end(of: path, \.isInSegment)
        default: false
        }
    }

    /// False where there is no such file.
    private static func end(of path: String, _ isCut: (FileEnd) -> Bool) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard file >= 0 else { return false }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { return false }
        return isCut(
            FileEnd(size: Int64(info.st_size)) { offset, count in
                var bytes = [UInt8](repeating: 0, count: count)
                let count = pread(file, &bytes, bytes.count, off_t(offset))
                return Array(bytes.prefix(max(0, count)))
            })
    }
}
