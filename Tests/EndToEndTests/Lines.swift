import EventLoop
import Foundation
import TestSupport

/// A program whose lines of standard output are kept as they come, each with the moment it came.
final class Lines: Sendable {
    struct Line: Sendable {
        let text: String
        let at: ContinuousClock.Instant
    }

    let child: Child
    private let state = Locked((lines: [Line](), isOver: false))

    init(_ child: Child) {
        self.child = child
        // A thread of its own: reading blocks, and the tests' few shared threads must go on serving.
        Thread.detachNewThread { [self] in
            while let line = child.line() {
                state.withLock { $0.lines.append(Line(text: line, at: .now)) }
            }
            state.withLock { $0.isOver = true }
        }
    }

    var all: [Line] { state.withLock { $0.lines } }
    var texts: [String] { all.map(\.text) }
    var count: Int { state.withLock { $0.lines.count } }
    var isOver: Bool { state.withLock { $0.isOver } }

    /// The first line from `start` on that fits.
    @discardableResult
    func first(from start: Int = 0, _ what: String, _ fits: @Sendable (String) -> Bool) async throws -> String {
        try await eventually("a line that is \(what)") {
            let lines = self.texts
            if let line = lines.dropFirst(start).first(where: fits) { return line }
            if self.isOver { throw TestFailure("no line that is \(what) among \(lines)") }
            return nil
        }
    }

    /// All of it, once the program has ended.
    func toEnd() async throws -> String {
        try await eventually("the end of a program") { self.isOver ? true : nil }
        return texts.map { $0 + "\n" }.joined()
    }

    func end() async {
        child.send(SIGTERM)
        _ = await child.end()
    }
}

/// Lets a few tests at a time through: each has a bus, a keyring, a server and a player of its own.
actor Gate {
    static let houses = Gate(places: 6)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func enter() async {
        if places > 0 {
            places -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}
