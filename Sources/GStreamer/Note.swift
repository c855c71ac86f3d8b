internal import CGStreamer
internal import CPbutils
internal import Listening

/// What a pipeline says on its bus, as a value: made on the thread that posts it, read on the gstreamer thread.
enum Note: Sendable {
    /// Opened or seeked: the first buffer waits at the sink.
    case settled
    /// Of our own making: the first sound after a seek has been at the sink for a while. When a seek falls into a change
    /// of state, this is all that is ever said of it.
    case sounds
    case endOfStream
    /// Percent of what is wanted before going on.
    case buffering(Int)
    case missingPlugin(MissingPlugin)
    case complaint(Complaint)
    /// Of our own making: what came before it may be heard to its end by now.
    case heardOut(Complaint)
    case clockLost
    case latency
    /// The sound server plays it through another device than this one now.
    case moved(from: String)
    /// Of our own making: which is not there any more.
    case movedFromLost
    /// The sound server has lost this device.
    case unplugged(device: String)
    /// Someone has changed the volume with a mixer, after this many of our own.
    case volume(Double, after: UInt64)
    /// While nothing plays someone may have: it is to be asked for.
    case mixing
    /// Of our own making: that was a moment ago.
    case mixed
    /// Of our own making: the sound output has been opened, or not.
    case awake(Bool)
    /// Of our own making: the disk has told what this file looks like.
    case answers(path: String)
    /// Of our own making: nothing came of opening a file for too long, or it was the sound output's turn.
    case overdue
    /// Of our own making: the sound output has the pipeline and does not let go of it.
    case stuck
    /// Of our own making: the volume is to be said again.
    case volumeDue(isLast: Bool)
    /// How a stream's file is to be opened, or why it cannot be.
    case found(Opening)
    case lost(EngineFailure)
    /// A seek that was carried out elsewhere came to nothing.
    case refused
    /// Of our own making: it has stood for long enough to be let go on.
    case rested
    /// Of our own making: it has been paused for a while.
    case restsAnew
    /// Of our own making: it is time to see whether something still comes of the file.
    case look
    /// Of our own making: sound has gone on for a moment.
    case clockDue
    /// Of our own making: the place may have jumped over what was left out, or is about to.
    case jumps
    /// A move has taken half a second.
    case slow
    /// This feed has had to wait for its bytes for a while.
    case starving(feed: UInt64)
    /// It has some seconds again, or its end.
    case refilled

    /// - Returns: nil for what does not concern us.
    init?(_ message: UnsafeMutablePointer<GstMessage>, sink: Element, pipeline: Element) {
        let source = dogear_message_source(message)
        let isOfPipeline = source == UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstObject.self)
        switch dogear_message_type(message) {
        case GST_MESSAGE_ASYNC_DONE where isOfPipeline: self = .settled
        case GST_MESSAGE_EOS where isOfPipeline: self = .endOfStream
        case GST_MESSAGE_BUFFERING:
            var percent: gint = 0
            gst_message_parse_buffering(message, &percent)
            self = .buffering(Int(percent))
        case GST_MESSAGE_ELEMENT:
            guard let missing = MissingPlugin(message) else { return nil }
            self = .missingPlugin(missing)
        case GST_MESSAGE_ERROR: self = .complaint(Complaint(message, sink: sink))
        // It would go on without a sound.
        case GST_MESSAGE_WARNING where dogear_factory_name(source).map({ String(cString: $0) }) == "autoaudiosink":
            self = .complaint(Complaint(warning: message))
        case GST_MESSAGE_CLOCK_LOST: self = .clockLost
        case GST_MESSAGE_LATENCY: self = .latency
        default: return nil
        }
    }
}

/// An error message. Its debug text stays behind: it has addresses in it.
struct Complaint: Sendable, Hashable {
    enum Domain: Sendable, Hashable { case core, library, resource, stream, other }
    enum Origin: Sendable, Hashable { case sink, file, uridecodebin, faad, other }

    let domain: Domain
    let code: Int
    let text: String
    let origin: Origin

    init(domain: Domain, code: Int, text: String, origin: Origin) {
        self.domain = domain
        self.code = code
        self.text = text
        self.origin = origin
    }

    init(_ error: UnsafeMutablePointer<GError>?, origin: Origin) {
        (domain, code, text) = Self.facts(error)
        self.origin = origin
    }

    /// autoaudiosink found no sink that works.
    init(warning message: UnsafeMutablePointer<GstMessage>) {
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_warning(message, &error, nil)
        defer { g_clear_error(&error) }
        self.init(error, origin: .sink)
    }

    private static func facts(_ error: UnsafeMutablePointer<GError>?) -> (Domain, Int, String) {
        let domain: Domain =
            switch error?.pointee.domain {
            case dogear_core_error(): .core
            case gst_library_error_quark(): .library
            case dogear_resource_error(): .resource
            case dogear_stream_error(): .stream
            default: .other
            }
        let text = error?.pointee.message.map { String(cString: $0) } ?? "unknown error"
        return (domain, Int(error?.pointee.code ?? 0), text)
    }

    init(_ message: UnsafeMutablePointer<GstMessage>, sink: Element?) {
        var error: UnsafeMutablePointer<GError>?
        gst_message_parse_error(message, &error, nil)
        defer { g_clear_error(&error) }
        let source = dogear_message_source(message)
        if let source, let sink, gst_object_has_as_ancestor(source, asObject(sink)) != 0 || source == asObject(sink) {
            origin = .sink
        } else {
            switch dogear_factory_name(source).map({ String(cString: $0) }) {
            case "filesrc": origin = .file
            case "uridecodebin": origin = .uridecodebin
            case "faad": origin = .faad
            default: origin = .other
            }
        }
        (domain, code, text) = Self.facts(error)
    }
}

/// GstBin, GstPipeline and GstElement all begin with a GstObject.
func asObject(_ element: Element) -> UnsafeMutablePointer<GstObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
}

/// Something that no installed plugin can read.
struct MissingPlugin: Sendable, Hashable {
    /// "MPEG-4 AAC decoder".
    let what: String
    /// "decoder-audio/mpeg, mpegversion=(int)4", "element-scaletempo".
    let detail: String

    init(what: String, detail: String) {
        self.what = what
        self.detail = detail
    }

    init?(_ message: UnsafeMutablePointer<GstMessage>) {
        guard dogear_pbutils_trouble() == nil, gst_is_missing_plugin_message(message) != 0 else { return nil }
        let what = gst_missing_plugin_message_get_description(message)
        let detail = gst_missing_plugin_message_get_installer_detail(message)
        defer {
            g_free(what)
            g_free(detail)
        }
        self.init(
            what: what.map { String(cString: $0) },
            installerDetail: detail.map { String(cString: $0) } ?? "")
    }

    /// - Parameter installerDetail: `gstreamer|1.0|program|description|detail`.
    init(what: String? = nil, installerDetail: String) {
        let fields = installerDetail.split(separator: "|", maxSplits: 4).map(String.init)
        self.init(what: what ?? (fields.count > 3 ? fields[3] : "an unknown format"), detail: fields.last ?? "")
    }

    /// Where the output takes nothing, as that of a sound server without a device, GStreamer tries one decoder after the
    /// other and says in the end that there is none.
    var isThere: Bool {
        guard detail.hasPrefix("decoder-") else { return false }
        let decoders = gst_element_factory_list_get_elements(dogear_type_decoder(), GST_RANK_MARGINAL)
        defer { gst_plugin_feature_list_free(decoders) }
        return PlayableTypes.knows([String(detail.dropFirst("decoder-".count))], decoders)
    }

    /// Of a picture or video in the file, which nobody wants to see.
    var isVideo: Bool {
        let containers = [
            "video/quicktime", "video/x-matroska", "video/webm", "video/mpegts", "video/x-ms-asf", "video/x-flv",
            "video/x-msvideo",
        ]
        let type = detail.dropFirst("decoder-".count).prefix { $0 != "," }
        return detail.hasPrefix("decoder-video/") && !containers.contains(String(type))
            || detail.hasPrefix("decoder-image/") || detail.hasPrefix("decoder-subpicture/")
    }

    /// The Debian package that has it.
    var package: String? {
        let rules: [(String, String)] = [
            ("decoder-audio/x-opus", "base"), ("decoder-audio/x-vorbis", "base"), ("decoder-application/ogg", "base"),
            ("decoder-audio/ogg", "base"), ("decoder-audio/mpeg, mpegversion=(int)1", "good"),
            ("decoder-audio/x-flac", "good"), ("decoder-audio/x-wav", "good"), ("decoder-audio/x-speex", "good"),
            ("decoder-audio/x-wavpack", "good"), ("decoder-audio/x-mulaw", "good"), ("decoder-audio/x-alaw", "good"),
            ("decoder-audio/x-aiff", "good"), ("decoder-audio/x-m4a", "good"), ("decoder-video/quicktime", "good"),
            ("decoder-application/x-3gp", "good"), ("decoder-application/x-id3", "good"),
            ("decoder-video/x-matroska", "good"), ("decoder-audio/x-matroska", "good"),
            ("decoder-video/webm", "good"), ("decoder-audio/webm", "good"), ("decoder-video/x-flv", "good"),
            ("decoder-video/x-msvideo", "good"), ("element-scaletempo", "good"),
            ("element-autoaudiosink", "good"), ("element-pulsesink", "pulseaudio"),
            ("element-volume", "base"), ("element-audio", "base"), ("element-playbin", "base"),
            ("element-alsasink", "alsa"), ("element-pipewiresink", "pipewire"),
            ("decoder-application/x-hls", "bad"), ("decoder-application/dash", "bad"),
            ("decoder-video/mpegts", "bad"), ("decoder-audio/x-dts", "bad"),
            // AAC, ALAC, WMA, AC-3, APE and what else there is.
            ("decoder-audio/", "libav"), ("decoder-video/x-ms-asf", "plugins-ugly"),
            ("decoder-application/x-ape", "libav"),
        ]
        guard let (_, plugins) = rules.first(where: { detail.hasPrefix($0.0) }) else { return nil }
        switch plugins {
        case "base", "good", "bad": return "gstreamer1.0-plugins-\(plugins)"
        default: return "gstreamer1.0-\(plugins)"
        }
    }
}
