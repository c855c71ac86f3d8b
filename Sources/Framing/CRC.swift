/// The checksum of a flac frame's header: polynomial x^8 + x^2 + x + 1, from zero.
func crc8(_ bytes: ArraySlice<UInt8>) -> UInt8 {
    bytes.reduce(0) { crc, byte in
        (0..<8).reduce(crc ^ byte) { value, _ in value & 0x80 != 0 ? value << 1 ^ 0x07 : value << 1 }
    }
}
