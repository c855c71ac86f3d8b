internal import Control
internal import EventLoop
internal import Launchers
internal import Listening
internal import Logging
internal import Machine
internal import SDBus
internal import Terminal

/// The few things a listener is told without having asked, where the desktop shows notifications and the setting wants
/// it: that a server needs a new login, that it has not got what was heard for a day, that listening is about to end, and
/// why nothing plays, or not yet, where that was not told to whoever asked for it. That nothing is next is told to
/// everybody: the desktop's menu runs a command, whose answer nobody reads.
@LoopActor final class Notices {
    private enum Subject {
        static let unsent = "unsent"
        static let sleep = "sleep"
        static let trouble = "trouble"
        static func login(_ account: String) -> String { "login \(account)" }
    }

    /// In milliseconds: what waits longer than this will not go by itself.
    private static let patience: Int64 = 86_400_000

    private unowned let service: Service
    private let notifier: Notifier
    private var timer: LoopTimer?
    /// When unsent rows were last told of.
    private var told: Int64?
    /// So long before its end the sleep timer is told of; of one that was set shorter, at half of it.
    private static let sleepWarning = BookTime.seconds(60)
    private var sleep = SleepNotice.none
    private var sleepLeft: BookTime?
    /// Why nothing plays, as it was last looked at.
    private var standstill: String?
    private var shownTrouble: Trouble?

    private struct Trouble {
        enum Kind {
            /// What was to play stands.
            case standstill
            /// It may come yet.
            case wait
            /// What was chosen came to nothing. What was there before may play on, and is no reason to take that back.
            case answer
            /// There is nothing to go on to.
            case end
        }

        let kind: Kind
        /// What was loaded then; of an answer, what is gone back to: known as soon as that is there.
        var item: ItemID?
        /// What could not be played.
        var failed: ItemID?
    }

    /// When a login was said to be over, by account: microseconds, monotonic.
    private var toldLogins: [String: Int64] = [:]
    /// About to be told.
    private var logins: [String: LoopTimer] = [:]
    private var wait: LoopTimer?
    /// What was promised of what is on its way.
    private var toldWait: WaitNotice?

    /// The title of what is waited for, and a notification.
    private typealias WaitNotice = (item: String, what: String, why: String)

    private enum SleepNotice {
        case none
        /// Set, and told of when this much is left: half of it where it was set to little.
        case waiting(BookTime)
        case shown
    }

    init(of service: Service, bus: Bus) {
        self.service = service
        let log = Logger(label: "Notices")
        notifier = Notifier(bus: bus, icon: LauncherName.icon, desktopEntry: LauncherName.icon) {
            log.debug("a notification", metadata: ["what": "\($0)"])
        }
    }

    /// What was chosen and needs it may turn out only now: that is waited for. GNOME hides a notice that is replaced as it
    /// appears.
    func signedOut(_ account: Account) {
        guard logins[account.id] == nil, !isJustTold(account) else { return }
        logins[account.id] = service.time.timer(after: .seconds(0.3)) {
            self.logins[account.id] = nil
            // Logged out meanwhile, or in again.
            guard self.service.shelves.accounts.contains(where: { $0.id == account.id && $0.isSignedOut }) else {
                return
            }
            self.tellOfLogin(
                account, "\(account.host) needs a new login",
                "What you hear is kept, and sent after \(Self.login(account)).")
        }
    }

    private func signedOut(_ account: Account, for title: String?) {
        guard let title else { return signedOut(account) }
        guard !isJustTold(account) else { return }
        tellOfLogin(account, "\(Self.quoted(title)) needs a new login", "It plays after \(Self.login(account)).")
    }

    private func isJustTold(_ account: Account) -> Bool {
        toldLogins[account.id].map { service.time.now.monotonic - $0 < 2_000_000 } ?? false
    }

    private func tellOfLogin(_ account: Account, _ title: String, _ body: String) {
        forgetLogin(account.id)
        toldLogins[account.id] = service.time.now.monotonic
        show(Notice(Subject.login(account.id), title: Self.heading(title), body: body, stays: true))
    }

    private func forgetLogin(_ account: String) {
        logins.removeValue(forKey: account)?.cancel()
        toldLogins[account] = nil
    }

    /// Desktops make a link of what has a scheme.
    private static func login(_ account: Account) -> String {
        "'dogear login \(account.server.split(separator: "://", maxSplits: 1).last ?? "")' in a terminal"
    }

    func signedIn(_ account: String) {
        forgetLogin(account)
        notifier.withdraw(Subject.login(account))
    }

    /// What a launcher chose: there is no other window to say it in.
    func cannotPlay(_ item: ItemID, _ title: String?, _ error: ControlError) {
        if let account = signedOut(of: item) { return signedOut(account, for: title) }
        tell("\(title.map(Self.quoted) ?? "It") cannot be played", error.message, .answer, failed: item)
    }

    /// What a command came to nothing for, where nobody sees what it writes.
    func cannotPlay(_ why: String) {
        // That was told when it turned out.
        if let item = service.wanted, signedOut(of: item) != nil { return }
        tell("It cannot be played", why, .answer, failed: service.wanted)
    }

    private func signedOut(of item: ItemID) -> Account? {
        service.shelves.account(of: item).flatMap { $0.isSignedOut ? $0 : nil }
    }

    /// Who presses Next at the end hears and sees nothing of it.
    func nothingIsNext(_ why: String) { tell("Nothing is next", why, .end) }

    /// In the place of what was told before, and of why nothing plays.
    /// - Parameters:
    ///   - what: short, as desktops cut it off.
    ///   - why: of its first fifty characters GNOME shows as much as fits.
    private func tell(_ what: String, _ why: String, _ kind: Trouble.Kind, failed: ItemID? = nil) {
        standstill = service.standstill?.why
        shownTrouble = Trouble(
            kind: kind, item: kind == .answer ? nil : service.player.item?.id, failed: failed)
        show(Notice(Subject.trouble, title: Self.heading(what), body: Self.forDesktop(why)))
    }

    private static func heading(_ text: String) -> String { Clean.leftToRight(Clean.line(text)) }

    /// Whoever reads it has the keys in front of them, and no terminal. What a key does about it comes first.
    private static func forDesktop(_ sentence: String) -> String {
        var words = sentence
        if let advice = words.range(of: "; 'dogear next'") {
            words =
                "\(words[advice.lowerBound...].dropFirst(2)). \(Clean.sentence(String(words[..<advice.lowerBound])))"
        }
        words.replace("'dogear next'", with: "Next")
        words.replace("'dogear play'", with: "Play")
        // Desktops make a link of what has a scheme.
        for scheme in ["https://", "http://"] { words.replace(scheme, with: "") }
        return Clean.leftToRight(Clean.sentence(words))
    }

    /// Some words stand behind it on one short line.
    private static func quoted(_ title: String) -> String { "'\(Clean.short(title, limit: 26))'" }

    /// What is to be heard may be long on its way, and no key or widget shows that anything comes.
    private func lookAtWait() {
        guard service.isAwaited else {
            wait?.cancel()
            wait = nil
            if shownTrouble?.kind == .wait, service.player.state != .playing { withdrawTrouble() }
            return
        }
        if shownTrouble?.kind == .wait, service.answering == service.choosing, let told = toldWait,
            service.isOnItsWay || service.player.isOpening, let now = waitNotice, now != told
        {
            if now.item == told.item {
                tellOfWait(now)
            } else {
                // Another one, which may come at once.
                withdrawTrouble()
                wait?.cancel()
                wait = nil
            }
        }
        guard wait == nil else { return }
        wait = service.time.timer(after: service.longWait) {
            // Who asked in a terminal was told.
            if self.service.answering == self.service.choosing { self.tellOfWait() }
        }
    }

    /// Once, and again when something else is promised.
    func tellOfWait() {
        guard service.heading?.isToldOf != true else { return }
        if let notice = waitNotice { tellOfWait(notice) }
    }

    private func tellOfWait(_ notice: WaitNotice) {
        service.heading?.isToldOf = true
        toldWait = notice
        tell(notice.what, notice.why, .wait)
    }

    private var waitNotice: WaitNotice? {
        guard let item = service.awaited else { return nil }
        let title = Self.quoted(item)
        let advice = service.canPassOver ? "Next passes over it" : "'dogear doctor' tells what is slow"
        guard service.isOnItsWay || service.player.isOpening else {
            // It is here: that may be the sound output, too.
            return (item, "There is no sound yet", "\(title) goes on as soon as it can; \(advice)")
        }
        let plays = service.player.wantsPlay || service.finding?.byHand ?? service.heading?.plays ?? true
        let what = plays ? "it plays as soon as it has come" : "it stands ready as soon as it has come"
        return (item, "\(title) is still on its way", "\(what); \(advice)")
    }

    private func withdrawTrouble() {
        shownTrouble = nil
        notifier.withdraw(Subject.trouble)
    }

    /// What was to play may stand still, or go on. Keys and widgets show nothing of why.
    func lookAtTrouble() {
        let now = service.standstill
        if now == nil, troubleIsOver() { withdrawTrouble() }
        lookAtWait()
        guard now?.why != standstill else { return }
        standstill = now?.why
        // Else it is the answer.
        guard let now, service.answering == 0 else { return }
        // Why it does not play is told with what to do about it, again where that was long ago.
        if let account = service.shelves.accounts.first(where: { $0.isSignedOut && service.isAffair(of: $0.id) }) {
            return signedOut(account)
        }
        tell(now.title.map { "\(Self.quoted($0)) does not play" } ?? "The queue does not go on", now.why, .standstill)
    }

    private func troubleIsOver() -> Bool {
        guard let trouble = shownTrouble else { return false }
        let present = service.player.item?.id
        let plays = service.player.state == .playing
        switch trouble.kind {
        // Not as soon as it is tried again: Plasma takes no notice that it had a moment ago.
        case .standstill: return plays || trouble.item != present
        case .end: return service.player.canGoNext || trouble.item != present
        case .wait: return !service.isAwaited && (plays || trouble.item != present)
        case .answer:
            guard !service.isAwaited, !service.isBetween else { return false }
            if trouble.item == nil { shownTrouble?.item = present }
            return plays && present != nil && (present == trouble.failed || present != trouble.item ?? present)
        }
    }

    /// What waits for a server may have changed.
    func lookAtUnsent() {
        timer?.cancel()
        let now = service.time.now.wall
        // What was refused for good waits for the listener, who was told of it.
        let oldest = service.sync.rows.filter { $0.refusal == nil }.map(\.made).min()
        guard let oldest else {
            if told != nil { notifier.withdraw(Subject.unsent) }
            told = nil
            return
        }
        // Looked at again after a day at the latest: made by a clock that was ahead, it would never be due.
        let wait = min(max(oldest, told ?? 0) &- now, 0) + Self.patience
        guard wait <= 0 else {
            timer = service.time.timer(after: BookTime(microseconds: wait * 1000)) { self.lookAtUnsent() }
            return
        }
        told = now
        timer = service.time.timer(after: BookTime(microseconds: Self.patience * 1000)) { self.lookAtUnsent() }
        showUnsent(
            "Some of your listening is not on the server yet",
            "It has waited for a day. It is kept; 'dogear sync' tells why.")
    }

    private func showUnsent(_ title: String, _ body: String) {
        show(Notice(Subject.unsent, title: title, body: body, actions: [("send", "Send now")])) { key in
            if key == "send" { Task { @LoopActor in await self.sendNow() } }
        }
    }

    /// Who pressed it sees nothing else of what comes of it: a desktop takes the notice away.
    private func sendNow() async {
        let report = await service.deliverNow(retry: false)
        guard told != nil, let why = report.rows.lazy.compactMap(\.reason).first else { return }
        showUnsent("It could not be sent", "\(Self.forDesktop(why)) It is kept, and sent as soon as it can be.")
    }

    /// Time or the listener may have brought the sleep timer near its end, or away from it.
    func lookAtSleep() {
        guard let left = service.sleepLeft else {
            if case .shown = sleep { notifier.withdraw(Subject.sleep) }
            (sleep, sleepLeft) = (.none, nil)
            return
        }
        let isLonger = sleepLeft.map { left > $0 + .second } ?? true
        sleepLeft = left
        switch sleep {
        // While nothing plays it stands still.
        case .shown where left > Self.sleepWarning || !service.player.wantsPlay:
            notifier.withdraw(Subject.sleep)
            sleep = .waiting(Self.sleepWarning)
        case .none,
            .waiting where isLonger:
            sleep = .waiting(min(Self.sleepWarning, BookTime(microseconds: left.microseconds / 2)))
        case .shown, .waiting: break
        }
        guard case .waiting(let warning) = sleep, left <= warning, service.player.wantsPlay else { return }
        sleep = .shown
        show(
            Notice(
                Subject.sleep, title: "The sleep timer is about to end",
                body: "Extend it, or click here, to listen on. While the sound fades any media key does that, too.",
                actions: [("extend", "Extend")], stays: true)
        ) { key in
            // GNOME shows the button only to who points at the notice, and in its list not at all.
            if key == "extend" || key == Notifier.click { self.service.send(.sleep(.prolong)) }
        }
    }

    /// Nobody will hear the buttons any more, nor take away what is over.
    func leave() {
        for subject in [Subject.sleep, Subject.unsent, Subject.trouble] { notifier.withdraw(subject) }
        for account in service.shelves.accounts { signedIn(account.id) }
    }

    private func show(_ notice: Notice, _ act: @escaping @LoopActor (String) -> Void = { _ in }) {
        if service.settings.notifications { notifier.show(notice, act) }
    }
}

extension Sync.Row {
    /// Milliseconds since 1970.
    fileprivate var made: Int64 {
        switch self {
        case .stretch(let stretch): stretch.updated
        case .write(let write): write.made
        case .bookmark(let bookmark): bookmark.made
        }
    }
}
