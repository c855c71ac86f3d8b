import Control
import EventLoop
import Glibc
import Terminal
import View

/// The view in lines: reads what is typed and prints what changes. The terminal stays as it is.
@LoopActor final class PlainViewer: LoopSource {
    private static var shared: PlainViewer?

    nonisolated static func run() throws -> Never {
        let status = try Link().ask("Status")
        Task { @LoopActor in
            let viewer = PlainViewer()
            shared = viewer
            viewer.begin(status)
        }
        while true { pause() }
    }

    private var state: PlainState
    private var daemon: DaemonLine?
    private var typed: [UInt8] = []
    private var hasEnded = false

    private init() {
        var surface = Surface.standardOutput
        (surface.columns, surface.styled) = (nil, false)
        state = PlainState(surface: surface)
    }

    private func begin(_ status: String) {
        do {
            daemon = try DaemonLine { [unowned self] event in
                switch event {
                case .changed(let report): self.take(.changed(report))
                case .appeared: self.take(.appeared)
                case .left: self.take(.left)
                case .input, .resized, .tick, .refreshed, .logged, .answered, .pictured: break
                }
            } onLost: { sentence in
                complain(sentence)
                _exit(ControlError.Kind.failed.rawValue)
            }
            take(.changed(try decode(StatusReport.self, status)))
        } catch {
            complain("\(error)")
            _exit(ControlError.Kind.failed.rawValue)
        }
        ask(.settings)
        LoopActor.add(self)
    }

    private func take(_ event: PlainState.Event) {
        for request in state.handle(event) {
            switch request {
            case .say(let line): say(line)
            case .ask(let question): ask(question)
            case .leave:
                daemon?.close()
                _exit(0)
            }
        }
    }

    private func ask(_ question: Question) {
        daemon?.ask(question) { [unowned self] in take(.answered(question, $0)) }
    }

    // MARK: What is typed

    var interest: LoopInterest? {
        hasEnded ? nil : LoopInterest(descriptor: STDIN_FILENO, events: Int16(POLLIN))
    }

    func process() -> Bool {
        var ready = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard !hasEnded, poll(&ready, 1, 0) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return false }
        if count > 0 { typed += buffer[..<count] }
        // A line without end is no line of a person's.
        while let end = typed.firstIndex(of: UInt8(ascii: "\n")) ?? (typed.count > 65536 ? typed.endIndex : nil) {
            take(.typed(String(decoding: typed[..<end], as: UTF8.self)))
            typed.removeFirst(min(end + 1, typed.count))
        }
        if count <= 0 {
            hasEnded = true
            if !typed.isEmpty { take(.typed(String(decoding: typed, as: UTF8.self))) }
            take(.ended)
        }
        return false
    }
}
