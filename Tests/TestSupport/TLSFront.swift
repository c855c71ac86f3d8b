/// https before a server that speaks http, with a certificate of an authority that nobody else knows. Ends with its last
/// reference.
public final class TLSFront: Sendable {
    public let port: Int
    /// The authority's own certificate, PEM.
    public let caFile: String
    private let socat: Child

    public var address: String { "https://127.0.0.1:\(port)" }

    /// - Parameters:
    ///   - port: of the server on 127.0.0.1.
    ///   - folder: where the keys are made.
    public init(to port: Int, folder: String) throws {
        caFile = "\(folder)/ca.pem"
        let certificate = "\(folder)/server.pem"
        try Self.openssl("req -x509 -keyout", "\(folder)/ca.key", "-out", caFile, "-subj", "/CN=Test authority")
        try Self.openssl(
            "req -x509 -keyout", "\(folder)/server.key", "-out", certificate, "-CA", caFile, "-CAkey",
            "\(folder)/ca.key", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
        let listen = "OPENSSL-LISTEN:0,bind=127.0.0.1,fork,verify=0,cert=\(certificate),key=\(folder)/server.key"
        socat = try Child("/bin/sh", ["-c", "exec socat -d -d \"$0\" \"$1\" 2>&1", listen, "TCP:127.0.0.1:\(port)"])
        var said = ""
        while let line = socat.line() {
            said = line
            guard line.contains("listening on"), let end = line.split(separator: ":").last.flatMap({ Int($0) })
            else { continue }
            self.port = end
            return
        }
        throw TestFailure("socat does not listen: \(said)")
    }

    deinit { socat.send(9) }

    private static func openssl(_ command: String, _ arguments: String...) throws {
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        try Sounds.run(["openssl"] + command.split(separator: " ").map(String.init) + arguments + key)
    }
}
