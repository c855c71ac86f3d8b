public import Glibc

/// For folders that are bounded in size: what was used longest ago goes first. When a file was last used, its time of
/// change says.
public enum Upkeep {
    public struct File {
        let name: String
        /// Bytes.
        let size: Int64
        let used: timespec

        public init(name: String, size: Int64, used: timespec) {
            self.name = name
            self.size = size
            self.used = used
        }
    }

    /// Now is when it was last used.
    public static func touch(_ path: String) { utimensat(AT_FDCWD, path, nil, 0) }

    /// Of everything in a folder; none where it cannot be read.
    public static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// - Parameter limit: bytes.
    /// - Returns: the names of those that have to go.
    public static func surplus(of files: [File], over limit: Int64) -> [String] {
        var total: Int64 = 0
        return files.sorted { ($0.used.tv_sec, $0.used.tv_nsec) > ($1.used.tv_sec, $1.used.tv_nsec) }
            .drop { file in
                total += file.size
                return total <= limit
            }
            .map(\.name)
    }
}
