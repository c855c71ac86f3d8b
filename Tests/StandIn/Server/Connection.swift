import FlyingFox
import FlyingSocks
import Foundation

/// Turns FlyingFox requests into calls and answers into FlyingFox responses.
struct Connection: Sendable {
    let server: StandInServer

    func handle(_ request: HTTPRequest) async throws -> HTTPResponse {
        var headers: [String: String] = [:]
        for header in request.headers.keys { headers[header.rawValue.lowercased()] = request.headers[header] }
        let call = Call(
            method: request.method.rawValue, target: request.target.rawValue, headers: headers,
            body: try await request.bodyData, basePath: server.configuration.basePath)
        let fault = server.note(call)
        switch fault {
        case .status(let status, let body, let type, let extra):
            var answer = Answer(status, type: type, Data(body.utf8), tagged: false)
            answer.headers += extra.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
            return await response(to: call, request, answer, limit: nil)
        case .dropBefore: return Self.hangUp
        case .hold(let gate):
            await gate.pass()
            // Cancelled: the server stops, and the request must not act after all.
            if Task.isCancelled { return Self.hangUp }
        case .truncated, .dropAfter, .cut, .silent, nil: break
        }
        let answer = server.answer(call)
        switch fault {
        case .dropAfter: return Self.hangUp
        case .truncated: return await response(to: call, request, answer, limit: .max)
        case .cut(let count): return await response(to: call, request, answer, limit: count)
        case .silent(let count, let gate):
            return await response(to: call, request, answer, limit: count, gate: gate)
        case .status, .dropBefore, .hold, nil: return await response(to: call, request, answer, limit: nil)
        }
    }

    /// A response that makes FlyingFox close the connection before it has written a byte: an upgrade that fails.
    private static var hangUp: HTTPResponse { HTTPResponse(webSocket: FailingUpgrade()) }

    private struct FailingUpgrade: WSHandler {
        func makeFrames(for client: AsyncThrowingStream<WSFrame, any Error>) async throws -> AsyncStream<WSFrame> {
            throw SocketError.disconnected
        }
    }

    /// - Parameter limit: after how many bytes of the body to hang up; `Int.max` means half of them.
    /// - Parameter gate: waits there before hanging up.
    private func response(
        to call: Call, _ request: HTTPRequest, _ answer: Answer, limit: Int?, gate: StandInGate? = nil
    ) async -> HTTPResponse {
        if case .webSocket = answer.body { return await upgrade(request) }
        var status = answer.status
        var source: ByteSource
        switch answer.body {
        case .data(let data): source = .data(data)
        case .chunked(let data): source = .data(data)
        case .file(let path, let range): source = .file(path: path, range: range)
        case .poll(let sid): source = .data(await server.poll(sid))
        case .segment(let files, let start, let length):
            let segment = await Transcoder.segment(of: files, start: start, length: length)
            if segment.isEmpty { status = 404 }
            source = .data(segment)
        case .webSocket: source = .data(Data())
        }
        if call.method == "GET" || call.method == "HEAD", status == 200, let tag = answer.header("ETag"),
            call.headers["if-none-match"] == tag
        {
            status = 304
            source = .data(Data())
        }
        var headers = HTTPHeaders()
        for header in answer.headers where status != 304 || header.name != "Content-Type" {
            headers.addValue(header.value, for: HTTPHeader(header.name))
        }
        headers[.date] = HTTPDate.text(milliseconds: server.configuration.clock.now)
        if call.headers["connection"]?.lowercased() != "close" {
            headers[HTTPHeader("Connection")] = "keep-alive"
            headers[HTTPHeader("Keep-Alive")] = "timeout=5"
        }
        return Self.assemble(status, headers, call, answer.body, source, limit: limit, gate: gate)
    }

    private static func assemble(
        _ status: Int, _ given: HTTPHeaders, _ call: Call, _ body: Answer.Body, _ source: ByteSource, limit: Int?,
        gate: StandInGate?
    ) -> HTTPResponse {
        var headers = given
        let code = HTTPStatusCode(status, phrase: Answer.reason(status))
        let cut = limit.map { $0 == .max ? source.count / 2 : $0 }
        let bytes = ByteSequence(source: source, failsAfter: cut, gate: gate)
        if case .chunked = body, call.method != "HEAD" {
            headers.removeValue(.contentLength)
            let chunks = HTTPBodySequence(from: bytes, suggestedBufferSize: ByteSequence.chunk)
            return HTTPResponse(statusCode: code, headers: headers, body: chunks)
        }
        headers[.contentLength] = String(source.count)
        if call.method == "HEAD" { return HTTPResponse(statusCode: code, headers: headers) }
        let whole = HTTPBodySequence(from: bytes, count: source.count, suggestedBufferSize: ByteSequence.chunk)
        return HTTPResponse(statusCode: code, headers: headers, body: whole)
    }

    private func upgrade(_ request: HTTPRequest) async -> HTTPResponse {
        let handler = WebSocketHTTPHandler(handler: MessageFrameWSHandler(handler: SocketMessages(server: server)))
        return (try? await handler.handleRequest(request)) ?? HTTPResponse(statusCode: .badRequest)
    }
}

/// One socket.io session over a websocket.
private struct SocketMessages: WSMessageHandler {
    let server: StandInServer

    func makeMessages(for client: AsyncStream<WSMessage>) async throws -> AsyncStream<WSMessage> {
        let sid = server.openSocket()
        let (stream, continuation) = AsyncStream.makeStream(of: WSMessage.self)
        let reading = Task {
            for await message in client {
                if case .text(let packet) = message { server.receive(packet, on: sid) }
            }
            server.receive("1", on: sid)
        }
        let writing = Task {
            while let packets = await server.packets(sid) {
                for packet in packets { continuation.yield(.text(packet)) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in
            reading.cancel()
            writing.cancel()
        }
        return stream
    }
}
