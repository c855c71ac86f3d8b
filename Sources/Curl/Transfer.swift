internal import CCurl
internal import HTTP

typealias Answer = Result<HTTPResponse, TransportError>

/// One request under way: collects the answer as libcurl hands it over, and resumes whoever waits, once.
@CurlActor final class Transfer {
    let easy: Easy
    let host: String
    var number: UInt64 = 0
    private let limit: Int
    private let file: PartialFile?
    private var headers: [HTTPHeader] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var received = 0
    /// Why this side gave up, when libcurl only knows that a callback refused.
    private var refusal: TransportError?
    private var continuation: CheckedContinuation<Answer, Never>?

    init(
        _ easy: consuming Easy, host: String, limit: Int, file: PartialFile?,
        _ continuation: CheckedContinuation<Answer, Never>
    ) {
        self.easy = easy
        self.host = host
        self.limit = limit
        self.file = file
        self.continuation = continuation
    }

    /// Tells libcurl to hand everything to this object, which Multi holds for as long as libcurl may call.
    func listen() throws(CurlError) {
        let me = Unmanaged.passUnretained(self).toOpaque()
        try easy.set(CURLOPT_WRITEDATA, me)
        try easy.set(CURLOPT_HEADERDATA, me)
        try easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            // libcurl calls on the Curl thread, and the bytes are copied before it goes on.
            nonisolated(unsafe) let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let me = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
            return CurlActor.assumeIsolated { me.take(body: chunk) }
        }
        try easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            // libcurl calls on the Curl thread, and the bytes are copied before it goes on.
            nonisolated(unsafe) let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            let me = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
            return CurlActor.assumeIsolated { me.take(header: line) }
        }
    }

    /// - Returns: how much was taken; less than given ends the transfer.
    private func take(body chunk: UnsafeRawBufferPointer) -> Int {
        received += chunk.count
        guard received <= limit else {
            refusal = .tooLarge(limit: limit)
            return 0
        }
        guard let file else {
            body.append(contentsOf: chunk)
            return chunk.count
        }
        guard status == 200 else { return chunk.count }
        do throws(TransportError) {
            try file.write(chunk)
            return chunk.count
        } catch {
            refusal = error
            return 0
        }
    }

    private func take(header bytes: UnsafeRawBufferPointer) -> Int {
        headerBytes += bytes.count
        guard headerBytes <= 256 << 10 else {
            refusal = .lost(host: host, reason: "it sent too many headers")
            return 0
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            headers = []  // a new answer begins: what came before was 1xx or a proxy's
        } else if let colon = line.firstIndex(of: ":") {
            headers.append(HTTPHeader(trimmed(line[..<colon]), trimmed(line[line.index(after: colon)...])))
        }
        return bytes.count
    }

    private var status: Int { easy.long(CURLINFO_RESPONSE_CODE) }

    func complete(_ code: CURLcode) {
        finish(code == CURLE_OK ? delivered() : .failure(refusal ?? failure(code)))
    }

    private func delivered() -> Answer {
        let response = HTTPResponse(status: status, headers: headers, body: body)
        guard let file, status == 200 else { return .success(response) }
        do throws(TransportError) {
            try file.keep()
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    private func failure(_ code: CURLcode) -> TransportError {
        Failure(
            code: code, host: host, hasSent: easy.long(CURLINFO_REQUEST_SIZE) > 0,
            systemError: Int32(easy.long(CURLINFO_OS_ERRNO)), text: easy.failureText
        ).error
    }

    func finish(_ answer: Answer) {
        if case .failure = answer { file?.discard() }
        if case .success(let response) = answer, response.status != 200 { file?.discard() }
        continuation?.resume(returning: answer)
        continuation = nil
    }
}

private func trimmed(_ text: Substring) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return String(text)
}
