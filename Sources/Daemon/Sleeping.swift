internal import Control
internal import Listening

/// The sleep timer, for those who ask.
extension Service {
    /// How long until it ends; nil without one, and where nobody can tell.
    var sleepLeft: BookTime? {
        player.sleep == nil ? nil : player.sleepLeft(at: time.now, engine: engine.position(player.load))
    }

    var sleepRow: SleepRow? {
        guard let sleep = player.sleep else { return nil }
        let left = sleepLeft?.seconds
        return switch sleep.left {
        case .time: SleepRow(kind: "time", left: left, fading: player.isFading)
        case .chapters(let count): SleepRow(kind: "chapter", left: left, chapters: count, fading: player.isFading)
        case .item: SleepRow(kind: "item", left: left, fading: player.isFading)
        }
    }

    func sleep(_ text: String) throws(ControlError) -> SleepReport {
        if !text.isEmpty {
            guard let wish = SleepWish(text) else { throw ControlError(.usage, SleepWish.explanation(of: text)) }
            try check(wish)
            send(.sleep(wish))
        }
        return SleepReport(sleep: sleepRow, playing: player.wantsPlay)
    }

    /// Ends of chapters and items need some.
    private func check(_ wish: SleepWish) throws(ControlError) {
        switch wish {
        case .set(.time), .extend, .prolong, .off: return
        case .set(.chapters), .set(.item): break
        }
        let item = try loadedItem()
        if case .set(.chapters) = wish, item.chapters.isEmpty {
            throw ControlError(
                .usage, "'\(item.title)' has no chapters; write 'dogear sleep item' for its end, or a time such as 30m")
        }
    }
}
