import Glibc

/// A folder of its own under the temporary directory, gone with its last reference.
final class Scratch: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/dogear-curl-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
    }

    deinit {
        for name in files { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var files: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// `openssl s_server` with a certificate of an authority made for the occasion.
final class TLSServer: Sendable {
    let port: Int
    let caFile: String
    private let process: pid_t
    private let scratch = Scratch()

    /// - Returns: nil where openssl is not installed.
    init?() {
        let folder = scratch.path
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        let script = """
            cd \(folder) && echo $$ &&
            openssl req -x509 \(key) -keyout ca.key -out ca.pem -days 2 -subj '/CN=Test authority' 2>/dev/null &&
            openssl req \(key) -keyout server.key -out server.csr -subj '/CN=127.0.0.1' 2>/dev/null &&
            echo 'subjectAltName=IP:127.0.0.1' > extensions &&
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions \
              -out server.pem 2>/dev/null &&
            exec openssl s_server -accept 127.0.0.1:0 -cert server.pem -key server.key -www </dev/null 2>/dev/null
            """
        guard let output = popen(script, "r") else { return nil }
        var line = [CChar](repeating: 0, count: 512)
        var id: pid_t?
        var port: Int?
        while port == nil, fgets(&line, Int32(line.count), output) != nil {
            let text = String(
                decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if id == nil { id = pid_t(text) }
            if text.hasPrefix("ACCEPT") { port = text.split(separator: ":").last.flatMap { Int($0) } }
        }
        guard let id, let port else { return nil }
        process = id
        self.port = port
        caFile = "\(folder)/ca.pem"
    }

    deinit { kill(process, SIGKILL) }
}
