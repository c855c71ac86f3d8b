internal import CGStreamer
internal import FoundationEssentials

/// Why a picture could not be made.
public struct DrawingError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
}

public enum Drawing {
    private static let elements = ["dataurisrc", "rsvgdec", "videoconvert", "pngenc"]
    /// Nanoseconds. It is a matter of milliseconds; the limit only bounds a hang.
    private static let limit: GstClockTime = 60_000_000_000

    /// Draws an SVG document as PNG. Blocks while it draws: not for the Loop.
    public static func png(svg: [UInt8]) throws(DrawingError) -> [UInt8] {
        Library.ready
        for name in elements {
            guard let factory = gst_element_factory_find(name) else {
                throw DrawingError(
                    description:
                        "PNG needs GStreamer's '\(name)', which is not installed; a name that ends in .svg works")
            }
            gst_object_unref(UnsafeMutableRawPointer(factory))
        }
        let line =
            "dataurisrc name=source ! rsvgdec ! videoconvert ! pngenc snapshot=true ! fakesink name=sink sync=false"
        let document = "data:image/svg+xml;base64,\(Data(svg).base64EncodedString())"
        let png = LastSample.of(line, "uri", document, limit: limit) { _, bytes in Array(bytes) }
        // A document that breaks off ends without a word of error.
        guard let png, !png.isEmpty else {
            throw DrawingError(description: "the picture could not be drawn as PNG; a name that ends in .svg works")
        }
        return png
    }
}
