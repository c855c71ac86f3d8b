import HTTP
import Testing

@Suite struct ExchangeTests {
    @Test func aRequestShowsNoSecret() {
        let request = HTTPRequest(
            "GET", "https://host.example/base/api/me?token=secret", headers: [HTTPHeader("Authorization", "secret")],
            body: Array("secret".utf8))
        #expect("\(request)" == "GET /base/api/me")
        #expect(!String(reflecting: request).contains("secret"))
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test func headersAreFoundWhateverTheirCase() {
        let response = HTTPResponse(status: 200, headers: [HTTPHeader("content-TYPE", "a"), HTTPHeader("X", "b")])
        #expect(response[header: "Content-Type"] == "a" && response[header: "y"] == nil)
    }
}
