import EventLoop
import TestSupport

/// Files of hours, made in seconds: a tone that rises for some minutes, over and over. Its pitch tells the time within
/// one round, and no fault of seeking is wrong by exactly a round.
struct LongSound: Sendable {
    let bytes: [UInt8]
    let seconds: Double
    /// How long one round is in the file; an encoder fills up its last frame.
    let round: Double

    static let lowest = 300.0
    static let rise = 5.0
    private static let roundSeconds = 360.0

    /// What is heard at a time.
    func pitch(at time: Double) -> Double {
        Self.lowest + Self.rise * time.truncatingRemainder(dividingBy: round)
    }

    private static let making = Locked(())

    /// One round as a wave file of 8000 samples a second. A minute of it hisses, which costs a varying bit rate more.
    private static func wave() throws -> String {
        let path = "\(Sounds.folder)/round.wav"
        guard (try? Sounds.read(path)) == nil else { return path }
        let tone = "0.5*sin(2*PI*(\(lowest)*t+\(rise / 2)*t*t))+0.03*between(mod(t,120),60,120)*(random(0)-0.5)"
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i",
            "aevalsrc='\(tone)':s=8000:d=\(roundSeconds)", path,
        ])
        return path
    }

    /// Encoded as a whole.
    /// - Parameter name: its ending chooses the format.
    static func encoded(_ name: String, rounds: Int, options: [String]) throws -> LongSound {
        try making.withLock { _ in
            let path = "\(Sounds.folder)/\(name)"
            try Sounds.run(
                ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-stream_loop", "\(rounds - 1)", "-i", try wave()]
                    + options + [path])
            return LongSound(
                bytes: try Sounds.read(path), seconds: roundSeconds * Double(rounds), round: roundSeconds)
        }
    }

    /// One round encoded, then copied over and over.
    static func copied(_ name: String, rounds: Int, options: [String]) throws -> LongSound {
        let once = try encoded("once-" + name, rounds: 1, options: options)
        return try making.withLock { _ in
            let path = "\(Sounds.folder)/\(name)"
            let length = path + ".length"
            var command = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-stream_loop", "\(rounds - 1)"]
            command += ["-i", "\(Sounds.folder)/once-\(name)", "-c", "copy"]
            for flag in options where flag.hasSuffix("faststart") { command += ["-movflags", flag] }
            try Sounds.run(command + [path])
            try Sounds.run([
                "sh", "-c",
                "ffprobe -loglevel error -show_entries format=duration -of csv=p=0 '\(path)' > '\(length)'",
            ])
            let text = String(decoding: try Sounds.read(length), as: UTF8.self)
            let seconds = Double(text.split(separator: "\n").first ?? "") ?? once.seconds * Double(rounds)
            return LongSound(bytes: try Sounds.read(path), seconds: seconds, round: seconds / Double(rounds))
        }
    }

    /// Frames of mp3 one after the other, each round the same; with a header over all of them only if asked for.
    static func mp3(_ name: String, rounds: Int, options: [String], header: Bool) throws -> LongSound {
        try making.withLock { _ in
            let once = "\(Sounds.folder)/\(name)-once.mp3"
            try Sounds.run(
                ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", try wave()] + options
                    + ["-write_xing", "0", "-id3v2_version", "0", once])
            let frames = try Sounds.read(once)
            let round = Double(count(frames)) * 576 / 8000
            var all: [UInt8] = []
            all.reserveCapacity(frames.count * rounds)
            for _ in 0..<rounds { all += frames }
            if header {
                let bare = "\(Sounds.folder)/\(name)-bare.mp3"
                let whole = "\(Sounds.folder)/\(name).mp3"
                try Sounds.write(all, to: bare)
                try Sounds.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", bare, "-c", "copy", whole])
                all = try Sounds.read(whole)
            }
            return LongSound(bytes: all, seconds: round * Double(rounds), round: round)
        }
    }

    /// Frames of MPEG 2.5, layer 3, at 8000 samples a second.
    private static func count(_ bytes: [UInt8]) -> Int {
        let rates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
        var (offset, frames) = (0, 0)
        while offset + 4 <= bytes.count, bytes[offset] == 0xFF {
            offset += 72 * rates[Int(bytes[offset + 2] >> 4)] * 1000 / 8000 + Int(bytes[offset + 2] >> 1 & 1)
            frames += 1
        }
        return frames
    }
}
