public import DBus
internal import Listening

/// Who carries out commands: the daemon, on the Loop.
public protocol ControlFace: AnyObject {
    var version: String { get }
    /// Answers with one JSON text, the same that `--json` prints, or a ``ControlError`` as bus error.
    func perform(_ command: Command, _ reply: Reply)
    /// Reads the secrets of a login from the pipe and performs it.
    func login(_ request: LoginRequest, secrets pipe: Descriptor, _ reply: Reply)
}

public enum ControlName {
    public static let bus = "org.dogear.Dogear"
    public static let path = "/org/dogear/Dogear"
    public static let interface = "org.dogear.Dogear1"
    /// In the log of a daemon that does not, before the reason.
    public static let cannotStart = "dogear cannot start"
    /// The methods that change nothing: to call them twice is to call them once.
    public static let questions: Set<String> = [
        "Accounts", "AllBookmarks", "Bookmarks", "Browse", "Chapters", "Continue", "Doctor", "GetSetting", "History",
        "Latest", "Libraries", "List", "Logs", "Moves", "Queue", "Resolve", "Search", "Settings", "Show", "Stats",
        "Status", "Unsent",
    ]
}

/// org.dogear.Dogear1: what the command line calls. Additions only.
public let controlInterface = BusInterface<any ControlFace>(
    ControlName.interface,
    [
        .property("Version", .string, emits: .constant, get: { .string($0.version) }),
        command("Status") { _ in .status },
        command("Play", ["What": .string, "At": .string]) { .play(what: try $0[0].string(), at: try $0[1].string()) },
        command("Choose", ["What": .string, "At": .string]) {
            .choose(what: try $0[0].string(), at: try $0[1].string())
        },
        command("Tell", ["Why": .string]) { .tell(why: try $0[0].string()) },
        command("Pause") { _ in .pause },
        command("Toggle") { _ in .toggle },
        command("Stop") { _ in .stop },
        command("Next") { _ in .next },
        command("Previous") { _ in .previous },
        command("Seek", ["Jump": .string]) { .seek(try $0[0].string()) },
        command("Speed", ["Rate": .double]) { .speed(try number($0[0], within: Player.rates, "speed")) },
        command("ChangeSpeed", ["By": .double]) {
            .changeSpeed(by: try number($0[0], within: -3...3, "change of speed"))
        },
        command("ForgetSpeed") { _ in .forgetSpeed },
        command("Sleep", ["What": .string]) { .sleep(try $0[0].string()) },
        command("Volume", ["Volume": .double]) { .volume(try number($0[0], within: 0...1, "volume")) },
        command("ChangeVolume", ["By": .double]) {
            .changeVolume(by: try number($0[0], within: -1...1, "change of volume"))
        },
        command("Chapters", ["What": .string]) { .chapters(what: try $0[0].string()) },
        command("Resolve", ["What": .string]) { .resolve(what: try $0[0].string()) },
        command("Continue", ["Limit": .int32]) { .continueListening(limit: try count($0[0])) },
        command("Latest", ["Limit": .int32, "Page": .int32]) {
            .latest(limit: try count($0[0]), page: try count($0[1]))
        },
        command("Libraries") { _ in .libraries },
        command("Refresh") { _ in .refresh },
        command("List", ["Library": .string, "Sort": .string, "Limit": .int32, "Page": .int32]) {
            .list(
                library: try $0[0].string(), sort: try $0[1].string(), limit: try count($0[2]),
                page: try count($0[3]))
        },
        command("Browse", ["Options": .variants]) { .browse(try BrowseRequest($0[0])) },
        command("Search", ["Words": .string, "Limit": .int32]) {
            .search(words: try $0[0].string(), limit: try count($0[1]))
        },
        command("Show", ["What": .string]) { .show(what: try $0[0].string()) },
        command("Finish", ["What": .string]) { .finish(what: try $0[0].string()) },
        command("Unfinish", ["What": .string]) { .unfinish(what: try $0[0].string()) },
        command("Restart", ["What": .string]) { .restart(what: try $0[0].string()) },
        command("Undo", ["What": .string]) { .undo(what: try $0[0].string()) },
        command("Moves") { _ in .moves },
        command("Bookmark", ["Title": .string]) { .bookmark(title: try $0[0].string()) },
        command("Bookmarks", ["What": .string]) { .bookmarks(what: try $0[0].string()) },
        command("AllBookmarks") { _ in .allBookmarks },
        command("RenameBookmark", ["What": .string, "Number": .int32, "Title": .string]) {
            .renameBookmark(what: try $0[0].string(), Int(try $0[1].int32()), title: try $0[2].string())
        },
        command("RemoveBookmark", ["What": .string, "Number": .int32]) {
            .removeBookmark(what: try $0[0].string(), Int(try $0[1].int32()))
        },
        command("History", ["What": .string, "Limit": .int32]) {
            .history(what: try $0[0].string(), limit: try count($0[1]))
        },
        command("Stats", ["Days": .int32]) { .stats(days: try count($0[0])) },
        command("Sync", ["Retry": .bool]) { .sync(retry: try $0[0].bool()) },
        command("Unsent") { _ in .unsent },
        command("Forget", ["Row": .string]) { .forget(id: try $0[0].string()) },
        command("Queue") { _ in .queue },
        command("QueueAdd", ["What": .string, "Next": .bool]) {
            .queueAdd(what: try $0[0].string(), next: try $0[1].bool())
        },
        command("QueueAddAll", ["What": .strings, "Next": .bool]) {
            .queueAddAll(try $0[0].strings(), next: try $0[1].bool())
        },
        command("QueueRemove", ["Number": .int32]) { .queueRemove(Int(try $0[0].int32())) },
        command("QueueMove", ["Number": .int32, "To": .int32]) {
            .queueMove(Int(try $0[0].int32()), to: Int(try $0[1].int32()))
        },
        command("QueueClear") { _ in .queueClear },
        command("QueueShuffle", ["On": .bool]) { .queueShuffle(try $0[0].bool()) },
        command("QueueLoop", ["Loop": .string]) { .queueLoop(try $0[0].string()) },
        command("Settings") { _ in .settings(key: "", value: nil) },
        command("GetSetting", ["Key": .string]) { .settings(key: try $0[0].string(), value: nil) },
        command("SetSetting", ["Key": .string, "Value": .string]) {
            .settings(key: try $0[0].string(), value: try $0[1].string())
        },
        command("ResetSetting", ["Key": .string]) { .resetSetting(key: try $0[0].string()) },
        command("Doctor") { _ in .doctor },
        command("Accounts") { _ in .accounts },
        .later("Login", in: ["Options": .variants, "Secrets": .descriptor], out: ["Report": .string]) {
            face, args, reply in
            do throws(BusError) {
                face.login(try loginRequest(args[0]), secrets: try args[1].descriptor(), reply)
            } catch {
                reply.fail(error)
            }
        },
        command("Logout", ["Account": .string, "Force": .bool]) {
            .logout(account: try $0[0].string(), force: try $0[1].bool())
        },
        command("Logs", ["Level": .string, "Limit": .int32]) {
            .logs(level: try $0[0].string(), limit: try count($0[1]))
        },
        .signal("Changed", ["Status": .string]),
        .signal("Refreshed", ["Report": .string]),
        .signal("Logged", ["Record": .string]),
    ])

/// How many, or which page: the command line lets no other number through, the bus does.
private func count(_ value: Value) throws(BusError) -> Int {
    let count = Int(try value.int32())
    guard count >= 0 else { throw ControlError(.usage, "\(count) is no number of things; it is 0 or more").busError }
    return count
}

private func number(
    _ value: Value, within range: ClosedRange<Double>, _ what: String
) throws(BusError) -> Double {
    let number = try value.double()
    guard range.contains(number) else {
        let limits = "\(range.lowerBound) to \(range.upperBound)"
        throw ControlError(.usage, "\(number) is no \(what): it goes from \(limits)").busError
    }
    return number
}

private func command(
    _ name: String, _ inputs: KeyValuePairs<String, Signature> = [:],
    _ make: @escaping @Sendable ([Value]) throws -> Command
) -> BusInterface<any ControlFace>.Member {
    .later(name, in: inputs, out: ["Report": .string]) { face, args, reply in
        do { face.perform(try make(args), reply) } catch { reply.fail(error as? BusError ?? .failed("\(error)")) }
    }
}

/// Reads `address` (s), and where given `user` (s), `ca` (s), `insecure-http` (b).
private func loginRequest(_ options: Value) throws(BusError) -> LoginRequest {
    var request = LoginRequest(address: "")
    for (key, value) in try options.dictionary() {
        switch key {
        case "address": request.address = try value.string()
        case "user": request.user = try value.string()
        case "ca": request.caFile = try value.string()
        case "insecure-http": request.allowInsecureHTTP = try value.bool()
        default: throw .invalidArgs("Login has no option '\(key)'")
        }
    }
    return request
}
