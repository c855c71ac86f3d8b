/// Notices that a pipeline's clock has run away.
///
/// Between two reports of PulseAudio's server its client guesses how much was played. Once in some hundred times that
/// sound goes on after a stop, that guess is wrong by ages (PulseAudio 16.1), and as its time never goes back, it stands
/// there for as long as the stream lives: whatever comes is written that far ahead, and never played. Where the client
/// only guesses a little too far each time, the same happens for as long as that takes to catch up with.
struct ClockWatch {
    /// So far a clock may run ahead of the machine's by guessing, microseconds.
    static let tolerance: Int64 = 500_000

    /// How far it was ahead of the machine's when it was least so. A clock that stops now and then falls behind.
    private var least: (lead: Int64, at: Int64)?

    /// - Parameters:
    ///   - clock: what it says, nanoseconds.
    ///   - asked: when it was asked, and `answered` when it had said so; monotonic, microseconds. In between a busy
    ///     machine may take its time.
    mutating func hasRunAway(_ clock: UInt64, asked: Int64, answered: Int64) -> Bool {
        let clock = Int64(clock / 1000)
        guard let least, clock - asked > least.lead else {
            least = (clock - asked, answered)
            return false
        }
        // No crystal is off by more than a thousandth.
        return clock - answered - least.lead > Self.tolerance + (answered - least.at) / 1000
    }
}
