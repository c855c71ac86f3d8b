import EventLoop
import HTTP
import Listening
import TestSupport
import Testing

@testable import Streaming

@Suite(.timeLimit(.minutes(10 * Sanitizer.patience))) struct ReadingTests {
    private let file = noise(1_500_000)

    @Test func readsTheFileInFewRequestsAndNothingTwice() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.size() == 1_500_000)
            #expect(try await reader.all() == file)
            #expect(reader.available(from: 5) == 1_499_995)
            #expect(overlap(remote.asked) == 0)
            let most = 4 + 1_500_000 / 131_072
            #expect(remote.asked.count <= most)
            #expect(remote.server.requests.allSatisfy { $0.headers["authorization"] == "Bearer t" })
        }
    }

    @Test func aLookAtTheEndCostsLittle() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let reader = shelf(folder).reader(of: remote.stream())
            let size = try await reader.size()
            for place in [0, size - 128, 4096, size - 10_000, 12_000, size - 128, 20_000] {
                let bytes = try await reader.read(at: place, count: 128)
                #expect(bytes == Array(file[Int(place)..<Int(place) + 128]))
            }
            #expect(try await reader.all() == file)
            #expect(overlap(remote.asked) == 0)
        }
    }

    @Test func readingInTwoPlacesByTurnsDoesNotThrash() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let reader = shelf(folder).reader(of: remote.stream())
            for step in 0..<60 {
                for place in [step * 8_000, 800_000 + step * 8_000] {
                    let bytes = try await reader.read(at: Int64(place), count: 8_000)
                    #expect(bytes == Array(file[place..<place + 8_000]))
                }
            }
            #expect(remote.asked.count < 60)
            #expect(overlap(remote.asked) < 200_000, "\(remote.asked.compactMap(\.self))")
        }
    }

    @Test func readsAheadAndNoFurther() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let reader = shelf(folder).reader(of: remote.stream())
            _ = try await reader.read(at: 0, count: 1000)
            try await until("what was read") { reader.available(from: 1000) > 128 << 10 }
            #expect((remote.asked.compactMap(\.self).map(\.upperBound).max() ?? 0) <= 1000 + 256 << 10)
            let before = remote.asked.count
            _ = try await reader.read(at: 1000, count: 200_000)
            try await until("what was read") { reader.available(from: 201_000) > 128 << 10 }
            #expect(remote.asked.count > before)
        }
    }

    @Test func twoReadersOfOneFileShareWhatComes() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file)
            let shelf = shelf(folder)
            let (one, two) = (shelf.reader(of: remote.stream()), shelf.reader(of: remote.stream()))
            async let first = one.all()
            async let second = two.all(by: 7_000)
            let both = try await (first, second)
            #expect(both.0 == file && both.1 == file)
            #expect(overlap(remote.asked) < file.count / 4)
            one.close()
            #expect(try await two.read(at: 3, count: 4) == Array(file[3..<7]))
        }
    }

    @Test func whatHasNoIdentityIsNotShared() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(Array(file[..<10_000]))
            let shelf = shelf(folder)
            let (one, two) = (shelf.reader(of: remote.stream(nil)), shelf.reader(of: remote.stream(nil)))
            #expect(try await one.all() == Array(file[..<10_000]))
            remote.change { $0.bytes = noise(10_000, seed: 2) }
            #expect(try await two.all() == noise(10_000, seed: 2))
        }
    }

    @Test func closingEndsWhatWaits() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(file) { _ in .silence }
            var patient = hasty
            patient.idle = 600
            let reader = shelf(folder, patient).reader(of: remote.stream())
            let size = Task { () -> EngineFailure? in
                do throws(EngineFailure) { _ = try await reader.size() } catch { return error }
                return nil
            }
            let bytes = Task { () -> EngineFailure? in
                do throws(EngineFailure) { _ = try await reader.read(at: 0, count: 1) } catch { return error }
                return nil
            }
            try await until("a request") { !remote.asked.isEmpty }
            bytes.cancel()
            #expect(await bytes.value == .ended)
            reader.close()
            #expect(await size.value == .ended)
            await #expect(throws: EngineFailure.ended) { try await reader.read(at: 0, count: 1) }
        }
    }

    @Test func placesOutsideTheFileHaveNothing() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote(Array(file[..<5000]))
            let reader = shelf(folder).reader(of: remote.stream())
            _ = try await reader.size()
            #expect(try await reader.read(at: 5000, count: 10) == [])
            #expect(try await reader.read(at: .max, count: .max) == [])
            #expect(try await reader.read(at: -1, count: 10) == [])
            #expect(try await reader.read(at: 0, count: 0) == [])
            #expect(try await reader.read(at: 4990, count: .max) == Array(file[4990..<5000]))
        }
    }

    @Test func anEmptyFileIsEmpty() async throws {
        try await withTemporaryFolder { folder in
            let remote = try Remote([])
            let reader = shelf(folder).reader(of: remote.stream())
            #expect(try await reader.size() == 0)
            #expect(try await reader.all() == [])
        }
    }
}
