import Foundation

/// A file of a book, and its length in seconds.
struct TranscodedFile: Sendable {
    let path: String
    let duration: Double
}

/// Makes MPEG-TS segments with ffmpeg, if the machine has it.
enum Transcoder {
    /// - Parameters:
    ///   - files: played one after the other.
    ///   - start: seconds in all of them together, which the stamps in the segment tell; each with the delay of five seconds
    ///     that the real server asks for.
    ///   - length: seconds.
    /// - Returns: the segment; empty when ffmpeg is missing or cannot read the files.
    static func segment(of files: [TranscodedFile], start: Double, length: Double) async -> Data {
        let list = files.map { file in
            let path = file.path.replacing("'", with: "'\\''")
            return "file 'file:\(path)'\nduration \(file.duration)\n"
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin", "-protocol_whitelist", "file,data", "-f", "concat", "-safe", "0"]
            + ["-ss", "\(start)", "-t", "\(length)"]
            + ["-i", "data:text/plain;base64,\(Data(list.joined().utf8).base64EncodedString())"]
            + ["-map", "0:a:0", "-c:a", "aac", "-output_ts_offset", "\(start)", "-max_delay", "5000000"]
            + ["-f", "mpegts", "pipe:1"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        return await withCheckedContinuation { continuation in
            // Reading blocks until ffmpeg is done, so it gets a thread of its own.
            Thread.detachNewThread {
                guard (try? process.run()) != nil else { return continuation.resume(returning: Data()) }
                let bytes = (try? output.fileHandleForReading.readToEnd()) ?? Data()
                process.waitUntilExit()
                continuation.resume(returning: bytes)
            }
        }
    }
}
