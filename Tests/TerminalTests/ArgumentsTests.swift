import Listening
import Terminal
import Testing

struct ArgumentsTests {
    @Test(arguments: [
        (["seek", "-30"], ["seek", "--", "-30"]), (["seek", "-1:00", "--json"], ["seek", "--json", "--", "-1:00"]),
        (["seek", "--", "-30"], ["seek", "--", "-30"]), (["seek", "+30"], ["seek", "+30"]),
        (["seek", "-h"], ["seek", "-h"]), (["play", "-30"], ["play", "-30"]),
        (["settings", "skip", "-10"], ["settings", "skip", "--", "-10"]),
        (["sleep", "-5"], ["sleep", "--", "-5"]), ([], []),
    ])
    func jumpsBackAreNoOptions(_ typed: [String], _ parsed: [String]) {
        #expect(Arguments.guardingJumps(typed) == parsed)
    }

    @Test(arguments: [
        (["play", "-one.mp3", "two.mp3", "--at", "-3"], ["play", "./-one.mp3", "two.mp3", "--at", "-3"]),
        (["play", "--dash.opus"], ["play", "./--dash.opus"]), (["play", "-h"], ["play", "-h"]),
        (["play", "--", "-one.mp3"], ["play", "--", "-one.mp3"]),
        (["export", "--to=-.mp3"], ["export", "--to=-.mp3"]),
    ])
    func filesAreNoOptions(_ typed: [String], _ parsed: [String]) {
        #expect(Arguments.guardingFiles(typed) == parsed)
    }

    @Test func theProfileStandsAnywhere() {
        for (typed, profile, rest) in [
            (["--profile", "kids", "play", "emma"], "kids", ["play", "emma"]),
            (["play", "emma", "--profile=kids"], "kids", ["play", "emma"]),
            (["play", "--profile", "a", "--profile", "b"], "b", ["play", "--profile", "a"]),
            (["search", "--", "--profile", "x"], nil, ["search", "--", "--profile", "x"]),
            (["play", "--profile"], nil, ["play", "--profile"]),
            (["play", "--profile", "--", "x"], nil, ["play", "--profile", "--", "x"]), ([], nil, []),
        ] as [([String], String?, [String])] {
            let taken = Arguments.takingProfile(typed)
            #expect(taken.profile == profile && taken.rest == rest, "\(typed)")
        }
    }

    @Test func whatMayBeAFile() {
        #expect(Arguments.filePath("a book.m4b") == "a book.m4b")
        #expect(Arguments.filePath("/home/ada/Emma") == "/home/ada/Emma")
        #expect(Arguments.filePath("file:///home/ada/A%20b%C3%BCcher") == "/home/ada/A bücher")
        #expect(Arguments.filePath("file://localhost/a") == "/a")
        #expect(Arguments.filePath("file://elsewhere/a") == nil)
        #expect(Arguments.filePath("file:///a%0") == nil && Arguments.filePath("file:///a%00b") == nil)
        #expect(Arguments.filePath("FILE:/what next?.mp3") == "/what next?.mp3")
        #expect(
            Arguments.filePath("file:9e107d9d") == "file:9e107d9d" && Arguments.path(ofFile: "file:9e107d9d") == nil)
        #expect(Arguments.filePath("https://example.org/a.mp3") == nil)
        #expect(Arguments.filePath("abs:1/2") == nil)
    }

    @Test func amounts() {
        #expect(Amount(speed: "1.25") == .to(1.25))
        #expect(Amount(speed: "1.5x") == .to(1.5))
        #expect(Amount(speed: "+0.1") == .by(0.1))
        #expect(Amount(speed: "0.4") == nil)
        #expect(Amount(speed: "nan") == nil)
        #expect(Amount(speed: "0x1") == nil)
        #expect(Amount(volume: "40%") == .to(0.4))
        #expect(Amount(volume: "1") == .to(1))
        #expect(Amount(volume: "40") == nil)
        #expect(Amount(volume: "+10") == nil && Amount(volume: "-10") == nil, "of 1, that is: percents are meant")
        #expect(Amount(volume: "-10%") == .by(-0.1))
        #expect(Amount.by(0.1).applied(to: 1.1, within: Amount.speeds) == 1.2)
        #expect(Amount.by(-1).applied(to: 0.3, within: Amount.volumes) == 0)
    }

    @Test func choices() {
        #expect(Choice("2", of: 3) == .chosen(1))
        #expect(Choice(" 3 \n", of: 3) == .chosen(2))
        #expect(Choice("4", of: 3) == .unclear)
        #expect(Choice("emma", of: 3) == .unclear)
        #expect(Choice("", of: 3) == .none)
        #expect(Choice("q", of: 3) == .none)
    }

    @Test func headers() {
        #expect(LoginText.header("X-Key: a:b c ").map { [$0.name, $0.value] } == ["X-Key", "a:b c"])
        #expect(LoginText.header("X-Key:").map { [$0.name, $0.value] } == ["X-Key", ""])
        for bad in ["nonsense", ": v", "X Key: v", "X-Key: a\r\nHost: b", "X-Key: a\u{0}"] {
            #expect(LoginText.header(bad) == nil)
        }
    }

    @Test func whatNoWebServerIsReachedByIsSeen() {
        #expect(LoginText.hasForeignScheme("FTP://host") && LoginText.hasForeignScheme("://host"))
        for address in ["https://host", "HTTP://host", "host:13378", "host/a:b"] {
            #expect(!LoginText.hasForeignScheme(address))
        }
    }

    @Test func passwordsInAddressesAreSeen() {
        #expect(LoginText.hasUserInfo("https://ada:pw@books.example.org/abs"))
        #expect(LoginText.hasUserInfo("ada@books.example.org"))
        #expect(LoginText.hasUserInfo("ada:pa://ss@books.example.org"))
        #expect(!LoginText.hasUserInfo("https://books.example.org/@ada"))
        #expect(!LoginText.hasUserInfo("books.example.org:13378"))
    }
}
