/// Looks again and again until there is an answer, for what announces nothing.
/// - Parameter limit: only bounds a hang. On a machine that is busy with others a test may hardly come to look: what counts
///   is that it has looked often as well.
@discardableResult
public func eventually<Answer>(
    _ what: @autoclosure () -> String, within limit: Duration = .seconds(120 * Sanitizer.patience),
    every pause: Duration = .milliseconds(5), isolation: isolated (any Actor)? = #isolation,
    _ probe: () async throws -> Answer?
) async throws -> Answer {
    let end = ContinuousClock.now + limit
    var looks = 0
    while true {
        if let answer = try await probe() { return answer }
        looks += 1
        guard ContinuousClock.now < end || looks < 200 else { throw TestFailure("waited in vain for \(what())") }
        try await Task.sleep(for: pause)
    }
}

/// The same for what holds, or does not yet.
public func until(
    _ what: @autoclosure () -> String, every pause: Duration = .milliseconds(5),
    isolation: isolated (any Actor)? = #isolation, _ holds: () async throws -> Bool
) async throws {
    try await eventually(what(), every: pause) { try await holds() ? true : nil }
}
