internal import Listening

/// Where to begin reading a file so that a place in it is soon heard.
struct Cut: Hashable, Sendable {
    let byte: Int64
    let time: BookTime
    let head: [UInt8]
    let hasOwnTimes: Bool
}

protocol CutFinder: Sendable {
    /// Nil: the format needs none.
    func cut(before time: BookTime) async throws(EngineFailure) -> Cut?
}

struct NoCuts: CutFinder {
    func cut(before time: BookTime) async throws(EngineFailure) -> Cut? { nil }
}

enum Cuts {
    static func finder(reader: any ByteReader, duration: BookTime) -> any CutFinder { NoCuts() }
}
