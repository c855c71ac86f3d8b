internal import Control
internal import DBus
internal import Listening
internal import Screen
internal import Terminal

/// What keys and the mouse do.
extension ViewState {
    mutating func take(_ input: Input, at now: Int64) {
        switch input {
        case .key(let key): press(key, at: now)
        // Nothing is done with Alt here: it was Esc, and then a key that came right behind it.
        case .alt(let key):
            press(.escape, at: now)
            press(key, at: now)
        case .paste(let text):
            if isTyping {
                field.insert(text)
                search()
            }
        case .mouse(let mouse): click(mouse, at: now)
        case .focus: break
        }
    }

    private mutating func press(_ key: Key, at now: Int64) {
        switch key {
        case .control("c"): return requests.append(.leave)
        case .control("z"): return requests.append(.suspend)
        case .control("l"): return requests.append(.redraw)
        default: break
        }
        notice = nil
        if let menu { return choose(key, from: menu) }
        if page != nil { return turnPage(key) }
        if isTyping { return type(key) }
        if pressAnywhere(key, at: now) { return }
        switch tab {
        case .player: pressInPlayer(key)
        case .queue: pressInQueue(key)
        case .logs: pressInLogs(key)
        case .continued, .latest, .library: pressInList(key)
        }
    }

    /// Keys that mean the same everywhere.
    private mutating func pressAnywhere(_ key: Key, at now: Int64) -> Bool {
        switch key {
        case .text("q"): requests.append(.leave)
        case .text("?"), .function(1): page = Page(title: "Keys", lines: Help.lines)
        case .text(let digit) where ("1"..."6").contains(digit):
            if let number = digit.wholeNumberValue, let tab = Tab(rawValue: number - 1) { go(to: tab) }
        case .tab: go(to: Tab(rawValue: (tab.rawValue + 1) % Tab.allCases.count) ?? .player)
        case .backTab:
            go(to: Tab(rawValue: (tab.rawValue + Tab.allCases.count - 1) % Tab.allCases.count) ?? .player)
        case .text(" "): act(Act("Toggle"))
        case .left, .text("h"): act(Act("Seek", [.string("-" + skip.back)]))
        case .right, .text("l"): act(Act("Seek", [.string("+" + skip.forward)]))
        case .text("["): speed(by: -0.1)
        case .text("]"): speed(by: 0.1)
        case .text("="): act(Act("Speed", [.double(1)]))
        case .text("-"): volume(by: -0.05)
        case .text("+"): volume(by: 0.05)
        case .text("n"): act(Act("Next"))
        case .text("p"): act(Act("Previous"))
        case .text("u"): act(Act("Undo", [.string("")], done: "Back where you were before the last jump."))
        case .text("s"): menu = .sleep
        case .text("b"): toggleBedroom()
        case .text("/"):
            go(to: .library)
            opened = nil
            isTyping = true
        default: return false
        }
        return true
    }

    /// Dark, at the player, and asked when listening is to end where nothing says that yet.
    private mutating func toggleBedroom() {
        isDark.toggle()
        guard isDark else { return }
        go(to: .player)
        if status.item != nil, status.sleep == nil { menu = .sleep }
    }

    mutating func go(to tab: Tab) {
        hasChosenTab = true
        guard tab != self.tab else { return }
        self.tab = tab
        isTyping = false
        switch tab {
        case .queue: ask(.queue)
        case .logs: ask(.logs)
        case .continued: if panes[.continued] != nil { ask(.continued) }
        case .latest: if panes[.latest] != nil { ask(.latest(page: 1)) }
        case .library, .player: break
        }
    }

    private mutating func speed(by change: Double) {
        let rate = Amount.by(change).applied(to: status.rate, within: Amount.speeds)
        // Shown at once: pressed again before the daemon answered, it goes on from here.
        status.rate = rate
        act(Act("Speed", [.double(rate)]))
    }

    private mutating func volume(by change: Double) {
        let volume = Amount.by(change).applied(to: status.volume, within: Amount.volumes)
        status.volume = volume
        act(Act("Volume", [.double(volume)]))
    }

    private mutating func turnPage(_ key: Key) {
        guard var page else { return }
        switch key {
        case .down, .text("j"), .enter: page.first += 1
        case .up, .text("k"): page.first -= 1
        case .pageDown, .text(" "): page.first += pageRows
        case .pageUp: page.first -= pageRows
        case .home, .text("g"): page.first = 0
        case .end, .text("G"): page.first = page.lines.count
        default:
            self.page = nil
            return
        }
        self.page = page
    }

    private mutating func type(_ key: Key) {
        switch key {
        case .escape:
            if field.string.isEmpty { isTyping = false } else { field.clear() }
        case .enter, .down, .tab: isTyping = false
        default:
            if field.handle(key) { search() }
        }
    }

    // MARK: Lists

    /// - Returns: whether the key moved.
    private func move(_ place: inout ListPlace, _ key: Key, count: Int, rows: Int) -> Bool {
        switch key {
        case .up, .text("k"): place.chosen -= 1
        case .down, .text("j"): place.chosen += 1
        case .pageUp, .control("b"): place.chosen -= max(1, rows - 1)
        case .pageDown, .control("f"): place.chosen += max(1, rows - 1)
        case .home, .text("g"): place.chosen = 0
        case .end, .text("G"): place.chosen = count - 1
        default: return false
        }
        place.fit(count: count, rows: rows)
        return true
    }

    private mutating func pressInList(_ key: Key) {
        guard let list = currentList else { return }
        var pane = panes[list] ?? Pane()
        // Above the first row there is the line that is typed into.
        if tab == .library, opened == nil, pane.place.chosen == 0, key == .up || key == .text("k") {
            isTyping = true
            return
        }
        if move(&pane.place, key, count: pane.rows.count, rows: listRows) {
            panes[list] = pane
            return
        }
        switch key {
        case .escape, .backspace:
            if opened?.tab == tab {
                opened = nil
            } else if list == .found {
                field.clear()
            }
        case .text("r"): ask(.act(Act("Refresh", [], done: "Reading the libraries again.")))
        case .text("L") where list == .library: nextLibrary()
        case .text("o") where list == .library:
            sort = (sort + 1) % Self.sorts.count
            panes[.library] = Pane()
            read(again: .library)
        default: pressOnRow(key)
        }
    }

    private mutating func nextLibrary() {
        guard libraries.count > 1 else { return }
        library = (library + 1) % libraries.count
        panes[.library] = Pane()
        read(again: .library)
    }

    /// What can be done to an item wherever it is listed.
    private mutating func pressOnRow(_ key: Key) {
        guard let row = currentRow else { return }
        let title = Clean.line(row.item.title)
        let id = Value.string(row.item.id)
        switch key {
        case .enter: enter(row)
        case .text("a"):
            var add = Act("QueueAdd", [id, .bool(false)], done: "“\(title)” is at the end of the queue.")
            add.isOfQueue = true
            act(add)
        case .text("A"):
            var add = Act("QueueAdd", [id, .bool(true)], done: "“\(title)” plays next.")
            add.isOfQueue = true
            act(add)
        case .text("f"):
            act(
                row.finished
                    ? Act("Unfinish", [id], done: "“\(title)” is not finished any more.")
                    : Act("Finish", [id], done: "“\(title)” is finished."))
        case .text("i"): ask(.show(row.item.id))
        default: break
        }
    }

    private mutating func enter(_ row: ItemRow) {
        let title = Clean.line(row.item.title)
        if row.item.kind == "podcast" {
            opened = (row.item.id, title, tab)
            panes[.episodes] = Pane()
            return ask(.show(row.item.id))
        }
        act(Act("Play", [.string(row.item.id), .string("")], doing: "Opening “\(title)”…"))
    }

    private mutating func pressInQueue(_ key: Key) {
        if move(&queuePlace, key, count: queue.items.count, rows: listRows) { return }
        let number = Value.int32(Int32(clamping: queuePlace.chosen + 1))
        switch key {
        case .text("x"), .delete:
            guard currentRow != nil else { return }
            change("QueueRemove", [number])
        case .text("K") where queuePlace.chosen > 0: shift(by: -1)
        case .text("J") where queuePlace.chosen < queue.items.count - 1: shift(by: 1)
        default: pressOnRow(key)
        }
    }

    private mutating func shift(by step: Int) {
        let from = queuePlace.chosen
        guard queue.items.indices.contains(from), queue.items.indices.contains(from + step) else { return }
        queue.items.swapAt(from, from + step)
        queuePlace.chosen += step
        change("QueueMove", [.int32(Int32(clamping: from + 1)), .int32(Int32(clamping: from + step + 1))])
    }

    private mutating func change(_ member: String, _ arguments: [Value]) {
        var change = Act(member, arguments)
        change.isOfQueue = true
        act(change)
    }

    private mutating func pressInPlayer(_ key: Key) {
        if move(&chapterPlace, key, count: chapters.count, rows: chapterRows) { return }
        switch key {
        case .enter:
            if chapters.indices.contains(chapterPlace.chosen) {
                act(Act("Seek", [.string("chapter:\(chapterPlace.chosen + 1)")]))
            } else if status.item == nil {
                act(Act("Play", [.string(""), .string("")], doing: "Opening what you listened to last…"))
            }
        case .text("f"):
            guard status.item != nil else { return }
            act(
                status.finished == true
                    ? Act("Unfinish", [.string("")], done: "Not finished any more.")
                    : Act("Finish", [.string("")], done: "Finished."))
        case .text("i"): if let item = status.item { ask(.show(item.id)) }
        default: break
        }
    }

    // MARK: Logs

    private mutating func pressInLogs(_ key: Key) {
        let rows = shownLogs
        if move(&logPlace, key, count: rows.count, rows: listRows) { return }
        switch key {
        case .text("e"):
            let all = LogLevel.allCases
            logLevel = all[((all.firstIndex(of: logLevel) ?? 0) + 1) % all.count]
            logPlace.chosen = max(0, shownLogs.count - 1)
        case .text("y"): copyLogs(rows)
        case .text("c"):
            logsFrom = (logs.last?.time ?? 0) + 1
            notice = Notice(
                text: "Older lines are hidden here; 'dogear logs' still has them. C brings them back.", isBad: false)
        case .text("C"): logsFrom = .min
        case .enter, .text("i"):
            guard rows.indices.contains(logPlace.chosen) else { return }
            page = Page(
                title: "Log line",
                lines: Width.wrap(rows[logPlace.chosen].line(on: surface), to: max(20, size.columns - 4)))
        default: break
        }
    }

    /// The newest that the clipboard of a terminal takes.
    private mutating func copyLogs(_ rows: [LogsReport.Row]) {
        var lines: [String] = []
        var length = 0
        for row in rows.reversed() {
            let line = row.line(on: surface)
            length += line.utf8.count + 1
            if length > Clipboard.most { break }
            lines.append(line)
        }
        guard !lines.isEmpty else {
            notice = Notice(text: "There is nothing to copy.", isBad: false)
            return
        }
        requests.append(.copy(lines.reversed().joined(separator: "\n") + "\n"))
        let count = lines.count == rows.count ? "All \(lines.count)" : "The newest \(lines.count) of \(rows.count)"
        notice = Notice(text: "\(count) lines are in the clipboard, if your terminal allows it.", isBad: false)
    }

    // MARK: Mouse

    private mutating func click(_ mouse: Mouse, at now: Int64) {
        switch mouse.kind {
        case .wheelUp: wheel(-3)
        case .wheelDown: wheel(3)
        case .press:
            notice = nil
            if page != nil {
                page = nil
                return
            }
            let hit = draw(at: now).hits.last { $0.area.contains(mouse.x, mouse.y) }
            // Beside a menu a click only leaves it.
            if menu != nil, hit?.target.isEntry != true {
                menu = nil
                return
            }
            guard let hit else { return }
            click(hit, mouse, at: now)
        case .drag, .release: break
        }
    }

    private mutating func click(_ hit: Hit, _ mouse: Mouse, at now: Int64) {
        switch hit.target {
        case .tab(let tab): go(to: tab)
        case .field: isTyping = true
        case .toggle: act(Act("Toggle"))
        case .entry(let key): press(.text(key), at: now)
        case .row(let index):
            isTyping = false
            // A second click on what is chosen is the same as Enter.
            if chosenIndex == index { press(.enter, at: now) } else { chosenIndex = index }
        case .bar(let from, let to):
            let share = (Double(mouse.x - hit.area.x) + 0.5) / Double(max(1, hit.area.columns))
            let place = max(0, from + (to - from) * share)
            act(Act("Seek", [.string(TimeText.clock(.seconds(place)))]))
        }
    }

    private var chosenIndex: Int {
        get {
            switch tab {
            case .queue: queuePlace.chosen
            case .player: chapterPlace.chosen
            case .logs: logPlace.chosen
            case .continued, .latest, .library: currentList.flatMap { panes[$0]?.place.chosen } ?? 0
            }
        }
        set {
            switch tab {
            case .queue: queuePlace.chosen = newValue
            case .player: chapterPlace.chosen = newValue
            case .logs: logPlace.chosen = newValue
            case .continued, .latest, .library: if let list = currentList { panes[list]?.place.chosen = newValue }
            }
        }
    }

    private mutating func wheel(_ amount: Int) {
        if page != nil {
            page?.first += amount
            return
        }
        switch tab {
        case .queue: queuePlace.scroll(by: amount, count: queue.items.count, rows: listRows)
        case .player: chapterPlace.scroll(by: amount, count: chapters.count, rows: chapterRows)
        case .logs: logPlace.scroll(by: amount, count: shownLogs.count, rows: listRows)
        case .continued, .latest, .library:
            if let list = currentList, var pane = panes[list] {
                pane.place.scroll(by: amount, count: pane.rows.count, rows: listRows)
                panes[list] = pane
            }
        }
    }
}
