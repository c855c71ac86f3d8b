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
              dogear sleep chapter       at the end of this chapter
              dogear sleep chapter:3     at the end of the second one after it
              dogear sleep item
              dogear sleep +10m          ten minutes later than it would; without a timer, in ten minutes
              dogear sleep off
              dogear sleep               how long is left

            Only time of listening counts: the timer stands still in a pause, and goes on with whatever plays next. After \
            'chapter' or 'item', +TIME ends so long after that end, and a jump leads to the chapter that is then the \
            present one. The end of an item is the end of its last chapter.

            In the last seconds the sound fades. Play, pause, next or previous then only say that you are awake: they are \
            not carried out but put the timer off, by 15 minutes or a chapter. Jumps, speed and volume do both; stop stops. \
            When the timer has ended your place is back where the sound began to fade; 'dogear undo' goes to where it \
            ended. 'dogear settings' has sleep.fade, sleep.rewind, sleep.extend and sleep.again.
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
