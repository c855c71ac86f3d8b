import ArgumentParser
import Catalogue
import Control
import Folders
import Glibc
import Listening
import Settings
import Store
import Terminal

/// What the shell's completion asks for, answered from the files that the daemon keeps: no daemon, server or keyring is
/// asked, nothing is made.
extension CompletionKind {
    /// WHAT: titles, ids and files.
    /// - Parameter depth: how many words its command has.
    static func what(_ depth: Int = 1) -> CompletionKind {
        answering { line in
            Glance(line).what(Array(line.before.dropFirst(depth)), line.typed)
        }
    }

    /// Words of titles.
    static var titles: CompletionKind {
        answering { line in Glance(line).titles(Array(line.before.dropFirst()), line.typed) }
    }

    /// A place: the chapters of what plays among them.
    static var place: CompletionKind {
        answering { line in
            let forms = ["+30", "-30", "+5m", "-5m", "50%"].map { Completion.Candidate($0) }
            return Glance(line).chapters + [.init("bookmark:", "of 'dogear bookmarks'")] + forms
        }
    }

    static var sleep: CompletionKind {
        answering { _ in
            [
                ("10m", ""), ("15m", ""), ("30m", ""), ("45m", ""), ("1h", ""), ("chapter", "the end of this chapter"),
                ("chapter:2", "the end of the next chapter"), ("item", "the end of what plays"),
                ("+10m", "later than it would"), ("off", ""),
            ].map { Completion.Candidate($0.0, $0.1) }
        }
    }

    static var settingNames: CompletionKind {
        answering { _ in SettingKey.allCases.map { Completion.Candidate($0.rawValue, $0.declaration.meaning) } }
    }

    static var settingValues: CompletionKind {
        answering { line in
            guard line.before.count == 2, let key = SettingKey(rawValue: line.before[1]) else { return [] }
            let declaration = key.declaration
            return declaration.kind.examples(declaration.fallback).map { value in
                let isUsual = value == declaration.fallback.description
                return Completion.Candidate(
                    value, isUsual ? "\(declaration.kind); normally this" : "\(declaration.kind)")
            }
        }
    }

    static var libraries: CompletionKind { answering { line in Glance(line).libraries(line) } }

    static var accounts: CompletionKind { answering { Glance($0).accounts } }

    /// Names that an option of `list` takes: `author`, `narrator`, `series`, `genre`, `collection` or `playlist`.
    static func names(_ kind: String) -> CompletionKind { answering { Glance($0).names(kind, $0.typed) } }

    private static func answering(
        _ answer: @escaping @Sendable (Completion.Line) -> [Completion.Candidate]
    ) -> CompletionKind {
        .custom { words, index, _ in
            let shell = CompletionShell.requesting.flatMap { Completion.Shell(rawValue: $0.rawValue) } ?? .bash
            let line = Completion.Line(words, index, for: shell)
            return Completion.lines(answer(line), for: shell)
        }
    }
}

/// The files of the daemon, looked at once.
private struct Glance {
    private static let limit = 60
    private let paths: Paths?

    init(_ line: Completion.Line) {
        paths = try? (line.profile.map { try Profile($0) } ?? Profile.present).paths
    }

    private var catalogue: CatalogueGlance? { paths.flatMap { CatalogueGlance(path: $0.catalogue) } }
    private var store: StoreGlance? { paths.flatMap { StoreGlance(path: $0.database) } }

    func what(_ before: [String], _ typed: String) -> [Completion.Candidate] {
        if before.isEmpty, typed.hasPrefix("\(ItemID.shelf):") {
            return (catalogue?.titles(idBeginning: typed, limit: Self.limit) ?? []).map { found in
                Completion.Candidate(
                    found.id.description, found.by.isEmpty ? found.title : "\(found.title) — \(found.by)")
            }
        }
        let isPath = ["/", "./", "../", "~"].contains { typed.hasPrefix($0) }
        let files = typed.isEmpty || !before.isEmpty ? [] : FileNames.beginning(typed)
        return isPath ? files : titles(before, typed) + files
    }

    func titles(_ before: [String], _ typed: String) -> [Completion.Candidate] {
        let folded = before.flatMap { Words.split($0) }
        let found = catalogue?.titles((before + [typed]).joined(separator: " "), limit: Self.limit) ?? []
        return found.compactMap { found in
            Words.completed(Clean.line(found.title), after: folded, typed: typed).map { .init($0, found.by) }
        }
    }

    func libraries(_ line: Completion.Line) -> [Completion.Candidate] {
        completed(catalogue?.libraries ?? [], line.typed, after: Array(line.before.dropFirst()))
    }

    func names(_ kind: String, _ typed: String) -> [Completion.Candidate] {
        if let list = CatalogueList.Kind(rawValue: kind) { return completed(catalogue?.lists(list) ?? [], typed) }
        return completed(catalogue?.names(kind, typed, limit: Self.limit) ?? [], typed)
    }

    private func completed(_ names: [String], _ typed: String, after before: [String] = []) -> [Completion.Candidate] {
        let folded = before.flatMap { Words.split($0) }
        return names.compactMap { name in
            Words.completed(Clean.line(name), after: folded, typed: typed).map { .init($0) }
        }
    }

    var chapters: [Completion.Candidate] {
        (store?.chapters ?? []).enumerated().map { .init("chapter:\($0 + 1)", $1.title) }
    }

    var accounts: [Completion.Candidate] { (store?.accounts ?? []).map { .init($0.name, $0.server) } }
}

/// Files and folders as a shell names them.
private enum FileNames {
    /// Behind a folder's name is a slash.
    static func beginning(_ typed: String) -> [Completion.Candidate] {
        let slash = typed.lastIndex(of: "/")
        let shown = slash.map { typed[...$0] } ?? ""
        let start = slash.map { typed[typed.index(after: $0)...] } ?? typed[...]
        var folder = shown.isEmpty ? "." : String(shown)
        if folder.hasPrefix("~/"), let home = environment("HOME") { folder = home + folder.dropFirst() }
        guard let entries = opendir(folder) else { return [] }
        defer { closedir(entries) }
        var names: [String] = []
        while names.count < 500, let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasPrefix(start), name != ".", name != "..", !name.hasPrefix(".") || start.hasPrefix(".") else {
                continue
            }
            var facts = stat()
            let isFolder = stat("\(folder)/\(name)", &facts) == 0 && facts.st_mode & S_IFMT == S_IFDIR
            names.append(isFolder ? name + "/" : name)
        }
        return names.sorted().map { .init(shown + $0) }
    }
}
