internal import Foundation

/// Gives `body` the path of an empty folder of its own, and removes it with everything in it.
public func withTemporaryFolder<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Result
) async rethrows -> Result {
    let folder = TemporaryFolder()
    defer { folder.remove() }
    return try await body(folder.path)
}

/// For what outlives a closure. Short, because the address of a Unix socket must fit in 108 bytes.
public struct TemporaryFolder: Sendable {
    public let path: String

    public init() {
        var name = Array("\(FileManager.default.temporaryDirectory.path)/dogear-XXXXXX".utf8CString)
        precondition(mkdtemp(&name) != nil, "no temporary folder: \(String(cString: strerror(errno)))")
        path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    public func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// The rights of a file or folder, without its type.
public func mode(of path: String) -> UInt32? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}
