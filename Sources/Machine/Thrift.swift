internal import CMalloc
internal import Folders
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

    /// What beginning needed and going on does not: free parts of the heap, and the program's own code, which is read
    /// from its file again, where it is still in memory, as it is needed.
    public static func giveBack() {
        Task.detached(priority: .background) {
            malloc_trim(0)
            for code in ownCode() { madvise(code.baseAddress, code.count, MADV_DONTNEED) }
        }
    }

    /// Where this program's code lies; never written to, so that nothing is lost with it.
    private static func ownCode() -> [UnsafeMutableRawBufferPointer] {
        guard let maps = try? PrivateFiles.read("/proc/self/maps") else { return [] }
        var path = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let length = readlink("/proc/self/exe", &path, Int(PATH_MAX))
        guard length > 0 else { return [] }
        let own = String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap { line in
            // "start-end rights offset device inode      path"
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count == 6, fields[1] == "r-xp", fields[5].drop(while: { $0 == " " }) == own else {
                return nil
            }
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard ends.count == 2, let start = UnsafeMutableRawPointer(bitPattern: ends[0]) else { return nil }
            return UnsafeMutableRawBufferPointer(start: start, count: Int(ends[1] - ends[0]))
        }
    }
}
