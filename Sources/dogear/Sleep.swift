import ArgumentParser
import Control
import Listening
import Terminal

struct SetSleep: DogearCommand {
    static let configuration = CommandConfiguration(
        commandName: "sleep",
        abstract: "Let listening end by itself: after a time, with a chapter, or with the item.",
        discussion: """
            Example:
              dogear sleep 30m
              dogear sleep chapter       # at the end of this chapter
              dogear sleep chapter:3     # at the end of the second one after it
              dogear sleep item
              dogear sleep +10m          # ten minutes later than it would
              dogear sleep off
              dogear sleep               # how long is left

            Only time of listening counts: the timer stands still in a pause, and goes on with whatever plays next. After \
            'chapter' or 'item', +TIME ends so long after that end; without a timer it sets one. After a jump the chapter \
            is the one that is then the present one. Ends of chapters are counted by playing, into the next item too; the \
            end of an item is the end of its last chapter. With 'item', what is next in the queue waits, paused.

            In the last seconds the sound fades (setting sleep.fade). Play, pause, next or previous then only say that you \
            are awake: they are not carried out but put the timer off, by 15 minutes (sleep.extend) or a chapter. Jumps, \
            speed, volume and playing something else do both; stop stops. A minute before the end, or half way \
            where it is less than two minutes off, a notification offers the same.

            When the timer has ended your place is back where the sound began to fade (sleep.rewind); 'dogear undo' goes \
            to where it ended. An item that came to its end is finished, though; 'dogear undo' then goes back to where the \
            sound began to fade. With sleep.again playing on sets the same timer again. The timer is the running daemon's: \
            one that is killed or leaves takes it along.
            """)

    @Argument(
        help: "30m, chapter, chapter:3, item, +10m or off; nothing tells what is set.",
        completion: .sleep)
    var what: String?

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let what, SleepWish(what) == nil { throw ValidationError(SleepWish.explanation(of: what)) }
    }

    func perform() throws {
        try show(try Link().ask("Sleep", .string(what ?? "")), output, as: SleepReport.self) { $0.lines(on: $1) }
    }
}
