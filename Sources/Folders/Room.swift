internal import Glibc

/// What a folder still has room for, made or not yet.
public enum Room {
    /// Touches nothing; may block, as file systems far away do.
    /// - Returns: bytes that this user can still write there.
    /// - Throws: if it, or where it would be made, cannot be written.
    public static func left(in folder: String) throws(FolderError) -> Int64 {
        var place = folder
        // The nearest that is there.
        while access(place, F_OK) != 0, errno == ENOENT, let slash = place.lastIndex(of: "/") {
            place = slash == place.startIndex ? "/" : String(place[..<slash])
        }
        guard access(place, W_OK | X_OK) == 0 else { throw FolderError(path: place, code: errno) }
        var facts = statvfs()
        guard statvfs(place, &facts) == 0 else { throw FolderError(path: place, code: errno) }
        return Int64(clamping: UInt64(facts.f_bavail) &* UInt64(facts.f_frsize))
    }
}
