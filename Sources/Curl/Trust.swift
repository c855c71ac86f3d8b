internal import CCurl
internal import Glibc
internal import HTTP

/// The certificates to trust for accounts with a private authority: the system's and theirs. libcurl would take the
/// file *instead of* the system's bundle, and a server that moves to a public certificate would then be refused.
@CurlActor enum Trust {
    private static var known: [String: (stamp: Stamp, certificates: [UInt8])] = [:]
    private static let system = systemBundle().flatMap { try? contents($0) } ?? []

    /// - Throws: the reason why the file cannot be used, for people.
    static func certificates(with path: String) throws(CurlError) -> [UInt8] {
        let stamp = try Stamp(path)
        if let entry = known[path], entry.stamp == stamp { return entry.certificates }
        let own = try contents(path)
        guard own.contains(marker) else {
            throw CurlError(code: CURLE_SSL_CACERT_BADFILE, text: "\(path) holds no certificate in PEM form")
        }
        let all = system + [UInt8(ascii: "\n")] + own
        known[path] = (stamp, all)
        return all
    }

    private static let marker = [UInt8]("-----BEGIN CERTIFICATE-----".utf8)

    /// Where this libcurl was built to look.
    private static func systemBundle() -> String? {
        guard let easy = try? Easy() else { return nil }
        var path: UnsafePointer<CChar>?
        dogear_getinfo_string(easy.handle, CURLINFO_CAINFO, &path)
        return path.map { String(cString: $0) }
    }

    private static func contents(_ path: String) throws(CurlError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while bytes.count < 16 << 20 {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 { throw unreadable(path) }
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    private struct Stamp: Equatable {
        let size: Int
        let seconds: Int
        let nanoseconds: Int

        init(_ path: String) throws(CurlError) {
            var info = stat()
            guard stat(path, &info) == 0 else { throw unreadable(path) }
            size = Int(info.st_size)
            seconds = Int(info.st_mtim.tv_sec)
            nanoseconds = Int(info.st_mtim.tv_nsec)
        }
    }
}

private func unreadable(_ path: String) -> CurlError {
    CurlError(code: CURLE_SSL_CACERT_BADFILE, text: "\(path): \(String(cString: strerror(errno)))")
}
