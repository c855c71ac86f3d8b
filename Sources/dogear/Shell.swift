import ArgumentParser
import Control
import DBus
import FoundationEssentials
import Glibc
import Terminal

/// What every command takes.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print JSON with stable keys. Errors stay sentences on standard error; the exit code tells their kind.")
    var json = false
}

/// What several commands say of the same argument.
extension ArgumentHelp {
    static let limit = ArgumentHelp("How many at most.", valueName: "n")
    static let page = ArgumentHelp("Which page, from 1.", valueName: "n")
    static let whatToPlay = ArgumentHelp("Words, an id, files, folders or addresses.")
    static let whatElsePlays = ArgumentHelp("Words, an id, a file or a folder; nothing for what plays.")
}

/// A command that fails with a sentence and the exit code of its kind.
protocol DogearCommand: ParsableCommand {
    func perform() throws
}

extension DogearCommand {
    mutating func run() throws {
        do {
            try perform()
        } catch let error as ControlError {
            complain(error.message)
            throw ExitCode(error.kind.rawValue)
        } catch let error as AmbiguousError {
            complain(error.sentence)
            for row in error.rows { hint(row, indent: "  ") }
            throw ExitCode(ControlError.Kind.notFound.rawValue)
        } catch let error as BusError {
            complain(error.message)
            throw ExitCode(ControlError.Kind.failed.rawValue)
        }
    }
}

/// Writes a line to standard output.
func say(_ line: String) { put(line + "\n") }

/// Writes to standard output. What is lost there is no success: it may be kept in a file.
func put(_ text: String) {
    let code = write(text, to: STDOUT_FILENO)
    guard code != 0 else { return }
    complain("standard output cannot be written: \(reason(code))")
    exit(ControlError.Kind.failed.rawValue)
}

/// Writes a sentence to standard error.
func complain(_ sentence: String) { write("dogear: \(Clean.line(sentence))\n", to: STDERR_FILENO) }

/// Writes a line meant for people only, such as what to do about an empty list.
func hint(_ sentence: String, indent: String = "") { write(indent + Clean.line(sentence) + "\n", to: STDERR_FILENO) }

/// - Returns: 0, or why not all of it could be written.
@discardableResult func write(_ text: String, to descriptor: Int32) -> Int32 {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if written < 0 {
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
                continue
            default: return errno
            }
        }
        bytes = bytes.dropFirst(written)
    }
    return 0
}

/// What errno says, in words.
func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

/// Reads a report of the daemon's.
func decode<Report: Decodable>(_ type: Report.Type, _ json: String) throws -> Report {
    do {
        return try JSONDecoder().decode(type, from: Data(json.utf8))
    } catch {
        throw ControlError(
            .failed, "the daemon answered something this dogear does not understand; is an older or newer one running?")
    }
}

/// A report made here, in the form of the daemon's.
func encode(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
}

/// Everything up to the end, or nil if it cannot be read or is longer than the limit.
func readAll(_ descriptor: Int32, limit: Int) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16384)
    while bytes.count <= limit {
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { return nil }
        if count == 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
    return nil
}

/// Prints an answer: the daemon's JSON as it came, or the lines people read.
func show<Report: Decodable>(
    _ json: String, _ output: OutputOptions, as type: Report.Type, _ lines: (Report, Surface) -> [String]
) throws {
    if output.json { return say(isatty(STDOUT_FILENO) != 0 ? Clean.json(json) : json) }
    let report = try decode(type, json)
    for line in lines(report, .standardOutput) { say(line) }
}

extension Surface {
    /// What standard output can show.
    static var standardOutput: Surface {
        let isTerminal = isatty(STDOUT_FILENO) != 0
        let plain = !(environment("NO_COLOR") ?? "").isEmpty || environment("TERM") == "dumb"
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Surface(
            columns: isTerminal ? columns() : nil, styled: isTerminal && !plain,
            isASCII: !isUTF8, now: Int64(now.tv_sec) * 1000,
            secondsEastOfUTC: { moment in
                var time = time_t(moment)
                var broken = tm()
                return localtime_r(&time, &broken) == nil ? 0 : broken.tm_gmtoff
            })
    }

    /// As the C library chooses it: the first that says something counts.
    private static var isUTF8: Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment($0) }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        return name.contains("utf-8") || name.contains("utf8")
    }

    private static func columns() -> Int {
        if let given = environment("COLUMNS").flatMap({ Int($0) }), given > 0 { return given }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}

/// A variable of the environment, or nil.
func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
