import Foundation

/// A session bus of its own that can start no services, for one test.
final class PrivateBus: Sendable {
    let address: String
    private let process: Process

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
        process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["--config-file=\(configuration)", "--nofork", "--print-address=1"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // It prints its address when it is ready.
        _ = output.fileHandleForReading.availableData
    }

    deinit { process.terminate() }
}
