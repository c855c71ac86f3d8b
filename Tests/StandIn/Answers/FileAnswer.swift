import Foundation

/// Files with ranges and conditions, as express's `send` gives them.
enum FileAnswer {
    /// A file, a part of it, 304, or 416.
    /// - Parameter type: the content type of the file.
    static func send(_ file: StandInFile, type: String, _ call: Call) -> Answer {
        guard let path = file.path else { return .notFound }
        let tag = "W/\"\(String(file.size, radix: 16))-\(String(file.modified, radix: 16))\""
        let changed = HTTPDate.text(milliseconds: file.modified)
        let facts = [
            (name: "Accept-Ranges", value: "bytes"), (name: "Cache-Control", value: "public, max-age=0"),
            (name: "Last-Modified", value: changed), (name: "ETag", value: tag),
        ]
        if let known = call.headers["if-none-match"], known == tag || known == "*" {
            return Answer(304, headers: facts, body: .data(Data()))
        }
        let typed = facts + [(name: "Content-Type", value: type)]
        let whole = Answer(200, headers: typed, body: .file(path: path, range: 0..<file.size))
        guard let wanted = call.headers["range"] else { return whole }
        if let condition = call.headers["if-range"], condition != tag, condition != changed { return whole }
        switch range(wanted, size: file.size) {
        case .whole: return whole
        case .unsatisfiable:
            var answer = Answer.page(416, "Range Not Satisfiable")
            answer.headers += facts + [(name: "Content-Range", value: "bytes */\(file.size)")]
            return answer
        case .part(let range):
            let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.size)"
            return Answer(
                206, headers: typed + [(name: "Content-Range", value: place)], body: .file(path: path, range: range))
        }
    }

    private enum Wanted {
        case whole
        case unsatisfiable
        case part(Range<Int>)
    }

    /// Reads `bytes=a-b`, `bytes=a-` and `bytes=-n`. Several ranges at once, and what is no range, give the whole file.
    private static func range(_ text: String, size: Int) -> Wanted {
        guard text.hasPrefix("bytes="), !text.contains(",") else { return .whole }
        let ends = text.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        let first = Int(ends[0])
        let last = Int(ends[1])
        switch (first, last) {
        case (let first?, nil): return first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?):
            guard first <= last else { return .whole }
            return first < size ? .part(first..<min(last + 1, size)) : .unsatisfiable
        case (nil, let count?): return count > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        case (nil, nil): return .whole
        }
    }

    /// Reads a part of a file; shorter, or empty, when the file is.
    static func contents(_ path: String, _ range: Range<Int>) -> Data {
        guard let handle = FileHandle(forReadingAtPath: path) else { return Data() }
        defer { try? handle.close() }
        guard (try? handle.seek(toOffset: UInt64(range.lowerBound))) != nil else { return Data() }
        return (try? handle.read(upToCount: range.count)) ?? Data()
    }
}
