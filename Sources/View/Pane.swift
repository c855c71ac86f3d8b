internal import Control
internal import Screen

/// A list of items, of which only some pages may be known.
struct Pane: Hashable, Sendable {
    /// Nil: not read yet.
    var rows: [ItemRow?] = []
    var place = ListPlace()
    /// Accounts that could not be asked.
    var problems: [String] = []
    /// Why there is nothing.
    var error: String?
    var isKnown = false
    /// More may come behind the last row, where the source does not say how many there are.
    var goesOn = false

    var chosen: ItemRow? { rows.indices.contains(place.chosen) ? rows[place.chosen] : nil }

    /// All of it in one answer.
    /// - Parameter kept: rows that stay although the answer is without them.
    mutating func take(_ items: [ItemRow], problems: [String] = [], keeping kept: Set<String> = []) {
        let id = chosen?.item.id
        var items = items
        for (index, row) in rows.enumerated() {
            guard let row, kept.contains(row.item.id) else { continue }
            if !items.contains(where: { $0.item.id == row.item.id }) { items.insert(row, at: min(index, items.count)) }
        }
        rows = items
        self.problems = problems
        isKnown = true
        error = nil
        goesOn = false
        // What was chosen stays chosen where it still is in the list.
        if let id, chosen?.item.id != id, let index = items.firstIndex(where: { $0.item.id == id }) {
            place.chosen = index
        }
    }

    /// Rows: more than anybody pages through.
    private static let most = 200_000

    /// One page, from 1.
    mutating func take(_ report: ListReport, page: Int) {
        let start = (page - 1) * Question.pageSize
        let isLast = report.items.count < Question.pageSize
        let known = start + report.items.count
        // What a server claims is room for that many.
        let count = report.total.map { min($0, Self.most) } ?? (isLast ? known : max(rows.count, known))
        if rows.count < count { rows += Array(repeating: nil, count: count - rows.count) }
        if rows.count > count { rows.removeLast(rows.count - count) }
        for (index, item) in report.items.enumerated() where start + index < rows.count { rows[start + index] = item }
        problems = report.problems
        isKnown = true
        error = nil
        goesOn = report.total == nil && report.items.count == Question.pageSize && known == count
    }

    mutating func forget(except page: Int) {
        for index in rows.indices where index / Question.pageSize + 1 != page { rows[index] = nil }
    }

    /// Pages with rows in sight, or nearly, that are not known.
    func missing(rows height: Int) -> [Int] {
        let from = max(0, place.first - 5)
        let to = place.first + height + 5
        var pages: Set<Int> = []
        for index in from..<max(from, min(to, rows.count)) where rows[index] == nil {
            pages.insert(index / Question.pageSize + 1)
        }
        if goesOn, to >= rows.count { pages.insert(rows.count / Question.pageSize + 1) }
        return pages.sorted()
    }
}
