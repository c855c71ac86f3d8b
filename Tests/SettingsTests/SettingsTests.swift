import Folders
import Foundation
import Listening
import TestSupport
import Testing

@testable import Settings

/// With this text, if any, as the file.
private func withFile(_ text: String? = nil, _ body: (String) async throws -> Void) async throws {
    try await withTemporaryFolder { folder in
        let path = "\(folder)/dogear/config.toml"
        if let text {
            try PrivateFiles.makeFolder("\(folder)/dogear")
            try PrivateFiles.replace(path, with: Array(text.utf8))
        }
        try await body(path)
    }
}

@Suite struct LoadTests {
    @Test func withoutAFileTheDefaultsHold() async throws {
        try await withFile { path throws in
            let (settings, problems) = Settings.load(path)
            #expect(settings == Settings() && problems.isEmpty)
            #expect(settings.track == .chapter && settings.next == .chapter && settings.stop == .keep)
            #expect(settings.skipForward == .seconds(30) && settings.skipBack == .seconds(15))
            #expect(settings.rate == 1 && settings.resumeRewind && settings.sink == nil && settings.logLevel == .info)
            #expect(settings.audioSize == 1 << 30 && settings.boost == 0)
            #expect(settings.sleepFade == .seconds(20) && settings.sleepRewinds && !settings.sleepAgain)
            #expect(settings.sleepExtend == .seconds(900))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func everySettingIsRead() async throws {
        let text = """
            playback.rate = 1.25
            log = { level = "debug" }
            cache.audio-size = 0
            audio.sink = 'fakesink sync=true'
            [playback]
            """
        try await withFile(text.replacing("[playback]", with: "")) { path throws in
            let (settings, problems) = Settings.load(path)
            #expect(problems == [])
            #expect(settings.rate == 1.25 && settings.logLevel == .debug && settings.sink == "fakesink sync=true")
            #expect(settings.audioSize == 0)
        }
        let table = """
            [playback]
            track = "item"
            next = "skip"
            stop = "restart"
            skip-forward = 600
            skip-back = 1
            rate = 2
            resume-rewind = false
            boost = 4.5
            [sleep]
            fade = 0
            rewind = "none"
            extend = 600
            again = true
            """
        try await withFile(table) { path throws in
            let (settings, problems) = Settings.load(path)
            #expect(problems == [])
            #expect(settings.track == .item && settings.next == .skip && settings.stop == .restart)
            #expect(settings.skipForward == .seconds(600) && settings.skipBack == .second)
            #expect(settings.rate == 2 && !settings.resumeRewind && settings.boost == 4.5)
            #expect(settings.sleepFade == .zero && !settings.sleepRewinds && settings.sleepAgain)
            #expect(settings.sleepExtend == .seconds(600))
        }
    }

    @Test func everyMistakeIsNamedAndTheRestHolds() async throws {
        let text = """
            # mine
            [playback]
            rate = 9
            trak = "item"
            skip-back = "long"
            track = "item"

            [[log]]
            level = 3
            [audio]
            sink = [
              "one" # ]
            ]
            volume = 1979-05-27
            """
        try await withFile(text) { path throws in
            let (settings, problems) = Settings.load(path)
            #expect(settings.track == .item)
            #expect(settings.rate == 1 && settings.skipBack == .seconds(15) && settings.logLevel == .info)
            let said = problems.map { $0.description.replacing(path, with: "FILE") }
            #expect(
                said == [
                    "FILE, line 3: 'playback.rate' cannot be 9; allowed are: 0.5 to 3.0",
                    "FILE, line 4: there is no setting 'playback.trak'; did you mean 'playback.track'?",
                    "FILE, line 5: 'playback.skip-back' cannot be the text 'long'; allowed are: 1 to 600 seconds",
                    "FILE, line 8: there is no setting 'log'; 'dogear settings' lists them",
                    "FILE, line 11: 'audio.sink' cannot be a list; allowed are: any text on one line",
                    "FILE, line 14: there is no setting 'audio.volume'; 'dogear settings' lists them",
                ])
        }
    }

    @Test(arguments: [
        ("[playback]\nrate = \n", 2), ("\n\n[playback\n", 3), ("a = 1\na = 2\n", 2), ("rate = \"\u{0}\"\n", 1),
        ("[=\n", 1), ("a = 1\n\t[ .b]\n", 2), ("[[\n", 1), ("[[[a]]]\n", 1), ("[,", 1), ("[\u{e4}]\n", 1), ("[#]\n", 1),
        ("a = 1\r\n[=\r\n", 2), ("[\ra", 1), ("# '''\n\u{a0}[=", 2),
        ("x = 1\ny = " + String(repeating: "[", count: 200_000), 2), (String(repeating: "a.", count: 200_000), 1),
    ])
    func anErrorOfSyntaxNamesItsLine(text: String, line: Int) async throws {
        try await withFile(text) { path throws in
            let (settings, problems) = Settings.load(path)
            #expect(settings == Settings())
            #expect(problems.count == 1)
            #expect(problems.first?.description.hasPrefix("\(path), line \(line): ") == true, "\(problems)")
            #expect(throws: SettingsError.self) { try Settings.set("playback.rate", to: "2", in: path) }
            #expect(try PrivateFiles.read(path) == Array(text.utf8))
        }
    }

    @Test func bytesThatAreNoTextAreNamed() async throws {
        try await withFile { path throws in
            let error = #expect(throws: SettingsError.self) {
                try SettingsFile(path: path, bytes: Array("a = 1\n".utf8) + [0xff, 0xfe])
            }
            #expect(error == .syntax(path: path, line: 2, reason: "not text in UTF-8"))
        }
    }

    @Test(arguments: ["nan", "inf", "-1.0", "1e999", "0.49", "9223372036854775807"])
    func absurdNumbersAreRefused(number: String) async throws {
        try await withFile("[playback]\nrate = \(number)\nskip-forward = \(number)\n") { path throws in
            let (settings, problems) = Settings.load(path)
            #expect(settings == Settings())
            #expect(!problems.isEmpty)
        }
    }

    @Test func theListShowsEverySetting() {
        let rows = Settings().list()
        #expect(rows.map(\.key) == SettingKey.allCases)
        #expect(rows.allSatisfy { $0.isDefault && !$0.key.declaration.meaning.isEmpty })
        #expect(rows.allSatisfy { $0.key.declaration.kind.allows($0.value) })
        #expect(
            rows.map { "\($0.value)" } == [
                "chapter", "chapter", "same", "keep", "30", "15", "1", "true", "false", "0", "false", "stop", "20",
                "fade", "900", "false", "", "false", "true", "1024", "info",
            ])
    }
}

@Suite struct SetTests {
    private func text(_ path: String) throws -> String {
        String(decoding: try PrivateFiles.read(path) ?? [], as: UTF8.self)
    }

    @Test func theFirstSettingMakesThePrivateFile() async throws {
        try await withFile { path throws in
            #expect(try Settings.set("playback.rate", to: "1.5", in: path).rate == 1.5)
            let first = try text(path)
            #expect(first.contains("\n[playback]\n") && first.contains("#rate = 1.0\nrate = 1.5\n"))
            #expect(mode(of: path) == 0o600)
            #expect(mode(of: (path as NSString).deletingLastPathComponent) == 0o700)
            _ = try Settings.set("audio.sink", to: "a \"b\" \\c", in: path)
            let sink = "sink = \"a \\\"b\\\" \\\\c\"\n"
            #expect(try text(path) == first.replacing("#sink = \"\"\n", with: "#sink = \"\"\n" + sink))
            #expect(Settings.load(path).settings.sink == "a \"b\" \\c")
        }
    }

    @Test func aNewFileExplainsEverySettingAndChangesNone() async throws {
        try await withFile(" \n") { path throws in
            _ = try Settings.set("log.level", to: "debug", in: path)
            let lines = try text(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            for key in SettingKey.allCases {
                let (section, name) = key.parts
                let place = try #require(lines.firstIndex { $0.hasPrefix("#\(name) = ") })
                #expect(lines[..<place].last { $0.hasPrefix("[") } == "[\(section)]")
                #expect(lines[place - 1] == "# \(key.declaration.meaning) (\(key.declaration.kind))")
            }
            // Without the marks it says what holds anyway.
            let unmarked: [String] = lines.map { line in
                line.hasPrefix("#") && !line.hasPrefix("# ") ? String(line.dropFirst()) : line
            }
            let bare = unmarked.filter { $0 != "level = \"debug\"" }.joined(separator: "\n")
            let file = try SettingsFile(path: path, bytes: Array(bare.utf8)).settings()
            #expect(file.problems == [])
            #expect(file.settings.list().allSatisfy { $0.isDefault })
            #expect(lines.filter { $0.hasPrefix("[") }.count == Set(SettingKey.allCases.map(\.parts.section)).count)
        }
    }

    @Test func timesAreTypedAsEverywhere() async throws {
        try await withFile { path throws in
            for (typed, seconds) in [("1m30s", 90.0), ("10s", 10), ("2:05", 125), ("7", 7)] {
                _ = try Settings.set("sleep.fade", to: typed, in: path)
                #expect(Settings.load(path).0.sleepFade == .seconds(seconds), "\(typed)")
            }
            for wrong in ["1h", "10 bananas", "-3s", "nan"] {
                #expect(throws: (any Error).self) { try Settings.set("sleep.fade", to: wrong, in: path) }
            }
            #expect(Settings.load(path).0.sleepFade == .seconds(7))
        }
    }

    @Test func whatTheListenerNotedStaysInANewFile() async throws {
        try await withFile { path throws in
            _ = try Settings.set("playback.rate", to: "1.5", in: path)
            let noted = try text(path).replacing("rate = 1.5\n", with: "rate = 1.5 # for the train\n# mine\n")
            try PrivateFiles.replace(path, with: Array(noted.utf8))
            _ = try Settings.set("playback.rate", to: "2", in: path)
            _ = try Settings.set("playback.next", to: "skip", in: path)
            let usual = "#next = \"chapter\"\n"
            let after = noted.replacing("rate = 1.5", with: "rate = 2.0")
                .replacing(usual, with: usual + "next = \"skip\"\n")
            #expect(try text(path) == after)
        }
    }

    @Test func everythingElseStaysAsItWas() async throws {
        let before = """
            # The book corner.
            [ log ]   # quiet
            level  =  'error'   # only errors = "all"

            [playback]
            # faster
            "rate" = 1.25\t# since May
            next = "skip"
            unknown = \"""
            rate = 9
            \"""
            # the end of playback

            [audio]
            """
        try await withFile(before) { path throws in
            _ = try Settings.set("playback.rate", to: "2", in: path)
            _ = try Settings.set("log.level", to: "debug", in: path)
            _ = try Settings.set("playback.skip-back", to: "10", in: path)
            _ = try Settings.set("audio.sink", to: "fakesink", in: path)
            let settings = try Settings.set("playback.resume-rewind", to: "off", in: path)
            #expect(settings.rate == 2 && settings.logLevel == .debug && settings.next == .skip)
            #expect(settings.skipBack == .seconds(10) && settings.sink == "fakesink" && !settings.resumeRewind)
            let after =
                before
                .replacing("1.25\t", with: "2.0\t").replacing("'error'", with: "\"debug\"")
                .replacing("9\n\"\"\"\n", with: "9\n\"\"\"\nskip-back = 10\nresume-rewind = false\n")
                + "\nsink = \"fakesink\"\n"
            #expect(try text(path) == after)
        }
    }

    @Test func dottedKeysAreContinued() async throws {
        try await withFile("playback.rate = 1.5\n[audio]\n") { path throws in
            _ = try Settings.set("playback.track", to: "item", in: path)
            _ = try Settings.set("playback.rate", to: "1", in: path)
            #expect(try text(path) == "playback.rate = 1.0\nplayback.track = \"item\"\n[audio]\n")
        }
    }

    @Test func aSettingCanBeTakenOut() async throws {
        try await withFile("[playback]\nrate = 1.5 # gone\nnext = \"skip\"\n") { path throws in
            #expect(try Settings.set("playback.rate", to: nil, in: path).rate == 1)
            #expect(try Settings.set("audio.sink", to: nil, in: path).sink == nil)
            #expect(try text(path) == "[playback]\nnext = \"skip\"\n")
        }
    }

    @Test(arguments: ["playback = { rate = 1.5 }\n", "# rate\nplayback = { next = \"skip\" }\n", "playback = 3\n"])
    func whatCannotBeChangedAloneIsLeft(before: String) async throws {
        try await withFile(before) { path throws in
            let error = #expect(throws: SettingsError.self) { try Settings.set("playback.rate", to: "2", in: path) }
            #expect(error?.description.contains("line \(before.hasPrefix("#") ? 2 : 1)") == true)
            #expect(try text(path) == before)
        }
    }

    @Test(arguments: [
        ("playback.rate", "9", "0.5 to 3.0"), ("playback.rate", "nan", "0.5 to 3.0"),
        ("playback.skip-back", "1.5", "1 to 600"), ("playback.next", "page", "chapter, skip, queue"),
        ("cache.audio-size", "-1", "0 to 1000000 megabytes"), ("cache.audio-size", "all", "megabytes"),
        ("playback.resume-rewind", "maybe", "true, false"), ("audio.sink", "a\nb", "one line"),
        ("rate", "1", "'playback.rate'"), ("playback.skipback", "1", "'playback.skip-back'"),
        ("LOG.LEVEL.x", "1", "dogear settings"),
    ])
    func whatIsNotAllowedIsSaid(key: String, value: String, word: String) async throws {
        try await withFile { path throws in
            let error = #expect(throws: SettingsError.self) { try Settings.set(key, to: value, in: path) }
            #expect(error?.description.contains(word) == true, "\(String(describing: error))")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func aFolderThatCannotBeWrittenIsNamed() {
        let error = #expect(throws: SettingsError.self) {
            try Settings.set("playback.rate", to: "2", in: "/proc/dogear/config.toml")
        }
        #expect(error?.description.contains("/proc/dogear") == true)
        #expect(Settings.load("/proc/dogear/config.toml").problems == [])
    }
}
