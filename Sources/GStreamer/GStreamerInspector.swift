internal import CGStreamer
internal import CPbutils
internal import EventLoop
internal import Framing
public import Listening

/// Reads files through GstDiscoverer, on a thread of its own: one file may take as long as its time limit. Streams have
/// another, so that a slow server keeps no file on disk waiting.
public actor GStreamerInspector: Inspector {
    private static let files = ThreadExecutor(name: "inspector", wait: Sleep())
    private static let streams = ThreadExecutor(name: "web inspector", wait: Sleep())
    private nonisolated let thread: ThreadExecutor
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Seconds for one file.
    private static let limit: UInt = 20
    /// For one on disk, which is asked again. Of what cannot be read at all, the reason is lost in decodebin (1.22) one time
    /// in some ten, after which nothing ever comes.
    private static let limits = [1, 2, 4, limit]
    /// Pictures beyond this are left where they are.
    private static let largestCover = 20_000_000

    public static let ofFiles = GStreamerInspector(on: files)
    public static let ofStreams = GStreamerInspector(on: streams)

    private init(on thread: ThreadExecutor) { self.thread = thread }

    public func inspect(path: String) async throws(EngineFailure) -> FileFacts {
        _ = Library.ready
        guard let uri = g_filename_to_uri(path, nil, nil) else {
            throw .unreadable(track: 0, reason: "its path is not absolute")
        }
        defer { g_free(uri) }
        return try discover(uri, within: Self.limits)
    }

    /// The same for audio of a server, of which as much is read as its kind needs to be told. Ends with its task: whoever is
    /// next is not to wait for what nobody wants any more.
    public func inspect(_ stream: AudioStream, through shelf: any ByteShelf) async throws(EngineFailure) -> FileFacts {
        _ = Library.ready
        let file = StreamFile(reader: shelf.reader(of: stream), duration: .zero)
        defer { file.close() }
        let facts: Result<FileFacts, EngineFailure> = await withTaskCancellationHandler {
            do throws(EngineFailure) { return .success(try await look(into: file)) } catch { return .failure(error) }
        } onCancel: {
            file.close()
        }
        return try facts.get()
    }

    private func look(into file: StreamFile) async throws(EngineFailure) -> FileFacts {
        let feed = Feed(Opening(whole: file, size: try await file.size(), reachesAll: true)) { _ in }
        defer { feed.close() }
        do throws(EngineFailure) {
            return try discover(feed.uri, within: [Self.limit])
        } catch { throw feed.failure ?? error }
    }

    private func discover(_ uri: UnsafePointer<gchar>, within limits: [UInt]) throws(EngineFailure) -> FileFacts {
        for limit in limits { if let facts = try look(into: uri, within: limit) { return facts } }
        throw .unreadable(track: 0, reason: "it took too long to look into it")
    }

    /// - Returns: nil if it takes longer.
    private func look(into uri: UnsafePointer<gchar>, within seconds: UInt) throws(EngineFailure) -> FileFacts? {
        if let trouble = dogear_pbutils_trouble() { throw .other(reason: String(cString: trouble)) }
        var error: UnsafeMutablePointer<GError>?
        defer { g_clear_error(&error) }
        guard let discoverer = gst_discoverer_new(guint64(seconds * 1_000_000_000), &error) else {
            throw .other(reason: "GStreamer cannot inspect files")
        }
        defer { g_object_unref(discoverer) }
        guard let info = gst_discoverer_discover_uri(discoverer, uri, &error) else {
            throw failure(error)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(info)) }
        let streams = gst_discoverer_info_get_audio_streams(info)
        defer { gst_discoverer_stream_info_list_free(streams) }
        if let missing = missing(info) { throw missing.failure(track: 0) }
        if let error { throw failure(error) }
        if gst_discoverer_info_get_result(info) == GST_DISCOVERER_TIMEOUT { return nil }
        guard streams != nil else { throw .unreadable(track: 0, reason: "there is no audio in it") }
        return facts(info, streams)
    }

    private func failure(_ error: UnsafeMutablePointer<GError>?) -> EngineFailure {
        Complaint(error, origin: .file).failure(missing: nil, track: 0)
    }

    private func missing(_ info: OpaquePointer) -> MissingPlugin? {
        guard let details = gst_discoverer_info_get_missing_elements_installer_details(info) else { return nil }
        var index = 0
        while let detail = details[index] {
            index += 1
            let plugin = MissingPlugin(installerDetail: String(cString: detail))
            if !plugin.isVideo { return plugin }
        }
        return nil
    }

    private func facts(_ info: OpaquePointer, _ streams: UnsafeMutablePointer<GList>?) -> FileFacts {
        var facts = FileFacts()
        let duration = gst_discoverer_info_get_duration(info)
        if duration != .max { facts.duration = BookTime(microseconds: Int64(duration / 1000)) }
        if let toc = gst_discoverer_info_get_toc(info) { facts.chapters = chapters(toc) }
        // The container's tags, then those of its audio where the container says nothing.
        read(Tags(gst_discoverer_info_get_tags(info)), into: &facts)
        if let stream = streams?.pointee.data {
            read(Tags(gst_discoverer_stream_info_get_tags(OpaquePointer(stream))), into: &facts)
        }
        return facts
    }

    private func read(_ tags: Tags, into facts: inout FileFacts) {
        facts.title = facts.title ?? tags.first(GST_TAG_TITLE)
        facts.album = facts.album ?? tags.first(GST_TAG_ALBUM)
        if facts.artists.isEmpty { facts.artists = tags.all(GST_TAG_ARTIST) }
        if facts.albumArtists.isEmpty { facts.albumArtists = tags.all(GST_TAG_ALBUM_ARTIST) }
        if facts.composers.isEmpty { facts.composers = tags.all(GST_TAG_COMPOSER) }
        if facts.genres.isEmpty { facts.genres = tags.all(GST_TAG_GENRE) }
        facts.date = facts.date ?? tags.date
        facts.summary = facts.summary ?? tags.first(GST_TAG_DESCRIPTION) ?? tags.first(GST_TAG_COMMENT)
        facts.cover = facts.cover ?? tags.picture(limit: Self.largestCover)
        if facts.chapters.isEmpty {
            facts.chapters = CommentChapters.read(tags.all(GST_TAG_EXTENDED_COMMENT))
        }
    }

    /// The leaves of a table of contents: Matroska nests chapters in editions.
    private func chapters(_ toc: OpaquePointer) -> [Chapter] {
        var chapters: [Chapter] = []
        func walk(_ list: UnsafeMutablePointer<GList>?, _ depth: Int) {
            var node = list
            while let entry = node {
                node = entry.pointee.next
                guard let data = entry.pointee.data, chapters.count < 10_000 else { continue }
                let item = OpaquePointer(data)
                if gst_toc_entry_get_entry_type(item) == GST_TOC_ENTRY_TYPE_CHAPTER {
                    var start: gint64 = 0
                    var stop: gint64 = 0
                    gst_toc_entry_get_start_stop_times(item, &start, &stop)
                    let title = gst_toc_entry_get_tags(item).flatMap { Tags($0).first(GST_TAG_TITLE) }
                    chapters.append(
                        Chapter(
                            title: title ?? "", start: BookTime(microseconds: Int64(start) / 1000),
                            end: BookTime(microseconds: Int64(stop) / 1000)))
                } else if depth < 8 {
                    walk(gst_toc_entry_get_sub_entries(item), depth + 1)
                }
            }
        }
        walk(gst_toc_get_entries(toc), 0)
        return chapters
    }
}

/// A borrowed tag list.
private struct Tags {
    let list: UnsafePointer<GstTagList>?

    init(_ list: UnsafePointer<GstTagList>?) { self.list = list }
    init(_ list: UnsafeMutablePointer<GstTagList>?) { self.list = UnsafePointer(list) }

    func all(_ name: String) -> [String] {
        guard let list else { return [] }
        var values: [String] = []
        for index in 0..<min(gst_tag_list_get_tag_size(list, name), 10_000) {
            var value: UnsafeMutablePointer<gchar>?
            guard gst_tag_list_get_string_index(list, name, index, &value) != 0, let value else { continue }
            let text = String(cString: value)
            g_free(value)
            if !text.allSatisfy(\.isWhitespace) { values.append(text) }
        }
        return values
    }

    func first(_ name: String) -> String? { all(name).first }

    var date: String? {
        var value: OpaquePointer?
        guard let list, gst_tag_list_get_date_time(list, GST_TAG_DATE_TIME, &value) != 0, let value else { return nil }
        defer { gst_date_time_unref(value) }
        guard gst_date_time_has_year(value) != 0 else { return nil }
        func padded(_ number: gint, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        var text = padded(gst_date_time_get_year(value), 4)
        if gst_date_time_has_month(value) != 0 { text += "-" + padded(gst_date_time_get_month(value), 2) }
        if gst_date_time_has_day(value) != 0 { text += "-" + padded(gst_date_time_get_day(value), 2) }
        return text
    }

    func picture(limit: Int) -> Picture? {
        guard let list else { return nil }
        for name in [GST_TAG_IMAGE, GST_TAG_PREVIEW_IMAGE] {
            var sample: OpaquePointer?
            guard gst_tag_list_get_sample_index(list, name, 0, &sample) != 0, let sample else { continue }
            defer { gst_sample_unref(sample) }
            var map = GstMapInfo()
            guard let buffer = gst_sample_get_buffer(sample), gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else {
                continue
            }
            defer { gst_buffer_unmap(buffer, &map) }
            let size = Int(map.size)
            if size > 0, size <= limit {
                return Picture(bytes: Array(UnsafeBufferPointer(start: map.data, count: size)))
            }
        }
        return nil
    }
}
