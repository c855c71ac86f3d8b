internal import Glibc
internal import Listening

/// Keeps covers where players on the bus find them: named by content, in a folder only the listener can read.
struct Covers {
    /// Absolute.
    let folder: String
    private static let largest = 20_000_000

    /// - Returns: the path of the kept picture, or nil if it is neither PNG nor JPEG or cannot be kept.
    func keep(_ picture: Picture) -> String? {
        guard let ending = Self.ending(picture.bytes), picture.bytes.count <= Self.largest else { return nil }
        var hash = ContentHash()
        hash.add(picture.bytes)
        let path = "\(folder)/\(hash.hex).\(ending)"
        guard access(path, R_OK) != 0 else { return path }
        guard makeFolder() else { return nil }
        // Whole or not there at all, also when two keep it at once.
        let draft = "\(path).\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        let isWritten = write(picture.bytes, to: descriptor)
        close(descriptor)
        guard isWritten, rename(draft, path) == 0 else {
            unlink(draft)
            return nil
        }
        return path
    }

    /// The best of the pictures that lie beside the audio: by name, then the first.
    static func besideAudio(_ pictures: [String]) -> Picture? {
        let names = ["cover", "folder", "front", "album", "artwork"]
        func rank(_ path: String) -> Int {
            names.firstIndex(of: AudioFiles.stem(path).lowercased()) ?? names.count
        }
        for path in pictures.enumerated().sorted(by: { (rank($0.1), $0.0) < (rank($1.1), $1.0) }).map(\.element) {
            guard let file = try? FileBytes(path), file.size <= largest,
                let bytes = file.bytes(at: 0, count: file.size),
                ending(bytes) != nil
            else { continue }
            return Picture(bytes: bytes)
        }
        return nil
    }

    private static func ending(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return "jpg" }
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "png" }
        return nil
    }

    private func makeFolder() -> Bool {
        var made = ""
        for part in folder.split(separator: "/") {
            made += "/\(part)"
            if mkdir(made, 0o700) != 0 && errno != EEXIST { return false }
        }
        return true
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }
}
