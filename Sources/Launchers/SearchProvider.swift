public import DBus
internal import Listening

/// org.gnome.Shell.SearchProvider2, as GNOME Shell's `js/ui/remoteSearch.js` asks it: first for ids, then for what to show
/// of them.
public let searchProviderInterface = BusInterface<any LauncherFace>(
    "org.gnome.Shell.SearchProvider2",
    [
        .later("GetInitialResultSet", in: ["Terms": .strings], out: ["Results": .strings]) { face, args, reply in
            find(face, args[0], reply)
        },
        // What was found before is no smaller set to search in: the index is asked again, and is as fast.
        .later(
            "GetSubsearchResultSet", in: ["PreviousResults": .strings, "Terms": .strings], out: ["Results": .strings]
        ) { face, args, reply in find(face, args[1], reply) },
        .later("GetResultMetas", in: ["Results": .strings], out: ["Metas": .array(.variants)]) { face, args, reply in
            answered(reply) { () throws(BusError) in
                face.look(try args[0].strings()) { results in
                    reply([.array(.variants, results.map(meta))])
                }
            }
        },
        .method("ActivateResult", in: ["Result": .string, "Terms": .strings, "Timestamp": .uint32]) { face, args in
            face.choose(try args[0].string())
            return []
        },
        // There is no window to show all results in; the best one is what was meant.
        .method("LaunchSearch", in: ["Terms": .strings, "Timestamp": .uint32]) { face, args in
            face.choose(best: try args[0].strings().joined(separator: " "))
            return []
        },
    ])

private func find(_ face: any LauncherFace, _ terms: Value, _ reply: Reply) {
    answered(reply) { () throws(BusError) in
        face.find(try terms.strings().joined(separator: " "), limit: LauncherName.mostInShell) { results in
            reply([.strings(results.map(\.id))])
        }
    }
}

private func answered(_ reply: Reply, _ body: () throws(BusError) -> Void) {
    do throws(BusError) { try body() } catch { reply.fail(error) }
}

private func meta(_ result: LauncherResult) -> Value {
    .variants([
        ("id", .string(result.id)), ("name", .string(result.title)), ("description", .string(result.detail)),
        ("icon", icon(result)),
    ])
}

/// As `g_icon_serialize` writes it.
private func icon(_ result: LauncherResult) -> Value {
    if let cover = result.cover {
        .structure([.string("file"), .variant(.string(fileURL(cover)))])
    } else {
        .structure([.string("themed"), .variant(.strings([LauncherName.icon]))])
    }
}
