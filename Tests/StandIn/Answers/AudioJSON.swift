/// Audio files, tracks, chapters and episodes of an item.
extension ItemJSON {
    func chapters(_ chapters: [StandInChapter]) -> JSON {
        .array(
            chapters.enumerated().map { index, chapter in
                [
                    "start": .double(chapter.start), "end": .double(chapter.end), "title": .string(chapter.title),
                    "id": .int(index),
                ]
            })
    }

    private func audioFile(_ audio: StandInAudio, index: Int) -> JSON {
        let kind = AudioKind(extension: audio.file.ext)
        let scan: JSON = [
            "index": .int(index), "ino": .string(audio.file.ino), "metadata": metadata(of: audio.file),
            "addedAt": .int(item.addedAt), "updatedAt": .int(item.addedAt), "trackNumFromMeta": .optional(audio.track),
            "discNumFromMeta": nil, "trackNumFromFilename": nil, "discNumFromFilename": nil,
            "manuallyVerified": false, "exclude": false, "error": nil,
        ]
        let tags = audio.tags.map { JSON.Member($0.name, .string($0.value)) }
        let isMP4 = audio.mimeType == "audio/mp4"
        return scan.adding([
            "format": .string(kind.format), "duration": .double(audio.duration), "bitRate": .int(audio.bitRate),
            "language": isMP4 ? "und" : nil, "codec": .string(audio.codec), "timeBase": "1/14112000", "channels": 1,
            "channelLayout": "mono", "chapters": chapters(audio.chapters),
            "embeddedCoverArt": isMP4 && item.cover != nil ? "mjpeg" : nil, "metaTags": .object(tags),
            "mimeType": .string(audio.mimeType),
        ])
    }

    private func track(_ audio: StandInAudio, index: Int, start: Double) -> JSON {
        audioFile(audio, index: index).adding([
            "title": .string(audio.file.name), "startOffset": .double(start),
            "contentUrl": .string("/api/items/\(item.id)/file/\(audio.file.ino)"),
        ])
    }

    var audioFiles: [JSON] { item.audio.enumerated().map { audioFile($1, index: $0 + 1) } }

    /// The audio files with their place on the book's one timeline, in seconds.
    var tracks: [JSON] {
        var start = 0.0
        return item.audio.enumerated().map { index, audio in
            defer { start += audio.duration }
            return track(audio, index: index + 1, start: start)
        }
    }

    func tracks(of episode: StandInEpisode) -> [JSON] { [track(episode.audio, index: 1, start: 0)] }

    func episode(_ episode: StandInEpisode) -> JSON {
        let words: JSON = [
            "libraryItemId": .string(item.id), "podcastId": .string(item.mediaID), "id": .string(episode.id),
            "oldEpisodeId": nil, "index": nil, "season": .optional(episode.season),
            "episode": .optional(episode.number), "episodeType": .optional(episode.type),
            "title": .string(episode.title), "subtitle": .optional(episode.subtitle),
            "description": .optional(episode.description), "enclosure": enclosure(of: episode),
            "guid": .optional(episode.guid), "pubDate": .optional(episode.pubDate),
        ]
        return words.adding([
            "chapters": chapters(episode.chapters), "audioFile": audioFile(episode.audio, index: 1),
            "publishedAt": .int(episode.publishedAt), "addedAt": .int(item.addedAt), "updatedAt": .int(item.addedAt),
        ])
    }

    private func enclosure(of episode: StandInEpisode) -> JSON {
        guard let url = episode.enclosure else { return nil }
        return [
            "url": .string(url), "type": .string(episode.audio.mimeType),
            "length": .string(String(episode.audio.file.size)),
        ]
    }

    func expandedEpisode(_ episode: StandInEpisode) -> JSON {
        self.episode(episode).adding([
            "audioTrack": tracks(of: episode)[0], "size": .int(episode.audio.file.size),
            "duration": .double(episode.audio.duration),
        ])
    }

    func episodes(expanded: Bool) -> [JSON] {
        (item.podcast?.episodes ?? []).map { expanded ? expandedEpisode($0) : episode($0) }
    }

    /// The podcast as it hangs on each of `recent-episodes`.
    var podcastOfEpisode: JSON {
        [
            "id": .string(item.mediaID), "libraryItemId": .string(item.id), "metadata": podcastMetadata,
            "coverPath": cover, "tags": .strings(item.tags), "episodes": [], "autoDownloadEpisodes": false,
            "autoDownloadSchedule": "0 * * * *", "lastEpisodeCheck": .optional(item.podcast?.lastEpisodeCheck),
            "maxEpisodesToKeep": 0, "maxNewEpisodesToDownload": 3,
        ]
    }
}
