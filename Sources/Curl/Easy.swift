internal import CCurl
internal import HTTP

/// Sole owner of one libcurl easy handle, with the header list it reads from.
@CurlActor struct Easy: ~Copyable {
    let handle: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    init() throws(CurlError) {
        guard let handle = curl_easy_init() else { throw CurlError(code: CURLE_OUT_OF_MEMORY) }
        self.handle = handle
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        dogear_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        errorText.deallocate()
    }

    func set(_ option: CURLoption, _ value: Int) throws(CurlError) {
        try check(dogear_setopt_long(handle, option, value))
    }

    func set(_ option: CURLoption, offset value: Int64) throws(CurlError) {
        try check(dogear_setopt_off(handle, option, curl_off_t(value)))
    }

    func set(_ option: CURLoption, _ value: String) throws(CurlError) {
        try check(dogear_setopt_string(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) throws(CurlError) {
        try check(dogear_setopt_pointer(handle, option, value))
    }

    func set(_ option: CURLoption, _ value: @escaping dogear_curl_data) throws(CurlError) {
        try check(dogear_setopt_data(handle, option, value))
    }

    /// Called about once a second, and whenever something happens.
    func set(progress value: @escaping dogear_curl_progress) throws(CurlError) {
        try check(dogear_setopt_progress(handle, value))
    }

    /// Both copied by libcurl.
    func set(body: [UInt8]) throws(CurlError) {
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count))
        let code = body.withUnsafeBytes { bytes in
            dogear_setopt_pointer(
                handle, CURLOPT_COPYPOSTFIELDS,
                UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(errorText)))
        }
        try check(code)
    }

    func set(trusting certificates: [UInt8]) throws(CurlError) {
        let code = certificates.withUnsafeBytes { bytes in
            var blob = curl_blob(
                data: UnsafeMutableRawPointer(mutating: bytes.baseAddress), len: bytes.count,
                flags: UInt32(CURL_BLOB_COPY))
            return dogear_setopt_pointer(handle, CURLOPT_CAINFO_BLOB, &blob)
        }
        try check(code)
    }

    mutating func set(headers lines: [String]) throws(CurlError) {
        for line in lines {
            guard let longer = curl_slist_append(headers, line) else { throw CurlError(code: CURLE_OUT_OF_MEMORY) }
            headers = longer
        }
        try set(CURLOPT_HTTPHEADER, headers.map { UnsafeMutableRawPointer($0) })
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        dogear_getinfo_long(handle, info, &value)
        return value
    }

    /// What libcurl says of the failure; the url is never in it once it could be read.
    var failureText: String { String(cString: errorText) }

    private func check(_ code: CURLcode) throws(CurlError) {
        if code != CURLE_OK { throw CurlError(code: code) }
    }
}

/// A libcurl code beside its text, or a better one of ours.
struct CurlError: Error {
    let code: CURLcode
    let text: String

    init(code: CURLcode, text: String? = nil) {
        self.code = code
        self.text = text ?? String(cString: curl_easy_strerror(code))
    }
}
