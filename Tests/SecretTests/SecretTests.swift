import Listening
import TestSupport
import Testing

@testable import Secret

private func key(_ kind: SecretKey.Kind, account: String = "1f0c", user: String = "jane") -> SecretKey {
    SecretKey(account: account, kind: kind, server: "https://books.example.org/abs", user: user)
}

/// Each on a real dbus-daemon with a real gnome-keyring-daemon, of its own.
@Suite struct SecretTests {
    @Test func secretsAreKeptReplacedAndRemoved() async throws {
        try await withPrivateBus(keyring: .unlocked) { bus throws in
            let vault = SecretServiceVault(address: bus.address)
            #expect(try await vault.secret(for: key(.access)) == nil)
            try await vault.check()
            try await vault.store("first", for: key(.access), label: "Dogear: jane@books.example.org")
            try await vault.store(
                "second \u{1F511} \"'\\\n", for: key(.access), label: "Dogear: jane@books.example.org")
            try await vault.store("fresh", for: key(.refresh), label: "Dogear: jane@books.example.org")
            try await vault.store("other", for: key(.access, account: "2a"), label: "Dogear: cassandra@x")
            #expect(try await vault.secret(for: key(.access)) == "second \u{1F511} \"'\\\n")
            #expect(try await vault.secret(for: key(.refresh)) == "fresh")
            #expect(try await vault.secret(for: key(.access, user: "emma")) == nil)

            try await vault.remove(key(.refresh))
            #expect(try await vault.secret(for: key(.refresh)) == nil)
            try await vault.remove(key(.refresh))
            try await vault.store("fresh", for: key(.refresh), label: "Dogear: jane@books.example.org")

            try await vault.removeAll(account: "1f0c")
            #expect(try await vault.secret(for: key(.access)) == nil)
            #expect(try await vault.secret(for: key(.refresh)) == nil)
            #expect(try await vault.secret(for: key(.access, account: "2a")) == "other")
            try await vault.removeAll(account: "1f0c")
        }
    }

    @Test func manyAtATimeDoNotMixUp() async throws {
        try await withPrivateBus(keyring: .unlocked) { bus throws in
            let vault = SecretServiceVault(address: bus.address)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let key = key(.access, account: "\(number)")
                        try await vault.store("secret \(number)", for: key, label: "Dogear")
                        #expect(try await vault.secret(for: key) == "secret \(number)")
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func aLockedKeyringIsSaidToBeLocked() async throws {
        try await withPrivateBus(keyring: .unlocked) { bus throws in
            let vault = SecretServiceVault(address: bus.address)
            try await vault.store("s3cret", for: key(.access), label: "Dogear")
            try await bus.lock()
            await #expect(throws: VaultError.locked) { try await vault.secret(for: key(.access)) }
            await #expect(throws: VaultError.locked) { try await vault.secret(for: key(.apikey)) }
            await #expect(throws: VaultError.locked) { try await vault.store("x", for: key(.access), label: "Dogear") }
            await #expect(throws: VaultError.locked) { try await vault.removeAll(account: "1f0c") }
            await #expect(throws: VaultError.locked) { try await vault.removeAll(account: "unknown") }
            await #expect(throws: VaultError.locked) { try await vault.check() }
        }
    }

    @Test func withoutASecretServiceThereIsNone() async throws {
        try await withPrivateBus(keyring: .absent) { bus throws in
            await expectAbsent(SecretServiceVault(address: bus.address))
        }
    }

    @Test(arguments: [nil, "unix:path=/nowhere/bus", "nonsense", ""])
    func withoutABusThereIsNone(address: String?) async throws {
        await expectAbsent(SecretServiceVault(address: address))
    }

    private func expectAbsent(_ vault: SecretServiceVault) async {
        await #expect(throws: VaultError.absent) { try await vault.secret(for: key(.access)) }
        await #expect(throws: VaultError.absent) { try await vault.store("x", for: key(.access), label: "Dogear") }
        await #expect(throws: VaultError.absent) { try await vault.removeAll(account: "1f0c") }
        await #expect(throws: VaultError.absent) { try await vault.check() }
    }

    @Test func aServiceWithoutAKeyringRefuses() async throws {
        try await withPrivateBus(keyring: .neverUnlocked) { bus throws in
            let vault = SecretServiceVault(address: bus.address)
            #expect(try await vault.secret(for: key(.access)) == nil)
            let error = await #expect(throws: VaultError.self) {
                try await vault.store("s3cret", for: key(.access), label: "Dogear")
            }
            guard case .refused(let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("no default keyring"))
            #expect(error?.description.contains("s3cret") == false)
            await #expect(throws: VaultError.refused(reason: reason)) { try await vault.check() }
        }
    }

    @Test func aServiceThatDoesNotAnswerIsNotWaitedForLong() async throws {
        try await withPrivateBus(keyring: .unlocked) { bus throws in
            try await bus.freezeKeyring()
            let vault = SecretServiceVault(address: bus.address, milliseconds: 100)
            let error = await #expect(throws: VaultError.self) { try await vault.secret(for: key(.access)) }
            #expect(error?.description.contains("does not answer") == true)
            bus.thawKeyring()
            try await eventually("an answer") { try? await vault.check() }
        }
    }

    @Test func theAddressIsTheEnvironments() {
        typealias Vault = SecretServiceVault
        #expect(Vault.address(["DBUS_SESSION_BUS_ADDRESS": "unix:path=/b", "XDG_RUNTIME_DIR": "/r"]) == "unix:path=/b")
        #expect(Vault.address(["XDG_RUNTIME_DIR": "/run/user/10 00"]) == "unix:path=/run/user/10%2000/bus")
        #expect(Vault.address(["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": "r"]) == nil)
    }
}
