import Testing

@testable import Listening

@Suite struct SuccessorTests {
    @Test func aPlaceIsFoundInWhatBecameOfAnItem() {
        func item(_ kind: Item.Kind, _ title: String, _ files: [(String, Double)]) -> Item {
            let tracks = files.map { Track(start: .zero, duration: .seconds($1), audio: .file(path: $0)) }
            return Item(id: ItemID(source: "file", key: title), kind: kind, title: title, tracks: tracks)
        }
        let half = item(.file, "One", [("/1", 100)])
        #expect(item(.file, "Uno", [("/1", 100.4)]).place(from: half, .seconds(60)) == .seconds(60), "new tags")
        #expect(item(.file, "One", [("/1", 200)]).place(from: half, .seconds(99)) == .seconds(99), "the rest came")
        #expect(item(.file, "Other", [("/1", 200)]).place(from: half, .seconds(99)) == nil, "another one")
        #expect(item(.file, "One", [("/1", 50)]).place(from: half, .seconds(20)) == .seconds(20), "cut short")
        #expect(item(.file, "One", [("/1", 50)]).place(from: half, .seconds(70)) == .seconds(70), "beyond its end")
        #expect(item(.file, "Other", [("/1", 50)]).place(from: half, .seconds(20)) == nil)
        let book = item(.book, "Book", [("/b/1", 100), ("/b/2", 100), ("/b/3", 100)])
        let more = item(.book, "Book", [("/b/0", 30), ("/b/1", 100), ("/b/2", 100), ("/b/3", 100)])
        #expect(more.place(from: book, .seconds(150)) == .seconds(180))
        let further = item(.book, "Book", [("/b/1", 100), ("/b/2", 100), ("/b/3", 100), ("/b/4", 100)])
        #expect(further.place(from: book, .seconds(300)) == .seconds(300), "heard to its end, and more came")
        #expect(item(.file, "One", [("/1", 200)]).place(from: half, .seconds(100)) == .seconds(100))
        #expect(item(.file, "Uno", [("/1", 100)]).place(from: half, .seconds(100)) == nil, "there is no more of it")
        #expect(item(.file, "Uno", [("/1", 100)]).isSuccessor(of: half))
        let without = item(.book, "Book", [("/b/1", 100), ("/b/3", 100)])
        #expect(without.place(from: book, .seconds(150)) == .seconds(100), "what came behind what is gone")
        #expect(without.place(from: book, .seconds(250)) == .seconds(150))
        // What marks a moment has nothing to do with another one.
        #expect(without.same(.seconds(150), in: book) == nil && without.same(.seconds(250), in: book) == .seconds(150))
        #expect(more.same(.seconds(150), in: book) == .seconds(180) && more.same(.seconds(300), in: book) == nil)
        let front = item(.book, "Book", [("/b/1", 100), ("/b/2", 100)])
        #expect(front.place(from: book, .seconds(250)) == nil)
        let rest = item(.book, "Book", [("/b/3", 100)])
        #expect(rest.place(from: book, .seconds(250)) == .seconds(50), "what was heard is deleted")
        #expect(rest.place(from: book, .seconds(150)) == .zero)
        #expect(item(.book, "New", [("/b/2", 100), ("/b/9", 99)]).place(from: book, .seconds(150)) == nil)
    }

    @Test func aFileIsFoundUnderAnotherName() {
        func book(_ files: [(String, String, Double)]) -> Item {
            let tracks = files.map {
                Track(start: .zero, duration: .seconds($2), audio: .file(path: $0), title: $1)
            }
            return Item(id: ItemID(source: "file", key: "b"), kind: .book, title: "Book", tracks: tracks)
        }
        let old = book([("/1", "1", 100), ("/2", "2", 100), ("/3", "3", 100)])
        let renamed = book([("/1", "1", 100), ("/2 Two", "2 Two", 100), ("/3", "3", 100)])
        #expect(renamed.place(from: old, .seconds(150)) == .seconds(150))
        #expect(renamed.same(.seconds(150), in: old) == .seconds(150))
        let first = book([("/0", "2", 100.04), ("/1", "1", 100), ("/3", "3", 100)])
        #expect(first.place(from: old, .seconds(150)) == .seconds(50), "by its title")
        // Broadcasts are as long as each other, and no other is the one that was deleted.
        let later = book([("/2", "2", 100), ("/3", "3", 100), ("/4", "4", 100)])
        #expect(later.place(from: old, .seconds(50)) == .zero && later.same(.seconds(50), in: old) == nil)
        let one = book([("/all.m4b", "Book", 300.2)])
        #expect(one.isSuccessor(of: old) && old.isSuccessor(of: one), "the same in another form")
        #expect(
            one.place(from: old, .seconds(250)) == .seconds(250) && old.same(.seconds(250), in: one) == .seconds(250))
        #expect(!book([("/all.m4b", "Book", 250)]).isSuccessor(of: old))
    }
}
