internal import Screen

/// Where things stand. The model needs it too: which rows are in sight decides what is asked for.
extension ViewState {
    var isSmall: Bool { size.rows < 12 }
    /// What plays, below every page but its own.
    var miniRows: Int { tab == .player ? 0 : isSmall ? (size.rows >= 6 ? 1 : 0) : 3 }

    /// Between the tabs and what stands at the bottom: the notice and the keys.
    var content: Area {
        let gap = isSmall ? 0 : 1
        let bottom = min(2, max(0, size.rows - 2)) + miniRows
        return Area(x: 0, y: 1 + gap, columns: size.columns, rows: size.rows - 1 - gap - bottom)
    }

    /// Below the line that is typed into, or the title of a podcast.
    var listArea: Area {
        let hasHead = tab == .library || tab == .logs || opened?.tab == tab || tab == .queue
        return hasHead ? content.inset(top: 1) : content
    }

    var listRows: Int { max(1, listArea.rows) }
    var pageRows: Int { max(1, size.rows - 4) }

    /// A square at the left, where there is room for one.
    var coverArea: Area? {
        let all = content
        guard pictures != .none, all.columns >= 60, all.rows >= 10, status.cover != nil else { return nil }
        let columns = min(all.columns / 3, (all.rows - 1) * 2, 48) / 2 * 2
        return Area(x: 1, y: all.y, columns: columns, rows: columns / 2)
    }

    /// Beside the cover.
    var infoArea: Area {
        let left = coverArea.map { $0.x + $0.columns + 2 } ?? 1
        return content.inset(left: left, right: 1)
    }

    /// Lines of the player above its chapters.
    var infoRows: Int {
        let heads = 3 + (status.item.map { subtitle($0).isEmpty ? 0 : 1 } ?? 0)
        let bars = status.chapter == nil ? 1 : 3
        return heads + bars + (isSmall ? 0 : 2)
    }

    var chapterRows: Int { max(1, infoArea.rows - infoRows) }
}
