import Foundation
import StandIn
import TestSupport

/// What the stand-in serves: a real file for every kind of item, made once.
enum Library {
    /// 100 s in one m4b; its chapters begin at 0, 30 and 60 s.
    static let book = "11111111-0000-4000-8000-000000000001"
    /// 60 s in three files: mp3, opus and flac of 20 s each.
    static let files = "11111111-0000-4000-8000-000000000002"
    static let podcast = "11111111-0000-4000-8000-000000000003"
    /// 40 s of mp3.
    static let episode = "11111111-0000-4000-8000-000000000004"
    static let ebook = "11111111-0000-4000-8000-000000000005"

    static let all = Result { try make() }

    private static func make() throws -> [StandInLibrary] {
        let chapters = [("The Ebb", 0.0), ("The Flood", 30), ("Slack Water", 60)]
        let tags = Sounds.metadata([("title", "Tidebook")], chapters: chapters, end: 100)
        _ = try Sounds.tone("e2e/tide/tide.m4b", seconds: 100, metadata: tags)
        _ = try Sounds.tone("e2e/rooms/01.mp3", seconds: 20)
        _ = try Sounds.tone("e2e/rooms/02.opus", seconds: 20)
        _ = try Sounds.tone("e2e/rooms/03.flac", seconds: 20)
        _ = try Sounds.tone("e2e/hour/one.mp3", seconds: 40)
        let folder = "\(Sounds.folder)/e2e"
        try Sounds.run([
            "ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-f", "lavfi", "-i", "color=teal:s=64x64", "-frames:v",
            "1", "\(folder)/tide/cover.jpg",
        ])
        try Sounds.run(["mkdir", "-p", "\(folder)/paper"])
        try Sounds.write(Array("no sound".utf8), to: "\(folder)/paper/paper.epub")
        try Sounds.write(Array(manifest.utf8), to: "\(folder)/library.json")
        return try StandInLibrary.load(folder: folder)
    }

    private static let manifest = """
        {"libraries": [
          {"name": "Books", "mediaType": "book", "items": [
            {"id": "\(book)", "title": "Tidebook", "folder": "tide", "authors": ["Ada Ebb", "Bo Flow"],
             "narrators": ["C. Current"], "cover": "cover.jpg", "genres": ["Sea"], "publishedYear": "1999",
             "files": [{"path": "tide.m4b", "duration": 100}],
             "chapters": [{"start": 0, "end": 30, "title": "The Ebb"}, {"start": 30, "end": 60, "title": "The Flood"},
                          {"start": 60, "end": 100, "title": "Slack Water"}]},
            {"id": "\(files)", "title": "Three Rooms", "folder": "rooms", "authors": ["D. Doors"],
             "files": [{"path": "01.mp3", "duration": 20}, {"path": "02.opus", "duration": 20},
                       {"path": "03.flac", "duration": 20}]},
            {"id": "\(ebook)", "title": "Paper Only", "folder": "paper", "authors": ["E. Ink"], "ebook": "paper.epub"}]},
          {"name": "Podcasts", "mediaType": "podcast", "items": [
            {"id": "\(podcast)", "title": "The Loopback Hour", "folder": "hour", "authors": ["Loopback Radio"],
             "episodes": [{"id": "\(episode)", "path": "one.mp3", "duration": 40, "title": "Echoes",
                           "publishedAt": 1705276800000}]}]}
        ]}
        """
}
