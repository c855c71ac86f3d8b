import EventLoop
import Glibc
import Listening
import TestSupport
import Testing

@testable import Streaming

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct CacheTests {
    private let file = noise(300_000)

    /// Reads a stream whole, and lets it go.
    private func fill(_ folder: String, _ remote: Remote, _ identity: String, limit: Int64 = 1 << 30) async throws {
        let reader = shelf(folder, limit: limit).reader(of: remote.stream(identity))
        #expect(try await reader.all() == file)
        await closed(reader)
        #expect(kept(folder, identity))
    }

    /// Lets it go, and waits until that is done.
    private func closed(_ reader: any ByteReader) async {
        reader.close()
        await Task { @StreamingActor in }.value
    }

    private func kept(_ folder: String, _ identity: String) -> Bool {
        access("\(folder)/\(AudioCache.name(of: identity)).record", F_OK) == 0
    }

    @Test func whatWasReadIsThereInTheNextLife() async throws {
        try await withTemporaryFolder { folder in
            let folder = "\(folder)/audio"
            let remote = try Remote(file)
            try await fill(folder, remote, "a")
            remote.server.stop()
            let reader = shelf(folder).reader(of: AudioStream(url: "http://127.0.0.1:9/", identity: "a"))
            #expect(try await reader.size() == 300_000)
            #expect(try await reader.all() == file)
            #expect(mode(of: folder) == 0o700)
            for name in files(folder) {
                #expect(mode(of: "\(folder)/\(name)") == 0o600)
                #expect(!name.contains("secret") && !name.contains("127"))
            }
        }
    }

    @Test func aPartIsGoneOnWith() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let reader = shelf(folder).reader(of: remote.stream())
            _ = try await reader.read(at: 0, count: 100)
            try await until("what was read") { reader.available(from: 0) >= 80_000 }
            await closed(reader)
            let asked = remote.asked.count
            let again = shelf(folder).reader(of: remote.stream())
            #expect(try await again.all() == file)
            #expect((remote.asked[asked...].compactMap(\.self).map(\.lowerBound).min() ?? 0) >= 80_000)
        }
    }

    @Test func whatWasUsedLongestAgoGoesFirst() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            for (age, name) in ["a", "b", "c"].enumerated() {
                try await fill(folder, remote, name)
                var times = [
                    timespec(tv_sec: 1_000_000 + age, tv_nsec: 0), timespec(tv_sec: 1_000_000 + age, tv_nsec: 0),
                ]
                #expect(utimensat(AT_FDCWD, "\(folder)/\(AudioCache.name(of: name)).bytes", &times, 0) == 0)
            }
            // Being read it stays, however old.
            let reader = shelf(folder, limit: 800_000).reader(of: remote.stream("a"))
            _ = try await reader.read(at: 0, count: 1)
            #expect(kept(folder, "a") && !kept(folder, "b") && kept(folder, "c"))
            #expect(try await reader.all() == file)
            await closed(reader)
            try await fill(folder, remote, "d", limit: 310_000)
            #expect(!kept(folder, "a") && !kept(folder, "c"))
        }
    }

    @Test func whatIsReadNowTakesThePlaceOfWhatWasReadOnce() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            try await fill(folder, remote, "a")
            let reader = shelf(folder, limit: 400_000).reader(of: remote.stream("b"))
            _ = try await reader.read(at: 0, count: 10)
            #expect(kept(folder, "a"))
            #expect(try await reader.all() == file)
            try await until("the older one to go") { !kept(folder, "a") }
            #expect(try await reader.all() == file)
        }
    }

    @Test func withoutACacheNothingStays() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            try await fill(folder, remote, "before")
            let reader = shelf(folder, limit: 0).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            #expect(remote.asked.count < 20)
            #expect(files(folder) == [])
        }
    }

    @Test(arguments: 0..<5) func aDamagedRecordIsDropped(kind: Int) async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            try await fill(folder, remote, "a")
            let path = "\(folder)/\(AudioCache.name(of: "a"))"
            switch kind {
            case 0: truncate("\(path).record", 20)
            case 1: write("\(path).record", at: 15, [UInt8(ascii: "9")])
            case 2: truncate("\(path).bytes", 1000)
            case 3: unlink("\(path).bytes")
            default: truncate("\(path).record", 0)
            }
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.all() == file)
        }
    }

    @Test func bytesThatSomebodyCutOffWhileTheyAreReadComeAgain() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            truncate("\(folder)/\(AudioCache.name(of: "a")).bytes", 100_000)
            #expect(try await reader.all() == file)
        }
    }

    @Test(arguments: [0, 1, 70_000, 299_999]) func aFullDiskDoesNotEndTheReading(room: Int) async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let left = Locked(room)
            let cache = AudioCache(folder: folder, limit: 1 << 30) { descriptor, bytes, offset in
                let count = left.withLock { left in
                    let count = min(left, bytes.count)
                    left -= count
                    return count
                }
                if count == 0 { return -Int(ENOSPC) }
                return KeptFile.plainWrite(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<count]), offset)
            }
            let reader = StreamShelf(transport: transport, cache: cache, limits: hasty).reader(of: remote.stream())
            #expect(try await reader.all() == file)
            #expect(try await reader.read(at: 100, count: 1000) == Array(file[100..<1100]))
            await closed(reader)
            // What could be kept is right.
            let again = shelf(folder).reader(of: remote.stream())
            #expect(try await again.all() == file)
        }
    }

    @Test func theLastRoomOnADiskIsLeftToOthers() async throws {
        try await withTemporaryFolder { folder in
            let file = noise(9_000_000)
            let remote = try Remote(file)
            let written = Locked<Int64>(0)
            let cache = AudioCache(folder: folder, limit: 1 << 30) { descriptor, bytes, offset in
                written.withLock { $0 += Int64(bytes.count) }
                return KeptFile.plainWrite(descriptor, bytes, offset)
            } room: { _ in
                KeptFile.spared - written.withLock { min($0, 1) }
            }
            let reader = StreamShelf(transport: transport, cache: cache, limits: hasty).reader(of: remote.stream())
            #expect(try await reader.all(by: 100_000) == file)
            #expect((1...5 << 20).contains(written.withLock { $0 }))
        }
    }

    @Test func inMemoryIsOnlyWhatIsNear() async throws {
        try await withTemporaryFolder { folder in
            let file = noise(2_000_000)
            let remote = try Remote(file)
            let reader = shelf("/dev/null/none").reader(of: remote.stream())
            #expect(try await reader.all() == file)
            #expect(reader.available(from: 0) == 0)
            #expect(reader.available(from: 1_990_000) == 10_000)
            #expect(try await reader.read(at: 5, count: 5) == Array(file[5..<10]))
            #expect(files(folder) == [])
        }
    }

    @Test func leftoversOfACrashAreSweptAway() async throws {
        try await withTemporaryFolder { folder in
            let name = AudioCache.name(of: "x")
            for left in ["\(name).bytes", "\(name).record.abcdef"] { write("\(folder)/\(left)", at: 0, [1]) }
            write("\(folder)/of-another", at: 0, [1])
            let remote = try Remote(file)
            try await fill(folder, remote, "a")
            #expect(files(folder).filter { !$0.hasPrefix(AudioCache.name(of: "a")) } == ["of-another"])
        }
    }

    @Test func whatWasFoundOutIsKeptBesideTheBytes() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file, etag: "\"1\"")
            let reader = shelf(folder).reader(of: remote.stream())
            _ = try await reader.all()
            #expect(await reader.memory() == [])
            await reader.remember([1, 2, 3])
            await closed(reader)
            let again = shelf(folder).reader(of: remote.stream())
            #expect(await again.memory() == [1, 2, 3])
            await closed(again)
            #expect(mode(of: "\(folder)/\(AudioCache.name(of: "a")).notes") == 0o600)
            // It goes with them.
            try await fill(folder, remote, "b", limit: 310_000)
            #expect(files(folder).allSatisfy { $0.hasPrefix(AudioCache.name(of: "b")) })
            // What nothing is kept of is found out anew.
            let unnamed = shelf(folder).reader(of: remote.stream(nil))
            await unnamed.remember([1])
            #expect(await unnamed.memory() == [])
        }
    }

    private func files(_ folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func write(_ path: String, at offset: Int, _ bytes: [UInt8]) {
        let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
        #expect(pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
        close(descriptor)
    }
}
