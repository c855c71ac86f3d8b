internal import Glibc

/// What a sink heard: single-channel 32-bit float samples, as `Recording.sink` writes them. A flush empties the file, so
/// after a seek its first sample is the first one heard after the seek.
public struct Recording: Sendable, CustomStringConvertible, CustomReflectable {
    public static let rate = 48000
    public let samples: [Float]

    /// A sink for the engine: paced by the clock like a sound card, kept in a file.
    public static func sink(_ path: String) -> String {
        """
        audioconvert ! audioresample ! audio/x-raw,format=F32LE,channels=1,rate=\(rate) ! tee name=t \
        t. ! fakesink sync=true t. ! filesink async=false sync=false buffer-mode=unbuffered location=\(path)
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
