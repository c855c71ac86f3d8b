import Framing
import Listening
import TestSupport

/// A file in memory that counts what is read of it.
final class Bytes: ByteReader, @unchecked Sendable {
    private let bytes: [UInt8]
    private let told: Int64
    // Written only by the one task that a test reads from.
    private(set) var reads = 0
    private(set) var total = 0
    /// The read, counted from one, that fails.
    var failing: Int?

    /// - Parameter told: the size it pretends to have.
    init(_ bytes: [UInt8], told: Int64? = nil) {
        self.bytes = bytes
        self.told = told ?? Int64(bytes.count)
    }

    func size() async throws(EngineFailure) -> Int64 { told }

    func read(at offset: Int64, count: Int) async throws(EngineFailure) -> [UInt8] {
        reads += 1
        if reads == failing { throw .unreachable(reason: "gone") }
        guard offset >= 0, count >= 0 else { throw .other(reason: "read of \(count) at \(offset)") }
        guard offset < bytes.count else { return [] }
        let part = bytes[Int(offset)..<Int(min(Int64(bytes.count), offset + Int64(min(count, bytes.count))))]
        total += part.count
        return [UInt8](part)
    }

    func available(from offset: Int64) -> Int64 { max(0, Int64(bytes.count) - offset) }
    func close() {}

    func forget() { (reads, total) = (0, 0) }
}

/// Files that ffmpeg makes, and where their frames really are.
enum Files {
    static func ffmpeg(_ name: String, _ arguments: [String]) throws -> [UInt8] {
        let path = "\(Sounds.folder)/framing-\(name)"
        try Sounds.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y"] + arguments + [path])
        return try Sounds.read(path)
    }

    /// Noise that is loud and quiet in turns, so that the sizes of frames vary.
    static func noise(seconds: Int, volume: Double, rate: Int, channels: Int = 1) -> [String] {
        [
            "-f", "lavfi", "-i",
            "anoisesrc=a=\(volume):d=\(seconds):r=\(rate):seed=7,tremolo=f=0.3:d=0.95,"
                + "aformat=channel_layouts=\(channels == 1 ? "mono" : "stereo")",
        ]
    }

    /// A long file out of short ones without headers: hours would take minutes to encode.
    static func joined(_ name: String, _ parts: [(file: [UInt8], times: Int)], hasHeader: Bool) throws -> [UInt8] {
        var whole: [UInt8] = []
        for part in parts {
            for _ in 0..<part.times { whole += part.file }
        }
        guard hasHeader else { return whole }
        let bare = "\(Sounds.folder)/framing-bare-\(name)"
        try Sounds.write(whole, to: bare)
        let file = try ffmpeg(name, ["-i", bare, "-c", "copy"])
        try Sounds.run(["rm", "-f", bare, "\(Sounds.folder)/framing-\(name)"])
        return file
    }
}

/// Every frame of an mp3 file, found by the simplest loop that can.
struct Frames {
    var bytes: [Int64] = []
    let samples: Int64
    let rate: Int64

    /// - Parameter start: where the first frame is heard; nil: behind the tag and the frame that ffmpeg's muxer wrote.
    init(_ file: [UInt8], samples: Int64, rate: Int64, kilobits: [Int], factor: Int, from start: Int? = nil) {
        (self.samples, self.rate) = (samples, rate)
        var offset = 0
        if file[0...2] == [0x49, 0x44, 0x33] {
            offset = 10 + file[6...9].reduce(0) { $0 << 7 | Int($1) }
        }
        var isFirst = true
        if let start {
            offset = start
            isFirst = false
        }
        while offset + 4 <= file.count, file[offset] == 0xFF {
            let size = factor * kilobits[Int(file[offset + 2] >> 4)] * 1000 / Int(rate) + Int(file[offset + 2] >> 1 & 1)
            let isTag = isFirst && Frames.hasTag(Array(file[offset..<min(offset + size, offset + 40)]))
            isFirst = false
            if !isTag, offset + size <= file.count { bytes.append(Int64(offset)) }
            offset += size
        }
    }

    private static func hasTag(_ head: [UInt8]) -> Bool {
        (4..<head.count - 3).contains { place in
            let word = Array(head[place..<place + 4])
            return word == Array("Xing".utf8) || word == Array("Info".utf8)
        }
    }

    static func lower(_ file: [UInt8], rate: Int64, from start: Int? = nil) -> Frames {
        Frames(
            file, samples: 576, rate: rate,
            kilobits: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0], factor: 72, from: start)
    }

    static func first(_ file: [UInt8], rate: Int64, from start: Int? = nil) -> Frames {
        Frames(
            file, samples: 1152, rate: rate,
            kilobits: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0], factor: 144, from: start)
    }

    var duration: Double { Double(Int64(bytes.count) * samples) / Double(rate) }

    /// Which frame begins at `byte`.
    func number(at byte: Int64) -> Int? {
        var (low, high) = (0, bytes.count)
        while low < high {
            let middle = (low + high) / 2
            if bytes[middle] < byte { low = middle + 1 } else { high = middle }
        }
        return low < bytes.count && bytes[low] == byte ? low : nil
    }

    func time(_ frame: Int) -> Double { Double(Int64(frame) * samples) / Double(rate) }
}
