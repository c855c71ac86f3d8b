internal import Glibc

/// What a pipeline is given of the world outside.
struct Outlet: Sendable {
    /// As gst-launch-1.0 writes it.
    let sink: String
    /// A folder for streams on their way.
    let scratch: String

    static let streamPrefix = "dogear-stream-"
}

extension GStreamerEngine {
    /// Removes what an earlier run was killed over. While nothing streams through this folder.
    public static func clean(scratch: String) {
        guard let folder = opendir(scratch) else { return }
        defer { closedir(folder) }
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasPrefix(Outlet.streamPrefix) { unlink("\(scratch)/\(name)") }
        }
    }
}
