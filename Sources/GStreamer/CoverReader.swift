internal import CGStreamer
internal import EventLoop
internal import Glibc
internal import Listening

/// Makes pictures small enough to be shown, on a thread of its own: a large one takes a moment.
public actor CoverReader {
    private static let thread = ThreadExecutor(name: "covers", wait: Sleep())
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.thread.asUnownedSerialExecutor() }

    /// Points of a picture beyond which it is not looked at: a small file may unfold to gigabytes.
    static let largest = 40_000_000
    private static let limit: GstClockTime = 10_000_000_000

    public struct Picture: Hashable, Sendable {
        public let width: Int
        public let height: Int
        public let bytes: [UInt8]
    }

    public init() {}

    /// Red, green and blue of each point, row by row from the top.
    /// - Parameters:
    ///   - path: of a PNG or JPEG.
    ///   - width: the most points in a row; the picture keeps its shape.
    /// - Returns: nil if it is no such picture, or too large.
    public func points(_ path: String, width: Int, height: Int) -> Picture? {
        read(path, width, height, encoder: "") { width, height, bytes in
            // Rows begin at multiples of four bytes.
            let row = (width * 3 + 3) & ~3
            guard bytes.count >= row * (height - 1) + width * 3 else { return nil }
            var points: [UInt8] = []
            points.reserveCapacity(width * height * 3)
            for y in 0..<height { points += bytes[(y * row)..<(y * row + width * 3)] }
            return Picture(width: width, height: height, bytes: points)
        }
    }

    /// The same as a PNG of its own, whatever the file was.
    public func png(_ path: String, width: Int, height: Int) -> Picture? {
        read(path, width, height, encoder: " ! pngenc snapshot=true") { width, height, bytes in
            Picture(width: width, height: height, bytes: Array(bytes))
        }
    }

    private func read(
        _ path: String, _ width: Int, _ height: Int, encoder: String,
        _ take: (Int, Int, UnsafeBufferPointer<UInt8>) -> Picture?
    ) -> Picture? {
        guard width > 0, height > 0, let head = Self.head(of: path), let size = PictureSize(head),
            size.width <= Self.largest / size.height
        else { return nil }
        let decoder = size.format == .png ? "pngdec" : "jpegdec"
        let line =
            "filesrc name=source ! \(decoder) ! videoconvert ! videoscale add-borders=false ! "
            + "video/x-raw,format=RGB,pixel-aspect-ratio=1/1,width=[1,\(width)],height=[1,\(height)]\(encoder) ! "
            + "fakesink name=sink sync=false"
        return LastSample.of(line, "location", path, limit: Self.limit) { caps, bytes in
            var width: gint = 0
            var height: gint = 0
            guard gst_structure_get_int(caps, "width", &width) != 0,
                gst_structure_get_int(caps, "height", &height) != 0,
                width > 0, height > 0
            else { return nil }
            return take(Int(width), Int(height), bytes)
        }
    }

    /// Enough of it to tell its size.
    private static func head(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 18)
        let count = Glibc.read(file, &bytes, bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
}

/// What the first bytes of a picture say.
struct PictureSize: Hashable {
    let width: Int
    let height: Int
    let format: PictureFormat

    /// - Returns: nil for anything but PNG and JPEG.
    init?(_ bytes: [UInt8]) {
        func number(_ place: Int, _ length: Int) -> Int? {
            guard place + length <= bytes.count else { return nil }
            return bytes[place..<(place + length)].reduce(0) { $0 << 8 | Int($1) }
        }
        guard let format = PictureFormat(of: bytes) else { return nil }
        self.format = format
        if format == .png {
            guard let width = number(16, 4), let height = number(20, 4), width > 0, height > 0 else { return nil }
            (self.width, self.height) = (width, height)
            return
        }
        var place = 2
        while let mark = number(place, 2), mark >= 0xFF00 {
            // Filled up with 0xFF, or a mark without a length.
            if mark == 0xFFFF || mark == 0xFF01 || 0xFFD0...0xFFD7 ~= mark {
                place += mark == 0xFFFF ? 1 : 2
                continue
            }
            guard let length = number(place + 2, 2), length >= 2 else { return nil }
            if 0xFFC0...0xFFCF ~= mark, ![0xFFC4, 0xFFC8, 0xFFCC].contains(mark) {
                guard let height = number(place + 5, 2), let width = number(place + 7, 2), width > 0, height > 0 else {
                    return nil
                }
                (self.width, self.height) = (width, height)
                return
            }
            place += 2 + length
        }
        return nil
    }
}
