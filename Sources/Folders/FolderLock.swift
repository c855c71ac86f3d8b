internal import Glibc

/// One process at a time uses a folder: for those that write whole files, or would not see what others write.
///
/// A file is locked, which others see wherever the folder is mounted, and a name is taken that no file holds: should
/// somebody remove that file, or the folder, the name still keeps others of this user and computer out.
public final class FolderLock: Sendable {
    private let descriptors: [Int32]

    private init(_ descriptors: [Int32]) { self.descriptors = descriptors }
    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Takes it, or waits for whoever has it: a process that is about to leave. Ends with the process, however that ends.
    /// Blocks.
    /// - Parameters:
    ///   - path: of a file of its own in the folder, both made if they are missing. It is never removed.
    ///   - limit: how long it waits.
    /// - Returns: nil if somebody else has it still.
    /// - Throws: where there can be no such file.
    public static func take(_ path: String, within limit: Duration) throws(FolderError) -> FolderLock? {
        try PrivateFiles.makeFolder(above: path)
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o600)
        guard file >= 0 else { throw FolderError(path: path, code: errno) }
        let end = ContinuousClock.now + limit
        // The kernel tells nobody who would give up sometime.
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                let code = errno
                close(file)
                throw FolderError(path: path, code: code)
            }
            guard pause(until: end) else {
                close(file)
                return nil
            }
        }
        guard let name = FolderName(ofFolderOf: path) else { return FolderLock([file]) }
        while true {
            switch name.take() {
            case .ours(let socket): return FolderLock([file, socket])
            case .nobodys: return FolderLock([file])
            case .others(let peer):
                defer { close(peer) }
                guard hangsUp(peer, by: end) else {
                    close(file)
                    return nil
                }
            }
        }
    }

    private static func hangsUp(_ peer: Int32, by end: ContinuousClock.Instant) -> Bool {
        while true {
            let rest = max(.zero, end - .now)
            var wait = pollfd(fd: peer, events: 0, revents: 0)
            if poll(&wait, 1, Int32(clamping: Int64((rest / .milliseconds(1)).rounded(.up)))) > 0 { return true }
            if rest == .zero { return false }
        }
    }

    private static func pause(until end: ContinuousClock.Instant) -> Bool {
        guard ContinuousClock.now < end else { return false }
        usleep(20_000)
        return true
    }
}

/// What a folder is called while a process uses it: an abstract address of a socket, which the kernel gives to one of them
/// and takes back when that ends. It is made of the folder's own name and of the folder that one is in, which stays when
/// it is removed and made anew.
struct FolderName {
    enum Taken {
        case ours(Int32)
        /// A call to whoever has it, which ends when they let go.
        case others(Int32)
        /// There are no such addresses here, or another user took this one to be in the way.
        case nobodys
    }

    private var address = sockaddr_un()
    private let length: socklen_t

    init?(ofFolderOf path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: true)
        guard path.hasPrefix("/"), parts.count >= 2 else { return nil }
        var status = stat()
        guard stat("/" + parts.dropLast(2).joined(separator: "/"), &status) == 0 else { return nil }
        var hash = ContentHash()
        hash.add("\(status.st_dev)/\(status.st_ino)/\(parts[parts.count - 2])/\(parts[parts.count - 1])")
        // An address is abstract that begins with a zero.
        let name = [0] + Array("dogear/\(hash.hex)".utf8)
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    }

    func take() -> Taken {
        for _ in 1...5 {
            let socket = Self.socket()
            guard socket >= 0 else { return .nobodys }
            // Nobody takes the calls of those who wait; there is to be room for all of them.
            if call(bind, socket) == 0, listen(socket, .max) == 0 { return .ours(socket) }
            let code = errno
            close(socket)
            guard code == EADDRINUSE else { return .nobodys }
            if let owner { return owner }
            // It is being taken, or let go.
            usleep(20_000)
        }
        return .nobodys
    }

    /// Whoever listens at a name tells who they are to all who call. Only one of this user's keeps us out: anybody can take
    /// a name and not listen, or leave no room for a call.
    /// - Returns: nil if nobody listens.
    private var owner: Taken? {
        let socket = Self.socket()
        if call(connect, socket) != 0 {
            let code = errno
            close(socket)
            return code == ECONNREFUSED ? nil : .nobodys
        }
        // struct ucred, which Swift does not see: process, user, group.
        var peer: [UInt32] = [0, 0, 0]
        var size = socklen_t(MemoryLayout<UInt32>.size * peer.count)
        if getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer[1] == geteuid() {
            return .others(socket)
        }
        close(socket)
        return .nobodys
    }

    static func socket() -> Int32 {
        Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ socket: Int32
    ) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { function(socket, $0, length) }
        }
    }
}
