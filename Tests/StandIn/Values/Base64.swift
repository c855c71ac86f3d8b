import Foundation

/// Base 64 of UTF-8 text, as the server writes filter values.
enum Base64 {
    static func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    static func decoded(_ text: String) -> String? {
        let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: padded).map { String(decoding: $0, as: UTF8.self) }
    }
}
