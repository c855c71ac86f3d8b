internal import Folders
internal import Glibc
internal import Listening

/// Pictures as files named after their content: shells keep showing the old picture when a file changes under its name.
struct CoverCache: Sendable {
    let folder: String

    /// Writes the picture unless it is there already.
    /// - Returns: its path, or nil if it cannot be written: the item is then shown without.
    func keep(_ bytes: [UInt8], suffix: String) -> String? {
        let path = "\(folder)/\(ContentName.of(bytes)).\(suffix)"
        if access(path, R_OK) == 0 { return path }
        do throws(FolderError) {
            try PrivateFiles.makeFolder(folder)
            try PrivateFiles.replace(path, with: bytes)
            return path
        } catch {
            return nil
        }
    }

    func holds(_ path: String) -> Bool { path.hasPrefix(folder + "/") && access(path, R_OK) == 0 }
}

/// A name for bytes: FNV-1a over 128 bits. Not against attackers, only against showing the wrong picture.
enum ContentName {
    static func of(_ bytes: [UInt8]) -> String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        for byte in bytes { hash = (hash ^ UInt128(byte)) &* 0x0000_0000_0100_0000_0000_0000_0000_013b }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }
}
