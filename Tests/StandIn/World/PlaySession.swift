/// A playback session: open in memory, or a row of the listening history.
struct PlaySession: Sendable {
    /// `playMethod` as the server numbers it.
    enum Method: Int, Sendable {
        case direct = 0
        case transcode = 2
        case local = 3
    }

    var id: String
    var userID: String
    var itemID: String
    var episodeID: String?
    /// `nil` for a local session that did not say.
    var method: Method?
    var mediaPlayer: JSON
    var device: JSON
    /// The stored id of the device, by which a second `/play` finds this session.
    var deviceRow: String
    /// Seconds.
    var duration: Double
    var startTime: JSON
    /// Seconds in the whole book; whatever a client sent, `nil` after a sync without one.
    var currentTime: JSON?
    /// Seconds in the whole book: where transcoding was asked to begin, by the start or by a segment before that.
    var transcodedFor = 0.0
    /// Seconds listened.
    var timeListening: Double = 0
    /// Milliseconds since 1970.
    var startedAt: JSON
    var updatedAt: JSON
    /// The time that `date` and `dayOfWeek` are made of.
    var dayFrom: Int

    /// Position divided by duration; `nil` where JavaScript would say NaN.
    var fraction: Double? {
        guard duration > 0 else { return 0 }
        return currentTime?.coerced.map { max(0, min($0 / duration, 1)) }
    }

    /// Adds a delta as the server does: strings count, negatives too, rubbish does not.
    mutating func listened(_ value: JSON?, now: Int) {
        guard let seconds = value?.coerced, seconds != 0 else { return }
        timeListening += seconds
        updatedAt = .int(now)
    }
}

extension World {
    /// The session as `/play`, `GET /api/session/:id` and the history give it.
    /// - Parameter full: with chapters, tracks and the whole item, as in the first two.
    func json(_ session: PlaySession, full: Bool) -> JSON {
        guard let found = findEvenDeleted(session.itemID) else { return nil }
        let forms = ItemJSON(found, version: version)
        let episode = session.episodeID.flatMap(found.item.episode)
        let isPodcast = found.item.podcast != nil
        // A local session has the cover that its client named, which ours do not.
        let isLocal = session.method == .local || session.method == nil
        let title = episode?.title ?? (isPodcast ? "" : found.item.title)
        let chapters = full ? episode?.chapters ?? found.item.chapters : []
        let head: JSON = [
            "id": .string(session.id), "userId": .string(session.userID), "libraryId": .string(found.library.id),
            "libraryItemId": .string(session.itemID), "bookId": episode == nil ? .string(found.item.mediaID) : nil,
            "episodeId": .optional(session.episodeID), "mediaType": isPodcast ? "podcast" : "book",
            "mediaMetadata": forms.metadata, "chapters": forms.chapters(chapters), "displayTitle": .string(title),
            "displayAuthor": .string(found.item.authors.joined(separator: ", ")),
            "coverPath": isLocal ? nil : forms.cover,
            "duration": .double(session.duration), "playMethod": .optional(session.method?.rawValue),
            "mediaPlayer": session.mediaPlayer, "deviceInfo": full ? session.device : Self.stored(session.device),
        ]
        let times: JSON = [
            "serverVersion": .string(version.rawValue), "date": .string(HTTPDate.day(milliseconds: session.dayFrom)),
            "dayOfWeek": .string(HTTPDate.weekday(milliseconds: session.dayFrom)),
            "timeListening": .double(session.timeListening), "startTime": session.startTime,
        ]
        let position: JSON = session.currentTime.map { ["currentTime": $0] } ?? [:]
        let row = head.adding(times).adding(position)
            .adding(["startedAt": session.startedAt, "updatedAt": session.updatedAt])
        guard full else { return row }
        return row.adding([
            "audioTracks": .array(tracks(of: session, forms, title: title)), "libraryItem": forms.expanded,
        ])
    }

    /// A device as it comes back from the database: what is unknown is an empty text.
    private static func stored(_ device: JSON) -> JSON {
        let blanks = ["manufacturer", "model", "sdkVersion", "deviceName"].filter { device[$0] == nil }
        return device.adding(.object(blanks.map { .init($0, "") }))
    }

    private func tracks(of session: PlaySession, _ forms: ItemJSON, title: String) -> [JSON] {
        guard session.method == .transcode else {
            return session.episodeID.flatMap(forms.item.episode).map(forms.tracks) ?? forms.tracks
        }
        return [
            [
                "index": 1, "startOffset": 0, "duration": .double(session.duration), "title": .string(title),
                "contentUrl": .string("/hls/\(session.id)/output.m3u8"),
                "mimeType": "application/vnd.apple.mpegurl", "codec": nil, "metadata": nil,
            ]
        ]
    }

    /// What a play request says about its device, as the server stores it.
    mutating func device(_ info: JSON?, of userID: String, userAgent: String?) -> (row: String, json: JSON) {
        let isLinux = userAgent?.contains("Linux") == true
        let os: JSON = isLinux ? ["osName": "Linux"] : [:]
        guard let deviceID = info?["deviceId"]?.text else {
            let id = DerivedID.random()
            let json: JSON = [
                "id": .string(id), "userId": .string(userID), "deviceId": .string(id), "ipAddress": "127.0.0.1",
            ]
            return (id, json.adding(os).adding(["clientVersion": .string(version.rawValue), "clientName": "Unknown"]))
        }
        let known = devices.first { $0.deviceID == deviceID && $0.userID == userID }
        let device = known ?? Device(id: DerivedID.random(), userID: userID, deviceID: deviceID)
        if known == nil { devices.append(device) }
        func given(_ key: String) -> JSON { info?[key].map { .object([.init(key, $0)]) } ?? [:] }
        let model = info?["model"]?.text
        let sdk = info?["sdkVersion"]
        let guess: JSON = model == nil ? "Unknown" : (sdk?.isTruthy == true ? "Abs Android" : "Abs iOS")
        var json: JSON = [
            "id": .string(device.id), "userId": .string(userID), "deviceId": .string(deviceID),
            "ipAddress": "127.0.0.1",
        ]
        json = json.adding(os).adding(["clientVersion": info?["clientVersion"] ?? .string(version.rawValue)])
            .adding(given("manufacturer")).adding(given("model"))
        // A device read back from the database has an empty SDK version.
        if sdk != nil || known != nil { json = json.adding(["sdkVersion": sdk ?? ""]) }
        json = json.adding(["clientName": info?["clientName"] ?? guess])
        guard let model else { return (device.id, json) }
        let maker = info?["manufacturer"]?.text.map { $0 + " " } ?? ""
        return (device.id, json.adding(["deviceName": .string(maker + model)]))
    }

    /// How other clients are told which device wrote: `Phone / v9.9`.
    func deviceDescription(_ device: JSON) -> JSON {
        func text(_ key: String) -> String { device[key]?.text ?? "null" }
        guard let model = device["model"]?.text else {
            return .string("\(text("osName")) \(text("osVersion")) / \(text("browserName"))")
        }
        let sdk = device["sdkVersion"]?.text.flatMap { $0.isEmpty ? nil : " SDK \($0)" } ?? ""
        return .string("\(model)\(sdk) / v\(text("clientVersion"))")
    }
}
