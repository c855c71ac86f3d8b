internal import CSystemd
internal import EventLoop
internal import Glibc
internal import Listening

/// What the kernel says of addresses and routes, by rtnetlink(7): a sign of the network that needs no other program.
@LoopActor final class RouteWatch: LoopSource {
    /// A network comes with several messages in a row; one sign will do.
    private static let lull = BookTime.seconds(0.3)

    private let time: any Timekeeper
    private let say: @LoopActor (String) -> Void
    private let onBack: @LoopActor () -> Void
    private var descriptor: Int32 = -1
    private var timer: LoopTimer?
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    init(time: any Timekeeper, say: @escaping @LoopActor (String) -> Void, onBack: @escaping @LoopActor () -> Void) {
        self.time = time
        self.say = say
        self.onBack = onBack
    }

    var isWatching: Bool { descriptor >= 0 }

    func begin() {
        guard !isWatching else { return }
        let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let opened = socket(AF_NETLINK, type, NETLINK_ROUTE)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(
            RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE)
        let size = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(opened, $0, size) }
        }
        guard opened >= 0, code == 0 else {
            say("the kernel does not tell of the network: \(String(cString: strerror(errno)))")
            if opened >= 0 { close(opened) }
            return
        }
        descriptor = opened
        LoopActor.add(self)
    }

    func end() {
        guard isWatching else { return }
        LoopActor.remove(self)
        close(descriptor)
        descriptor = -1
        timer?.cancel()
        timer = nil
    }

    var interest: LoopInterest? {
        isWatching ? LoopInterest(descriptor: descriptor, events: Int16(POLLIN)) : nil
    }

    func process() -> Bool {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        // Too much came at once, and some of it is lost: there may have been a sign in it.
        let isSign = count < 0 ? errno == ENOBUFS : RouteMessages.isSign(buffer[..<count])
        if isSign, timer?.isPending != true {
            timer = time.timer(after: Self.lull) { [weak self] in self?.onBack() }
        }
        return count > 0
    }
}

/// The messages of rtnetlink, as far as they matter here.
enum RouteMessages {
    private static let headLength = 16
    private static let newAddress: UInt16 = 20
    private static let newRoute: UInt16 = 24
    private static let tentative: UInt8 = 0x40
    /// From here on an address reaches no further than the wire, or this computer.
    private static let linkScope: UInt8 = 253
    private static let unicast: UInt8 = 1

    /// Whether there is an address that others can answer to, or a way to everywhere, among the messages of one packet.
    static func isSign(_ packet: ArraySlice<UInt8>) -> Bool {
        var rest = packet
        while rest.count >= headLength {
            let start = rest.startIndex
            let length = Int(rest.number(at: start, UInt32.self))
            guard length >= headLength, length <= rest.count else { return false }
            let type = rest.number(at: start + 4, UInt16.self)
            if isSign(type, rest[(start + headLength)..<(start + length)]) { return true }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return false
    }

    private static func isSign(_ type: UInt16, _ body: ArraySlice<UInt8>) -> Bool {
        let start = body.startIndex
        switch type {
        // struct ifaddrmsg: family, prefix length, flags, scope.
        case newAddress where body.count >= 8: return body[start + 2] & tentative == 0 && body[start + 3] < linkScope
        // struct rtmsg: family, length of the destination, …, type as the eighth byte.
        case newRoute where body.count >= 12: return body[start + 1] == 0 && body[start + 7] == unicast
        default: return false
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func number<Number: FixedWidthInteger>(at index: Int, _ type: Number.Type) -> Number {
        self[index..<(index + MemoryLayout<Number>.size)].withUnsafeBytes { $0.loadUnaligned(as: type) }
    }
}
