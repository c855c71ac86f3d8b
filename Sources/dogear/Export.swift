import Control
import Glibc
import Terminal

/// A file that a command writes for the listener.
struct Export {
    let path: String
    /// Takes the place of a file that is there.
    let force: Bool

    /// The last part of the name, in lower-case letters; empty if there is none.
    static func kind(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }

    /// Whole, or not at all.
    func write(_ bytes: [UInt8]) throws(ControlError) {
        var facts = stat()
        if stat(path, &facts) == 0 {
            guard facts.st_mode & S_IFMT == S_IFREG else { throw failure("it is no file") }
            guard force else { throw exists }
        }
        let fresh = "\(path).new-\(getpid())"
        let descriptor = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failure(reason(errno)) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else {
                let code = errno
                close(descriptor)
                throw given(up: fresh, code)
            }
            rest = rest.dropFirst(written)
        }
        let isKept = fsync(descriptor) == 0
        guard close(descriptor) == 0, isKept else { throw given(up: fresh, errno) }
        if !force {
            // Fails where somebody has made that file meanwhile; a file system that knows no links is asked once more.
            if link(fresh, path) == 0 {
                unlink(fresh)
                return
            }
            if errno == EEXIST || stat(path, &facts) == 0 {
                unlink(fresh)
                throw exists
            }
        }
        if rename(fresh, path) != 0 { throw given(up: fresh, errno) }
    }

    private func given(up fresh: String, _ code: Int32) -> ControlError {
        unlink(fresh)
        return failure(reason(code))
    }

    private var exists: ControlError { ControlError(.failed, "'\(path)' is there already; add --force to replace it") }

    private func failure(_ reason: String) -> ControlError {
        ControlError(.failed, "cannot write '\(path)': \(reason); name another file with --output")
    }
}
