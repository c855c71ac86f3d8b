import Daemon
import Foundation

/// What `dogear daemon` does: runs until it is told to leave.
/// - Parameter jsonLog: each line of the log is one JSON object, as in `dogear logs --json`.
/// - Returns: the exit code.
func runDaemon(jsonLog: Bool) -> Int32 {
    DaemonMain.run(environment: ProcessInfo.processInfo.environment, jsonLog: jsonLog)
}
