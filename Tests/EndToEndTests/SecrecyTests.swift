import Foundation
import StandIn
import TestSupport
import Testing

/// No password, token, key or header value is anywhere but in the keyring and on its way to the server.
@Suite struct SecrecyTests {
    private static let door = "open-sesame-8134"

    @Test func nothingGivesASecretAway() async throws {
        try await House.with { configuration in
            configuration.requiredHeader = ("X-Door", Self.door)
        } _: { house in
            let header = "\(house.bus.home)/../header"
            try "X-Door: \(Self.door)\n".write(toFile: header, atomically: true, encoding: .utf8)
            try FileManager.default.createDirectory(
                atPath: "\(house.home)/.config/dogear", withIntermediateDirectories: true)
            try "[log]\nlevel = \"debug\"\n".write(
                toFile: "\(house.home)/.config/dogear/config.toml", atomically: true, encoding: .utf8)
            let monitor = try await Monitor(house)
            let daemon = try await house.daemon()
            try await house.dogear(
                "login", house.address, "--user", House.user, "--password-stdin", "--header-file", header,
                input: "not \(House.password)\n")
            try await house.done(
                "login", house.address, "--user", House.user, "--password-stdin", "--header-file", header,
                input: House.password + "\n")
            try await house.done("play", "tidebook")
            house.server.expireAccessTokens()
            try await house.status("past the token's end") { $0.position > 3 }
            try await house.done("pause")
            try await house.progress("past the token's end") { ($0.currentTime ?? 0) > 3 }
            house.server.expireAccessTokens()
            house.server.fail(.serverError, path: "/api/libraries")
            house.server.fail(.unauthorized, path: "/api/search", times: 2)
            try await house.dogear("libraries")
            for words in [["list", "Books"], ["search", "tide"], ["show", "tidebook"], ["doctor"], ["accounts"]] {
                try await house.run(Child.built("dogear"), words + ["--json"])
            }
            let properties = try await everyProperty(house)
            try await house.done("logout")
            let key = house.server.makeAPIKey(for: House.user)
            try await house.done(
                "login", house.address, "--api-key-stdin", "--header-file", header, input: key + "\n")
            try await house.done("play", "echoes")
            let logs = try await house.done("logs", "--level", "debug", "--limit", "2000", "--json")
            #expect(logs.contains("logged in"))
            try await monitor.mark()
            #expect(house.server.requests.contains { $0.path.hasSuffix("/auth/refresh") }, "the test has no new token")

            let secrets = secrets(house, key)
            #expect(secrets.count > 5, "the test knows too few secrets")
            func search(_ text: String, _ place: String) {
                let bytes = Data(text.utf8)
                for (name, secret) in secrets where bytes.range(of: Data(secret.utf8)) != nil {
                    Issue.record("\(name) is in \(place)")
                }
            }
            search(properties, "a property")
            search(logs, "dogear logs")
            search(try contents("/proc/\(daemon.pid)/cmdline"), "the daemon's command line")
            search(try contents("/proc/\(daemon.pid)/environ"), "the daemon's environment")
            for message in try await outsideTheKeyring(house, monitor) { search(message, "a message on the bus") }
            let files = try filesBelow(house.home)
            #expect(files.contains { $0.hasSuffix("state.sqlite") } && files.contains { $0.hasSuffix("daemon.log") })
            for file in files { search(try contents(file), file) }
        }
    }

    /// Name and text of each, with the last part of each token on its own.
    private func secrets(_ house: House, _ key: String) -> [(String, String)] {
        var found = ["the password": House.password, "the header": Self.door, "the API key": key]
        for request in house.server.requests {
            for (name, value) in request.headers where ["authorization", "x-refresh-token"].contains(name) {
                let token = value.replacingOccurrences(of: "Bearer ", with: "")
                found["a token of \(name) (\(found.count))"] = token
                if let signature = token.split(separator: ".").last, signature.count > 10 {
                    found["a signature of \(name) (\(found.count))"] = String(signature)
                }
            }
        }
        return found.sorted { $0.key < $1.key }
    }

    private func everyProperty(_ house: House) async throws -> String {
        var text = ""
        for (name, path) in [
            ("org.mpris.MediaPlayer2.dogear", "/org/mpris/MediaPlayer2"), ("org.dogear.Dogear", "/org/dogear/Dogear"),
        ] {
            let outcome = try await house.run("busctl", ["--user", "introspect", "--full", name, path])
            #expect(outcome.output.contains("property"))
            text += outcome.output
        }
        return text
    }

    /// The messages of all but those who talk with the keyring about nothing else.
    private func outsideTheKeyring(_ house: House, _ monitor: Monitor) async throws -> [String] {
        let owner = try await house.run(
            "busctl",
            [
                "--user", "--json=short", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner",
                "s", "org.freedesktop.secrets",
            ])
        let keyring = owner.output.split(separator: "\"").first { $0.hasPrefix(":") }.map(String.init) ?? ""
        #expect(!keyring.isEmpty)
        return monitor.messages().filter { message in
            ![keyring, "org.freedesktop.secrets"].contains(message.field("destination"))
                && message.field("sender") != keyring
        }.map(\.text)
    }

    private func filesBelow(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }.filter { path in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            return attributes?[.type] as? FileAttributeType == .typeRegular && !path.contains("/keyrings/")
        }
    }

    private func contents(_ path: String) throws -> String {
        String(decoding: try Sounds.read(path).map { $0 == 0 ? 10 : $0 }, as: UTF8.self)
    }
}
