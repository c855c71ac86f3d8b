internal import FoundationEssentials

/// The clipboard of the terminal, which also works over ssh: OSC 52.
public enum Clipboard {
    /// Terminals ignore more than some 75 kB of base64.
    public static let most = 55_000

    /// - Returns: what a terminal is sent to take the text; it gives no answer.
    public static func copy(_ text: String) -> String {
        "\u{1B}]52;c;\(Data(text.utf8).base64EncodedString())\u{7}"
    }
}
