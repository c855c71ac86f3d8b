import Testing

@testable import Listening

/// A diary, and a clock turned by hand.
private struct Pen {
    var diary = Diary()
    var now = Moment(monotonic: 0, wall: 1_700_000_000_000)
    var rows: [Sitting] = []
    var day = Day("2023-11-14")!
    private var made = 0

    mutating func hear(
        _ seconds: Double, to place: Double, _ why: Player.Heard.Why = .tick, of item: ItemID = emma.id,
        session: String? = "s", rate: Double = 1
    ) {
        now.wall += Int64(seconds * 1000)
        made += 1
        let id = "row-\(made)"
        let sitting = diary.heard(
            .init(item: item, place: .seconds(place), listened: .seconds(seconds), why: why), rate: rate,
            session: session, day: day, id: { id }, now)
        guard let sitting else { return }
        rows.removeAll { $0.id == sitting.id }
        rows.append(sitting)
    }
}

@Suite struct DiaryTests {
    @Test func listeningOnAndOnIsOneRow() {
        var desk = Pen()
        for second in 1...5 { desk.hear(1, to: 100 + Double(second)) }
        desk.now.wall += Diary.rest
        desk.hear(0, to: 105, .pause)
        desk.hear(1, to: 106)
        #expect(desk.rows.count == 2, "a rest of half an hour and a second is none any more")
        #expect(desk.rows[0].from == .seconds(100) && desk.rows[0].to == .seconds(105))
        #expect(desk.rows[0].listened == .seconds(5) && desk.rows[0].started == 1_700_000_000_000)
        #expect(desk.rows[1].from == .seconds(105))
        desk.now.wall += Diary.rest - 1000
        desk.hear(1, to: 107)
        #expect(desk.rows.count == 2 && desk.rows[1].listened == .seconds(2))
    }

    @Test func nothingHeardIsNothingWritten() {
        var desk = Pen()
        desk.hear(0, to: 50, .seek)
        desk.hear(0, to: 50, .pause)
        #expect(desk.rows.isEmpty)
        desk.hear(1, to: 51)
        #expect(desk.rows.first?.from == .seconds(50))
    }

    @Test func anotherItemSessionOrDayIsAnotherRow() {
        var desk = Pen()
        desk.hear(1, to: 1)
        desk.hear(1, to: 1, of: ItemID(source: "file", key: "x"), session: nil)
        desk.hear(1, to: 2, session: "t")
        desk.day = desk.day + 1
        desk.hear(1, to: 3, session: "t")
        #expect(desk.rows.map(\.session) == ["s", nil, "t", "t"])
        #expect(Set(desk.rows.map(\.id)).count == 4)
    }

    @Test func whereItBeganIsReckonedAtItsSpeed() {
        var desk = Pen()
        desk.hear(2, to: 100, rate: 1.5)
        #expect(desk.rows.first?.from == .seconds(97))
        var early = Pen()
        early.hear(5, to: 1)
        #expect(early.rows.first?.from == .zero)
    }

    @Test func aClockThatIsSetBackEndsTheRow() {
        var desk = Pen()
        desk.hear(1, to: 1)
        desk.now.wall -= 2 * Diary.rest
        desk.hear(1, to: 2)
        #expect(desk.rows.count == 2)
        desk.now.wall -= 5000
        desk.hear(1, to: 3)
        #expect(desk.rows.count == 2 && desk.rows[1].ended >= desk.rows[1].started)
    }
}

@Suite struct DayTests {
    @Test func daysAndDatesAreTheSame() throws {
        #expect(Day(number: 0).description == "1970-01-01")
        #expect(Day("2000-02-29").map { $0 + 1 }?.description == "2000-03-01")
        #expect(Day(wallSeconds: -1).description == "1969-12-31")
        for number in stride(from: Int64(-100_000), through: 100_000, by: 37) {
            #expect(Day(Day(number: number).description)?.number == number)
        }
    }

    @Test(arguments: [
        "", "2026-1-1", "2026-02-30", "2026-13-01", "2026-00-10", "20261121", "x026-11-21", "2026-11-21 ",
    ])
    func whatIsNoDay(_ text: String) { #expect(Day(text) == nil) }
}

@Suite struct TallyTests {
    private let today = Day("2026-11-21")!
    private let file = ItemID(source: "file", key: "x")

    @Test func whatAServerHasIsNotCountedTwice() {
        let tally = Tally(
            since: today - 1,
            here: [
                .init(day: today, item: emma.id, listened: .seconds(100)),
                .init(day: today, item: file, listened: .seconds(7)),
                .init(day: today - 9, item: file, listened: .seconds(50)),
            ],
            owed: [.init(day: today, item: emma.id, listened: .seconds(30))],
            servers: [
                "a": .init(
                    total: .seconds(1000), days: [today: .seconds(70), today - 3: .seconds(930)],
                    items: [emma.id: .seconds(70)])
            ])
        #expect(tally.total == .init(server: .seconds(1000), local: .seconds(87)))
        #expect(tally.days[today] == .init(server: .seconds(70), local: .seconds(37)))
        #expect(tally.items[emma.id] == .init(server: .seconds(70), local: .seconds(30)))
        #expect(tally.items[file] == .init(local: .seconds(7)), "older days are not of the list")
        #expect(tally.ranking.map(\.item) == [emma.id, file])
    }

    @Test func aServerThatIsAwayIsStoodInForByWhatWasHeardHere() {
        let tally = Tally(
            since: today, here: [.init(day: today, item: emma.id, listened: .seconds(100))],
            owed: [.init(day: today, item: emma.id, listened: .seconds(30))], servers: [:])
        #expect(tally.total == .init(local: .seconds(100)))
    }

    @Test func daysInARow() {
        func streak(_ days: [Int]) -> Int {
            Tally(
                since: today, here: days.map { .init(day: today - $0, item: file, listened: .seconds(60)) }, owed: [],
                servers: [:]
            ).streak(today: today)
        }
        #expect(streak([]) == 0)
        #expect(streak([0]) == 1)
        #expect(streak([1, 2]) == 2, "today has only begun")
        #expect(streak([0, 1, 2, 4]) == 3)
        #expect(streak([2, 3]) == 0)
        // A server may know of days before the first one there is.
        let first = Day(number: .min)
        let old = [Tally.Row(day: first, item: file, listened: .seconds(60))]
        #expect(Tally(since: first, here: old, owed: [], servers: [:]).streak(today: first) == 1)
    }
}
