internal import EventLoop
public import HTTP
public import Listening

/// The real ``ByteShelf``: audio of servers, fetched through the same transport as everything else of theirs, and kept
/// in a folder of bounded size.
///
/// Readers of streams with one identity share what was fetched, now and in later runs. What has no identity is
/// forgotten with its reader.
public final class StreamShelf: ByteShelf {
    private let files: RemoteFiles

    /// - Parameters:
    ///   - folder: absolute, made when it is needed. Where nothing can be written audio is read without keeping it.
    ///   - limit: bytes; 0: nothing is kept once it is no longer read. What is being read may exceed it.
    public convenience init(
        transport: any StreamingTransport, folder: String, limit: Int64, limits: StreamLimits = StreamLimits()
    ) {
        self.init(transport: transport, cache: AudioCache(folder: folder, limit: limit), limits: limits)
    }

    init(transport: any StreamingTransport, cache: AudioCache, limits: StreamLimits) {
        files = RemoteFiles(transport: transport, cache: cache, limits: limits)
    }

    public func reader(of stream: AudioStream) -> any ByteReader { RemoteBytes(stream, files) }
}

/// The files that are being read.
@StreamingActor final class RemoteFiles {
    private let transport: any StreamingTransport
    private let cache: AudioCache
    private let limits: StreamLimits
    private var open: [String: RemoteFile] = [:]

    nonisolated init(transport: any StreamingTransport, cache: AudioCache, limits: StreamLimits) {
        self.transport = transport
        self.cache = cache
        self.limits = limits
    }

    func file(_ stream: AudioStream) -> RemoteFile {
        if let identity = stream.identity, let file = open[identity] { return file }
        let file = RemoteFile(stream, kept: cache.open(stream.identity), transport: transport, limits: limits)
        if let identity = stream.identity { open[identity] = file }
        return file
    }

    /// After its last reader.
    func close(_ file: RemoteFile) {
        if let identity = open.first(where: { $0.value === file })?.key { open[identity] = nil }
        cache.close(file.kept)
    }
}
