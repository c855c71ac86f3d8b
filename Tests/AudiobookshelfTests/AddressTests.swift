import Listening
import Testing

@testable import Audiobookshelf

@Suite struct AddressTests {
    @Test(arguments: [
        ("https://books.example.org", "https://books.example.org"),
        ("  HTTPS://Books.Example.org/  ", "https://books.example.org"),
        ("http://192.168.1.5:13378/", "http://192.168.1.5:13378"),
        ("https://example.org/audiobookshelf//", "https://example.org/audiobookshelf"),
        ("https://example.org/My Books".replacing(" ", with: "%20"), "https://example.org/My%20Books"),
        ("https://example.org:443/abs", "https://example.org/abs"),
        ("http://example.org:443", "http://example.org:443"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("http://[FE80::1]", "http://[fe80::1]"),
        ("https://bücher.example/Hörbücher", "https://bücher.example/H%C3%B6rb%C3%BCcher"),
        ("http://nas_1.local", "http://nas_1.local"), ("https://example.org/library", "https://example.org/library"),
    ]) func readsWhatPeopleType(typed: String, expected: String) throws {
        #expect(try ServerAddress.candidates(typed).map(\.description) == [expected])
        #expect(try ServerAddress(expected).description == expected)
    }

    @Test(arguments: [
        ("https://example.org/login", "https://example.org"),
        ("https://example.org/abs/login?x=1", "https://example.org/abs"),
        ("http://nas:13378/audiobookshelf/login/", "http://nas:13378/audiobookshelf"),
        (
            "https://example.org/library/8a53b76d-8ac1-4128-9d5a-a5b7b5d2ae1b/bookshelf?filter=all",
            "https://example.org"
        ),
        ("https://example.org/item/8a53b76d-8ac1-4128-9d5a-a5b7b5d2ae1b#top", "https://example.org"),
        ("https://example.org/library/item/8a53b76d-8ac1-4128-9d5a-a5b7b5d2ae1b", "https://example.org/library"),
    ]) func whatTheBrowserShowsMeansTheServer(typed: String, expected: String) throws {
        #expect(try ServerAddress.candidates(typed).map(\.description) == [expected])
    }

    @Test func anItemsPageNamesTheItem() throws {
        let server = try ServerAddress("https://example.org")
        for page in ["", "?x=1", "#top", "/"] {
            #expect(server.item(ofPage: "https://Example.org/item/li_12\(page)") == "li_12")
        }
        #expect(server.item(ofPage: "https://example.org:443/audiobookshelf/item/li_12") == "li_12")
        #expect(try ServerAddress("http://nas:13378/abs").item(ofPage: "http://nas:13378/abs/item/x") == "x")
        for other in [
            "https://example.com/item/x", "https://example.org:8443/item/x", "https://example.org/x/item/x",
            "https://example.org/item", "https://lena:secret@example.org/item/x", "/item/x", "item/x", "",
        ] { #expect(server.item(ofPage: other) == nil) }
    }

    @Test func withoutASchemeHTTPSComesFirst() throws {
        #expect(
            try ServerAddress.candidates("nas:13378/abs/").map(\.description) == [
                "https://nas:13378/abs", "http://nas:13378/abs",
            ])
        #expect(try ServerAddress.candidates("::1").map(\.description) == ["https://[::1]", "http://[::1]"])
    }

    @Test(arguments: [
        "", "   ", "https://", "http:///path", "ftp://example.org", "https://lena:secret@example.org",
        "lena@example.org",
        "https://example.org/?token=secret", "https://example.org/#x", "https://exa mple.org", "https://example.org:0",
        "https://example.org:70000", "https://example.org:abc", "https://[::1", "https://[nonsense]", "...", "a:b:c",
        "https://example.org/a\r\nX: 1", "http://ex\u{0}ample", "https://a|b", "https://[::1]x",
    ]) func refusesTheRestWithASentence(typed: String) {
        #expect {
            try ServerAddress.candidates(typed)
        } throws: { error in
            guard case ShelfError.badAddress(let reason)? = error as? ShelfError else { return false }
            return !reason.contains("secret") && reason.count > 20
        }
    }

    @Test(arguments: [
        "localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.9",
        "169.254.1.1", "[::1]", "[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]",
    ]) func privateAddresses(host: String) throws {
        #expect(try ServerAddress("http://\(host)").isPrivate)
    }

    @Test(arguments: [
        "example.org", "nas", "nas.local", "localhost.example.org", "172.32.0.1", "172.15.0.1", "11.0.0.1", "8.8.8.8",
        "127.1", "0x7f.0.0.1", "010.0.0.1", "192.168.1", "10.0.0.1.example.org", "[2001:db8::1]", "[::ffff:8.8.8.8]",
        "100.64.0.1", "[::]",
    ]) func otherAddresses(host: String) throws {
        #expect(try !ServerAddress("http://\(host)").isPrivate)
    }

    @Test func joinsRoutesToWhatWasTyped() throws {
        let address = try ServerAddress("https://example.org/abs")
        #expect(
            address.url(["api", "a b/..", "é"], query: [("q", "x&y=z +")])
                == "https://example.org/abs/api/a%20b%2F../%C3%A9?q=x%26y%3Dz%20%2B")
        #expect(address.url(ofServer: "/hls/1/output.m3u8?token=x") == "https://example.org/abs/hls/1/output.m3u8")
        #expect(address.url(ofServer: "//evil.example/x") == "https://example.org/abs//evil.example/x")
        #expect(address.url(ofServer: "@evil.example/ x") == "https://example.org/abs/@evil.example/%20x")
    }

    @Test func itemIDs() throws {
        let book = try #require(ShelfItemID(account: "acc-1", item: "li_abc"))
        #expect(book.id.description == "abs:acc-1/li_abc" && ShelfItemID(book.id) == book)
        let episode = try #require(ItemID("abs:acc-1/item/ep").flatMap { ShelfItemID($0) })
        #expect(episode.episode == "ep" && episode.id.description == "abs:acc-1/item/ep")
        for text in ["abs:a", "abs:a/", "abs:a/../x", "abs:a/b/c/d", "abs:a/b%2f", "file:a/b", "abs:a/b?x", "abs:a/é"] {
            #expect(ItemID(text).flatMap { ShelfItemID($0) } == nil, "\(text)")
        }
    }
}
