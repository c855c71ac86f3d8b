internal import Listening

extension MissingPlugin {
    /// No package reads what is no audio: pages, texts, archives.
    func failure(track: Int) -> EngineFailure {
        if isThere { return .noSink(reason: "there is no device to play it on") }
        if package == nil, detail.hasPrefix("decoder-") { return .unreadable(track: track, reason: "it is not audio") }
        return .missingDecoder(what: what, package: package)
    }
}

extension Complaint {
    /// - Parameters:
    ///   - missing: what a plugin is missing for, if one is.
    ///   - track: the track this is about.
    func failure(missing: MissingPlugin?, track: Int) -> EngineFailure {
        if origin == .sink { return .noSink(reason: plain(text)) }
        if let missing { return missing.failure(track: track) }
        return .unreadable(track: track, reason: reason)
    }

    /// Of GstResourceError and GstStreamError; the numbers are part of GStreamer's interface.
    private enum Resource {
        static let notFound = 3
        static let busy = 4
        static let openRead = 5
        static let read = 9
    }

    private enum Stream {
        static let failed = 1
        static let typeNotFound = 4
        static let wrongType = 5
    }

    /// The device of a sink belongs to another program.
    var isBusy: Bool { domain == .resource && code == Resource.busy }

    /// playbin (1.22) puts in what reads the next file first, and then says which: a play or pause of that moment brings it up
    /// with none.
    var isOfNoFile: Bool { origin == .uridecodebin && domain == .resource && code == Resource.notFound }

    var reason: String {
        switch (origin, domain, code) {
        case (.file, .resource, Resource.notFound): "the file is no longer there"
        case (.file, .resource, Resource.openRead): "the file may not be opened; check its permissions"
        case (.file, .resource, Resource.read): "the disk it is on cannot be read"
        case (_, .stream, Stream.typeNotFound): "it is empty or in no known format"
        case (_, .stream, Stream.wrongType): "it is not audio"
        // What a demuxer says that knows no more either.
        case (.other, .stream, Stream.failed) where text.hasPrefix("Internal data"): Vigil.reason
        default: plain(text)
        }
    }

    /// GStreamer's sentence on one line, without addresses and without which function it was that failed.
    private func plain(_ text: String) -> String {
        var words = text.split { $0 == " " || $0.isNewline }.map { word in
            word.contains("://") ? "(address)" : String(word)
        }
        if words.count > 2, words[0].hasSuffix("()"), words[1] == "failed:" { words.removeFirst(2) }
        let sentence = words.joined(separator: " ")
        return sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
