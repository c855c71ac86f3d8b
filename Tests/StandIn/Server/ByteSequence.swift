import FlyingSocks
import Foundation

/// Where the bytes of a body come from.
enum ByteSource: Sendable {
    case data(Data)
    case file(path: String, range: Range<Int>)

    var count: Int {
        switch self {
        case .data(let data): data.count
        case .file(_, let range): range.count
        }
    }
}

/// Bytes read piece by piece, so that a large file never is in memory; can break off on purpose.
struct ByteSequence: AsyncBufferedSequence {
    typealias Element = UInt8

    /// Bytes per piece.
    static let chunk = 65536

    let source: ByteSource
    /// Throws after this many bytes, upon which the connection closes.
    let failsAfter: Int?
    /// Waits there before that.
    let gate: StandInGate?

    func makeAsyncIterator() -> Iterator { Iterator(source: source, failsAfter: failsAfter, gate: gate) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        private let source: ByteSource
        private let failsAfter: Int?
        private let gate: StandInGate?
        private var sent = 0
        private var handle: FileHandle?

        init(source: ByteSource, failsAfter: Int?, gate: StandInGate?) {
            self.source = source
            self.gate = gate
            self.failsAfter = failsAfter
        }

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            if let failsAfter, sent >= failsAfter {
                await gate?.pass()
                throw SocketError.disconnected
            }
            let size = Swift.min(count, (failsAfter ?? source.count) - sent, source.count - sent)
            guard size > 0 else { return nil }
            let piece = try read(size)
            sent += piece.count
            return piece
        }

        private mutating func read(_ size: Int) throws -> Data {
            switch source {
            case .data(let data): return data.dropFirst(sent).prefix(size)
            case .file(let path, let range):
                if handle == nil {
                    let opened = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                    try opened.seek(toOffset: UInt64(range.lowerBound))
                    handle = opened
                }
                guard let piece = try handle?.read(upToCount: size), !piece.isEmpty else {
                    // The file became shorter than was promised: nothing but closing is left.
                    throw SocketError.disconnected
                }
                return piece
            }
        }
    }
}
