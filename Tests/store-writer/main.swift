// Writes to a journal as playing does, as fast as it can, until it is killed; says each write once it is kept.
internal import Glibc
internal import Listening
internal import Store

let store = try Store.open(at: CommandLine.arguments[1]) { _ in }
let item = ItemID(source: "file", key: "killed")
var stretch = Stretch(
    id: "killed", item: item, started: 0, startPlace: .zero, duration: .zero, delivery: .local)
var second: Int64 = 0
while true {
    second += 1
    stretch.place = BookTime(microseconds: second)
    try await store.write(
        .played(Place(item: item, position: stretch.place, duration: .zero, updated: second), at: second),
        .stretch(stretch))
    let line = Array("\(second)\n".utf8)
    _ = write(1, line, line.count)
}
