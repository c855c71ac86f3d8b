internal import EventLoop

/// What a load that is over still has of the sound server, until the next has its own: without any a server plans ahead for
/// itself, as much as two seconds of silence (PulseAudio's null sink), and the next sound comes behind that.
final class KeptOutput: Sendable {
    private let isOver = Monitor(false)
    /// Seconds. A server looks for so long whether something more comes before it puts the device to sleep.
    private static let longest = 5

    func letGo() { isOver.change { $0 = true } }

    var isKept: Bool { isOver.withLock { !$0 } }

    /// Blocks.
    func keep() { if isOver.wait(upTo: Self.longest, for: { $0 ? () : nil }) == nil { letGo() } }
}
