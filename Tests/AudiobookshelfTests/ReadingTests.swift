import HTTP
import Listening
import Testing

@testable import Audiobookshelf

@Suite struct ReadingTests {
    @Test(arguments: [
        ("Episode 1, with <b>markup</b>.", "Episode 1, with markup."),
        ("<p>One</p><p>Two<br/>Three</p>", "One\nTwo\nThree"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("a &amp; b &lt;c&gt; &#228;&#x1F600; &unknown; &#0; &#xD800;", "a & b <c> ä😀 &unknown; &#0; &#xD800;"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"), ("<script>alert(1)</script>x<style>y", "xy"),
        ("<!-- hidden -->seen", "seen"), ("a <b", "a <b"), ("  a\n\n\n b\t c ", "a\nb c"),
    ]) func plainTextOf(html: String, text: String) {
        #expect(plainText(html) == text)
    }

    /// Each of these took a walk to the end of the text for each tag in it.
    @Test(arguments: ["<a", "<!--", "<script>", "<style>x", "&a"]) func whatNeverEndsIsReadOnce(piece: String) {
        let count = 100_000 / piece.count
        // The best of three: the machine may stand still in one.
        func best(_ text: String) -> Duration {
            (0..<3).map { _ in ContinuousClock().measure { _ = plainText(text) } }.min() ?? .zero
        }
        let plain = best(String(repeating: "x", count: 100_000))
        let hostile = best(String(repeating: piece, count: count))
        #expect(hostile < plain * 40, "\(hostile), and \(plain) for text without any")
    }

    @Test func endsOfTagsAreTheirOwn() {
        #expect(plainText("<a <b>x</b> <i>y</i> <!-- a > b --> z") == "x y z")
        #expect(plainText("<script>a</SCRIPT>b<script>c</script>d") == "bd")
        #expect(
            plainText("<p" + String(repeating: "x", count: 3000) + ">y") == "<p" + String(repeating: "x", count: 3000)
                + ">y")
    }

    @Test func nothingLeftIsNil() { #expect(plainText("<p> <br></p>") == nil) }

    @Test func dates() {
        #expect(milliseconds(ofDate: "Sat, 21 Nov 2026 01:13:41 GMT") == 1_795_223_621_000)
        #expect(milliseconds(ofDate: "Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(milliseconds(ofDate: "Sun, 29 Feb 2032 23:59:59 GMT") == 1_961_711_999_000)
        for bad in ["", "now", "Sat, 21 Foo 2026 01:13:41 GMT", "Sat, 21 Nov 2026 25:13:41 GMT", "1 2 3 4 5 6"] {
            #expect(milliseconds(ofDate: bad) == nil)
        }
        #expect(isoDate(milliseconds: 1_773_734_400_000) == "2026-03-17")
        #expect(isoDate(milliseconds: 0) == "1970-01-01" && isoDate(milliseconds: -1) == "1969-12-31")
    }

    @Test func theServersClockIsFoundToWithinASecond() {
        var clock = ServerClock()
        let skew: Int64 = 61_700
        for step in 0..<10 {
            let sent = 1_795_223_621_000 + Int64(step) * 1370
            let written = (sent + 20 + skew) / 1000 * 1000
            let second = written / 1000 % 60
            let minute = written / 60_000 % 60
            let hour = written / 3_600_000 % 24
            let date = "Sat, 21 Nov 2026 \(hour):\(minute):\(second) GMT"
            clock.observe(
                HTTPResponse(status: 200, headers: [HTTPHeader("Date", date)]), sent: at(sent), received: at(sent + 40))
        }
        let now = at(1_795_223_640_000)
        #expect(abs(clock.offset(at: now) - skew) < 200)
        // Our clock is set: the server's is where it was.
        let set = Moment(monotonic: now.monotonic, wall: now.wall - 3_600_000)
        #expect(clock.now(at: set) == clock.now(at: now))
    }

    @Test func aClockThatAgreesIsLeftAlone() {
        var clock = ServerClock()
        let date = HTTPHeader("Date", "Sat, 21 Nov 2026 01:13:41 GMT")
        clock.observe(
            HTTPResponse(status: 200, headers: [date]), sent: at(1_795_223_622_400),
            received: at(1_795_223_622_500))
        #expect(clock.offset(at: at(1_795_223_630_000)) == 0)
        #expect(ServerClock().offset(at: at(5)) == 0)
    }

    /// A page that is somebody else's, with a clock an hour ahead.
    @Test func onlyTheServersOwnAnswersTellItsClock() {
        var clock = ServerClock()
        func hear(_ hour: Int, status: Int = 200, type: String = "application/json; charset=utf-8") {
            clock.observe(
                HTTPResponse(
                    status: status,
                    headers: [
                        HTTPHeader("Date", "Sat, 21 Nov 2026 0\(hour):13:41 GMT"), HTTPHeader("Content-Type", type),
                    ]), sent: at(1_795_223_621_400), received: at(1_795_223_621_500))
        }
        hear(2, type: "text/html; charset=utf-8")
        hear(2, status: 502)
        #expect(!clock.isTold)
        hear(1)
        hear(2, status: 302)
        #expect(clock.offset(at: at(1_795_223_630_000)) == 0)
        hear(2)
        #expect(abs(clock.offset(at: at(1_795_223_630_000)) - 3_600_000) < 1000)
    }

    /// What the answers are dated by may be the clock of a proxy.
    @Test func whatTheServerStampsItselfCounts() {
        var clock = ServerClock()
        let sent: Int64 = 1_795_223_621_400
        func hear(_ second: Int) {
            clock.observe(
                HTTPResponse(status: 200, headers: [HTTPHeader("Date", "Sat, 21 Nov 2026 01:13:\(second) GMT")]),
                sent: at(sent), received: at(sent + 100))
        }
        hear(41)
        clock.observe(stamp: sent + 20_050, sent: at(sent), received: at(sent + 100))
        #expect(abs(clock.offset(at: at(sent)) - 20_000) <= 50)
        hear(41)
        #expect(abs(clock.offset(at: at(sent)) - 20_000) < 600, "a header takes nothing of it away")
        // The proxy's was set right.
        hear(51)
        clock.observe(stamp: sent + 20_050, sent: at(sent), received: at(sent + 100))
        hear(51)
        #expect(abs(clock.offset(at: at(sent)) - 20_000) < 600)
        for nonsense in [-1, .max, .min] as [Int64] {
            clock.observe(stamp: nonsense, sent: at(sent), received: at(sent + 100))
        }
        clock.observe(stamp: sent, sent: at(sent), received: at(sent + 20_000))
        #expect(abs(clock.offset(at: at(sent)) - 20_000) < 600, "what takes so long says nothing")
        var first = ServerClock()
        first.observe(stamp: sent + 20_050, sent: at(sent), received: at(sent + 100))
        #expect(abs(first.offset(at: at(sent)) - 20_000) <= 50 && first.isTold)
        // The next run hears a header first.
        var account = Account(id: "a", server: "https://shelf.example", user: "lena", login: .tokens)
        #expect(clock.isNews(to: account, at: at(sent)))
        account.note(clock, at: at(sent))
        #expect(!clock.isNews(to: account, at: at(sent)))
        clock = ServerClock(of: account)
        #expect(abs(clock.offset(at: at(sent)) - 20_000) < 600)
        hear(51)
        #expect(abs(clock.offset(at: at(sent)) - 20_000) < 1100)
    }

    @Test func tokenTimes() {
        let times = TokenTimes(token("x", issued: 1000, seconds: 3600))
        #expect(times?.expires == 4600 && times?.issued == 1000 && times?.margin == 60_000)
        #expect(TokenTimes(token("x", issued: 1000, seconds: 10))?.margin == 5000)
        for bad in ["", "a.b", "a.b.c", "a.e30.c", "JWT-5571e36c1701"] { #expect(TokenTimes(bad) == nil) }
    }

    @Test func secretsAreNotPrinted() {
        let secrets = Secrets(bearer: "SECRET", refresh: "SECRET", headers: [HTTPHeader("X", "SECRET")])
        var dumped = ""
        dump(secrets, to: &dumped)
        #expect(!"\(secrets) \(String(reflecting: secrets)) \(dumped)".contains("SECRET"))
    }

    @Test func customHeadersSurviveTheVault() {
        let headers = [HTTPHeader("CF-Access-Client-Id", "a\"b"), HTTPHeader("X-Two", "ü")]
        #expect(HeaderSecret.headers(HeaderSecret.text(headers)) == headers)
        #expect(HeaderSecret.headers("nonsense").isEmpty)
    }
}
