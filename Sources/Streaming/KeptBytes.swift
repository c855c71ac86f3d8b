internal import EventLoop
internal import Folders
internal import Glibc

/// The bytes of one stream that are here: on disk, or in memory where the disk does not take them.
@StreamingActor final class KeptBytes {
    /// Readable from any thread.
    nonisolated let ranges = Locked(ByteRanges())
    private(set) var facts = RemoteFacts(size: nil)
    /// nil: nothing outlives the reading.
    private let record: String?
    /// The path of what was found out by reading them.
    private let notes: String?
    private let file: KeptFile?
    private let grew: @StreamingActor () -> Void
    private var onDisk = ByteRanges()
    private var inMemory: [(range: Range<Int64>, bytes: [UInt8])] = []
    private var unrecorded: Int64 = 0
    private var isFailing = false

    /// - Parameters:
    ///   - record: the path of the record; what it says must have been checked against `file`.
    ///   - file: nil: nothing can be kept on disk.
    ///   - notes: the path of what readers found out, if that is to be kept.
    ///   - grew: called when more of it was recorded.
    init(
        file: KeptFile?, record: String? = nil, notes: String? = nil, known: KeptRecord? = nil,
        grew: @escaping @StreamingActor () -> Void = {}
    ) {
        self.file = file
        self.grew = grew
        self.record = record
        self.notes = notes
        guard let known else { return }
        facts = known.facts
        onDisk = known.ranges
        ranges.withLock { $0 = known.ranges }
    }

    var bytesOnDisk: Int64 { onDisk.total }
    var isOnDisk: Bool { file != nil && !isFailing }

    nonisolated func here<Result>(_ question: (ByteRanges) -> Result) -> Result { ranges.withLock { question($0) } }

    func learn(_ facts: RemoteFacts) { self.facts.learn(facts) }

    /// Drops everything: the file on the server is another one now.
    func restart(_ facts: RemoteFacts) {
        for path in [record, notes] { if let path { unlink(path) } }
        file?.clear()
        onDisk = ByteRanges()
        inMemory = []
        unrecorded = 0
        ranges.withLock { $0 = ByteRanges() }
        self.facts = facts
    }

    /// What readers found out, in this run or an earlier one.
    var memory: [UInt8] { notes.flatMap { try? PrivateFiles.read($0) } ?? [] }

    /// Found out again where it cannot be written.
    func remember(_ memory: [UInt8]) {
        guard let notes, isOnDisk else { return }
        try? PrivateFiles.replace(notes, with: memory, isLasting: false)
    }

    /// - Returns: nil unless all of it is here.
    func read(_ range: Range<Int64>) -> [UInt8]? {
        guard here({ $0.firstMissing(in: range) }) == nil else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let run = onDisk.run(from: offset)
            if run > 0, let file {
                let part = offset..<min(offset + run, range.upperBound)
                guard let read = file.read(part) else {
                    forget(part)
                    return nil
                }
                bytes += read
                offset = part.upperBound
            } else if let piece = inMemory.first(where: { $0.range.contains(offset) }) {
                let end = min(piece.range.upperBound, range.upperBound)
                bytes += piece.bytes[Int(offset - piece.range.lowerBound)..<Int(end - piece.range.lowerBound)]
                offset = end
            } else {
                return nil
            }
        }
        return bytes
    }

    /// - Returns: whether any of it was not here before.
    func keep(_ bytes: [UInt8], at offset: Int64) -> Bool {
        let range = offset..<offset + Int64(bytes.count)
        guard here({ $0.firstMissing(in: range) }) != nil else { return false }
        if let file, !isFailing, file.write(bytes, at: offset) {
            let before = onDisk.total
            onDisk.insert(range)
            unrecorded += onDisk.total - before
        } else {
            isFailing = true
            inMemory.append((range, bytes))
        }
        ranges.withLock { $0.insert(range) }
        return true
    }

    /// Frees memory that none of these ranges touches. What is on disk stays.
    func holdInMemory(only wanted: [Range<Int64>]) {
        guard !inMemory.isEmpty else { return }
        inMemory.removeAll { piece in !wanted.contains { $0.overlaps(piece.range) } }
        var here = onDisk
        for piece in inMemory { here.insert(piece.range) }
        ranges.withLock { $0 = here }
    }

    private func forget(_ range: Range<Int64>) {
        onDisk.remove(range)
        ranges.withLock { $0.remove(range) }
        unrecorded += 1
        isFailing = true
    }

    /// Writes down what is on disk, if so many bytes came since the last time. First the bytes, then the record: after
    /// a power cut it claims nothing that is not there.
    func recordKept(after least: Int64 = 1) {
        guard let record, let file, unrecorded >= least, file.sync() else { return }
        unrecorded = 0
        do throws(FolderError) {
            try PrivateFiles.replace(record, with: KeptRecord(facts: facts, ranges: onDisk).bytes)
        } catch {
            isFailing = true
        }
        grew()
    }
}
