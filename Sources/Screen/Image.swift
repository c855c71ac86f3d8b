internal import FoundationEssentials

/// A picture that the terminal itself draws, over the cells of an area.
public struct Image: Hashable, Sendable {
    /// The same name is the same picture.
    public let name: String
    public let png: [UInt8]
    /// In points.
    public let width: Int
    public let height: Int
    /// Where; the picture fills it.
    public internal(set) var area = Area(x: 0, y: 0, columns: 0, rows: 0)

    public init(name: String, png: [UInt8], width: Int, height: Int) {
        (self.name, self.png) = (name, png)
        (self.width, self.height) = (max(1, width), max(1, height))
    }

    public static func == (a: Image, b: Image) -> Bool { a.name == b.name && a.area == b.area }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(area)
    }
}

/// How a terminal can show pictures.
public enum PictureKind: Hashable, Sendable {
    case none
    /// As half blocks in colours.
    case blocks
    /// By the graphics protocol of kitty.
    case kitty

    /// - Parameter environment: `TERM`, `TERM_PROGRAM`, `TMUX` and what ``Colors`` goes by.
    public init(environment: [String: String]) {
        let colors = Colors(environment: environment)
        let term = environment["TERM"] ?? ""
        let program = environment["TERM_PROGRAM"] ?? ""
        // A multiplexer in between would not pass it on.
        let isDirect = environment["TMUX"] == nil && !term.hasPrefix("screen") && !term.hasPrefix("tmux")
        let isKitty = term.contains("kitty") || term.contains("ghostty") || ["WezTerm", "ghostty"].contains(program)
        if colors == .none {
            self = .none
        } else if isDirect, isKitty {
            self = .kitty
        } else {
            self = colors == .sixteen ? .none : .blocks
        }
    }
}

extension Frame {
    /// Shows a picture in its own shape, at the left upper corner of an area.
    /// - Returns: the area that it fills; a cell is taken to be twice as high as wide.
    @discardableResult
    public mutating func show(_ image: Image, in area: Area) -> Area {
        let scale = min(
            Double(area.columns) / Double(image.width), Double(area.rows) * 2 / Double(image.height))
        let columns = max(1, min(area.columns, Int((Double(image.width) * scale).rounded())))
        let rows = max(1, min(area.rows, Int((Double(image.height) * scale / 2).rounded())))
        var shown = image
        shown.area = Area(x: area.x, y: area.y, columns: columns, rows: rows)
        self.image = shown
        return shown.area
    }
}

extension Image {
    private static let id = 77
    private static let chunk = 4096

    /// Takes it away, with all the terminal keeps of it.
    static let remove = "\u{1B}_Ga=d,d=I,i=\(id),q=2\u{1B}\\"

    /// Hands it over without showing it, in pieces as the protocol wants it; takes the place of an earlier one.
    var transfer: String {
        let text = Array(Data(png).base64EncodedString().utf8)
        var out = ""
        var start = 0
        repeat {
            let end = min(start + Self.chunk, text.count)
            let more = end < text.count ? 1 : 0
            let head = start == 0 ? "a=t,f=100,i=\(Self.id),q=2,m=\(more)" : "m=\(more),q=2"
            out += "\u{1B}_G\(head);" + String(decoding: text[start..<end], as: UTF8.self) + "\u{1B}\\"
            start = end
        } while start < text.count
        return out
    }

    /// Shows what was handed over; the cursor stays at its corner.
    var place: String {
        "\u{1B}[\(area.y + 1);\(area.x + 1)H"
            + "\u{1B}_Ga=p,i=\(Self.id),p=1,q=2,C=1,c=\(area.columns),r=\(area.rows)\u{1B}\\"
    }
}
