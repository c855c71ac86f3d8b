/// As SQLite's open takes it: a database that nobody writes to, read without its log or a lock. For folders in which
/// neither can be made.
public func immutableDatabase(_ path: String) -> String {
    let escapes: [UInt8: String] = [
        UInt8(ascii: "%"): "%25", UInt8(ascii: "?"): "%3f", UInt8(ascii: "#"): "%23",
    ]
    let bytes = path.utf8.flatMap { byte in escapes[byte].map { Array($0.utf8) } ?? [byte] }
    return "file:\(String(decoding: bytes, as: UTF8.self))?immutable=1"
}
