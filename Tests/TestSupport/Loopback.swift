public import Glibc

extension sockaddr_in {
    /// 127.0.0.1, or another of this computer's own.
    /// - Parameter port: 0 for whichever is free.
    public static func loopback(port: UInt16 = 0, address host: UInt32 = 0x7f00_0001) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host.bigEndian
        address.sin_port = port.bigEndian
        return address
    }
}
