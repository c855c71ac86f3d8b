/// The items of a library: a list, or a large number of books made up when they are asked for.
public struct StandInItems: Sendable, RandomAccessCollection {
    private enum Storage {
        case listed([StandInItem])
        case synthetic(count: Int)
    }
    private let storage: Storage

    public init(_ items: [StandInItem]) { storage = .listed(items) }

    private init(_ storage: Storage) { self.storage = storage }

    /// Books without audio, for paging and search; none of them takes memory until it is read.
    ///
    /// Book `n` (from 0) is called `Book 000001` and so on, has one of 500 authors, one file of ten hours with twenty
    /// chapters, and the id ``syntheticID(_:)``. Title and time of addition both rise with the number.
    public static func synthetic(count: Int) -> StandInItems { StandInItems(.synthetic(count: count)) }

    /// The id of synthetic book `n`.
    public static func syntheticID(_ index: Int) -> String {
        "5a17e71c-0000-4000-8000-" + String(DerivedID.hex(UInt64(index)).suffix(12))
    }

    public var startIndex: Int { 0 }

    public var endIndex: Int {
        switch storage {
        case .listed(let items): items.count
        case .synthetic(let count): count
        }
    }

    public subscript(position: Int) -> StandInItem {
        switch storage {
        case .listed(let items): items[position]
        case .synthetic: Self.book(position)
        }
    }

    /// The position of an item, found without reading every one of a synthetic library.
    public func index(of id: String) -> Int? {
        switch storage {
        case .listed(let items): return items.firstIndex { $0.id == id }
        case .synthetic(let count):
            guard id.count == 36, let index = Int(id.suffix(12), radix: 16), index < count,
                id == Self.syntheticID(index)
            else { return nil }
            return index
        }
    }

    /// Whether the positions already are in the order of a sort key.
    func isSorted(by key: String?) -> Bool {
        switch storage {
        case .listed: key == nil
        case .synthetic: key == nil || key == "media.metadata.title" || key == "addedAt"
        }
    }

    private static func book(_ index: Int) -> StandInItem {
        let number = String(1_000_000 + index + 1).dropFirst()
        var item = StandInItem(
            id: syntheticID(index), title: "Book \(number)", relPath: "Author \(index % 500)/Book \(number)",
            addedAt: 1_700_000_000_000 + index * 1000)
        item.authors = ["Author \(index % 500)"]
        item.narrators = ["Narrator \(index % 50)"]
        item.genres = ["Genre \(index % 10)"]
        item.publishedYear = String(1900 + index % 120)
        let file = StandInFile(
            path: nil, name: "Book \(number).m4b", ino: String(20_000_000 + index), size: 144_000_000,
            modified: item.addedAt)
        let chapters = (0..<20).map {
            StandInChapter(start: Double($0) * 1800, end: Double($0 + 1) * 1800, title: "Chapter \($0 + 1)")
        }
        var audio = StandInAudio(file: file, duration: 36000, mimeType: "audio/mp4", codec: "aac", bitRate: 32000)
        audio.chapters = chapters
        item.audio = [audio]
        item.chapters = chapters
        return item
    }
}
