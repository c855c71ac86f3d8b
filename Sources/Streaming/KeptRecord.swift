internal import Folders
internal import HTTP

/// What stands beside a kept file: whose bytes these are, and which of them are there. Anything that is not exactly as
/// it was written counts as damaged.
struct KeptRecord: Hashable {
    let facts: RemoteFacts
    let ranges: ByteRanges

    init(facts: RemoteFacts, ranges: ByteRanges) {
        self.facts = facts
        self.ranges = ranges
    }

    /// One line of JSON, and one with its hash.
    var bytes: [UInt8] {
        let ends = ranges.list.flatMap { [JSON.number(Double($0.lowerBound)), .number(Double($0.upperBound))] }
        let json: JSON = [
            "etag": facts.etag.map { .string($0) } ?? .null, "modified": facts.modified.map { .string($0) } ?? .null,
            "size": facts.size.map { .number(Double($0)) } ?? .null, "ranges": .array(ends),
        ]
        let line = json.bytes
        return line + Array("\n\(sum(of: line))\n".utf8)
    }

    init?(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        guard lines.count == 2, lines[1].elementsEqual(sum(of: lines[0]).utf8), let json = JSON(lines[0])
        else { return nil }
        let ends = json["ranges"].elements.compactMap(\.integer)
        facts = RemoteFacts(size: json["size"].integer, etag: json["etag"].string, modified: json["modified"].string)
        var ranges = ByteRanges()
        for index in stride(from: 0, to: ends.count - 1, by: 2) {
            guard ends[index] >= ranges.end, ends[index] < ends[index + 1] else { return nil }
            ranges.insert(ends[index]..<ends[index + 1])
        }
        guard ends.count % 2 == 0, ranges.end <= facts.size ?? .max else { return nil }
        self.ranges = ranges
    }
}

private func sum(of bytes: [UInt8]) -> String {
    var hash = ContentHash()
    hash.add(bytes)
    return hash.hex
}
