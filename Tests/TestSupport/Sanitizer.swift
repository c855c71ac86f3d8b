internal import Foundation

/// What `packaging/test --sanitize` tells the tests.
public enum Sanitizer {
    /// How many times longer a limit that only bounds a hang is than without a sanitizer.
    public static let patience = ProcessInfo.processInfo.environment["DOGEAR_TEST_PATIENCE"].flatMap(Int.init) ?? 1

    /// Whether the programs run by the tests keep freed memory for a while, to find what still points to it.
    public static let keepsMemory = ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil

    /// - Returns: also where a program's own sanitizer puts its reports, which would be lost otherwise.
    public static func handingOn(_ environment: [String: String]) -> [String: String] {
        let options = ProcessInfo.processInfo.environment.filter { ["ASAN_OPTIONS", "TSAN_OPTIONS"].contains($0.key) }
        return environment.merging(options) { given, _ in given }
    }
}
