internal import Audiobookshelf
internal import Control
internal import EventLoop
internal import Listening

extension Shelves {
    /// Server, TLS, login and clock of one account, in the order in which they fail: behind what fails nothing is known.
    func checks(_ account: Account) async -> [DoctorReport.Check] {
        let name = "account \(account.name)"
        do throws(ShelfError) {
            let client = try client(account)
            let count = try await client.libraries().count
            let offset = await client.clock.offset(at: time.now)
            return [
                .init(name, .good, "signed in to \(account.server), \(count) libraries"), encryption(account),
                clock(account, offset: offset),
            ]
        } catch {
            return [.init(name, .bad, "\(error)", advice: advice(error, account))]
        }
    }

    private func advice(_ error: ShelfError, _ account: Account) -> String {
        switch error {
        case .certificate:
            "run 'dogear login \(account.server) --ca FILE' with the authority's certificate, or renew it there"
        case .noEncryption: "run 'dogear login' with the address that the server has now"
        case .vault(.locked): "unlock the keyring"
        case .vault: "start a keyring, such as gnome-keyring, and run 'dogear login \(account.server)'"
        default:
            switch error.category {
            case .notSignedIn: "run 'dogear login \(account.server)'"
            case .unreachable: "check the network and the server"
            case .failed, .notFound, .usage: "see what the message says"
            }
        }
    }

    private func encryption(_ account: Account) -> DoctorReport.Check {
        let name = "encryption \(account.name)"
        guard let address = try? ServerAddress(account.server), !address.isSecure else {
            return .init(
                name, .good, "https, and the certificate is trusted\(account.caFile.map { " by \($0)" } ?? "")")
        }
        return address.isPrivate
            ? .init(name, .good, "plain http, within this computer or its network")
            : .init(
                name, .warning, "plain http: others on the way can read the login and what you listen to",
                advice: "give the server a certificate and run 'dogear login' with its https address")
    }

    private func clock(_ account: Account, offset: Int64) -> DoctorReport.Check {
        let name = "clock \(account.name)"
        guard abs(offset) > 60_000 else { return .init(name, .good, "within a minute of the server's") }
        return .init(
            name, .warning, "this computer's is \(abs(offset) / 1000) s off the server's",
            advice: "places are corrected for it; set the clock right all the same (timedatectl)")
    }
}
