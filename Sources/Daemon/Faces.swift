internal import Control
internal import DBus
internal import EventLoop
internal import FoundationEssentials
internal import Glibc
internal import Listening
internal import Store
internal import Terminal

extension Service: @LoopActor ControlFace {
    var version: String { dogearVersion }

    func perform(_ command: Command, _ reply: Reply) {
        askedByListener()
        // A command may have started us: it is answered from what the journal says, not from before it was read.
        guard isRestored else { return early.append { self.perform(command, reply) } }
        if isLeaving, command != .status { return reply.fail(ControlError(Self.quit).busError) }
        if let event = event(of: command) {
            guard player.item != nil || finding != nil || command.needsNoItem else {
                return reply.fail(Sentences.nothingLoaded.busError)
            }
            let before = goings
            willAnswer()
            let isDone = carryOut(event)
            let number = goings
            let isAlongQueue = number != before
            guard isAlongQueue || event == .toggle && player.wantsPlay else {
                answered()
                if command.isKept { return confirm(reply) }
                if event == .next, !isDone, let why = whyNothingIsNext {
                    return reply.fail(ControlError(.notFound, "nothing is next: \(why)").busError)
                }
                return reply([.string(json(statusReport()))])
            }
            Task { @LoopActor in
                defer { self.answered() }
                do throws(ControlError) {
                    // Answered from what is there then.
                    if isAlongQueue { try await self.arrives(number) } else { try await self.plays() }
                    reply([.string(json(self.statusReport()))])
                } catch {
                    reply.fail(error.busError)
                }
            }
            return
        }
        let isRead: Bool? =
            switch command {
            case .play: true
            case .choose: false
            default: nil
            }
        if let isRead { willAnswer(isRead: isRead) }
        Task { @LoopActor in
            defer { if let isRead { self.answered(isRead: isRead) } }
            do throws(ControlError) { reply([.string(try await self.answer(command))]) } catch {
                reply.fail(error.busError)
            }
        }
    }

    /// Answers once what was chosen is written down.
    private func confirm(_ reply: Reply) {
        Task { @LoopActor in
            do throws(StoreError) { try await store.posted() } catch {
                let why = "it holds for now and cannot be kept: \(error)"
                return reply.fail(ControlError(.failed, why).busError)
            }
            reply([.string(json(statusReport()))])
        }
    }

    func login(_ request: LoginRequest, secrets pipe: Descriptor, _ reply: Reply) {
        // Each has a thread until its secrets have come.
        let isReading =
            readingSecrets < 4
            && onOwnThread {
                let bytes = readAll(pipe)
                LoopActor.onLoop {
                    self.readingSecrets -= 1
                    self.login(request, secrets: bytes, reply)
                }
            }
        guard isReading else {
            return reply.fail(ControlError(.failed, "several logins are under way; try again in ten seconds").busError)
        }
        readingSecrets += 1
    }

    private func login(_ request: LoginRequest, secrets bytes: [UInt8], _ reply: Reply) {
        guard !request.address.isEmpty else {
            return reply.fail(ControlError(.usage, "login needs the address of a server").busError)
        }
        var request = request
        guard let secrets = try? JSONDecoder().decode(LoginSecrets.self, from: Data(bytes)) else {
            return reply.fail(ControlError(.usage, "the secrets of the login could not be read").busError)
        }
        request.secrets = secrets
        perform(.login(request), reply)
    }
}

/// Until the other end closes; at most 64 KiB, and no longer than ten seconds: this holds a thread.
private func readAll(_ pipe: Descriptor) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    let deadline = ContinuousClock.now + .seconds(10)
    while bytes.count < 65536, case let left = deadline - .now, left > .zero {
        var ready = pollfd(fd: pipe.number, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, Int32(left / .milliseconds(1)) + 1) > 0 else { break }
        let count = read(pipe.number, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        bytes += chunk[..<count]
    }
    return bytes
}

extension Service {
    /// The commands that are one event for the Player, answered at once.
    private func event(of command: Command) -> Player.Event? {
        switch command {
        case .pause: .pause(.listener)
        case .toggle: .toggle
        case .stop: .stop
        case .next: .next
        case .previous: .previous
        case .volume(let volume): .volume(volume)
        case .changeVolume(let change):
            .volume(Amount.by(change).applied(to: player.volume, within: Amount.volumes))
        case .speed(let rate): .rate(rate)
        case .changeSpeed(let change): .rate(Amount.by(change).applied(to: player.rate, within: Amount.speeds))
        default: nil
        }
    }
}

extension Command {
    /// What it chooses holds for later too.
    fileprivate var isKept: Bool {
        switch self {
        case .speed, .changeSpeed, .volume, .changeVolume: true
        default: false
        }
    }

    fileprivate var needsNoItem: Bool {
        switch self {
        case .volume, .changeVolume: true
        default: false
        }
    }
}
