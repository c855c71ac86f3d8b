import Foundation
import TestSupport
import Testing

@testable import Folders

@Suite struct PathsTests {
    @Test func theVariablesOfTheSpecificationWin() throws {
        let paths = try Paths(environment: [
            "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s/", "XDG_CACHE_HOME": "/", "XDG_DATA_HOME": "/d",
        ])
        #expect(paths.configFile == "/c/dogear/config.toml")
        #expect(paths.database == "/s/dogear/state.sqlite")
        #expect(paths.covers == "/dogear/covers")
        #expect(paths.audio == "/dogear/audio")
        #expect(paths.data == "/d/dogear")
        #expect(paths.runtime == nil)
    }

    @Test func whatIsInMemoryOutlivesTheProcess() throws {
        func runtime(_ environment: [String: String], own: String = "dogear") throws -> String? {
            try Paths(environment: environment.merging(["HOME": "/h"]) { first, _ in first }, own: own).runtime
        }
        #expect(try runtime(["XDG_RUNTIME_DIR": "/run/user/1000"]) == "/run/user/1000/dogear")
        #expect(try runtime(["XDG_RUNTIME_DIR": "/r"], own: "dogear/profiles/kids") == "/r/dogear/profiles/kids")
        #expect(
            try runtime(["XDG_RUNTIME_DIR": "/r", "FLATPAK_ID": "org.dogear.Dogear"])
                == "/r/app/org.dogear.Dogear/dogear")
        #expect(try runtime(["XDG_RUNTIME_DIR": "r"]) == nil)
    }

    @Test func aProfileHasItsFolderInEachOfThem() throws {
        let paths = try Paths(
            environment: ["HOME": "/home/jane", "XDG_STATE_HOME": "/s"], own: "dogear/profiles/kids")
        #expect(paths.configFile == "/home/jane/.config/dogear/profiles/kids/config.toml")
        #expect(paths.database == "/s/dogear/profiles/kids/state.sqlite")
    }

    @Test func withoutThemOrWithRelativeOnesTheHomeServes() throws {
        let paths = try Paths(environment: ["HOME": "/home/jane", "XDG_CONFIG_HOME": "conf", "XDG_STATE_HOME": ""])
        #expect(paths.config == "/home/jane/.config/dogear")
        #expect(paths.state == "/home/jane/.local/state/dogear")
        #expect(paths.cache == "/home/jane/.cache/dogear")
        #expect(paths.data == "/home/jane/.local/share/dogear")
    }

    @Test(arguments: [[:], ["HOME": "here", "XDG_CONFIG_HOME": "/c"]])
    func withoutAHomeTheErrorSaysWhatToSet(environment: [String: String]) {
        let error = #expect(throws: FolderError.self) { try Paths(environment: environment) }
        #expect(error?.description.contains("HOME") == true)
    }
}

@Suite struct PrivateFilesTests {
    @Test func foldersAreMadeWithThoseAbove() async throws {
        try await withTemporaryFolder { folder in
            chmod(folder, 0o755)
            try PrivateFiles.makeFolder("\(folder)/a/b/")
            #expect(mode(of: "\(folder)/a/b") == 0o700 && mode(of: "\(folder)/a") == 0o700)
            #expect(mode(of: folder) == 0o755)
            chmod("\(folder)/a/b", 0o777)
            try PrivateFiles.makeFolder("\(folder)/a/b")
            #expect(mode(of: "\(folder)/a/b") == 0o700)
        }
    }

    @Test func aFileInTheWayIsNamed() async throws {
        try await withTemporaryFolder { folder in
            try PrivateFiles.replace("\(folder)/a", with: [1])
            let error = #expect(throws: FolderError.self) { try PrivateFiles.makeFolder("\(folder)/a/b") }
            #expect(error == .unusable(path: "\(folder)/a/b", reason: "Not a directory"))
            #expect(throws: FolderError.self) { try PrivateFiles.makeFolder("/proc/dogear") }
            #expect(throws: FolderError.self) { try PrivateFiles.replace("/proc/dogear", with: []) }
        }
    }

    @Test func aFileIsReplacedWholeAndPrivate() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/a"
            #expect(try PrivateFiles.read(path) == nil)
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
            try PrivateFiles.replace(path, with: bytes)
            #expect(try PrivateFiles.read(path) == bytes)
            chmod(path, 0o644)
            try PrivateFiles.replace(path, with: [7])
            #expect(try PrivateFiles.read(path) == [7])
            #expect(mode(of: path) == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
        }
    }

    @Test func aLinkStaysALink() async throws {
        try await withTemporaryFolder { folder in
            try PrivateFiles.replace("\(folder)/real", with: [1])
            try FileManager.default.createSymbolicLink(atPath: "\(folder)/link", withDestinationPath: "real")
            try PrivateFiles.replace("\(folder)/link", with: [2])
            #expect(try PrivateFiles.read("\(folder)/real") == [2])
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/link") == "real")
        }
    }

    @Test func aPipeIsNotWaitedFor() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/config.toml"
            try #require(mkfifo(path, 0o600) == 0)
            #expect(throws: FolderError.unusable(path: "/dev/zero", reason: "it is larger than 64 MiB")) {
                try PrivateFiles.read("/dev/zero")
            }
            #expect(throws: FolderError.unusable(path: path, reason: "it is a pipe, not a file")) {
                try PrivateFiles.read(path)
            }
        }
    }

    @Test func aFullDiskIsSaidInItsOwnWords() {
        #expect(FolderError(path: "/x", code: ENOSPC) == .full(path: "/x"))
        #expect(FolderError.full(path: "/x").description.contains("space"))
    }
}

@Suite struct RoomTests {
    @Test func aFolderThatIsStillToBeMadeHasTheRoomOfTheOneAboveIt() async throws {
        try await withTemporaryFolder { folder in
            let room = try Room.left(in: "\(folder)/not/yet/made")
            #expect(room > 0)
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/not"))
        }
    }

    @Test func whereNothingCanBeMadeIsSaid() async throws {
        try await withTemporaryFolder { folder in
            try PrivateFiles.makeFile("\(folder)/file")
            let error = #expect(throws: FolderError.self) { try Room.left(in: "\(folder)/file/state") }
            #expect(error?.description.contains("\(folder)/file") == true)
        }
    }

    /// A power cut leaves the name and nothing in it.
    @Test func aPictureThatWasLostIsKeptAnew() async throws {
        try await withTemporaryFolder { folder throws in
            let cache = CoverCache(folder: "\(folder)/covers")
            let picture: [UInt8] = [0xff, 0xd8, 0xff, 1, 2, 3]
            let path = try #require(cache.keep(picture))
            #expect(cache.holds(path))
            #expect(truncate(path, 0) == 0 && !cache.holds(path))
            #expect(cache.keep(picture) == path && cache.holds(path))
            #expect(try PrivateFiles.read(path) == picture)
        }
    }

    @Test func whatWasNotWantedForLongestMakesRoom() async throws {
        try await withTemporaryFolder { folder throws in
            let cache = CoverCache(folder: "\(folder)/covers")
            let paths = try (0..<3).map { number in
                let picture = [0xff, 0xd8, 0xff] + [UInt8](repeating: UInt8(number), count: 8000)
                let path = try #require(cache.keep(picture))
                var times = [timespec](repeating: timespec(tv_sec: 1_000_000 + number, tv_nsec: 0), count: 2)
                #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
                return path
            }
            cache.trim()
            #expect(paths.allSatisfy(cache.holds))
            // Wanted again.
            #expect(cache.keep([0xff, 0xd8, 0xff] + [UInt8](repeating: 0, count: 8000)) == paths[0])
            cache.trim(to: 20_000)
            #expect(paths.map(cache.holds) == [true, false, true])
        }
    }
}

@Suite struct DatabaseAddressTests {
    @Test func whatAnAddressMeansOtherwiseIsEscaped() {
        #expect(immutableDatabase("/a b/50%?#ü.sqlite") == "file:/a b/50%25%3f%23ü.sqlite?immutable=1")
    }
}
