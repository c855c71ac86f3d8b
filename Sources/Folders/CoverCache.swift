internal import Glibc

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
        guard let ending = Self.ending(bytes), bytes.count <= Self.largest else { return nil }
        var hash = ContentHash()
        hash.add(bytes)
        let path = "\(folder)/\(hash.hex).\(ending)"
        if size(of: path) == Int64(bytes.count) {
            utimensat(AT_FDCWD, path, nil, 0)  // now is when it was last wanted
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
        guard let directory = opendir(folder) else { return }
        defer { closedir(directory) }
        var pictures: [(path: String, size: Int64, wanted: timespec)] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            let path = "\(folder)/\(name)"
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            pictures.append((path, Int64(status.st_size), status.st_mtim))
        }
        pictures.sort { ($0.wanted.tv_sec, $0.wanted.tv_nsec) > ($1.wanted.tv_sec, $1.wanted.tv_nsec) }
        var total: Int64 = 0
        for picture in pictures {
            total += picture.size
            if total > limit { unlink(picture.path) }
        }
    }

    public func holds(_ path: String) -> Bool { path.hasPrefix(folder + "/") && size(of: path) ?? 0 > 0 }

    /// Bytes; nil where it cannot be read. A power cut may leave an empty file.
    private func size(of path: String) -> Int64? {
        var status = stat()
        return access(path, R_OK) == 0 && stat(path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// By how the bytes begin; nil for anything but PNG and JPEG.
    public static func ending(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return "jpg" }
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "png" }
        return nil
    }
}
