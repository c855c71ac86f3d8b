internal import Folders

extension ContentHash {
    /// Of a file: its size, the first and the last 64 KiB and 16 KiB from the middle, so that ten hours take no longer than
    /// one minute.
    mutating func add(_ file: FileBytes) {
        let size = file.size
        add(withUnsafeBytes(of: UInt64(size).littleEndian) { Array($0) })
        let edge = 64 << 10
        let middle = 16 << 10
        let parts = [
            (0, min(size, edge)), (max(0, size / 2 - middle / 2), min(size, middle)),
            (max(0, size - edge), min(size, edge)),
        ]
        for (offset, count) in parts {
            if let bytes = file.bytes(at: offset, count: count) { add(bytes) }
        }
    }

    /// Of what a file is called, how long it is and when it was written last.
    mutating func addName(of file: FileBytes) {
        add(file.path)
        for number in [0, file.size, file.modified] { add(withUnsafeBytes(of: number.littleEndian) { Array($0) }) }
    }
}
