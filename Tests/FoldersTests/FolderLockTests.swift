import Foundation
import TestSupport
import Testing

@testable import Folders

@Suite struct FolderLockTests {
    enum Removal: CaseIterable { case nothing, file, folder }

    @Test(arguments: Removal.allCases) func whoHasItKeepsOthersOutWhateverIsRemoved(_ removal: Removal) async throws {
        try await withTemporaryFolder { outer in
            let folder = "\(outer)/dogear"
            let path = "\(folder)/lock"
            var first = try FolderLock.take(path, within: .zero)
            #expect(first != nil)
            switch removal {
            case .nothing: break
            case .file: try FileManager.default.removeItem(atPath: path)
            case .folder: try FileManager.default.removeItem(atPath: folder)
            }
            for _ in 1...200 { #expect(try FolderLock.take(path, within: .zero) == nil) }
            first = nil
            // A program that another test starts just now has all that is open here for a moment.
            let second = try FolderLock.take(path, within: .seconds(60))
            #expect(second != nil)
            #expect(try FolderLock.take("\(outer)/dogear-kids/lock", within: .zero) != nil, "another folder")
            withExtendedLifetime(second) {}
        }
    }

    @Test func itIsWaitedFor() async throws {
        try await withTemporaryFolder { outer in
            let path = "\(outer)/dogear/lock"
            var first = try FolderLock.take(path, within: .zero)
            #expect(first != nil)
            try FileManager.default.removeItem(atPath: "\(outer)/dogear")
            let second = Task.detached { try FolderLock.take(path, within: .seconds(60)) != nil }
            first = nil
            #expect(try await second.value)
        }
    }

    enum Stranger: CaseIterable { case silent, full }

    /// Anybody may take any name: neither stands for a dogear of this user.
    @Test(arguments: Stranger.allCases) func whoDoesNotAnswerKeepsNobodyOut(_ stranger: Stranger) async throws {
        try await withTemporaryFolder { outer in
            let path = "\(outer)/dogear/lock"
            let name = try #require(FolderName(ofFolderOf: path))
            var sockets = [FolderName.socket()]
            defer { for socket in sockets { close(socket) } }
            #expect(name.call(bind, sockets[0]) == 0)
            if stranger == .full {
                #expect(listen(sockets[0], 0) == 0)
                repeat { sockets.append(FolderName.socket()) } while name.call(connect, sockets[sockets.count - 1]) == 0
            }
            #expect(try FolderLock.take(path, within: .zero) != nil)
        }
    }
}
