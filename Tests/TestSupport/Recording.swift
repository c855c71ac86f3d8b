internal import Glibc
internal import Listening

/// What a sink heard: single-channel 32-bit float samples, as `Recording.sink` writes them. A flush empties the file, so
/// after a seek its first sample is the first one heard after the seek.
public struct Recording: Sendable, CustomStringConvertible, CustomReflectable {
    public static let rate = 48000
    public let samples: [Float]

    /// A sink for the engine: paced by the clock like a sound card, kept in a file. A pause may stop the writing in the
    /// middle of a buffer; without the queue what comes next would then wait for it, and the pause for what comes next.
    public static func sink(_ path: String) -> String {
        """
        audioconvert ! audioresample ! audio/x-raw,format=F32LE,channels=1,rate=\(rate) ! tee name=t \
        t. ! fakesink sync=true \
        t. ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 \
        ! filesink async=false sync=false buffer-mode=unbuffered location=\(path)
        """
    }

    public init(_ path: String) throws {
        let bytes = try Sounds.read(path)
        samples = bytes.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    }

    /// How long it is by now.
    public static func seconds(_ path: String) -> Double {
        var status = stat()
        return stat(path, &status) == 0 ? Double(status.st_size) / Double(MemoryLayout<Float>.size * rate) : 0
    }

    /// A failing test shows no samples.
    public var description: String { "\(seconds) s" }
    public var customMirror: Mirror { Mirror(self, children: []) }
    public var seconds: Double { Double(samples.count) / Double(Self.rate) }

    /// How far a wave swings that is as strong as what is heard between two moments.
    public func strength(from start: Double, to end: Double) -> Double {
        let heard = self[start, end]
        guard !heard.isEmpty else { return 0 }
        return (2 * heard.reduce(0) { $0 + Double($1 * $1) } / Double(heard.count)).squareRoot()
    }

    /// The highest sample between two moments.
    public func peak(from start: Double, to end: Double) -> Double { Double(self[start, end].lazy.map(abs).max() ?? 0) }

    private subscript(start: Double, end: Double) -> ArraySlice<Float> {
        func index(_ time: Double) -> Int { Int(time * Double(Self.rate)).clamped(to: 0...samples.count) }
        return samples[index(start)..<max(index(start), index(end))]
    }

    /// The same window after window.
    public func strengths(from start: Double, to end: Double, window: Double) -> [Double] {
        stride(from: start, to: end - window, by: window).map { strength(from: $0, to: $0 + window) }
    }

    /// The pitch around a moment, from the times at which the wave rises through zero; nil in silence.
    /// - Parameter window: seconds to listen for.
    public func pitch(at time: Double, window: Double = 0.05) -> Double? {
        let first = max(1, Int((time - window / 2) * Double(Self.rate)))
        let last = min(samples.count, Int((time + window / 2) * Double(Self.rate)))
        guard first < last, samples[first..<last].contains(where: { abs($0) > 0.1 }) else { return nil }
        var crossings: [Double] = []
        for index in first..<last where samples[index - 1] < 0 && samples[index] >= 0 {
            let fraction = Double(-samples[index - 1] / (samples[index] - samples[index - 1]))
            crossings.append(Double(index - 1) + fraction)
        }
        guard crossings.count > 2, let begin = crossings.first, let end = crossings.last else { return nil }
        return Double(crossings.count - 1) / (end - begin) * Double(Self.rate)
    }

    /// The time in the original that is heard at `time` of the recording.
    public func original(at time: Double, window: Double = 0.05) -> Double? {
        pitch(at: time, window: window).map { ($0 - Sounds.lowest) / Sounds.rise }
    }
}
