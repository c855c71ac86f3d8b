public import Control
public import Listening

extension SleepRow {
    /// `in 12 min`, `in 12 min, with the chapter`, `in 1 h, after 3 chapters`, `at the end`.
    var words: String { end + (fading ? ", the sound fades" : "") }

    fileprivate var end: String {
        let time = left.map { "in \(Figures.length($0))" }
        let end: String? =
            switch (kind, chapters ?? 1) {
            case ("chapter", ...1): "with the chapter"
            case ("chapter", let count): "after \(Figures.count(count, "chapter"))"
            case ("item", _): "at the end"
            default: nil
            }
        return [time, end].compactMap(\.self).joined(separator: ", ")
    }
}

extension SleepReport {
    public func lines(on surface: Surface) -> [String] {
        guard let sleep else { return ["No sleep timer is set."] }
        let first = "Sleeps \(sleep.end)."
        if sleep.fading { return [first, "The sound fades: 'dogear sleep +10m' or any key puts it off."] }
        return playing ? [first] : [first, "That is time of listening: it stands still until something plays."]
    }
}

extension SleepWish {
    /// What to say about a text that is none.
    public static func explanation(of text: String) -> String {
        """
        '\(Clean.line(text))' is no sleep timer: write 30m (1 s to 24 h), +10m, chapter, chapter:3 (1 to \
        \(chapterLimit)), item or off
        """
    }
}
