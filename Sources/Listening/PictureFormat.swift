/// Known by how a picture begins: servers and files call things pictures that are none.
public enum PictureFormat: Hashable, Sendable {
    case png, jpeg

    /// - Returns: nil for anything but PNG and JPEG.
    public init?(of bytes: [UInt8]) {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else {
            return nil
        }
    }

    /// Of a file's name, without the dot.
    public var ending: String {
        switch self {
        case .png: "png"
        case .jpeg: "jpg"
        }
    }
}
