import EventLoop
import Foundation
import HTTP

/// The live connection of one life of the daemon, straight to the stand-in: a poll is answered when there is something to
/// tell and all else is quiet, with a ping when time passes without, and not at all when the server goes away.
@LoopActor final class LiveLine {
    private let upstream: Upstream
    private let proxy: FaultProxy
    private let time: LifeTime
    private let net: Net
    private var poll: Poll?
    private var polls = 0

    private struct Poll {
        let number: Int
        let session: String
        let answer: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
        let ping: LoopTimer
    }

    init(_ upstream: Upstream, _ proxy: FaultProxy, _ time: LifeTime, _ net: Net) {
        self.upstream = upstream
        self.proxy = proxy
        self.time = time
        self.net = net
    }

    func answer(to request: HTTPRequest) async -> Result<HTTPResponse, TransportError> {
        if proxy.isDown { return .failure(.unreachable(host: "127.0.0.1", reason: "connection refused")) }
        guard let session = session(request.url) else { return ok(upstream.openSocket()) }
        if request.method == "POST" {
            return upstream.push(String(decoding: request.body ?? [], as: UTF8.self), session) ? ok("ok") : unknown
        }
        if let packets = upstream.packets(session) { return ok(packets) }
        return upstream.knows(session) ? await wait(session) : unknown
    }

    private func wait(_ session: String) async -> Result<HTTPResponse, TransportError> {
        polls += 1
        let number = polls
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer in
                let ping = time.timer(after: .seconds(Upstream.pingInterval)) { self.end(number, self.ok("2")) }
                poll = Poll(number: number, session: session, answer: answer, ping: ping)
                net.hold()
                if Task.isCancelled { end(number, .failure(.cancelled)) }
            }
        } onCancel: {
            LoopActor.onLoop { self.end(number, .failure(.cancelled)) }
        }
    }

    private func end(_ number: Int, _ result: Result<HTTPResponse, TransportError>) {
        guard let poll, poll.number == number else { return }
        self.poll = nil
        poll.ping.cancel()
        net.release()
        poll.answer.resume(returning: result)
    }

    /// - Returns: whether the poll that waits had something to be told.
    func letNextGo() -> Bool {
        guard let poll else { return false }
        if proxy.isDown {
            end(poll.number, .failure(.lost(host: "127.0.0.1", reason: "the connection broke")))
        } else if let packets = upstream.packets(poll.session) {
            end(poll.number, ok(packets))
        } else if !upstream.knows(poll.session) {
            end(poll.number, ok("1"))
        } else {
            return false
        }
        return true
    }

    func hangUp() {
        if let poll { end(poll.number, .failure(.cancelled)) }
    }

    private func session(_ url: String) -> String? {
        url.split(separator: "?").last?.split(separator: "&").first { $0.hasPrefix("sid=") }
            .map { String($0.dropFirst(4)) }
    }

    private func ok(_ body: String) -> Result<HTTPResponse, TransportError> {
        .success(HTTPResponse(status: 200, body: Array(body.utf8)))
    }

    private var unknown: Result<HTTPResponse, TransportError> {
        .success(HTTPResponse(status: 400, body: Array(#"{"code":1,"message":"Session ID unknown"}"#.utf8)))
    }
}
