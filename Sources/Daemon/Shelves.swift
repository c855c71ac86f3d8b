internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Folders
internal import GStreamer
internal import HTTP
internal import Listening
internal import Logging
internal import Store

/// All Audiobookshelf accounts as one source, and what else is asked of them. On the Loop; the clients are actors.
@LoopActor final class Shelves: Source {
    let store: Store
    let vault: any Vault
    let transport: any Transport
    let device: ShelfDevice
    let covers: CoverCache
    let time: any Timekeeper
    /// What a server need not transcode.
    var mediaTypes = PlayableTypes.usual
    let log = Logger(label: "Audiobookshelf")

    private(set) var accounts: [Account] = [] { didSet { onNews?() } }
    private var clients: [String: ShelfClient] = [:]
    /// Of the present client of each account: what an earlier one says of its login is over.
    private var logins: [String: Int] = [:]
    private var loginCount = 0
    private var clocks: [String: ServerClock] = [:]
    private var fetched: [ItemID: String] = [:]
    /// Why the last delivery to each account did not get through.
    private var problems: [String: String] = [:]
    /// A vault that takes no tokens, until it is over.
    private var vaultTrouble: String? { didSet { onNews?() } }
    /// Accounts for which the vault had nothing when it was read last.
    private var lost: Set<String> = [] { didSet { if lost != oldValue { onNews?() } } }
    /// Accounts, or what ``trouble`` says, may have changed.
    var onNews: (@LoopActor () -> Void)?
    /// Called when a server has ended a login.
    var onSignedOut: (@LoopActor (Account) -> Void)?
    /// When the last command for an item was given that was not carried out: see ``ShelfReport/outdone``.
    private(set) var outdone: [ItemID: Int64] = [:]
    /// See ``ShelfReport/overwriting``.
    var onOverwriting: (@LoopActor (_ lost: Place, _ goal: BookTime) -> Void)?
    private var listener: (@LoopActor (_ account: String) -> Void)?

    init(
        store: Store, vault: any Vault, transport: any Transport, covers: CoverCache, model: String,
        time: any Timekeeper = RealTime()
    ) {
        self.store = store
        self.vault = vault
        self.transport = transport
        self.covers = covers
        self.time = time
        device = ShelfDevice(id: store.deviceID, version: dogearVersion, model: model)
    }

    /// - Parameter onAnswer: an account's server has answered as it should.
    func listen(_ onAnswer: @escaping @LoopActor (_ account: String) -> Void) { listener = onAnswer }

    // MARK: Accounts

    /// Reads the accounts of the journal: at start.
    func restore() async {
        do throws(StoreError) { accounts = try await store.accounts() } catch {
            log.error("the accounts could not be read", metadata: ["why": "\(error)"])
        }
        for account in accounts { clocks[account.id] = ServerClock(of: account) }
    }

    var hasAccounts: Bool { !accounts.isEmpty }

    /// Told to the listener until it is over.
    var trouble: String? {
        vaultTrouble ?? expired.first
    }

    /// A sentence for each login that is over.
    var expired: [String] { accounts.compactMap { end(of: $0)?.description } }

    /// Why a new login is needed; nil: none is.
    private func end(of account: Account) -> ShelfError? {
        if account.isSignedOut { return .signedOut(server: account.server) }
        return lost.contains(account.id) ? .loginLost(server: account.server) : nil
    }

    /// Milliseconds to add to this computer's clock to have that of the item's server; 0 where there is none.
    func clockOffset(of item: ItemID) -> Int64 {
        let now = time.now
        return serverNow(of: item, at: now) - now.wall
    }

    /// The time by the clock of the item's server, in milliseconds since 1970; ours where there is none.
    func serverNow(of item: ItemID, at now: Moment) -> Int64 {
        item.account.flatMap { clocks[$0] }?.now(at: now) ?? now.wall
    }

    /// Whether that time has yet to come by the clock of the item's server.
    func isAhead(_ time: Int64, of item: ItemID) -> Bool {
        item.account.flatMap { clocks[$0] }?.isAhead(time, at: self.time.now) ?? false
    }

    /// `user@host`.
    func accountName(of item: ItemID) -> String? { account(of: item)?.name }

    /// The item whose page the browser shows at an address of a server that is signed in to.
    func item(ofPage url: String) -> ItemID? {
        for account in accounts {
            guard let item = (try? ServerAddress(account.server))?.item(ofPage: url) else { continue }
            return ShelfItemID(account: account.id, item: item)?.id
        }
        return nil
    }

    func account(of item: ItemID) -> Account? { accounts.first { $0.id == item.account } }

    /// Why what was sent for this item's server last did not get through.
    func problem(of item: ItemID) -> String? { item.account.flatMap { problems[$0] } }

    func signedOutSentence(of item: ItemID) -> String {
        account(of: item).map { "\(end(of: $0) ?? .signedOut(server: $0.server))" } ?? "its account is no longer here"
    }

    func client(_ account: Account) throws(ShelfError) -> ShelfClient {
        if let client = clients[account.id] { return client }
        let id = account.id
        loginCount += 1
        let login = loginCount
        let client = try ShelfClient(
            account: account, transport: transport, vault: vault, now: { [time] in time.now },
            report: { [weak self] report in Task { @LoopActor in self?.heard(report, of: id, login) } })
        (clients[id], logins[id]) = (client, login)
        return client
    }

    private func heard(_ report: ShelfReport, of id: String, _ login: Int) {
        guard let index = accounts.firstIndex(where: { $0.id == id }), logins[id] == login else { return }
        switch report {
        case .signedOut:
            guard !accounts[index].isSignedOut else { return }
            accounts[index].isSignedOut = true
            store.post(.account(accounts[index]))
            log.warning("a server has ended the login", metadata: ["account": "\(id)"])
            onSignedOut?(accounts[index])
        case .loginLost: lost.insert(id)
        case .notStored(let why):
            vaultTrouble = "the renewed login could not be stored: \(why)"
            log.error("the renewed login could not be stored", metadata: ["why": "\(why)"])
        case .stored: vaultTrouble = nil
        case .user(let userID):
            guard accounts[index].userID != userID else { return }
            accounts[index].userID = userID
            store.post(.account(accounts[index]))
        case .overwriting(let lost, let goal): onOverwriting?(lost, goal)
        case .outdone(let command): outdone[command.item] = command.made
        }
    }

    func logIn(_ request: LoginRequest) async throws(ControlError) -> AccountsReport.Row {
        do throws(ShelfError) {
            let headers = request.secrets.headers.sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) }
            let login = try Login(
                address: request.address, headers: headers, caFile: request.caFile,
                allowInsecureHTTP: request.allowInsecureHTTP, transport: transport)
            let found = try await login.find()
            let former = (try? await store.formerAccounts()) ?? []
            let account = try await login.run(
                try method(request), at: found, existing: accounts + former, vault: vault
            ) { @LoopActor id in self.clients[id] }
            let moved = accounts.first { $0.id == account.id && $0.server != account.server }
            try await adopt(account)
            log.notice("logged in", metadata: ["account": "\(account.id)", "version": "\(found.version ?? "unknown")"])
            var row = row(account, unsent: 0)
            row.movedFrom = moved?.server
            return row
        } catch {
            throw ControlError(ControlError(error).kind, error.atLogin)
        }
    }

    private func method(_ request: LoginRequest) throws(ShelfError) -> Login.Method {
        if let key = request.secrets.apiKey { return .apiKey(key) }
        guard let user = request.user, let password = request.secrets.password else {
            throw .badAddress(reason: "a user and a password are needed, or an API key")
        }
        return .password(user: user, password: password)
    }

    private func adopt(_ account: Account) async throws(ShelfError) {
        var account = account
        if let clock = clocks[account.id] { account.note(clock, at: time.now) }
        // Its login is over, whatever becomes of this: the next one reads the vault.
        let former = clients.removeValue(forKey: account.id)
        do throws(StoreError) { try await store.write(.account(account)) } catch {
            throw .journal(reason: error.description)
        }
        // In its place, as the journal has it.
        if let index = accounts.firstIndex(where: { $0.id == account.id }) {
            accounts[index] = account
        } else {
            accounts.append(account)
        }
        // One that was made meanwhile is of the old account.
        clients[account.id] = nil
        if let former { try await client(account).goOn(from: former) }
        vaultTrouble = nil
        lost.remove(account.id)
    }

    /// By id, `user@host`, host or address; the only one if nothing is named.
    func account(named name: String) throws(ControlError) -> Account {
        let fits = accounts.filter { account in
            name.isEmpty || account.id == name || account.name == name || account.host == name || account.server == name
        }
        guard let account = fits.first else {
            throw ControlError(
                accounts.isEmpty ? .notSignedIn : .notFound,
                accounts.isEmpty ? Sentences.noAccount : "no account '\(name)'; 'dogear accounts' lists them")
        }
        guard fits.count == 1 else {
            throw ControlError(.usage, "several accounts fit; name one: \(fits.map(\.name).joined(separator: ", "))")
        }
        return account
    }

    /// - Parameter farewell: the last that the server is told.
    func logOut(_ account: Account, after farewell: @Sendable () async -> Void) async throws(ControlError) {
        do throws(ShelfError) {
            if try await !client(account).logOut(after: farewell) {
                log.notice("the server could not be told of the logout", metadata: ["account": "\(account.id)"])
            }
        } catch {
            throw ControlError(error)
        }
        // Its secrets are gone: where the journal cannot be written now, it is as soon as it can.
        store.post(.removeAccount(id: account.id))
        try? await store.posted()
        accounts.removeAll { $0.id == account.id }
        clients[account.id] = nil
        vaultTrouble = nil
    }

    /// - Parameter overdue: of an account, how many sessions its server should have heard of.
    func accountsReport(overdue: (String) -> Int) -> AccountsReport {
        AccountsReport(accounts: accounts.map { row($0, unsent: overdue($0.id)) })
    }

    private func row(_ account: Account, unsent: Int) -> AccountsReport.Row {
        AccountsReport.Row(
            id: account.id, server: account.server, user: account.user, login: account.login.rawValue,
            serverVersion: account.serverVersion, signedIn: end(of: account) == nil, unsent: unsent)
    }

    // MARK: Playing

    func find(_ id: ItemID) async throws(SourceError) -> Found {
        do throws(ShelfError) {
            let (client, shelf) = try client(of: id)
            let playable = try await client.find(shelf)
            await noteClock(client)
            return Found(id: playable.id.id, title: playable.title, memory: playable)
        } catch {
            throw SourceError(error)
        }
    }

    func open(_ found: Found) async throws(SourceError) -> Opened {
        do throws(ShelfError) {
            let (client, _) = try client(of: found.id)
            guard let playable = found.memory as? Playable else { throw .notFound(what: found.title) }
            let session = try await client.play(playable, device: device, mimeTypes: mediaTypes)
            await noteClock(client)
            var place = session.progress.map { progress in
                Place(
                    item: found.id, position: progress.position, duration: session.item.duration,
                    isFinished: progress.isFinished, updated: progress.updated)
            }
            if let said = place { place = await client.dated(said) }
            return Opened(item: session.item, place: place, session: session.id)
        } catch {
            throw SourceError(error)
        }
    }

    func client(of id: ItemID) throws(ShelfError) -> (ShelfClient, ShelfItemID) {
        guard let shelf = ShelfItemID(id) else { throw .notFound(what: id.description) }
        guard let account = accounts.first(where: { $0.id == shelf.account }) else {
            throw .noAccount(item: id.description)
        }
        return (try client(account), shelf)
    }

    /// The place of an earlier run: listening before it that is delivered only now gives way to it.
    func tell(_ place: Place) async {
        guard let (client, shelf) = try? client(of: place.item) else { return }
        let told = place.isFinished ? place.position : Stretch.reportable(place.position, of: place.duration)
        await client.tell(shelf, told, at: place.updated, isFinished: place.isFinished)
    }

    private func noteClock(_ client: ShelfClient) async {
        let id = client.account.id
        let clock = await client.clock
        // That of another login, which has not been answered yet, knows less.
        if clock.isTold { clocks[id] = clock }
        lost.remove(id)
        listener?(id)
        guard let index = accounts.firstIndex(where: { $0.id == id }), clock.isNews(to: accounts[index], at: time.now)
        else { return }
        accounts[index].note(clock, at: time.now)
        store.post(.account(accounts[index]))
    }

    /// Where the server has the listener; nil if it cannot be asked or has nothing.
    func place(of id: ItemID) async -> Place? { await answer(on: id) ?? nil }

    /// Where the server has the listener: nil in the answer if nowhere, no answer if it cannot be asked.
    func answer(on id: ItemID) async -> Place?? {
        do throws(ShelfError) { return .some(try await serverPlace(of: id)) } catch { return nil }
    }

    /// - Returns: nil if the item was never opened.
    func serverPlace(of id: ItemID) async throws(ShelfError) -> Place? {
        let (client, shelf) = try client(of: id)
        let progress = try await client.progress(of: shelf)
        await noteClock(client)
        guard let progress else { return nil }
        return await client.dated(Place(item: id, progress))
    }

    /// Those among them that are words of ours, by when they were true.
    func dated(_ places: [Place]) async -> [Place] {
        var answer: [Place] = []
        for place in places {
            if let (client, _) = try? client(of: place.item) {
                answer.append(await client.dated(place))
            } else {
                answer.append(place)
            }
        }
        return answer
    }

    // MARK: Delivery

    /// Carries a request of the sync machine to the server.
    /// - Parameter time: when the place of a sync was true, by the server's clock.
    func perform(_ request: Sync.Request, account id: String, at time: Int64?) async -> Sync.Outcome {
        guard let account = accounts.first(where: { $0.id == id }), let client = try? client(account) else {
            return .signedOut
        }
        let outcome = await perform(request, id, time, client)
        if outcome.isAnswer { await noteClock(client) }
        // Another login has taken its place meanwhile.
        if outcome == .signedOut, let present = clients[id], present !== client { return .later(retryAfter: nil) }
        return outcome
    }

    /// It was not even asked, for what was to be known before could not be.
    func untold(_ id: String, _ error: ShelfError) -> Sync.Outcome {
        problems[id] = error.description
        return .later(retryAfter: nil)
    }

    private func perform(
        _ request: Sync.Request, _ id: String, _ time: Int64?, _ client: ShelfClient
    ) async -> Sync.Outcome {
        switch request {
        case .sync(let stretch, let item, let place, let listened, let duration):
            let outcome = await client.sync(
                session: stretch, of: item, place: place, at: time, listened: listened, duration: duration)
            problems[id] = outcome.problem
            return Sync.Outcome(outcome)
        case .close(let stretch, _):
            let outcome = await client.close(session: stretch)
            problems[id] = outcome.problem
            return Sync.Outcome(outcome)
        case .local(let stretches):
            let outcomes = await client.deliver(stretches.map(\.reported), device: device)
            problems[id] = outcomes.values.lazy.compactMap(\.problem).first
            return Sync.Outcome(outcomes)
        case .progress(let write):
            return await settle(id) { () throws(ShelfError) in try await client.write(write) }
        case .bookmark(let bookmark):
            return await settle(id) { () throws(ShelfError) in try await client.write(bookmark) }
        }
    }

    /// Of what is safe to repeat.
    private func settle(_ id: String, _ write: () async throws(ShelfError) -> Void) async -> Sync.Outcome {
        do throws(ShelfError) {
            try await write()
            problems[id] = nil
            return .accepted
        } catch {
            problems[id] = error.isTemporary ? error.description : nil
            return Sync.Outcome(error)
        }
    }

    /// All that a server has.
    func bookmarks(of id: String) async throws(ShelfError) -> [Bookmark] {
        guard let account = accounts.first(where: { $0.id == id }) else { throw .notFound(what: "that account") }
        return try await client(account).bookmarks()
    }

    // MARK: Covers

    /// The picture that is here, of this or an earlier run.
    func knownCover(of id: ItemID) async -> String? {
        if let path = fetched[id], covers.holds(path) { return path }
        guard let item = try? await store.item(id), let path = item.coverPath, covers.holds(path) else { return nil }
        return path
    }

    /// Fetches, keeps and names a picture, once in a run: it may have changed since the last. nil if there is none or it
    /// cannot be had now.
    func fetchCover(of id: ItemID) async -> String? {
        if let path = fetched[id], covers.holds(path) { return path }
        guard let (client, shelf) = try? client(of: id) else { return nil }
        do throws(ShelfError) {
            guard let cover = try await client.cover(of: shelf) else { return nil }
            fetched[id] = await Self.kept(cover, covers)
            return fetched[id]
        } catch {
            log.info("a cover could not be fetched", metadata: ["why": "\(error)"])
            return nil
        }
    }

    /// The disk is not waited for on the Loop.
    @concurrent private nonisolated static func kept(_ cover: [UInt8], _ covers: CoverCache) async -> String? {
        covers.keep(cover)
    }
}

extension Stretch {
    /// As it is told to a server.
    fileprivate var reported: Stretch {
        var copy = self
        copy.place = reportable
        return copy
    }
}

extension SyncOutcome {
    /// Why it did not get through.
    fileprivate var problem: String? {
        switch self {
        case .doubtful(let error), .later(let error): error.description
        case .accepted, .sessionGone, .refused: nil
        }
    }
}

extension Sync.Outcome {
    init(_ outcome: SyncOutcome) {
        switch outcome {
        case .accepted: self = .accepted
        case .sessionGone: self = .gone
        case .doubtful: self = .doubtful
        case .later(let error) where error.endsLogin: self = .signedOut
        case .later(.rateLimited(_, let seconds)): self = .later(retryAfter: Double(seconds))
        case .later: self = .later(retryAfter: nil)
        case .refused(let sentence): self = .refused(sentence)
        }
    }

    init(_ error: ShelfError) {
        switch error {
        case _ where error.endsLogin: self = .signedOut
        case .rateLimited(_, let seconds): self = .later(retryAfter: Double(seconds))
        case .notFound: self = .gone
        default: self = error.isTemporary ? .later(retryAfter: nil) : .refused(error.description)
        }
    }

    /// Rows that were answered are settled; if none was, the whole request goes again.
    init(_ outcomes: [String: SyncOutcome]) {
        var rows: [String: String?] = [:]
        var other: Sync.Outcome?
        for (id, outcome) in outcomes {
            switch outcome {
            case .accepted: rows[id] = .some(nil)
            case .refused(let sentence): rows[id] = .some(sentence)
            case .sessionGone, .doubtful, .later: other = Sync.Outcome(outcome)
            }
        }
        self = rows.isEmpty ? other ?? .later(retryAfter: nil) : .rows(rows)
    }
}

extension SourceError {
    init(_ error: ShelfError) {
        let kind: Kind =
            switch error.category {
            case .failed: .failed
            case .notFound: .notFound
            case .notSignedIn: .notSignedIn
            case .unreachable: .unreachable
            case .usage: .usage
            }
        self.init(kind, error.description)
    }
}

extension ControlError {
    init(_ error: ShelfError) { self.init(SourceError(error)) }
}
