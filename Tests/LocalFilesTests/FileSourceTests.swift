import EventLoop
import Folders
import Framing
import GStreamer
import Listening
import TestSupport
import Testing

@testable import LocalFiles

@Suite struct FileSourceTests {
    let source = FileSource(
        inspector: GStreamerInspector.ofFiles, covers: CoverCache(folder: "\(Sounds.folder)/covers/here"))

    func book() -> String {
        Sounds.metadata(
            [
                ("title", "One"), ("album", "The Book"), ("artist", "An Author"), ("album_artist", "Al Artist"),
                ("composer", "Nar Rator"), ("genre", "Audiobook"), ("date", "1999"),
            ], chapters: [("Loomings", 0), ("Zweites", 1.25), ("第三章", 3)], end: 4)
    }

    /// ffmpeg writes chapters as Vorbis comments for Opus only.
    static let comments = [
        "CHAPTER001=00:00:00.000", "CHAPTER001NAME=Loomings", "CHAPTER002=00:00:01.250", "CHAPTER002NAME=Zweites",
        "CHAPTER003=00:00:03.000", "CHAPTER003NAME=第三章",
    ].flatMap { ["-metadata", $0] }

    @Test(arguments: [
        ("m4b", ["-c:a", "aac"]), ("m4a", []), ("mp3", []), ("opus", []), ("ogg", comments), ("flac", comments),
        ("mka", ["-c:a", "flac", "-metadata", "ARTIST=Al Artist"]),
    ])
    func aFileHasItsTagsAndChapters(_ ending: String, options: [String]) async throws {
        let path = try Sounds.tone("tagged.\(ending)", seconds: 4, options: options, metadata: book())
        let item = try await source.open(path: path).item
        #expect(item.title == "One" && item.album == "The Book")
        #expect(item.authors == ["Al Artist"])
        #expect(item.narrators == ["Nar Rator"])
        #expect(item.genres == ["Audiobook"])
        // Matroska's DATE is not read by matroskademux.
        #expect(item.published?.hasPrefix("1999") ?? (ending == "mka"))
        #expect(abs(item.duration.seconds - 4) < 0.15)
        #expect(item.tracks.count == 1)
        #expect(item.kind == .file)
        #expect(item.chapters.map(\.title) == ["Loomings", "Zweites", "第三章"])
        #expect(item.chapters.map { ($0.start.seconds * 100).rounded() } == [0, 125, 300])
        #expect(item.chapters.last?.end == item.duration)
    }

    @Test func theOlderKindOfMP4ChaptersIsReadToo() async throws {
        // Without the reference to the chapter track only Nero's table is left.
        let path = try Sounds.tone("nero.m4b", seconds: 4, options: ["-c:a", "aac"], metadata: book())
        var bytes = try Sounds.read(path)
        let tref = Array("tref".utf8)
        let place = try #require((0..<bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual(tref) })
        bytes.replaceSubrange(place..<place + 4, with: Array("free".utf8))
        try Sounds.write(bytes, to: "\(Sounds.folder)/nero2.m4b")
        let chapters = try await EmbeddedChapters.read(FileReader(FileBytes("\(Sounds.folder)/nero2.m4b")))
        #expect(chapters.map(\.title) == ["Loomings", "Zweites", "第三章"])
        #expect(chapters.map(\.start) == [.zero, .seconds(1.25), .seconds(3)])
        // The first begins five seconds before the file.
        let table = try #require((0..<bytes.count - 4).first { bytes[$0..<$0 + 4].elementsEqual("chpl".utf8) })
        let start = UInt64(bitPattern: -50_000_000)
        for place in 0..<8 { bytes[table + 13 + place] = UInt8(truncatingIfNeeded: start >> (56 - 8 * place)) }
        try Sounds.write(bytes, to: "\(Sounds.folder)/nero2.m4b")
        let cut = try await EmbeddedChapters.read(FileReader(FileBytes("\(Sounds.folder)/nero2.m4b")))
        #expect(cut == chapters)
    }

    /// Any byte may be wrong: nothing may trap, hang or take the memory of the machine.
    @Test(arguments: ["m4b", "mp3"]) func damagedChaptersAreHarmless(_ ending: String) async throws {
        let options = ending == "m4b" ? ["-c:a", "aac", "-b:a", "32k"] : ["-b:a", "32k"]
        let path = try Sounds.tone("damage.\(ending)", seconds: 1, options: options, metadata: book())
        let whole = try Sounds.read(path)
        let moov = (0..<whole.count - 4).first { whole[$0..<$0 + 4].elementsEqual("moov".utf8) } ?? 0
        let damaged = "\(Sounds.folder)/damaged.\(ending)"
        for step in 0..<400 {
            var bytes = whole
            let place = moov + (step * 7) % max(1, whole.count - moov)
            bytes[place] = step % 3 == 0 ? 0xff : bytes[place] ^ UInt8(1 << (step % 8))
            if step % 5 == 0 { bytes.removeLast(step) }
            try Sounds.write(bytes, to: damaged)
            #expect(try await EmbeddedChapters.read(FileReader(FileBytes(damaged))).count <= 10_000)
        }
    }

    @Test func aFolderIsABookInNaturalOrder() async throws {
        let names = [
            "CD 10/1.flac", "CD 2/track 10.flac", "CD 2/Track 2.flac", "cd 1/02.flac", "cd 1/1.flac", "0 intro.flac",
        ]
        for (index, name) in names.enumerated() {
            _ = try Sounds.tone("shelf/My Book/\(name)", seconds: 1 + Double(index) / 10)
        }
        try Sounds.write([1], to: "\(Sounds.folder)/shelf/My Book/.hidden.flac")
        try Sounds.write([1], to: "\(Sounds.folder)/shelf/My Book/notes.txt")
        try Sounds.run(["ln", "-sfn", "..", "\(Sounds.folder)/shelf/My Book/cd 1/loop"])
        let item = try await source.open(path: "\(Sounds.folder)/shelf/My Book").item
        let order = ["0 intro", "1", "02", "Track 2", "track 10", "1"]
        #expect(item.title == "My Book")
        #expect(item.kind == .book)
        #expect(item.tracks.map(\.title) == order)
        #expect(item.chapters.map(\.title) == order)
        #expect(item.chapters.map(\.start) == item.tracks.map(\.start))
        #expect(abs(item.duration.seconds - 7.5) < 0.01)
        #expect(item.url?.hasSuffix("/shelf/My%20Book") == true)
    }

    /// Two files that were joined into one, which says that it is as long as the first.
    @Test func whatGoesOnBehindItsToldEndIsAsLongAsItIs() async throws {
        let part = try Sounds.read(try Sounds.tone("joined/part.mp3", seconds: 4))
        let path = "\(Sounds.folder)/joined/whole.mp3"
        try Sounds.write(part + part, to: path)
        let item = try await source.open(path: path).item
        #expect((8...8.3).contains(item.duration.seconds), "\(item.duration)")
    }

    @Test func aNameComesFromTheContent() async throws {
        let path = try Sounds.tone("here/a.flac", seconds: 1)
        let before = try await source.open(path: path).item
        try Sounds.run(["mkdir", "-p", "\(Sounds.folder)/there"])
        try Sounds.run(["cp", path, "\(Sounds.folder)/there/é 100%.flac"])
        let after = try await source.open(path: "\(Sounds.folder)/there/é 100%.flac").item
        #expect(before.id == after.id)
        #expect(before.id.source == "file" && before.id.key.count == 32)
        #expect(after.url?.hasSuffix("/there/%C3%A9%20100%25.flac") == true)
        let other = try await source.open(path: try Sounds.tone("here/b.flac", seconds: 1, offset: 1)).item
        #expect(other.id != before.id)
    }

    @Test func coversAreKeptByContent() async throws {
        let picture = "\(Sounds.folder)/cover.jpg"
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "color=c=red:s=64x64:d=1",
            "-frames:v", "1",
            picture,
        ])
        let plain = try Sounds.tone("covered/1.flac", seconds: 1)
        let embedded = "\(Sounds.folder)/embedded.mp3"
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", plain, "-i", picture, "-map", "0:a", "-map", "1:v",
            "-c:v", "copy", embedded,
        ])
        try Sounds.run(["cp", picture, "\(Sounds.folder)/covered/Folder.JPG"])
        let file = try #require(try await source.open(path: embedded).item.coverPath)
        let folder = try #require(try await source.open(path: "\(Sounds.folder)/covered").item.coverPath)
        #expect(file == folder)
        #expect(try Sounds.read(file) == Sounds.read(picture))
        #expect(file.hasPrefix("\(Sounds.folder)/covers/here/") && file.hasSuffix(".jpg"))
        try Sounds.run([
            "sh", "-c", "test $(stat -c %a '\(file)') = 600 && test $(stat -c %a \"$(dirname '\(file)')\") = 700",
        ])
    }

    @Test func whatCannotBePlayedIsSaidWithANextStep() async throws {
        let folder = Sounds.folder
        func error(_ path: String) async -> LocalFilesError? {
            do throws(LocalFilesError) {
                _ = try await source.open(path: path)
                return nil
            } catch { return error }
        }
        try Sounds.run(["mkdir", "-p", "\(folder)/bad/nothing"])
        try Sounds.write([], to: "\(folder)/bad/empty.mp3")
        let text = Array(repeating: "Call me Ishmael. ", count: 300).joined()
        try Sounds.write(Array(text.utf8), to: "\(folder)/bad/text.mp3")
        try Sounds.run(["mkdir", "-p", "\(folder)/bad/disk/all"])
        for number in 0...2000 { try Sounds.write([], to: "\(folder)/bad/disk/all/\(number).mp3") }
        #expect(await error("\(folder)/bad/disk") == .tooMuch(folder: "\(folder)/bad/disk"))
        #expect(await error("\(folder)/bad/none.mp3") == .notFound(path: "\(folder)/bad/none.mp3"))
        #expect(await error("\(folder)/bad/nothing") == .noAudio(folder: "\(folder)/bad/nothing"))
        #expect(await error("\(folder)/bad/empty.mp3") == .empty(path: "\(folder)/bad/empty.mp3"))
        let wav = try Sounds.read(try Sounds.tone("header.wav", seconds: 1))
        try Sounds.write(Array(wav.prefix(44)), to: "\(folder)/bad/header.wav")
        #expect(await error("\(folder)/bad/header.wav") == .empty(path: "\(folder)/bad/header.wav"))
        let book = try Sounds.read(try Sounds.tone("whole.m4b", seconds: 30))
        try Sounds.write(Array(book.prefix(book.count * 2 / 3)), to: "\(folder)/bad/part.m4b")
        let reason = "its end is missing: was it cut short?"
        #expect(await error("\(folder)/bad/part.m4b") == .unreadable(path: "\(folder)/bad/part.m4b", reason: reason))
        #expect(
            await error("\(folder)/bad/text.mp3")
                == .unreadable(path: "\(folder)/bad/text.mp3", reason: "it is not audio"))
        for (name, lines) in [("list.m3u", "#EXTM3U\nempty.mp3\n"), ("List.PLS", "[playlist]\nFile1=empty.mp3\n")] {
            try Sounds.write(Array(lines.utf8), to: "\(folder)/bad/\(name)")
            #expect(await error("\(folder)/bad/\(name)") == .list(path: "\(folder)/bad/\(name)"))
        }
    }

    @Test func whatLiesTooDeepIsSaid() async throws {
        let folder = "\(Sounds.folder)/deep"
        let far = folder + (1...9).map { "/\($0)" }.joined()
        for place in ["", "/1/2/3/4/5/6/7/8", "/1/2/3/4/5/6/7/8/9/10"] {
            try Sounds.run(["mkdir", "-p", folder + place])
            _ = try Sounds.tone("deep\(place)/a.flac", seconds: 1)
        }
        let opened = try await source.open(path: folder)
        #expect(opened.item.tracks.count == 2 && opened.leftOut == [.tooDeep(folder: far)])
    }

    /// A damaged file among sixty is no reason to play none of them.
    @Test func whatCannotBePlayedIsLeftOutOfABook() async throws {
        let folder = "\(Sounds.folder)/holes"
        for number in 1...3 { _ = try Sounds.tone("holes/\(number).flac", seconds: 1) }
        #expect(try await source.open(path: folder).leftOut.remark == nil)
        try Sounds.write([], to: "\(folder)/2.flac")
        let opened = try await source.open(path: folder)
        #expect(opened.item.tracks.map(\.title) == ["1", "3"] && opened.item.duration.seconds == 2)
        #expect(opened.leftOut == [.empty(path: "\(folder)/2.flac")])
        // The shell writes what a String cannot.
        try Sounds.run(["sh", "-c", #"cp "$1/1.flac" "$1/$(printf 'b\344r').flac""#, "sh", folder])
        let remark = try #require(try await source.open(path: folder).leftOut.remark)
        #expect(remark.contains("2 files are left out") && remark.contains("b\u{FFFD}r.flac"), "\(remark)")
        for number in [1, 3] { try Sounds.write([], to: "\(folder)/\(number).flac") }
        await #expect(throws: LocalFilesError.self) { try await source.open(path: folder) }
        await #expect(throws: LocalFilesError.unnameable(path: "\(folder)/b\u{FFFD}r.flac")) {
            try await source.open(path: "\(folder)/b\u{FFFD}r.flac")
        }
    }

    @Test(.timeLimit(.minutes(1))) func aDeviceIsNoFile() async throws {
        await #expect(throws: LocalFilesError.notRegular(path: "/dev/zero")) {
            try await source.open(path: "/dev/zero")
        }
    }

    @Test func whatWasInspectedIsInspectedAgainOnlyWhenItChanged() async throws {
        let folder = "\(Sounds.folder)/known"
        for number in 1...2 { _ = try Sounds.tone("known/\(number).flac", seconds: 1) }
        try Sounds.write([0xff, 0xd8, 0xff, 1], to: "\(folder)/cover.jpg")
        let inspector = CountingInspector()
        let known = Locked<[ItemID: Item]>([:])
        let source = FileSource(
            inspector: inspector, covers: CoverCache(folder: "\(Sounds.folder)/covers/known"),
            known: { id in known.withLock { $0[id] } })
        func inspections() async throws -> Int {
            let before = inspector.count.withLock { $0 }
            let item = try await source.open(path: folder).item
            let fresh = try await self.source.open(path: folder).item
            #expect(item.chapters == fresh.chapters && item.tracks == fresh.tracks && item.title == fresh.title)
            #expect(item.coverPath.map { try? Sounds.read($0) } == fresh.coverPath.map { try? Sounds.read($0) })
            known.withLock { $0[item.id] = item }
            return inspector.count.withLock { $0 } - before
        }
        #expect(try await inspections() == 2)
        #expect(try await inspections() == 0)
        // The cover beside the audio is another one, or the kept one is gone.
        try Sounds.write([0xff, 0xd8, 0xff, 2, 3], to: "\(folder)/cover.jpg")
        #expect(try await inspections() == 2)
        #expect(try await inspections() == 0)
        try Sounds.run(["rm", "-r", "\(Sounds.folder)/covers/known"])
        #expect(try await inspections() == 2)
        // A tag was written that the audio's name does not tell.
        try Sounds.run(["touch", "-d", "@1", "\(folder)/1.flac"])
        #expect(try await inspections() == 2)
        #expect(try await inspections() == 0)
        try Sounds.run(["mv", "\(folder)/1.flac", "\(folder)/0.flac"])
        #expect(try await inspections() == 2)
        // Beside one that cannot be played, which may be mended.
        try Sounds.write([1], to: "\(folder)/3.flac")
        #expect(try await inspections() == 3)
        #expect(try await inspections() == 3)
    }

    @Test func numbersAreComparedAsNumbers() {
        let sorted = ["b", "A10", "a2", "a02b", "10", "9", "1.5", "a"].sorted(by: AudioFiles.comesBefore)
        #expect(sorted == ["1.5", "9", "10", "a", "a2", "a02b", "A10", "b"])
    }
}

/// The real one, counted.
private struct CountingInspector: Inspector {
    private let inspector = GStreamerInspector.ofFiles
    let count = Locked(0)

    func inspect(path: String) async throws(EngineFailure) -> FileFacts {
        count.withLock { $0 += 1 }
        return try await inspector.inspect(path: path)
    }
}
