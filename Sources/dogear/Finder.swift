import Control
import DBus
import Glibc
import Listening
import Terminal

/// What the listener means by WHAT: a file as its whole path, an id or address as it is, and for words the item that
/// fits best.
struct Finder {
    let link: Link

    /// - Returns: what the daemon takes; empty where nothing was said.
    func find(_ words: [String]) throws -> String {
        if words.isEmpty { return "" }
        let what = words.joined(separator: " ")
        // A script's variable that is not set must not mean what plays now.
        guard what.contains(where: { !$0.isWhitespace }) else {
            throw ControlError(.usage, "what was named is empty; leave it out altogether to mean what plays")
        }
        if let path = path(of: what) { return path }
        if Arguments.isAddress(what) { return what }
        let report = try resolve(what)
        for problem in report.problems { complain(problem) }
        switch report.items.count {
        case 0: throw notFound(what)
        case 1: return report.items[0].item.id
        default: return try choose(report, what)
        }
    }

    /// The same for several files, folders and addresses, each a word of its own. Words that are searched for, and a file's
    /// name with spaces in it, mean one thing together.
    func findAll(_ words: [String]) throws -> [String] {
        guard words.count > 1, path(of: words.joined(separator: " ")) == nil else { return [try find(words)] }
        guard let title = words.first(where: { !Arguments.isAddress($0) && !isPath($0) && path(of: $0) == nil }) else {
            return try words.map { try find([$0]) }
        }
        if let file = words.first(where: { isPath($0) && path(of: $0) != nil }) {
            throw ControlError(
                .usage, "“\(file)” is a file and “\(title)” is none here; give files and titles one after the other")
        }
        return [try find(words)]
    }

    private func resolve(_ what: String) throws -> ListReport {
        do {
            return try decode(ListReport.self, try link.ask("Resolve", .string(what)))
        } catch let error as ControlError where [.notSignedIn, .notFound].contains(error.kind) && isPath(what) {
            throw noText(what) ?? ControlError(.notFound, "there is no file or folder “\(what)” here")
        }
    }

    /// What was typed is no UTF-8, so that no file of that name can be meant; nil: it is.
    private func noText(_ what: String) -> ControlError? {
        guard what.unicodeScalars.contains("\u{FFFD}") else { return nil }
        return ControlError(
            .notFound,
            "nothing found for “\(what)”; the name of a file has to be UTF-8: rename it, for example with convmv")
    }

    private func isPath(_ what: String) -> Bool {
        what.contains("/") || what.hasPrefix("~") || AudioName.isAudio(what)
    }

    private func notFound(_ what: String) -> ControlError {
        if let error = noText(what) { return error }
        return ControlError(
            .notFound,
            isPath(what)
                ? "there is no file or folder “\(what)” here, and nothing in your libraries is called that"
                : "nothing found for “\(what)”; 'dogear search' takes fewer or other words")
    }

    private func choose(_ report: ListReport, _ what: String) throws -> String {
        guard isatty(STDIN_FILENO) != 0, isatty(STDERR_FILENO) != 0 else {
            let rows = report.items.map { "\($0.item.id)  \(report.choice($0))" }
            throw AmbiguousError(sentence: "“\(what)” fits several; say which, by its id:", rows: rows)
        }
        for (index, row) in report.items.enumerated() { hint("\(index + 1)  \(report.choice(row))", indent: "  ") }
        while true {
            write("Which one? [1-\(report.items.count)] ", to: STDERR_FILENO)
            guard let answer = readLine() else { break }
            switch Choice(answer, of: report.items.count) {
            case .chosen(let index): return report.items[index].item.id
            case .none: throw ControlError(.failed, "nothing chosen")
            case .unclear: continue
            }
        }
        throw ControlError(.failed, "nothing chosen")
    }

    /// - Returns: nil if there is no such file or folder.
    private func path(of what: String) -> String? {
        guard let path = Arguments.filePath(what), let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }
}

/// Several items fit and nobody can be asked.
struct AmbiguousError: Error {
    var sentence: String
    var rows: [String]
}
