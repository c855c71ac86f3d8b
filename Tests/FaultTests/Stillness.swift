import Foundation
import Listening

@testable import EventLoop

/// Knows when nothing more happens by itself: every job has run, and neither the journal nor the network has anything in
/// hand. Nothing is guessed from how long it took, so a sequence goes the same way on a busy machine and beside others.
///
/// It rests on two things. All jobs run on the Loop, one after the other, those of no particular executor too: so that
/// when the Loop has none left, nothing moves but what is counted, which is the journal's queue and the requests. And of
/// those only one goes at a time, see ``Net``: which of two is answered first would be chance.
@LoopActor final class Stillness: LoopSource {
    static let shared = Stillness()

    /// Something whose stillness is waited for.
    @LoopActor protocol Subject: AnyObject {
        /// What others have in hand who will come back to the Loop and then call ``Stillness/look()``; for people, nil if
        /// nothing is.
        func awaited() -> String?
        /// Everything is quiet: lets the next thing go that waited for its turn.
        /// - Returns: false if there was none.
        func letNextGo() -> Bool
    }

    private struct Wait {
        unowned let subject: any Subject
        /// How often it was looked for whatever hangs.
        var rounds = 0
        /// Nil when it was still; else what it waited for.
        let answer: CheckedContinuation<String?, Never>
    }

    /// Rounds of a minute each. Nothing that is waited for takes so long: this bounds a hang and decides nothing else. A
    /// Loop that was kept from all this counts as one round, however long that was.
    private static let patience = 5

    private nonisolated let wakeup = Wakeup()
    private var waits: [Wait] = []

    private init() {
        OneThread.begin()
        LoopActor.add(self)
        watch()
    }

    /// Returns when nothing of it moves before time passes.
    /// - Returns: nil; or after minutes what is awaited in vain.
    func wait(for subject: any Subject) async -> String? {
        await withCheckedContinuation { answer in
            waits.append(Wait(subject: subject, answer: answer))
            look()
        }
    }

    /// Something came back: look again when the Loop has done all that follows from it.
    nonisolated func look() { wakeup.wake() }

    // MARK: The Loop's source

    var interest: LoopInterest? { LoopInterest(descriptor: wakeup.descriptor, events: Int16(POLLIN)) }

    /// Called between two rounds of jobs.
    func process() -> Bool {
        wakeup.clear()
        var still: [CheckedContinuation<String?, Never>] = []
        waits.removeAll { wait in
            guard wait.subject.awaited() == nil else { return false }
            // Whoever is done has handed in what follows before it counts as done.
            if LoopActor.executor.hasJobs {
                look()
                return false
            }
            if wait.subject.letNextGo() { return false }
            still.append(wait.answer)
            return true
        }
        for answer in still { answer.resume(returning: nil) }
        return false
    }

    private func watch() {
        _ = LoopActor.timer(after: .seconds(60)) {
            self.watch()
            for index in self.waits.indices { self.waits[index].rounds += 1 }
            let lost = self.waits.filter { $0.rounds > Self.patience }
            self.waits.removeAll { $0.rounds > Self.patience }
            for wait in lost { wait.answer.resume(returning: wait.subject.awaited() ?? "the Loop, never idle,") }
        }
    }
}

/// Sends the jobs of no particular executor to the Loop as well, by the hook that the runtime has for this. Only for
/// tests that run by themselves: what blocks there would block everything.
private enum OneThread {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    static func begin() {
        let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook")
        symbol!.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in
            LoopActor.executor.enqueue(ExecutorJob(job))
        }
    }
}
