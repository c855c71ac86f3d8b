internal import Folders
internal import GRDB

/// Why the journal could not be opened, written or read.
public enum StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The folder or a file in it cannot be made or written.
    case unwritable(path: String, reason: String)
    case full(path: String)
    /// A later dogear has changed the shape of the database; it was not touched.
    case newer(path: String)
    /// SQLite says that the file is not what it wrote, and a new one could not be begun.
    case damaged(path: String)
    /// Another process held the database for longer than five seconds.
    case busy(path: String)
    /// Anything else, with SQLite's extended result code and text.
    case failed(path: String, code: Int32, text: String)

    public var description: String {
        switch self {
        case .unwritable(let path, let reason):
            "cannot keep your place in \(path): \(reason); make it writable for you, or set XDG_STATE_HOME to a folder that is"
        case .full(let path):
            "no space left to keep your place in \(path); free some: playing goes on, and what is known is written then"
        case .newer(let path):
            "\(path) was written by a later version of dogear; install that again, or move the file away to begin anew"
        case .damaged(let path):
            "\(path) is damaged; leave dogear running: it holds what is known and begins a new one as soon as it can. If this stays, look at the disk, and whether the folder is writable for you"
        case .busy(let path): "another program keeps \(path) locked; end it and try again"
        case .failed(let path, let code, let text): "the database \(path) failed: \(text) (SQLite \(code))"
        }
    }

    init(_ error: any Error, path: String) {
        switch error {
        case let error as StoreError: self = error
        case FolderError.full(let path): self = .full(path: path)
        case FolderError.unusable(let path, let reason): self = .unwritable(path: path, reason: reason)
        case let error as DatabaseError: self = Self.of(error, path)
        default: self = .failed(path: path, code: ResultCode.SQLITE_ERROR.rawValue, text: "\(error)")
        }
    }

    private static func of(_ error: DatabaseError, _ path: String) -> StoreError {
        // Never `error.description`: it may hold the statement's arguments.
        let text = error.message ?? "no reason given"
        switch error.resultCode {
        case .SQLITE_FULL: return .full(path: path)
        case .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_PERM: return .unwritable(path: path, reason: text)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: return .damaged(path: path)
        case .SQLITE_BUSY, .SQLITE_LOCKED: return .busy(path: path)
        // What it has written is not there any more.
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHORT_READ: return .damaged(path: path)
        // So it calls a disk without room for the index of its log.
        case .SQLITE_IOERR where !Opening(path: path).hasRoom: return .full(path: path)
        default: return .failed(path: path, code: error.extendedResultCode.rawValue, text: text)
        }
    }

    /// Of the surroundings or of the file, not of what was written: worth trying again.
    var mayPass: Bool {
        switch self {
        case .unwritable, .full, .busy, .damaged: true
        case .failed(_, let code, _): code & 0xff == ResultCode.SQLITE_IOERR.rawValue
        case .newer: false
        }
    }
}

/// What the store says of writes nobody waits for.
public enum StoreTrouble: Hashable, Sendable {
    /// Once, when they begin to fail. What failed is held in memory and tried again with each later write and flush, and
    /// every five seconds.
    case began(StoreError)
    /// All that was held is now written.
    case ended
    /// The database was removed while it was open, and made anew from what it held.
    case renewed(path: String, setAside: String?)
    /// It turned out to be damaged while it was open, and was set aside.
    case replaced(StoreNotice)

    /// For the listener, of what is over but should be known.
    public var notice: String? {
        switch self {
        case .began, .ended: return nil
        case .renewed(let path, let aside):
            let found = aside.map { "; the file that was found in its place is kept as \($0)" } ?? ""
            return "\(path) was removed while dogear ran; it was made anew, with all that was in it\(found)"
        case .replaced(let notice): return "\(notice)"
        }
    }
}

/// The journal was damaged and set aside.
public struct StoreNotice: Hashable, Sendable, CustomStringConvertible {
    /// Where the damaged database is now; nil if its file was gone.
    public let setAside: String?
    /// How many accounts and places could still be read from it, and are in the new one.
    public let accounts: Int
    public let places: Int

    public var description: String {
        let kept = setAside.map { " and is kept as \($0)" } ?? ""
        return """
            the journal was damaged\(kept); a new one was begun with what could still be read: \
            \(count(accounts, "account")), \(count(places, "place")). Places of server items come back from the server
            """
    }

    private func count(_ number: Int, _ noun: String) -> String { number == 1 ? "1 \(noun)" : "\(number) \(noun)s" }
}
