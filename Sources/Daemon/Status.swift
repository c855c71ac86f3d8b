internal import Control
internal import DBus
internal import EventLoop
internal import FoundationEssentials
internal import Listening

/// What the listener is told.
extension Service {
    func statusReport() -> StatusReport {
        var report = StatusReport()
        report.state = player.isBuffering || player.isStanding ? .buffering : player.state
        report.item = player.item.map(ItemHead.init)
        // What came to its end stands there until what is next is there.
        let isAtEnd = if case .opening = player.phase { player.turning == .rolled } else { false }
        let position = isAtEnd ? player.item?.duration ?? .zero : position
        if let item = player.item, let index = item.chapterIndex(at: position) {
            report.chapter = ChapterRow(item.chapters[index], index: index)
            report.chapters = item.chapters.count
        }
        report.position = position.seconds
        report.duration = player.item?.duration.seconds ?? 0
        report.finished = player.isFinished
        report.rate = player.rate
        report.rateOf = player.item.map { _ in rateKey.rateOwner }
        report.volume = player.volume
        report.sleep = sleepRow
        report.buffered = engine.buffered(player.load)?.seconds
        report.unsent = sync.overdue
        report.parked = sync.parked
        report.queued = queue.items.count
        report.account = player.item.flatMap { shelves.accountName(of: $0.id) }
        report.cover = player.item?.coverPath
        report.opening = finding?.title
        report.error = queueTrouble ?? player.error ?? trouble ?? lasting ?? presentRemark
        return report
    }

    /// Why nothing plays, if that is not how the listener wants it. Without a title: the queue does not go on.
    var standstill: (title: String?, why: String)? {
        guard !isOnItsWay else { return nil }
        if let queueTrouble { return (nil, queueTrouble) }
        guard !player.wantsPlay, let why = player.error, let item = player.item else { return nil }
        return (item.title, why)
    }

    /// What is wanted is not there.
    var isAwaited: Bool { isOnItsWay || player.wantsPlay && (player.isUnderWay || player.isBuffering) }

    /// Its title.
    var awaited: String? { isAwaited ? finding?.title ?? heading?.entry.item.title ?? player.item?.title : nil }

    /// What neither passes by itself nor is the other's affair.
    private var lasting: String? {
        let sentences = [shelves.trouble, notice].compactMap(\.self)
        return sentences.isEmpty ? nil : sentences.joined(separator: "; ")
    }

    private var presentRemark: String? { remark.flatMap { $0.item == player.item?.id ? $0.text : nil } }

    func emitStatus() {
        statusTimer?.cancel()
        statusTimer = nil
        let report = statusReport()
        announced = report.standing
        notices?.lookAtTrouble()
        emit("Changed", json(report))
    }

    /// For whoever follows the status: what is no property of the desktop's changes too.
    func announceNews() {
        if statusTimer == nil, hasNews { announceStatus() }
    }

    var hasNews: Bool { announced != statusReport().standing }

    func emitRefreshed() {
        if let librarian { emit("Refreshed", json(indexReport(librarian))) }
    }

    private func emit(_ signal: String, _ text: String) {
        do throws(BusError) {
            try bus.emit(signal, [.string(text)], of: ControlName.interface, at: ControlName.path)
        } catch {
            log.debug("a signal could not be sent", metadata: ["why": "\(error)"])
        }
    }
}

extension StatusReport {
    /// Without what changes as time passes.
    fileprivate var standing: StatusReport {
        var report = self
        (report.position, report.buffered, report.sleep) = (0, nil, nil)
        return report
    }
}

/// Keys in a stable order; slashes as they are.
func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
}

extension Player {
    var state: StatusReport.State {
        switch phase {
        case .empty: .empty
        case .playing: .playing
        case .paused: .paused
        case .stopped: isSetDown ? .paused : .stopped
        // Sound is on its way.
        case .opening(let play), .loading(let play): play ? .buffering : item == nil ? .empty : .paused
        }
    }
}

extension ItemHead {
    init(_ item: Item) {
        self.init(
            id: item.id.description, title: item.title, authors: item.authors, narrators: item.narrators,
            series: item.series.map { SeriesRow(name: $0.name, sequence: $0.sequence) }, kind: item.kind.rawValue,
            podcast: item.podcast)
    }
}

extension ChapterRow {
    init(_ chapter: Chapter, index: Int) {
        self.init(index: index + 1, title: chapter.title, start: chapter.start.seconds, end: chapter.end.seconds)
    }
}
