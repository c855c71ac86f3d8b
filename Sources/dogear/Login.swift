import ArgumentParser
import Control
import DBus
import Glibc
import Terminal

struct Login: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "Sign in to an Audiobookshelf server.",
        discussion: """
            Example:
              dogear login https://books.example.org
              dogear login books.example.org --user ada --password-stdin < secret.txt

            Asks for user and password. What you sign in with is kept in your keyring and nowhere else. Without \
            https:// both are tried, https first; plain http is used for computers near you, elsewhere only with \
            --insecure-http.

            A server that has moved is known by what it calls its user: the account goes on at the new address, with \
            what it owes and all that is kept here.
            """)

    @Argument(help: "The server's address, as in the browser.")
    var url: String

    @Option(help: ArgumentHelp("The user; asked for without.", valueName: "name"))
    var user: String?

    @Flag(help: "Read the password from standard input, one line.")
    var passwordStdin = false

    @Flag(help: "Read an API key from standard input, one line, instead of user and password.")
    var apiKeyStdin = false

    @Flag(help: "Sign in in the browser (comes with a later release).")
    var openid = false

    @Option(
        help: ArgumentHelp(
            "A header the server's proxy wants: 'Name: value'. May be repeated. Other users can see it: put a secret "
                + "into --header-file.",
            valueName: "header"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp("A file with such headers, one in each line.", valueName: "file"), completion: .file())
    var headerFile: String?

    @Option(
        help: ArgumentHelp("Trust the certificate authority in this file (PEM).", valueName: "file"),
        completion: .file())
    var ca: String?

    @Flag(help: "Allow plain http to a computer far away: others can read the password.")
    var insecureHttp = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if url.isEmpty { throw ValidationError("login needs the address of a server, like https://books.example.org") }
        if openid { throw ValidationError("--openid comes with a later release; sign in with user and password") }
        if passwordStdin, apiKeyStdin { throw ValidationError("give --password-stdin or --api-key-stdin, not both") }
        if apiKeyStdin, user != nil { throw ValidationError("an API key says who you are; leave out --user") }
        // Before anybody is told how to give the password.
        if LoginText.hasUserInfo(url) {
            throw ValidationError("leave user and password out of the address: others can see it; use --user")
        }
        if LoginText.hasForeignScheme(url) {
            throw ValidationError("dogear speaks http and https; write the address like https://books.example.org")
        }
        for line in header where LoginText.header(line) == nil {
            throw ValidationError("a --header looks like 'Name: value'")
        }
        if !passwordStdin, !apiKeyStdin, isatty(STDIN_FILENO) == 0 {
            throw ValidationError("nobody can be asked for the password here; use --password-stdin or --api-key-stdin")
        }
        if passwordStdin, user == nil, isatty(STDIN_FILENO) == 0 {
            throw ValidationError("--password-stdin needs --user")
        }
    }

    func perform() throws {
        var secrets = LoginSecrets(headers: try headers())
        let certificates = try ca.map { try wholePath($0) }
        // First the bus: nobody should type a password for nothing.
        let link = try Link()
        var name = user
        if apiKeyStdin {
            secrets.apiKey = try secret("API key: ")
        } else {
            if name == nil { name = try ask("User: ") }
            secrets.password = try secret("Password for \(Clean.line(name ?? "")): ")
        }
        var options: [(String, Value)] = [("address", .string(url)), ("insecure-http", .bool(insecureHttp))]
        if let name { options.append(("user", .string(name))) }
        if let certificates { options.append(("ca", .string(certificates))) }
        let pipe = try SecretPipe(try encode(secrets))
        // Minutes: the keyring may ask for its own password first.
        let json = try link.ask("Login", .variants(options), .descriptor(pipe.reader), within: .seconds(600))
        try show(json, output, as: AccountsReport.self) { report, _ in
            report.accounts.flatMap { account in
                let moved = account.movedFrom.map {
                    "It is the account that was at \(Clean.line($0)), and goes on here."
                }
                return ["Signed in to \(Clean.line(account.server)) as \(Clean.line(account.user))."]
                    + [moved].compactMap(\.self)
            }
                + ["'dogear libraries' shows what is there, 'dogear play WORDS' plays it."]
        }
    }

    private func headers() throws -> [String: String] {
        var lines = header
        if let headerFile {
            let file = open(headerFile, O_RDONLY | O_CLOEXEC)
            defer { if file >= 0 { close(file) } }
            guard file >= 0, let text = readAll(file, limit: SecretPipe.limit) else {
                throw ControlError(.failed, "cannot read \(headerFile)")
            }
            lines += text.split(whereSeparator: \.isNewline).map(String.init)
        }
        var headers: [String: String] = [:]
        for line in lines where !line.allSatisfy(\.isWhitespace) {
            guard let (name, value) = LoginText.header(line) else {
                throw ControlError(.usage, "a line of \(headerFile ?? "--header") does not look like 'Name: value'")
            }
            headers[name] = value
        }
        return headers
    }

    private func wholePath(_ path: String) throws -> String {
        guard let found = realpath(path, nil) else {
            throw ControlError(.failed, "cannot read \(path): \(reason(errno))")
        }
        defer { free(found) }
        return String(cString: found)
    }

    private func ask(_ prompt: String) throws -> String {
        write(prompt, to: STDERR_FILENO)
        let answer = (readLine() ?? "").drop(while: \.isWhitespace)
        if answer.isEmpty { throw ControlError(.failed, "not signed in: nobody was named") }
        return String(answer)
    }

    private func secret(_ prompt: String) throws -> String {
        let line = isatty(STDIN_FILENO) != 0 ? Prompt.hidden(prompt) : readLine()
        guard let line, !line.isEmpty else {
            throw ControlError(
                .failed, "not signed in: nothing was given; type it when asked, or write it to standard input")
        }
        return line
    }
}

struct Logout: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout",
        abstract: "Sign out of a server and forget its keys.",
        discussion: """
            Example:
              dogear logout ada@books.example.org

            An account with listening the server has not got yet is kept, unless you say --force. History, speeds, queue \
            and the bookmarks of episodes stay on this computer for the next login of the same user.
            """)

    @Argument(
        help: "As 'dogear accounts' shows it, its host or id; needed when there are several.", completion: .accounts)
    var account: String?

    @Flag(help: "Even if listening the server has not got yet is lost.")
    var force = false

    @OptionGroup var output: OutputOptions

    func perform() throws {
        // A script's variable that is not set must not mean the only account.
        if let account, !account.contains(where: { !$0.isWhitespace }) {
            throw ControlError(.usage, "the account that was named is empty; 'dogear accounts' lists them")
        }
        let json = try Link().ask("Logout", .string(account ?? ""), .bool(force))
        try show(json, output, as: AccountsReport.self) { report, surface in
            ["Signed out."] + report.lines(on: surface)
        }
    }
}

struct Accounts: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "List your accounts, and whether each is signed in.", discussion: "Example:\n  dogear accounts")

    @OptionGroup var output: OutputOptions

    func perform() throws {
        let json = try Link().ask("Accounts")
        if !output.json, try decode(AccountsReport.self, json).accounts.isEmpty {
            return hint("No accounts. 'dogear login URL' signs in; 'dogear play FILE' needs none.")
        }
        try show(json, output, as: AccountsReport.self) { $0.lines(on: $1) }
    }
}
