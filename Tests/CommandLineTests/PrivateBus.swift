import Foundation
import Glibc

/// A session bus of its own that can start no services, for one test.
final class PrivateBus: Sendable {
    let address: String
    private let process: Child

    static let isPossible = FileManager.default.isExecutableFile(atPath: program)
    private static let program = "/usr/bin/dbus-daemon"

    init(in home: Program.Home) throws {
        address = "unix:path=\(home.path)/bus"
        let configuration = home.path + "/bus.conf"
        try Data(
            """
            <busconfig><type>session</type><listen>\(address)</listen>
            <policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/>
            </policy></busconfig>
            """.utf8
        ).write(to: URL(fileURLWithPath: configuration))
        let null = try Child.open("/dev/null", O_RDWR)
        let (reader, writer) = try Child.pipe()
        defer { for file in [null, reader] { close(file) } }
        do {
            defer { close(writer) }
            process = try Child(
                Self.program, ["--config-file=\(configuration)", "--nofork", "--print-address=1"], environment: [:],
                folder: "/", input: null, output: writer, errors: null)
        }
        // It prints its address when it is ready.
        var buffer = [UInt8](repeating: 0, count: 4096)
        _ = read(reader, &buffer, buffer.count)
    }

    deinit {
        kill(process.pid, SIGTERM)
        waitpid(process.pid, nil, 0)
    }
}
