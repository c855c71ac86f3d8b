public import DBus

/// org.kde.krunner1, as KRunner's `dbusrunner.cpp` asks it.
public let runnerInterface = BusInterface<any LauncherFace>(
    "org.kde.krunner1",
    [
        greeting("Actions", out: ["Actions": .array(Signature("(sss)"))], [.array(Signature("(sss)"), [])]),
        .later("Match", in: ["Query": .string], out: ["Matches": .array(match)]) { face, args, reply in
            do throws(BusError) {
                face.find(try args[0].string(), limit: LauncherName.most) { results in
                    let count = Double(results.count)
                    let rows = results.enumerated().map { index, result in
                        row(result, relevance: (result.closeness == .some ? 0.6 : 0.9) - 0.3 * Double(index) / count)
                    }
                    reply([.array(match, rows)])
                }
            } catch {
                reply.fail(error)
            }
        },
        .method("Run", in: ["Match": .string, "Action": .string]) { face, args in
            face.choose(try args[0].string())
            return []
        },
        greeting("Config", out: ["Config": .variants], [.variants([("MinLetterCount", .int32(1))])]),
        greeting("Teardown"),
        // For a window that comes up: there is none.
        greeting("SetActivationToken", in: ["Token": .string]),
    ])

/// What is asked of every runner, whoever looks for what.
private func greeting(
    _ name: String, in inputs: KeyValuePairs<String, Signature> = [:],
    out outputs: KeyValuePairs<String, Signature> = [:], _ answer: [Value] = []
) -> BusInterface<any LauncherFace>.Member {
    .method(name, in: inputs, out: outputs) { face, _ in
        face.greet()
        return answer
    }
}

/// Id, text, icon, type, relevance from 0 to 1, more. KRunner takes answers of no other signature, and says nothing of
/// them.
private let match = Signature("(sssida{sv})")

/// - Parameter relevance: of how much it is what was meant.
private func row(_ result: LauncherResult, relevance: Double) -> Value {
    // Plasma's QueryMatch: 100 for an exact match, which goes before the programs that begin so, 30 for a possible one.
    .structure([
        .string(result.id), .string(result.title), .string(result.cover ?? LauncherName.icon),
        .int32(result.closeness == .whole ? 100 : 30), .double(relevance),
        .variants([("subtext", .string(result.detail))]),
    ])
}
