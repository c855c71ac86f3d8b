internal import Glibc
internal import Listening

/// The audio files of a folder, in the order a person would read them in.
enum AudioFiles {
    /// More than one book has: somebody named a whole disk.
    static let mostFiles = 2_000
    static let mostEntries = 50_000
    static let deepest = 8

    struct Found {
        var audio: [String] = []
        /// Pictures in the folder itself and the folders within.
        var pictures: [String] = []
        /// Audio whose names are not UTF-8 and cannot be given on, and folders that may not be read or lie too deep.
        var leftOut: [LocalFilesError] = []
        /// Whatever was looked at.
        var entries = 0
    }

    /// Follows links to files and folders, each folder once; leaves out what is hidden.
    static func list(_ folder: String) throws(LocalFilesError) -> Found {
        var found = Found()
        var seen: Set<[UInt]> = []
        try list(folder, depth: 0, &found, &seen)
        return found
    }

    private static func list(
        _ folder: String, depth: Int, _ found: inout Found, _ seen: inout Set<[UInt]>
    ) throws(LocalFilesError) {
        var status = stat()
        guard stat(folder, &status) == 0 else { throw FileBytes.error(folder) }
        let identity = [UInt(status.st_dev), UInt(status.st_ino)]
        guard !seen.contains(identity) else { return }
        guard depth <= deepest else { throw .tooDeep(folder: folder) }
        seen.insert(identity)
        guard let directory = opendir(folder) else { throw FileBytes.error(folder) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let (name, isText) = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let bytes = bytes.prefix { $0 != 0 }
                return (String(decoding: bytes, as: UTF8.self), String(validating: bytes, as: UTF8.self) != nil)
            }
            if name.hasPrefix(".") { continue }
            // What is not UTF-8 cannot be named on the bus or in an address.
            if isText {
                names.append(name)
            } else if AudioName.isAudio(name) {
                found.leftOut.append(.unnameable(path: "\(folder)/\(name)"))
            }
        }
        closedir(directory)
        found.entries += names.count
        guard found.entries <= mostEntries else { throw .tooMuch(folder: folder) }
        // Files of a folder come before the folders in it.
        var folders: [String] = []
        for name in names.sorted(by: comesBefore) {
            let path = folder == "/" ? "/\(name)" : "\(folder)/\(name)"
            guard stat(path, &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: folders.append(path)
            case S_IFREG where AudioName.isAudio(name):
                found.audio.append(path)
                guard found.audio.count <= mostFiles else { throw .tooMuch(folder: folder) }
            case S_IFREG where ["jpg", "jpeg", "png"].contains(AudioName.ending(name)): found.pictures.append(path)
            default: break
            }
        }
        for path in folders {
            do throws(LocalFilesError) { try list(path, depth: depth + 1, &found, &seen) } catch {
                if case .tooMuch = error { throw .tooMuch(folder: folder) }
                // Not a reason to play nothing.
                found.leftOut.append(error)
            }
        }
    }

    static func name(_ path: String) -> String {
        String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
    }

    static func stem(_ path: String) -> String {
        let name = name(path)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// "2" before "10", whatever the case; names that differ only in what this overlooks by their bytes.
    static func comesBefore(_ a: String, _ b: String) -> Bool {
        let left = parts(a)
        let right = parts(b)
        for (x, y) in zip(left, right) {
            if x.isNumber && y.isNumber {
                if x.text.count != y.text.count { return x.text.count < y.text.count }
            } else if x.isNumber != y.isNumber {
                return x.isNumber
            }
            if x.text != y.text { return x.text < y.text }
        }
        return left.count == right.count ? a < b : left.count < right.count
    }

    /// Numbers, without leading zeros, and what is between them, in lower case.
    private static func parts(_ name: String) -> [(text: String, isNumber: Bool)] {
        var parts: [(text: String, isNumber: Bool)] = []
        for character in name.lowercased() {
            let isDigit = character.isASCII && character.isNumber
            if let last = parts.indices.last, parts[last].isNumber == isDigit {
                parts[last].text.append(character)
            } else {
                parts.append((String(character), isDigit))
            }
        }
        return parts.map { part in
            guard part.isNumber else { return part }
            let digits = part.text.drop { $0 == "0" }
            return (digits.isEmpty ? "0" : String(digits), true)
        }
    }
}
