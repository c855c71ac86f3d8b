import Testing

@testable import Listening

@Suite struct RateKeyTests {
    @Test func aSpeedIsKeptForTheSeriesOrThePodcast() {
        let book = Item(
            id: ItemID("abs:a/1")!, kind: .book, title: "One",
            series: [SeriesPlace(name: "Saga"), SeriesPlace(name: "B")],
            tracks: [])
        #expect(book.rateKeys.map(\.description) == ["abs:a/1", "series:a/Saga", "series:a/B"])
        let episode = Item(
            id: ItemID("abs:a/show/7")!, kind: .episode, title: "Seven", podcast: "The Show", tracks: [])
        #expect(episode.rateKeys.map(\.description) == ["abs:a/show/7", "podcast:a/show"])
        #expect(plain.rateKeys == [plain.id])
    }
}
