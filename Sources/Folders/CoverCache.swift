internal import Glibc
internal import Listening

/// Keeps pictures where players on the bus find them: in files named after their content, for shells keep showing the old
/// picture when a file changes under its name.
public struct CoverCache: Sendable {
    /// Absolute; made when the first picture is kept.
    private let folder: String
    /// Bytes.
    public static let largest = 20_000_000

    public init(folder: String) { self.folder = folder }

    /// Writes the picture unless it is there already.
    /// - Returns: its path, or nil if it is neither PNG nor JPEG, too large, or cannot be kept: the item is then shown
    ///   without.
    public func keep(_ bytes: [UInt8]) -> String? {
        guard let format = PictureFormat(of: bytes), bytes.count <= Self.largest else { return nil }
        var hash = ContentHash()
        hash.add(bytes)
        let path = "\(folder)/\(hash.hex).\(format.ending)"
        if size(of: path) == Int64(bytes.count) {
            Upkeep.touch(path)
            return path
        }
        do throws(FolderError) {
            try PrivateFiles.makeFolder(folder)
            try PrivateFiles.replace(path, with: bytes, isLasting: false)
            return path
        } catch {
            return nil
        }
    }

    /// Makes the folder as small as it may be: what was not wanted for longest goes.
    /// - Parameter limit: bytes.
    public func trim(to limit: Int64 = 256_000_000) {
        let pictures = Upkeep.names(in: folder).compactMap { name -> Upkeep.File? in
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return Upkeep.File(name: name, size: Int64(status.st_size), used: status.st_mtim)
        }
        for name in Upkeep.surplus(of: pictures, over: limit) { unlink("\(folder)/\(name)") }
    }

    public func holds(_ path: String) -> Bool { path.hasPrefix(folder + "/") && size(of: path) ?? 0 > 0 }

    /// Bytes; nil where it cannot be read. A power cut may leave an empty file.
    private func size(of path: String) -> Int64? {
        var status = stat()
        return access(path, R_OK) == 0 && stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }
}
