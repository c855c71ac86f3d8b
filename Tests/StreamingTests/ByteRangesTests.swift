import Testing

@testable import Streaming

@Suite struct ByteRangesTests {
    @Test(arguments: 0..<20) func agreesWithASetOfBytes(seed: UInt64) {
        var random = numbers(seed)
        var ranges = ByteRanges()
        var bytes: Set<Int64> = []
        for _ in 0..<200 {
            let from = Int64.random(in: 0..<60, using: &random)
            let range = from..<from + .random(in: 0..<10, using: &random)
            if Bool.random(using: &random) || Bool.random(using: &random) {
                ranges.insert(range)
                bytes.formUnion(range)
            } else {
                ranges.remove(range)
                bytes.subtract(range)
            }
            #expect(Set(ranges.list.flatMap { Array($0) }) == bytes)
            #expect(zip(ranges.list, ranges.list.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            #expect(ranges.total == Int64(bytes.count))
            let place = Int64.random(in: 0..<70, using: &random)
            #expect(ranges.run(from: place) == Int64((place...80).prefix { bytes.contains($0) }.count))
            #expect(ranges.run(upTo: place) == Int64((0..<place).reversed().prefix { bytes.contains($0) }.count))
            #expect(ranges.firstMissing(in: place..<80) == (place..<80).first { !bytes.contains($0) })
            #expect(ranges.firstHere(from: place) == (place..<80).first { bytes.contains($0) })
        }
    }
}
