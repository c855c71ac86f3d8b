import Foundation

/// Makes MPEG-TS segments with ffmpeg, if the machine has it.
enum Transcoder {
    /// - Parameters:
    ///   - start: seconds inside the file.
    ///   - length: seconds.
    ///   - time: seconds in the whole book, for the stamps inside the segment.
    /// - Returns: the segment; empty when ffmpeg is missing or cannot read the file.
    static func segment(of path: String, start: Double, length: Double, at time: Double) async -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin", "-ss", "\(start)", "-t", "\(length)", "-i", path]
            + ["-map", "0:a:0", "-c:a", "aac", "-output_ts_offset", "\(time)", "-f", "mpegts", "pipe:1"]
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
