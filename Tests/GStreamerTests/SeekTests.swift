import Listening
import TestSupport
import Testing

@testable import GStreamer

/// Streams of hours: a seek is heard where it was asked for, after reading a small part of the file.
@Suite(.serialized) struct SeekTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// How much of the file may be read.
        var limit = 0.1
        let make: @Sendable () throws -> LongSound

        static let all = [
            Kind(testDescription: "m4b") {
                try .copied(
                    "long.m4b", rounds: 100, options: ["-c:a", "aac", "-b:a", "16k", "-movflags", "+faststart"])
            },
            Kind(testDescription: "m4a with its index at the end") {
                try .copied("long.m4a", rounds: 100, options: ["-c:a", "aac", "-b:a", "16k"])
            },
            Kind(testDescription: "opus") {
                try .copied(
                    "long.opus", rounds: 50, options: ["-c:a", "libopus", "-b:a", "32k", "-compression_level", "0"])
            },
            Kind(testDescription: "ogg") {
                try .copied("long.ogg", rounds: 50, options: ["-c:a", "libvorbis"])
            },
            Kind(testDescription: "wav") { try .encoded("long.wav", rounds: 10, options: ["-c:a", "copy"]) },
            Kind(testDescription: "flac") {
                try .encoded("long.flac", rounds: 20, options: ["-compression_level", "0"])
            },
            Kind(testDescription: "mp3, one bit rate, with header") {
                try .mp3("constant", rounds: 100, options: ["-b:a", "16k"], header: true)
            },
            Kind(testDescription: "mp3, one bit rate, without header") {
                try .mp3("constant-bare", rounds: 100, options: ["-b:a", "16k"], header: false)
            },
            // Where frames differ and nothing tells the time of one, they have to be counted. Once.
            Kind(testDescription: "mp3, varying bit rate, with header", limit: 1) {
                try .mp3("varying", rounds: 100, options: ["-q:a", "7"], header: true)
            },
            Kind(testDescription: "mp3, varying bit rate, without header", limit: 1) {
                try .mp3("varying-bare", rounds: 100, options: ["-q:a", "7"], header: false)
            },
        ]
    }

    @Test(arguments: Kind.all) func aSeekIsHeardWhereItWasAskedFor(_ kind: Kind) async throws {
        let sound = try kind.make()
        let server = try LoopbackServer { .bytes(LoopbackServer.file(sound.bytes, type: "audio/x", for: $0)) }
        defer { server.stop() }
        let bytes = LoopbackBytes()
        let rig = Rig("long-\(kind.testDescription.filter(\.isLetter))", bytes: bytes)
        defer { rig.engine.unload() }

        func listen(at place: BookTime, rate: Double = 1) async throws {
            try await rig.play(until: place + .seconds(1.2 * rate), hearing: 0.5)
            let heard = try #require(try rig.heard.pitch(at: 0.3, window: 0.3))
            let said = sound.pitch(at: place.seconds + 0.3 * rate)
            #expect(abs(heard - said) < 0.5 * LongSound.rise, "\(place.seconds): \(heard) Hz instead of \(said)")
        }

        let middle = BookTime.seconds((sound.seconds * 0.6).rounded() + 0.4)
        let ready = try await rig.open(streams(["\(server.address)/a"], seconds: sound.seconds), at: middle)
        #expect(abs(ready.seconds - middle.seconds) < 0.05)
        try await listen(at: middle)
        // Back and forth; some of them while it plays.
        for (number, part) in [0.9, 0.1, 0.0, 0.35, 0.352].enumerated() {
            let place = BookTime.seconds((sound.seconds * part).rounded() + 7.25)
            let isPlaying = number % 2 == 1
            if isPlaying { rig.engine.play(rig.load) }
            rig.engine.seek(rig.load, to: place)
            guard case .seeked(let said) = try await rig.word() else { throw Reports.Silence() }
            // While playing the sound may have gone on before that was said.
            #expect(said.seconds > place.seconds - 0.05 && (isPlaying || said.seconds < place.seconds + 0.05))
            if isPlaying { rig.engine.pause(rig.load) }
            try await listen(at: place)
        }
        // Another rate goes on where it is and asks for nothing that was not needed anyway.
        let before = bytes.fetched
        let place = try await rig.still()
        rig.engine.setRate(rig.load, 2)
        try await listen(at: place, rate: 2)
        let second = Double(sound.bytes.count) / sound.seconds
        #expect(Double(bytes.fetched - before) < 150_000 + 20 * second)
        #expect(
            Double(bytes.fetched) < Double(sound.bytes.count) * kind.limit, "\(bytes.fetched) of \(sound.bytes.count)")
    }
}
