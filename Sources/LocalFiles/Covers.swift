internal import Folders
internal import Listening

/// Pictures that lie beside the audio.
enum Covers {
    /// The best of them: by name, then the first.
    static func besideAudio(_ pictures: [String]) -> Picture? {
        let names = ["cover", "folder", "front", "album", "artwork"]
        func rank(_ path: String) -> Int {
            names.firstIndex(of: AudioFiles.stem(path).lowercased()) ?? names.count
        }
        for path in pictures.enumerated().sorted(by: { (rank($0.1), $0.0) < (rank($1.1), $1.0) }).map(\.element) {
            guard let file = try? FileBytes(path), file.size <= CoverCache.largest,
                let bytes = file.bytes(at: 0, count: file.size), PictureFormat(of: bytes) != nil
            else { continue }
            return Picture(bytes: bytes)
        }
        return nil
    }
}
