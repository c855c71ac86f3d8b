import Foundation

/// How often each thread of a process has gone to sleep, by its name and number.
func wakes(of process: Int32) throws -> [String: Int] {
    let folder = "/proc/\(process)/task"
    let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
    return threads.reduce(into: [:]) { wakes, thread in
        // One that has ended meanwhile does nothing.
        func text(_ file: String) -> String {
            (try? String(contentsOfFile: "\(folder)/\(thread)/\(file)", encoding: .utf8)) ?? ""
        }
        let line = text("status").split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
        wakes["\(text("comm").prefix { $0 != "\n" }) \(thread)"] = line.flatMap { Int($0.filter(\.isNumber)) }
    }
}
