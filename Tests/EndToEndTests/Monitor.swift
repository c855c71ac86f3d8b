import Foundation
import TestSupport

/// Every message on the bus, as busctl sees it.
struct Monitor {
    /// One message.
    struct Message {
        let text: String
        private let fields: [String: Any]

        init?(_ line: String) {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
                return nil
            }
            (text, fields) = (line, object)
        }

        func field(_ name: String) -> String { fields[name] as? String ?? "" }
        func number(_ name: String) -> Int { fields[name] as? Int ?? 0 }
        /// Microseconds since 1970 at which it was seen.
        var at: Int { number("timestamp-realtime") }
        var arguments: [Any] { (fields["payload"] as? [String: Any])?["data"] as? [Any] ?? [] }

        /// Of a PropertiesChanged: the names with values, and those without.
        var changed: [String] { ((arguments.dropFirst().first as? [String: Any])?.keys).map { $0.sorted() } ?? [] }
        var invalidated: [Any] { arguments.dropFirst(2).first as? [Any] ?? [] }
    }

    private let house: House
    private let lines: Lines

    init(_ house: House) async throws {
        self.house = house
        lines = try house.start("busctl", ["--user", "monitor", "--json=short"])
        let lines = lines
        try await eventually("the bus to be watched") {
            try await house.run(
                "gdbus", ["emit", "--session", "--object-path", "/begin", "--signal", "org.test.Begin.Now"])
            return lines.count > 0 ? true : nil
        }
    }

    /// All up to this moment has been seen.
    /// - Returns: how many lines there are.
    @discardableResult
    func mark() async throws -> Int {
        let name = "/mark/\(lines.count)"
        try await house.run("gdbus", ["emit", "--session", "--object-path", name, "--signal", "org.test.Mark.Now"])
        try await lines.first("the mark") { $0.contains("\"\(name)\"") }
        return lines.count
    }

    func messages(from start: Int = 0) -> [Message] { lines.texts.dropFirst(start).compactMap(Message.init) }

    /// What the player signalled, in order: `PropertiesChanged Metadata,Rate`, `Seeked`. A stream that had to be waited
    /// for after a jump says Seeked once more when it goes on; that is one here. What tells of a late sound is left out.
    func signals(from start: Int) throws -> [String] {
        let all = try allSignals(from: start).filter { $0.interface == "Player" }.map(\.text)
        return all.indices.filter { $0 == 0 || all[$0] != "Seeked" || all[$0 - 1] != "Seeked" }.map { all[$0] }
    }

    /// The same without the Seeked that follows a halt where the sound came late, as on a busy machine, and tells who
    /// follows where it stands.
    /// - Parameter place: seconds of the track; one that tells another place stays.
    func signals(from mark: Int, haltedAt place: Double) throws -> [String] {
        let seen = try signals(from: mark)
        guard seen.suffix(2) == ["PropertiesChanged PlaybackStatus", "Seeked"] else { return seen }
        let seeked = messages(from: mark).last { $0.field("member") == "Seeked" }
        guard let told = seeked?.arguments.first as? Int, abs(place - Double(told) / 1_000_000) < 0.05 else {
            return seen
        }
        return seen.dropLast()
    }

    /// What is signalled of lists: `TrackList TrackListReplaced`, `Playlists PropertiesChanged PlaylistCount`.
    func listSignals(from start: Int) throws -> [String] {
        try allSignals(from: start).filter { $0.interface != "Player" }.map { "\($0.interface) \($0.text)" }
    }

    private func allSignals(from start: Int) throws -> [(interface: String, text: String)] {
        var follower = Follower()
        var late = 0
        return try lines.texts.enumerated().compactMap { index, line in
            guard let message = Message(line) else { return nil }
            defer { follower.see(message) }
            guard index >= start else { return nil }
            guard !follower.isLate(message) else {
                late += 1
                guard late < 6 else { throw TestFailure("the place is told again and again") }
                return nil
            }
            guard message.field("type") == "signal", message.field("path") == "/org/mpris/MediaPlayer2" else {
                return nil
            }
            let isChange = message.field("member") == "PropertiesChanged"
            let interface = isChange ? message.arguments.first as? String ?? "" : message.field("interface")
            // Only of the list of tracks, which may be long, the value is left out.
            let mayLeaveOut = interface.hasSuffix("TrackList") ? ["Tracks"] : []
            guard message.invalidated.allSatisfy({ mayLeaveOut.contains($0 as? String ?? "") }) else {
                throw TestFailure("values are missing in \(message.text)")
            }
            late = 0
            let names = (message.changed + message.invalidated.map { "\($0)" }).sorted().joined(separator: ",")
            let member = message.field("member")
            return (
                String(interface.split(separator: ".").last ?? ""), isChange ? "\(member) \(names)" : member
            )
        }
    }
}
