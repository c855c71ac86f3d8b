internal import CMemory
internal import Glibc

/// Memory that is kept for nothing goes back to the computer: a player is there all day.
public enum Thrift {
    /// To be called before threads begin. Each of them would else get a heap of its own, in which what one item needed
    /// stays behind when it is over; the threads of a pipeline are many, and allocate little at the same time.
    public static func begin() {
        mallopt(M_ARENA_MAX, 2)
        // Set, these do not grow with what was once used.
        mallopt(M_MMAP_THRESHOLD, 128 << 10)
        mallopt(M_TRIM_THRESHOLD, 128 << 10)
    }

    /// What beginning needed and going on does not: free parts of the heap, and code, which is read from its files again,
    /// where they are still in memory, as it is needed.
    /// - Parameter hasBegun: libraries were read for something that has just begun; otherwise theirs stays.
    public static func giveBack(hasBegun: Bool) {
        Task.detached(priority: .background) {
            malloc_trim(0)
            dogear_give_code_back(hasBegun ? 1 : 0)
        }
    }
}
