internal import Glibc

let diskFull = ENOSPC
let quotaExceeded = EDQUOT

func text(of code: Int32) -> String { String(cString: strerror(code)) }

/// Folders of mode 0700 and files of mode 0600, whatever the umask.
public enum PrivateFiles {
    /// Makes the folder and those above it that are missing, each 0700. A last folder that was there and is ours loses
    /// the rights of others; those above it are left as they are.
    public static func makeFolder(_ path: String) throws(FolderError) {
        if mkdir(path, 0o700) == 0 {
            chmod(path, 0o700)
            return
        }
        var code = errno
        if code == ENOENT, let parent = parent(of: path) {
            try makeFolder(parent)
            code = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw FolderError(path: path, code: code == 0 ? errno : code) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FolderError(path: path, code: ENOTDIR) }
        if status.st_uid == geteuid() && status.st_mode & 0o777 != 0o700 { chmod(path, 0o700) }
    }

    /// The one a file is, or is to be, in; see ``makeFolder(_:)``.
    public static func makeFolder(above file: String) throws(FolderError) {
        if let parent = parent(of: file) { try makeFolder(parent) }
    }

    /// Makes the file, empty, if it is missing, checks that it can be written, and takes the rights of others away.
    public static func makeFile(_ path: String) throws(FolderError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
        guard descriptor >= 0 else { throw FolderError(path: path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o777 != 0o600 {
            fchmod(descriptor, 0o600)
        }
    }

    /// Bytes. What goes on after that is a device, or nothing of ours.
    private static let longest = 64 << 20

    /// The whole file, or nil if there is none.
    public static func read(_ path: String) throws(FolderError) -> [UInt8]? {
        // A pipe would be waited for until somebody writes into it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw FolderError(path: path, code: errno)
        }
        defer { close(descriptor) }
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
            throw .unusable(path: path, reason: "it is a pipe, not a file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw FolderError(path: path, code: errno) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= longest else { throw .unusable(path: path, reason: "it is larger than 64 MiB") }
        }
    }

    /// Puts a new file of mode 0600 in the old one's place: after a crash or power cut there is the old one or the new
    /// one, whole. A symbolic link is kept and what it points to replaced.
    /// - Parameter isLasting: false for what can be found out again: the disk is not waited for, and a power cut may leave
    ///   neither, or an empty one.
    public static func replace(
        _ path: String, with bytes: [UInt8], isLasting: Bool = true
    ) throws(FolderError) {
        let target = resolved(path)
        var name = Array("\(target).XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw FolderError(path: path, code: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let code = write(bytes, to: descriptor, isLasting)
        close(descriptor)
        guard code == 0, rename(name, target) == 0 else {
            let code = code == 0 ? errno : code
            unlink(name)
            throw FolderError(path: path, code: code)
        }
        if isLasting, let folder = parent(of: target) { sync(folder: folder) }
    }

    /// - Returns: 0, or the code of the call that failed.
    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ isLasting: Bool) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            if count < 0 { return errno }
            rest = rest.dropFirst(count)
        }
        return !isLasting || fsync(descriptor) == 0 ? 0 : errno
    }

    /// So that the new name is on the disk too.
    private static func sync(folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func parent(of path: String) -> String? {
        var path = path[...]
        while path.count > 1 && path.last == "/" { path = path.dropLast() }
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let parent = path[..<slash]
        return parent.isEmpty ? "/" : String(parent)
    }
}
