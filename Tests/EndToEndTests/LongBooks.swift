import Foundation
import StandIn
import TestSupport

/// Books larger than what is read ahead. Each sounds as ``Sounds`` do; the long ones over and over.
enum LongBooks {
    /// Six seconds of it are as much as is read ahead.
    static let loud = "22222222-0000-4000-8000-000000000001"
    static let loudBytesPerSecond = 96_000.0 * 2 * 4
    /// Hours of mp3 of a varying bit rate, and of flac.
    static let mp3 = "22222222-0000-4000-8000-000000000002"
    static let flac = "22222222-0000-4000-8000-000000000003"
    /// In a format that is only heard transcoded.
    static let odd = "22222222-0000-4000-8000-000000000004"

    struct Made: Sendable {
        let libraries: [StandInLibrary]
        /// Seconds of one round of the long ones, and of all.
        let round: (mp3: Double, flac: Double)
        let duration: (mp3: Double, flac: Double)
        let size: (mp3: Int, flac: Int)
    }

    private static let made = Result { try make() }

    /// Made on a thread of its own, which takes a quarter of a minute: the servers of other tests answer on the threads
    /// that tests run on, of which there are as many as processors.
    static func all() async throws -> Made {
        try await withCheckedThrowingContinuation { ready in
            Thread.detachNewThread { ready.resume(with: made) }
        }
    }

    private static let folder = "\(Sounds.folder)/long"
    private static let rounds = (mp3: 240, flac: 60)

    private static func make() throws -> Made {
        let ffmpeg = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y"]
        try Sounds.run(["mkdir", "-p", folder])
        _ = try Sounds.tone(
            "long/loud.wav", seconds: 60, options: ["-ar", "96000", "-ac", "2", "-c:a", "pcm_s32le"])
        _ = try Sounds.tone("long/odd.m4b", seconds: 60)
        let once = try Sounds.tone(
            "long/once.mp3", seconds: 60,
            options: ["-ar", "22050", "-abr", "1", "-b:a", "64k", "-write_xing", "0", "-id3v2_version", "0"])
        try Sounds.run(
            ffmpeg + ["-stream_loop", "\(rounds.mp3 - 1)", "-i", once, "-c", "copy", "\(folder)/long.mp3"])
        let wave = try Sounds.tone("long/once.wav", seconds: 60, options: ["-ar", "16000"])
        try Sounds.run(
            ffmpeg + ["-stream_loop", "\(rounds.flac - 1)", "-i", wave, "-compression_level", "0"]
                + ["\(folder)/long.flac"])
        let duration = (mp3: try seconds("long.mp3"), flac: try seconds("long.flac"))
        try Sounds.write(Array(manifest(duration).utf8), to: "\(folder)/library.json")
        return Made(
            libraries: try StandInLibrary.load(folder: folder),
            round: (duration.mp3 / Double(rounds.mp3), duration.flac / Double(rounds.flac)), duration: duration,
            size: (try Sounds.read("\(folder)/long.mp3").count, try Sounds.read("\(folder)/long.flac").count))
    }

    private static func seconds(_ name: String) throws -> Double {
        let output = "\(folder)/seconds"
        let ask = "ffprobe -loglevel error -show_entries format=duration -of csv=p=0 '\(folder)/\(name)' > '\(output)'"
        try Sounds.run(["sh", "-c", ask])
        return Double(String(decoding: try Sounds.read(output).prefix { $0 != 10 }, as: UTF8.self)) ?? 0
    }

    private static func manifest(_ duration: (mp3: Double, flac: Double)) -> String {
        func book(_ id: String, _ title: String, _ file: String, _ duration: Double, _ more: String = "") -> String {
            """
            {"id": "\(id)", "title": "\(title)", "folder": ".", "authors": ["L. Long"],
             "files": [{"path": "\(file)", "duration": \(duration)\(more)}]}
            """
        }
        let books = [
            book(loud, "Thunder", "loud.wav", 60), book(mp3, "Riverbook", "long.mp3", duration.mp3),
            book(flac, "Oceanbook", "long.flac", duration.flac),
            book(odd, "Oddbook", "odd.m4b", 60, #", "mimeType": "audio/x-odd""#),
        ]
        return """
            {"libraries": [{"name": "Long", "mediaType": "book", "items": [\(books.joined(separator: ", "))]}]}
            """
    }
}
