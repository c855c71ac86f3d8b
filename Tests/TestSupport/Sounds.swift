internal import EventLoop
internal import Foundation
internal import Glibc

/// Audio made by ffmpeg while the tests run: a rising tone whose pitch tells its time, so that a test can hear where it
/// is instead of believing the position it is told.
public enum Sounds {
    /// Hertz at the start, and by how many it rises each second.
    public static let lowest = 300.0
    public static let rise = 100.0

    /// A folder of this process's own, for everything tests write.
    public static let folder: String = {
        var template = Array("/tmp/dogear-tests-XXXXXX".utf8CString)
        let path = template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }
        atexit { try? Sounds.run(["rm", "-rf", Sounds.folder]) }
        return String(cString: path!)
    }()

    private static let made = Locked<Set<String>>([])
    private static let ffmpeg = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"]
    /// All tones are cut from this one: computing a sine takes longer than writing it in any format.
    private static let whole = "\(folder)/whole.wav"
    private static let wave = "aevalsrc='0.5*sin(2*PI*(\(lowest)*t+\(rise / 2)*t*t))':s=48000:d=\(longest)"
    /// Seconds.
    private static let longest = 100.0

    /// - Parameters:
    ///   - name: the file to make; its ending chooses the format. Made once, then reused.
    ///   - seconds: its length.
    ///   - offset: what its pitch says at its start.
    ///   - options: more for ffmpeg, before the output.
    ///   - metadata: an ffmetadata text: tags and chapters.
    public static func tone(
        _ name: String, seconds: Double, offset: Double = 0, options: [String] = [], metadata: String? = nil
    ) throws -> String {
        try made.withLock { made in
            let path = "\(folder)/\(name)"
            guard made.insert(name).inserted else { return path }
            if let slash = path.lastIndex(of: "/") { try run(["mkdir", "-p", String(path[..<slash])]) }
            guard offset + seconds <= longest else { throw ToolFailure(tool: "a tone beyond \(longest) s", code: 1) }
            if made.insert(whole).inserted {
                try run(ffmpeg + ["-f", "lavfi", "-i", wave, "-c:a", "pcm_f32le", whole])
            }
            var arguments = ffmpeg + ["-ss", "\(offset)", "-t", "\(seconds)", "-i", whole]
            if let metadata {
                try write(Array(metadata.utf8), to: path + ".ffmeta")
                arguments += ["-f", "ffmetadata", "-i", path + ".ffmeta", "-map_metadata", "1", "-map_chapters", "1"]
                arguments += ["-map", "0:a"]
            }
            try run(arguments + options + [path])
            return path
        }
    }

    /// Six-second segments of files in a row, `output-N.ts` in a folder, made with the options that Audiobookshelf gives
    /// ffmpeg (objects/Stream.js).
    /// - Parameters:
    ///   - seconds: how long each of them is.
    ///   - start: seconds in the first one.
    ///   - number: of the first segment.
    public static func transcode(
        _ paths: [String], seconds: Double, from start: Double, as number: Int, to folder: String
    ) throws {
        try run(["mkdir", "-p", folder])
        let list = paths.map { "file 'file:\($0)'\nduration \(seconds)\n" }.joined(separator: "\n")
        try write(Array(list.utf8), to: "\(folder)/files.txt")
        let place = start > 0 ? ["-ss", "\(start)s", "-noaccurate_seek"] : []
        try run(
            ["ffmpeg", "-nostdin", "-y", "-seek_timestamp", "1", "-f", "concat", "-safe", "0"] + place
                + ["-i", "\(folder)/files.txt", "-loglevel", "error", "-map", "0:a", "-c:a", "aac", "-f", "hls"]
                + ["-copyts", "-avoid_negative_ts", "make_non_negative", "-max_delay", "5000000"]
                + ["-max_muxing_queue_size", "2048", "-hls_time", "6", "-hls_segment_type", "mpegts"]
                + ["-start_number", "\(number)", "-hls_playlist_type", "vod", "-hls_list_size", "0"]
                + ["-hls_segment_filename", "\(folder)/output-%d.ts", "\(folder)/final.m3u8"])
    }

    /// An ffmetadata text with tags and chapters that start at these seconds.
    public static func metadata(
        _ tags: [(String, String)], chapters: [(String, Double)] = [], end: Double = 0
    ) -> String {
        var text = ";FFMETADATA1\n" + tags.map { "\($0.0)=\($0.1)\n" }.joined()
        for (index, chapter) in chapters.enumerated() {
            let next = index + 1 < chapters.count ? chapters[index + 1].1 : end
            text += "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\(Int(chapter.1 * 1000))\nEND=\(Int(next * 1000))\n"
            text += "title=\(chapter.0)\n"
        }
        return text
    }

    public static func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ToolFailure(tool: "open \(path)", code: errno) }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw ToolFailure(tool: "write \(path)", code: errno) }
            rest = rest.dropFirst(count)
        }
    }

    public static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ToolFailure(tool: "open \(path)", code: errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &block, block.count)
            guard count > 0 else { return bytes }
            bytes += block[..<count]
        }
    }

    /// Runs a program found on PATH to its end.
    public static func run(_ arguments: [String]) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let environment = ProcessInfo.processInfo.environment
        let child = try Child.spawn(arguments[0], Array(arguments.dropFirst()), environment, &actions)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw ToolFailure(tool: arguments.joined(separator: " "), code: status) }
    }
}

public struct ToolFailure: Error, CustomStringConvertible {
    let tool: String
    let code: Int32
    public var description: String { "\(tool) failed with \(code)" }
}
