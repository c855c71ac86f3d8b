internal import HTTP

/// The server's clock against ours, from the `Date` headers of its answers.
///
/// A header says in whole seconds when it was written, which was between our sending and our receiving: each answer
/// leaves a range that the difference must lie in, and together they narrow it down far below a second.
struct ServerClock: Sendable {
    private let known: Int64
    private var low: Int64 = .min
    private var high: Int64 = .max
    /// How many answers were read.
    private(set) var timesTold = 0

    /// - Parameter offset: what it was when this server last answered.
    init(offset: Int64 = 0) { known = offset }

    /// - Parameters: milliseconds since 1970 of our clock.
    mutating func observe(_ response: HTTPResponse, sent: Int64, received: Int64) {
        guard received >= sent, received - sent < 10_000, response[header: "Age"] == nil,
            let date = response[header: "Date"].flatMap(milliseconds(ofDate:))
        else { return }
        timesTold += 1
        let bounds = (date - received, date + 1000 - sent)
        let isAgreed = bounds.0 <= high && bounds.1 >= low
        low = isAgreed ? max(low, bounds.0) : bounds.0  // disagreement: one of the clocks was set
        high = isAgreed ? min(high, bounds.1) : bounds.1
    }

    /// Milliseconds to add to our clock; 0 where the two agree within two seconds.
    var offset: Int64 {
        guard low != .min, high != .max else { return known }
        let middle = low + (high - low) / 2
        return abs(middle) < 2000 ? 0 : middle
    }
}

/// Reads "Sat, 21 Nov 2026 09:00:50 GMT", the one form servers write.
func milliseconds(ofDate text: String) -> Int64? {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
        let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]), (1970...9999).contains(year)
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int64($0) }
    guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
        return nil
    }
    // Days from civil, with the year beginning in March.
    let march = Int64(month + 10) % 12
    let years = month < 2 ? year - 1 : year
    let days = 365 * years + years / 4 - years / 100 + years / 400 + (153 * march + 2) / 5 + day - 719_469
    return (((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2]) * 1000
}
