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
/// why nothing plays, or not yet, where that was not told to whoever asked for it.
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
    /// So long before its end the sleep timer is told of, unless it was set shorter.
    private static let sleepWarning = BookTime.seconds(60)
    private var sleep = SleepNotice.none
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
    private var wait: LoopTimer?

    private enum SleepNotice {
        case none
        /// Set, and not near its end.
        case waiting
        case shown
    }

    init(of service: Service, bus: Bus) {
        self.service = service
        let log = Logger(label: "Notices")
        notifier = Notifier(bus: bus, icon: LauncherName.icon, desktopEntry: LauncherName.icon) {
            log.debug("a notification", metadata: ["what": "\($0)"])
        }
    }

    func signedOut(_ account: Account) {
        // Asked for by a key, it may turn out in two ways at once. GNOME hides a notice that is replaced as it appears.
        let now = service.time.now.monotonic
        if let last = toldLogins[account.id], now - last < 2_000_000 { return }
        toldLogins[account.id] = now
        // Desktops make a link of what has a scheme.
        let address = account.server.split(separator: "://", maxSplits: 1).last ?? ""
        show(
            Notice(
                Subject.login(account.id), title: "\(account.host) needs a new login",
                body: "What you hear is kept, and sent after 'dogear login \(address)' in a terminal.", stays: true))
    }

    func signedIn(_ account: String) {
        toldLogins[account] = nil
        notifier.withdraw(Subject.login(account))
    }

    /// What a launcher chose: there is no other window to say it in.
    func cannotPlay(_ item: ItemID, _ title: String?, _ error: ControlError) {
        if let account = signedOut(of: item) { return signedOut(account) }
        tell("It cannot be played", of: title, error.message, .answer, failed: item)
    }

    /// What a command came to nothing for, where nobody sees what it writes.
    func cannotPlay(_ why: String) {
        // That was told when it turned out.
        if let item = service.wanted, signedOut(of: item) != nil { return }
        tell("It cannot be played", of: nil, why, .answer, failed: service.wanted)
    }

    private func signedOut(of item: ItemID) -> Account? {
        service.shelves.account(of: item).flatMap { $0.isSignedOut ? $0 : nil }
    }

    /// Who presses Next at the end hears and sees nothing of it.
    func nothingIsNext() {
        guard service.answering == 0, let title = service.player.item?.title else { return }
        tell("Nothing is next", of: title, "it has no further part, and nothing is queued behind it", .end)
    }

    /// In the place of what was told before, and of why nothing plays.
    /// - Parameters:
    ///   - what: short, as desktops cut it off.
    ///   - title: of the item that it is about, unless the sentence names it.
    private func tell(
        _ what: String, of title: String?, _ why: String, _ kind: Trouble.Kind, failed: ItemID? = nil
    ) {
        standstill = service.standstill?.why
        shownTrouble = Trouble(
            kind: kind, item: kind == .answer ? nil : service.player.item?.id, failed: failed)
        let sentence = title.map { "'\(Clean.short($0))': \(why)" } ?? why
        show(Notice(Subject.trouble, title: what, body: Self.forDesktop(sentence)))
    }

    /// Whoever reads it has the keys in front of them, and no terminal.
    private static func forDesktop(_ sentence: String) -> String {
        var words = sentence.replacing("'dogear next'", with: "Next").replacing("'dogear play'", with: "Play")
        // Desktops make a link of what has a scheme.
        for scheme in ["https://", "http://"] { words = words.replacing(scheme, with: "") }
        return Clean.leftToRight(Clean.sentence(words))
    }

    /// What is to be heard may be long on its way, and no key or widget shows that anything comes.
    private func lookAtWait() {
        guard service.isAwaited else {
            wait?.cancel()
            wait = nil
            if shownTrouble?.kind == .wait, service.player.state != .playing { withdrawTrouble() }
            return
        }
        guard wait == nil else { return }
        wait = service.time.timer(after: service.longWait) {
            // Who asked in a terminal was told.
            if self.service.answering == self.service.choosing { self.tellOfWait() }
        }
    }

    /// Once.
    func tellOfWait() {
        guard let title = service.awaited, service.heading?.isToldOf != true else { return }
        service.heading?.isToldOf = true
        let advice = service.canPassOver ? "Next passes over it" : "'dogear doctor' tells what is slow"
        guard service.isOnItsWay || service.player.isOpening else {
            // It is here: that may be the sound output, too.
            return tell("There is no sound yet", of: title, "it goes on as soon as it can; \(advice)", .wait)
        }
        let plays = service.player.wantsPlay || service.finding?.byHand ?? service.heading?.plays ?? true
        let what = plays ? "it plays as soon as it has come" : "it stands ready as soon as it has come"
        tell("It is still on its way", of: title, "\(what); \(advice)", .wait)
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
        tell(now.what, of: now.title, now.why, .standstill)
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
        let due = max(oldest + Self.patience, (told ?? 0) + Self.patience)
        guard due <= now else {
            timer = service.time.timer(after: BookTime(microseconds: (due - now) * 1000)) { self.lookAtUnsent() }
            return
        }
        told = now
        timer = service.time.timer(after: BookTime(microseconds: Self.patience * 1000)) { self.lookAtUnsent() }
        show(
            Notice(
                Subject.unsent, title: "Some of your listening is not on the server yet",
                body: "It has waited for a day. It is kept; 'dogear sync' tells why.",
                actions: [("send", "Send now")])
        ) { key in
            if key == "send" { self.service.sync { $0.kick(at: self.service.time.now, isSign: true) } }
        }
    }

    /// Time or the listener may have brought the sleep timer near its end, or away from it.
    func lookAtSleep() {
        let left = service.sleepLeft
        let isNear = left.map { $0 <= Self.sleepWarning } ?? false
        // While nothing plays it stands still.
        guard isNear, service.player.wantsPlay else {
            if sleep == .shown { notifier.withdraw(Subject.sleep) }
            if left == nil { sleep = .none } else if !isNear || sleep == .shown { sleep = .waiting }
            return
        }
        guard sleep == .waiting else { return }
        sleep = .shown
        show(
            Notice(
                Subject.sleep, title: "The sleep timer is about to end",
                body: "Extend it to listen on, or press a media key while the sound fades.",
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
