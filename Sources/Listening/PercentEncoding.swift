extension StringProtocol {
    /// RFC 3986: every byte but ASCII letters, digits and `kept` becomes `%` and two hexadecimal digits.
    public func percentEncoded(keeping kept: String) -> String {
        let kept = Array(kept.utf8)
        var encoded = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case _ where kept.contains(byte): encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}

/// `file://` with everything percent-encoded that RFC 3986 does not leave alone in a path.
public func fileURL(_ path: String) -> String { "file://" + path.percentEncoded(keeping: "-._~/") }
