internal import EventLoop
internal import Foundation

/// A PulseAudio of a test's own, whose devices swallow sound at its own pace and come and go as the test likes.
public final class SoundServer: Sendable {
    private let folder = TemporaryFolder()
    private let server = Locked<Child?>(nil)
    private let environment: [String: String]

    /// For `PULSE_SERVER`.
    public var address: String { "unix:\(folder.path)/native" }

    public init() {
        environment = [
            "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "LANG": "C.UTF-8",
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
            "PULSE_SERVER": "unix:\(folder.path)/native",
        ]
    }

    /// - Parameter devices: the first is the default.
    public func start(devices: [String]) async throws {
        let modules =
            ["module-native-protocol-unix auth-anonymous=1 socket=\(folder.path)/native"]
            + devices.map { "module-null-sink sink_name=\($0)" } + ["module-rescue-streams"]
        let child = try Child(
            "pulseaudio",
            [
                "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--system=false",
                "--high-priority=no", "--realtime=no",
            ] + modules.flatMap { ["-L", $0] }, environment: environment, isQuiet: true)
        server.withLock { $0 = child }
        try await until("pulseaudio; is it installed?", every: .milliseconds(20)) { try await pactl("info").code == 0 }
        if let first = devices.first { _ = try await pactl("set-default-sink", first) }
    }

    /// As when it crashes.
    public func kill() async {
        let child = server.withLock { server in
            defer { server = nil }
            return server
        }
        child?.send(SIGKILL)
        _ = await child?.end()
    }

    /// It takes what it is given and answers nothing, until it is killed.
    public func freeze() async throws { try await server.withLock { $0 }?.freeze() }

    public func stop() async {
        await kill()
        folder.remove()
    }

    public func plug(_ device: String) async throws {
        _ = try await pactl("load-module", "module-null-sink", "sink_name=\(device)")
        _ = try await pactl("set-default-sink", device)
    }

    /// Whatever plays there is moved to what is left.
    public func unplug(_ device: String) async throws {
        let modules = try await pactl("list", "short", "modules").lines
        for line in modules where line.contains("sink_name=\(device)") {
            _ = try await pactl("unload-module", line.prefix { $0 != "\t" }.description)
        }
    }

    /// Whatever plays on it stands still, and does not know.
    public func suspend(_ device: String) async throws { _ = try await pactl("suspend-sink", device, "1") }

    /// As with a mixer.
    public func move(to device: String) async throws {
        for line in try await pactl("list", "short", "sink-inputs").lines {
            _ = try await pactl("move-sink-input", line.prefix { $0 != "\t" }.description, device)
        }
    }

    /// What something plays through now.
    public func playing() async throws -> [String] {
        let devices = try await pactl("list", "short", "sinks").lines.map { $0.split(separator: "\t") }
        let inputs = try await pactl("list", "short", "sink-inputs").lines.map { $0.split(separator: "\t") }
        return inputs.compactMap { input in
            devices.first { $0.count > 1 && input.count > 1 && $0[0] == input[1] }.map { String($0[1]) }
        }
    }

    /// What plays now: its volume as mixers show it, 1 being all of it, and how many seconds of it the server has ahead.
    public func streams() async throws -> [(volume: Double, ahead: Double)] {
        let text = try await pactl("--format=json", "list", "sink-inputs").lines.joined()
        let streams = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
        return try streams.map { stream in
            let channels = (stream["volume"] as? [String: [String: Any]] ?? [:]).values
            guard let steps = channels.first?["value"] as? Double, let ahead = stream["buffer_latency_usec"] as? Double
            else { throw TestFailure("pactl says no volume or latency: \(stream)") }
            return (steps / 65536, ahead / 1_000_000)
        }
    }

    /// As with a mixer.
    public func setVolume(_ volume: Double) async throws {
        for line in try await pactl("list", "short", "sink-inputs").lines {
            _ = try await pactl(
                "set-sink-input-volume", line.prefix { $0 != "\t" }.description, "\(Int(volume * 65536))")
        }
    }

    /// Writes down what this device swallows from now on, as a ``Recording`` is.
    public func record(_ device: String, to path: String) async throws -> Child {
        let form = ["--raw", "--format=float32le", "--channels=1", "--rate=\(Recording.rate)", "--latency-msec=50"]
        let child = try Child(
            "parec", form + ["--device=\(device).monitor", path], environment: environment, isQuiet: true)
        try await until("the device's monitor") { Recording.seconds(path) > 0 }
        return child
    }

    /// A line for each thing that happens from now on: a stream that begins, stops, goes on.
    public func events() throws -> Child { try Child("pactl", ["subscribe"], environment: environment, isQuiet: true) }

    private func pactl(_ arguments: String...) async throws -> (code: Int32, lines: [String]) {
        let child = try Child("pactl", arguments, environment: environment, isQuiet: true)
        var lines: [String] = []
        while let line = child.line() { lines.append(line) }
        return (await child.end(), lines)
    }
}
