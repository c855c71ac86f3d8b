internal import Listening
internal import Store

struct FilesSource: Source {
    let store: Store
    let covers: String
    func find(_ id: ItemID) async throws(SourceError) -> Found { throw SourceError(.failed, "not yet") }
    func open(_ found: Found) async throws(SourceError) -> Opened { throw SourceError(.failed, "not yet") }
}
