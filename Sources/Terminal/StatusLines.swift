public import Control
internal import Listening

extension ItemHead {
    /// `Title — Author`, or for an episode `Title — Podcast`.
    public var byline: String {
        let people = podcast.map(Clean.line) ?? Clean.line(authors.joined(separator: ", "))
        let title = Clean.line(title)
        let name = title.isEmpty ? Clean.line(id) : title
        return people.isEmpty ? name : "\(name) — \(people)"
    }
}

extension StatusReport {
    /// What plays and, below it, where; then what is out of the ordinary.
    public func lines(on surface: Surface) -> [String] {
        guard let item else {
            if let awaited { return [surface.cut(awaited, after: 0)] + trouble(surface) }
            let hint = "Nothing is loaded. 'dogear play WORDS' plays something; 'dogear continue' lists what was begun."
            return (surface.columns == nil ? [hint] : Width.wrap(hint, to: surface.columns ?? 80)) + trouble(surface)
        }
        let word = stateWord
        let indent = String(repeating: " ", count: word.count + 2)
        var lines = [surface.paint(word, .bold) + "  " + surface.cut(item.byline, after: indent.count)]
        let times = self.times
        let chapter = chapter.map(name)
        // What is told counts for more than what is drawn: on a narrow screen the bar goes first, then all on one line.
        let least = indent.count + Width.of(times) + (chapter.map { min(Width.of($0), 20) + 3 } ?? 0)
        let room = surface.columns.map { $0 - least } ?? 0
        let bar = duration > 0 && room >= Self.barColumns ? surface.bar(share) + "  " : ""
        if let chapter, room >= 0 {
            let behind = indent.count + 3 + (bar.isEmpty ? 0 : Self.barColumns) + Width.of(times)
            lines.append(indent + surface.cut(chapter, after: behind) + "   " + bar + times)
        } else {
            if let chapter { lines.append(indent + surface.cut(chapter, after: indent.count)) }
            let columns = surface.columns.map { max(20, $0 - indent.count) } ?? .max
            let last = bar + times
            lines += (Width.of(last) <= columns ? [last] : Width.wrap(last, to: columns)).map { indent + $0 }
        }
        let extras = self.extras
        if !extras.isEmpty { lines.append(indent + extras.joined(separator: " · ")) }
        return lines + trouble(surface)
    }

    /// All on one line, for following.
    public func line(on surface: Surface) -> String {
        guard let item else {
            return ([awaited ?? "Nothing is loaded."] + trouble(surface)).joined(separator: "  ")
        }
        let parts: [String?] = [
            surface.paint(stateWord, .bold), item.byline, chapter.map(name), times,
            extras.isEmpty ? nil : extras.joined(separator: " · "), error.map(Clean.line),
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }

    /// `1.5×, chosen for this item`: the speed, and whose it is.
    public var speedLine: String {
        let owner: String? =
            switch rateOf {
            case "item": "chosen for this item"
            case "series": "chosen for its series"
            case "podcast": "chosen for its podcast"
            case "default": "from the settings (playback.rate)"
            default: nil
            }
        return ([Figures.speed(rate)] + [owner].compactMap(\.self)).joined(separator: ", ")
    }

    /// `Playing`.
    public var stateWord: String {
        switch state {
        case .playing: "Playing"
        case .paused: "Paused"
        case .buffering: "Buffering"
        case .stopped: finished == true ? "Finished" : "Stopped"
        case .empty: "Empty"
        }
    }

    /// Of what comes where nothing is loaded yet.
    private var awaited: String? { opening.map { "Opening “\(Clean.line($0))”…" } }

    private var share: Double { duration > 0 ? position / duration : 0 }

    /// `chapter 3/12 “The Name”`.
    public func name(of chapter: ChapterRow) -> String {
        let title = Clean.line(chapter.title)
        return "chapter \(chapter.index)" + (chapters.map { "/\($0)" } ?? "") + (title.isEmpty ? "" : " “\(title)”")
    }

    /// `12:05 / 58:00  (1:23:45 of 9:59:00)`: of the chapter, then of the whole.
    private var times: String {
        let whole = duration > 0 ? "\(Figures.clock(position)) of \(Figures.clock(duration))" : Figures.clock(position)
        guard let chapter else { return whole }
        let length = max(0, chapter.end - chapter.start)
        let into = (position - chapter.start).clamped(to: 0...length)
        return "\(Figures.clock(into)) / \(Figures.clock(length))  (\(whole))"
    }

    /// What is out of the ordinary: speed, volume, what is not sent.
    public var extras: [String] {
        var extras: [String] = []
        if let opening { extras.append("opening “\(Clean.line(opening))”") }
        if rate != 1 { extras.append(Figures.speed(rate) + (timeLeft.map { ", \($0) left" } ?? "")) }
        if volume != 1 { extras.append("volume \(Figures.percent(volume))") }
        if let sleep { extras.append("sleeps \(sleep.words)") }
        // Listening, commands and bookmarks alike.
        if unsent > 0 { extras.append("\(unsent) not sent yet") }
        if let parked, parked > 0 { extras.append("\(parked) refused, see 'dogear sync'") }
        if let queued, queued > 0 { extras.append("\(queued) in the queue") }
        return extras
    }

    /// With the blanks behind it.
    private static let barColumns = 12

    /// At this speed: `5 h 43 min`.
    private var timeLeft: String? {
        duration > position && rate > 0 && finished != true ? Figures.length((duration - position) / rate) : nil
    }

    private func trouble(_ surface: Surface) -> [String] {
        guard let error else { return [] }
        return [surface.paint("! " + Clean.line(error), .warning)]
    }
}

extension Surface {
    /// As much as the line still holds behind what is there already.
    public func cut(_ text: String, after used: Int) -> String {
        columns.map { Width.cut(text, to: max(8, $0 - used)) } ?? text
    }
}
