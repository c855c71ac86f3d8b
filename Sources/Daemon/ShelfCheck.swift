internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening

extension Shelves {
    /// Server, TLS, login and clock of one account, in the order in which they fail.
    func check(_ account: Account) async -> DoctorReport.Check {
        let name = "account \(account.name)"
        do throws(ShelfError) {
            let client = try client(account)
            let count = try await client.libraries().count
            let offset = await client.clockOffset
            if abs(offset) > 60_000 {
                return .init(
                    name, .warning, "signed in, but this computer's clock is \(abs(offset) / 1000) s off the server's",
                    advice: "places are corrected for it; set the clock right all the same (timedatectl)")
            }
            return .init(name, .good, "signed in to \(account.server), \(count) libraries")
        } catch {
            let kind = error.category
            let advice =
                kind == .notSignedIn
                ? "run 'dogear login \(account.server)'"
                : kind == .unreachable ? "check the network and the server" : "see what the message says"
            return .init(name, .bad, "\(error)", advice: advice)
        }
    }
}
