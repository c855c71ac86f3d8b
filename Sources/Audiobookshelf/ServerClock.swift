internal import HTTP
public import Listening

/// The server's clock, from the `Date` headers of its answers and what it stamps itself.
///
/// A header says in whole seconds when it was written, which was between our sending and our receiving: each answer
/// leaves a range that the server's time must lie in, and together they narrow it down far below a second. It is kept
/// against the time since this computer was started: a clock of ours that is set meanwhile, as one without a battery is
/// some time after the start, changes nothing.
///
/// A proxy writes the header anew, by a clock of its own. What counts are the server's stamps: each session it opens has
/// one, which tells how far the two are apart.
public struct ServerClock: Sendable {
    private let known: Int64
    /// Of what the headers said when this computer was started.
    private var range: ClosedRange<Int64> = .min ... .max
    /// See ``Account/headerLag``.
    public private(set) var lag: Int64

    public init() { (known, lag) = (0, 0) }

    /// As it was when this server last answered.
    public init(of account: Account) { (known, lag) = (account.clockOffset, account.headerLag) }

    /// It was heard in this run.
    public var isTold: Bool { range.lowerBound != .min }

    mutating func observe(_ response: HTTPResponse, sent: Moment, received: Moment) {
        let (sent, received) = (sent.sinceStart / 1000, received.sinceStart / 1000)
        guard received >= sent, received - sent < 10_000, Self.isOfServer(response), response[header: "Age"] == nil,
            let date = response[header: "Date"].flatMap(milliseconds(ofDate:))
        else { return }
        let said = date - received...date + 1000 - sent
        // Disagreement: the server's was set. What it says next is dated by that already.
        range = said.overlaps(range) ? said.clamped(to: range) : said
    }

    /// - Parameter stamp: milliseconds since 1970, noted by the server between sending and receiving.
    mutating func observe(stamp: Int64, sent: Moment, received: Moment) {
        let (sent, received) = (sent.sinceStart / 1000, received.sinceStart / 1000)
        guard received >= sent, received - sent < 10_000, (0...Self.latest).contains(stamp) else { return }
        let said = stamp - received...stamp - sent
        let header = said.lowerBound - lag...said.upperBound - lag
        if !isTold { range = header }
        if range.overlaps(header) { return }
        lag = range.overlaps(said) ? 0 : said.middle - range.middle
    }

    /// The year 9999.
    private static let latest: Int64 = 253_402_300_799_999

    /// Who lets through to a server, such as a hotel's network, answers in its stead with a page, by a clock of its own.
    private static func isOfServer(_ response: HTTPResponse) -> Bool {
        (200..<300).contains(response.status) && response[header: "Content-Type"]?.contains("html") != true
    }

    /// Milliseconds since 1970; ours where the two agree within two seconds.
    public func now(at moment: Moment) -> Int64 {
        guard isTold else { return moment.wall + known }
        let told = range.middle + lag + moment.sinceStart / 1000
        return abs(told - moment.wall) < 2000 ? moment.wall : told
    }

    /// Whether that time has yet to come; never so before the clock was heard.
    public func isAhead(_ time: Int64, at moment: Moment) -> Bool {
        isTold && time > now(at: moment) + Place.clockTolerance
    }

    /// Milliseconds to add to our clock.
    public func offset(at moment: Moment) -> Int64 { now(at: moment) - moment.wall }

    /// Worth being written down.
    public func isNews(to account: Account, at moment: Moment) -> Bool {
        max(abs(account.clockOffset - offset(at: moment)), abs(account.headerLag - lag)) > Place.clockTolerance / 2
    }
}

extension Account {
    /// For the next run.
    public mutating func note(_ clock: ServerClock, at moment: Moment) {
        (clockOffset, headerLag) = (clock.offset(at: moment), clock.lag)
    }
}

extension ClosedRange<Int64> {
    fileprivate var middle: Int64 { lowerBound + (upperBound - lowerBound) / 2 }
}

/// Reads "Sat, 21 Nov 2026 09:00:50 GMT", the one form servers write.
func milliseconds(ofDate text: String) -> Int64? {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]),
        let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]), (1970...9999).contains(year)
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int64($0) }
    guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
        return nil
    }
    guard let days = Day(year: year, month: Int64(month + 1), day: day)?.number else { return nil }
    return (((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2]) * 1000
}
