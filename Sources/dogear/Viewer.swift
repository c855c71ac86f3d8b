import Control
import DBus
import EventLoop
import GStreamer
import Glibc
import Listening
import SDBus
import Screen
import Terminal
import Termios
import View

/// The interactive view: brings the terminal, the daemon and ``ViewState`` together, on the Loop. Nothing here waits.
@LoopActor final class Viewer {
    /// Shows the view until the listener leaves it. Never comes back: the program ends with it.
    nonisolated static func run() throws -> Never {
        // As every command does: a daemon that does not run is started, and what is wrong is said on the plain screen.
        let status = try Link().ask("Status")
        var signals = heldBack()
        Task { @LoopActor in
            let viewer = Viewer()
            shared = viewer
            viewer.begin(status)
        }
        while true {
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { continue }
            let signal = number
            Task { @LoopActor in shared?.told(signal) }
        }
    }

    private static var shared: Viewer?

    /// In every thread that starts after this: the main thread waits for them.
    nonisolated private static func heldBack() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [
            SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGWINCH, SIGTSTP, SIGCONT,
        ] {
            signal(number, SIG_DFL)
            sigaddset(&set, number)
        }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        return set
    }

    private var state: ViewState
    private let colors: Colors
    private let pictures: PictureKind
    private var terminal: TerminalDevice?
    private var daemon: DaemonLine?
    private var clock: LoopTimer?
    private let covers = CoverReader()
    private var isDrawing = false
    private var extra = ""

    private init() {
        var variables: [String: String] = [:]
        for name in ["NO_COLOR", "COLORTERM", "TERM", "TERM_PROGRAM", "TMUX"] { variables[name] = environment(name) }
        colors = Colors(environment: variables)
        pictures = PictureKind(environment: variables)
        var surface = Surface.standardOutput
        (surface.columns, surface.styled) = (nil, false)
        state = ViewState(
            size: Size(columns: 80, rows: 24), surface: surface, pictures: pictures)
    }

    private func begin(_ status: String) {
        guard let terminal = TerminalDevice(colors: colors, { [unowned self] in self.heard($0) }) else {
            complain("this terminal cannot be used; 'dogear view --plain' needs less of it")
            _exit(ControlError.Kind.failed.rawValue)
        }
        self.terminal = terminal
        do {
            daemon = try DaemonLine { [unowned self] in
                self.take($0)
            } onLost: { [unowned self] sentence in
                self.leave(saying: sentence)
            }
        } catch {
            complain("\(error)")
            _exit(ControlError.Kind.failed.rawValue)
        }
        terminal.open()
        take(.resized(terminal.size))
        take(.appeared)
        take(.answered(.status, .success(status)))
    }

    // MARK: What happens

    private func heard(_ event: TerminalDevice.Event) {
        switch event {
        case .input(let inputs): for input in inputs { take(.input(input)) }
        case .closed: leave(saying: nil, with: ControlError.Kind.failed.rawValue)
        }
    }

    private func told(_ signal: Int32) {
        switch signal {
        case SIGWINCH:
            // Made smaller and back again it has the same size, and has lost what it showed.
            terminal?.forget()
            if let terminal { take(.resized(terminal.size)) }
        case SIGTSTP: suspend()
        case SIGCONT:
            terminal?.wentOn()
            if let terminal { take(.resized(terminal.size)) }
        default: die(by: signal)
        }
    }

    private func take(_ event: ViewEvent) {
        for request in state.handle(event, at: now) { perform(request) }
        drawSoon()
    }

    private func perform(_ request: ViewRequest) {
        switch request {
        case .ask(let question):
            daemon?.ask(question) { [unowned self] in take(.answered(question, $0)) }
        case .copy(let text): extra += Clipboard.copy(text)
        case .picture(let name, let path, let width, let height):
            Task { @LoopActor in
                let cover = await self.cover(name, path, width, height)
                self.take(.pictured(name: name, cover))
            }
        case .leave: leave(saying: nil)
        // The whole job, with a script that may be around it: comes back to ``told(_:)``.
        case .suspend: kill(0, SIGTSTP)
        case .redraw: terminal?.forget()
        }
    }

    private func cover(_ name: String, _ path: String, _ width: Int, _ height: Int) async -> Cover? {
        if pictures == .kitty {
            guard let png = await covers.png(path, width: width, height: height) else { return nil }
            return .image(Image(name: name, png: png.bytes, width: png.width, height: png.height))
        }
        guard let points = await covers.points(path, width: width, height: height) else { return nil }
        return Pixels(width: points.width, height: points.height, bytes: points.bytes).map(Cover.blocks)
    }

    // MARK: Drawing

    private var now: Int64 { Clock.monotonic / 1000 }

    /// Once for all that happens in one turn of the Loop.
    private func drawSoon() {
        guard !isDrawing else { return }
        isDrawing = true
        Task { @LoopActor in
            self.isDrawing = false
            self.draw()
        }
    }

    private func draw() {
        let now = now
        terminal?.show(state.draw(at: now).frame, extra: extra)
        extra = ""
        clock?.cancel()
        clock = state.wake(at: now).map { wait in
            LoopActor.timer(after: .seconds(Double(wait) / 1000)) { [unowned self] in self.take(.tick) }
        }
    }

    // MARK: Leaving

    private func suspend() {
        clock?.cancel()
        terminal?.suspend()
        if let terminal { take(.resized(terminal.size)) }
    }

    private func leave(saying sentence: String?, with code: Int32 = 0) {
        terminal?.close()
        daemon?.close()
        if let sentence { complain(sentence) }
        _exit(sentence == nil ? code : ControlError.Kind.failed.rawValue)
    }

    /// The shell is to see which signal it was.
    private func die(by number: Int32) {
        terminal?.close()
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        signal(number, SIG_DFL)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        pthread_kill(pthread_self(), number)
        _exit(128 + number)
    }
}
