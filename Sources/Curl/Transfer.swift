internal import CCurl
internal import HTTP

/// Where the answer to one request goes.
@CurlActor protocol Receiver: AnyObject {
    /// The status and the headers are in. Called once, before any of the body.
    func begin(_ head: HTTPResponse)
    /// - Returns: whether the bytes were taken; if not, they come again after ``Transfer/resume()``.
    /// - Throws: what the transfer then ends with.
    func take(_ chunk: UnsafeRawBufferPointer) throws(TransportError) -> Bool
    /// Called once, last.
    /// - Parameter failure: nil if the answer is whole.
    func end(_ failure: TransportError?)
}

/// One request under way: reads the answer as libcurl hands it over.
@CurlActor final class Transfer {
    let easy: Easy
    let host: String
    let receiver: any Receiver
    /// Its body is handed over while it arrives, for as long as somebody listens.
    let isStream: Bool
    /// With the port: connections are counted by it.
    let authority: String
    private let idleTimeout: Double?
    private var lastSign = ContinuousClock.now
    private var isPaused = false
    var number: UInt64 = 0
    private var headers: [HTTPHeader] = []
    private var headerBytes = 0
    private var hasBegun = false
    /// Why this side gave up, when libcurl only knows that a callback refused.
    private var refusal: TransportError?

    /// - Parameter idleTimeout: libcurl's own limit is looked after by averages over some seconds.
    init(
        _ easy: consuming Easy, to target: Target, receiver: any Receiver, isStream: Bool, idleTimeout: Double?
    ) {
        self.easy = easy
        host = target.host
        authority = target.authority
        self.idleTimeout = idleTimeout
        self.receiver = receiver
        self.isStream = isStream
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
        guard idleTimeout != nil else { return }
        try easy.set(CURLOPT_XFERINFODATA, me)
        try easy.set(CURLOPT_NOPROGRESS, 0)
        try easy.set { context, _, _, _, _ in
            let me = Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
            return CurlActor.assumeIsolated { me.isIdle() ? 1 : 0 }
        }
    }

    /// Goes on after the receiver did not take bytes; it may be given them before this returns.
    func resume() {
        isPaused = false
        lastSign = .now
        curl_easy_pause(easy.handle, CURLPAUSE_CONT)
    }

    private func isIdle() -> Bool {
        guard let idleTimeout, !isPaused, .now - lastSign > .seconds(idleTimeout) else { return false }
        refusal = .timedOut(host: host)
        return true
    }

    /// - Returns: how much was taken; less than given ends the transfer.
    private func take(body chunk: UnsafeRawBufferPointer) -> Int {
        begin()
        lastSign = .now
        do throws(TransportError) {
            isPaused = try !receiver.take(chunk)
            return isPaused ? Int(CURL_WRITEFUNC_PAUSE) : chunk.count
        } catch {
            refusal = error
            return 0
        }
    }

    private func take(header bytes: UnsafeRawBufferPointer) -> Int {
        headerBytes += bytes.count
        lastSign = .now
        guard headerBytes <= 256 << 10 else {
            refusal = .lost(host: host, reason: "it sent too many headers")
            return 0
        }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            headers = []  // a new answer begins: what came before was 1xx or a proxy's
        } else if let colon = line.firstIndex(of: ":") {
            headers.append(HTTPHeader(trimmed(line[..<colon]), trimmed(line[line.index(after: colon)...])))
        } else if status >= 200 {
            begin()
        }
        return bytes.count
    }

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        receiver.begin(HTTPResponse(status: status, headers: headers))
    }

    private var status: Int { easy.long(CURLINFO_RESPONSE_CODE) }

    func complete(_ code: CURLcode) {
        if code == CURLE_OK { begin() }
        receiver.end(code == CURLE_OK ? nil : refusal ?? failure(code))
    }

    private func failure(_ code: CURLcode) -> TransportError {
        Failure(
            code: code, host: host, hasSent: easy.long(CURLINFO_REQUEST_SIZE) > 0,
            systemError: Int32(easy.long(CURLINFO_OS_ERRNO)), text: easy.failureText
        ).error
    }
}

private func trimmed(_ text: Substring) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return String(text)
}
