import Foundation

/// Single items, their covers and files, and the audio of open sessions.
enum ItemAnswers {
    static let all = [
        Route("POST", "api/items/batch/get", .user, batch),
        item("") { world, call, found in
            let forms = ItemJSON(found, version: world.version)
            guard call.query["expanded"] == "1" else { return .json(forms.plain) }
            guard (call.query["include"] ?? "").contains("progress") else { return .json(forms.expanded) }
            let record = world.progress(call.userID, item: found.item.id, episode: call.query["episode"])
            return .json(forms.expanded.adding(["userMediaProgress": record?.json ?? nil]))
        },
        Route("GET", "api/items/:item/cover", .open, cover),
        item("/file/:ino") { world, call, found in file(found, call, asDownload: false) },
        item("/file/:ino/download") { world, call, found in
            guard world.user(call).account.mayDownload else { return .forbidden }
            return file(found, call, asDownload: true)
        },
        item("/ebook") { world, call, found in
            found.item.ebook.map { FileAnswer.send($0, type: "application/epub+zip", call) } ?? .notFound
        },
        Route("GET", "api/podcasts/:item/episode/:episode") { world, call in
            guard let found = world.find(call["item"]) else { return .notFound }
            guard world.may(world.user(call).account, see: found) else { return .forbidden }
            guard let episode = found.item.episode(call["episode"]) else { return .notFound }
            return .json(ItemJSON(found, version: world.version).episode(episode))
        },
        Route("GET", "public/session/:id/track/:index", .open, track),
    ]

    private static func item(_ suffix: String, _ handler: @escaping @Sendable (World, Call, Found) -> Answer) -> Route {
        Route("GET", "api/items/:item" + suffix) { world, call in
            guard let found = world.find(call["item"]) else { return .notFound }
            guard world.may(world.user(call).account, see: found) else { return .forbidden }
            return handler(world, call, found)
        }
    }

    @Sendable private static func batch(world: inout World, call: Call) -> Answer {
        let ids = (call.body["libraryItemIds"]?.elements ?? []).compactMap(\.text)
        guard !ids.isEmpty else { return .sentence(403, "Invalid payload") }
        let items = ids.compactMap(world.find).map { ItemJSON($0, version: world.version).expanded }
        return .json(["libraryItems": .array(items)])
    }

    private static func file(_ found: Found, _ call: Call, asDownload: Bool) -> Answer {
        guard let entry = found.item.files.first(where: { $0.file.ino == call["ino"] }) else { return .notFound }
        let audio = (found.item.audio + (found.item.podcast?.episodes.map(\.audio) ?? []))
            .first { $0.file.ino == call["ino"] }
        let type = audio?.mimeType ?? (entry.kind == "image" ? "image/jpeg" : "application/epub+zip")
        let answer = FileAnswer.send(entry.file, type: type, call)
        guard asDownload else { return answer }
        let name = entry.file.name.split(separator: "/").last.map(String.init) ?? ""
        return answer.adding("Content-Disposition", "attachment; filename=\"\(name)\"")
    }

    /// Covers need no login. The stand-in does not resize: each width gets the picture as it is on disk.
    @Sendable private static func cover(world: inout World, call: Call) -> Answer {
        guard let picture = world.find(call["item"])?.item.cover, let path = picture.path else { return .notFound }
        let type = picture.ext.lowercased() == ".png" ? "image/png" : "image/jpeg"
        if call.query["raw"] == "1" { return FileAnswer.send(picture, type: type, call) }
        let whole = FileAnswer.contents(path, 0..<picture.size)
        var headers = [(name: "Content-Type", value: type)]
        if call.query["ts"] != nil { headers.append(("Cache-Control", "private, max-age=86400")) }
        return Answer(200, headers: headers, body: .chunked(whole))
    }

    /// The audio of an open session. The session's id is the credential.
    @Sendable private static func track(world: inout World, call: Call) -> Answer {
        guard let index = Int(call["index"]) else { return .phrase(400) }
        guard let session = world.open.first(where: { $0.id == call["id"] }) else { return .notFound }
        if session.method == .transcode { return redirect(to: "/hls/\(session.id)/output.m3u8") }
        guard let found = world.find(session.itemID) else { return .notFound }
        if let id = session.episodeID {
            guard let episode = found.item.episode(id), index <= 1 else { return .notFound }
            return FileAnswer.send(episode.audio.file, type: episode.audio.mimeType, call)
        }
        guard found.item.audio.indices.contains(index - 1) else { return .notFound }
        let audio = found.item.audio[index - 1]
        return FileAnswer.send(audio.file, type: audio.mimeType, call)
    }

    private static func redirect(to path: String) -> Answer {
        var answer = Answer(
            302, type: "text/plain; charset=utf-8", Data("Found. Redirecting to \(path)".utf8), tagged: false)
        answer.headers += [("Location", path), ("Vary", "Accept")]
        return answer
    }
}
