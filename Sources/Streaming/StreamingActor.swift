internal import EventLoop

/// The Streaming thread: owns the kept files and everything that fills them, and is the only one to wait for the disk.
@globalActor actor StreamingActor {
    static let shared = StreamingActor()
    private static let executor = ThreadExecutor(name: "streaming", wait: Sleep())

    nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
}
