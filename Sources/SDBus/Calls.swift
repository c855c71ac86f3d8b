internal import CSystemd
public import DBus
public import EventLoop
internal import Glibc

/// A subscription to signals; ends when cancelled.
@LoopActor public final class SignalMatch {
    fileprivate let handler: @LoopActor ([Value], _ sender: String) -> Void
    fileprivate var slot: OpaquePointer?

    fileprivate init(_ handler: @escaping @LoopActor ([Value], String) -> Void) { self.handler = handler }
    public func cancel() {
        if let slot { sd_bus_slot_unref(slot) }
        slot = nil
    }
}

extension Bus {
    /// Calls a method and waits for its answer; the Loop goes on meanwhile.
    ///
    /// - Parameters:
    ///   - destination: a name on the bus; nil for the peer of a connection without a bus.
    ///   - timeout: microseconds; 0 is libsystemd's 25 s.
    public func call(
        _ destination: String?, _ path: String, _ interface: String, _ member: String, _ arguments: [Value] = [],
        timeout: UInt64 = 0
    ) async throws(BusError) -> [Value] {
        let result: Result<[Value], BusError> = await withCheckedContinuation { continuation in
            call(destination, path, interface, member, arguments, timeout: timeout) {
                continuation.resume(returning: $0)
            }
        }
        return try result.get()
    }

    /// Calls a method. The answer comes in its order with the signals; behind an `await` later ones may be ahead of it.
    ///
    /// - Parameter answered: called once, before this returns when the call cannot be sent.
    public func call(
        _ destination: String?, _ path: String, _ interface: String, _ member: String, _ arguments: [Value] = [],
        timeout: UInt64 = 0, answered: @escaping @LoopActor (Result<[Value], BusError>) -> Void
    ) {
        do throws(BusError) {
            var raw: OpaquePointer?
            try check(sd_bus_message_new_method_call(self.raw, &raw, destination, path, interface, member), "call")
            let message = Message(consuming: raw!)
            for argument in arguments { try Coding.append(argument, to: message.raw) }
            let box = Unmanaged.passRetained(Pending(answered))
            let code = sd_bus_call_async(self.raw, nil, message.raw, completed, box.toOpaque(), timeout)
            if code < 0 { box.release() }
            try check(code, "call \(member)")
        } catch {
            answered(.failure(error))
        }
    }

    /// Whether anyone has this name now, as far as the bus tells; nobody is started.
    /// - Parameter timeout: as in ``call(_:_:_:_:_:timeout:)``.
    public func hasOwner(_ name: String, timeout: UInt64 = 0) async -> Bool {
        await withCheckedContinuation { continuation in
            hasOwner(name, timeout: timeout) { continuation.resume(returning: $0) }
        }
    }

    /// The same, in its order with the signals: as of the other ``call(_:_:_:_:_:timeout:answered:)``.
    public func hasOwner(_ name: String, timeout: UInt64 = 0, answered: @escaping @LoopActor (Bool) -> Void) {
        let driver = "org.freedesktop.DBus"
        call(driver, "/org/freedesktop/DBus", driver, "NameHasOwner", [.string(name)], timeout: timeout) { answer in
            answered((try? answer.get().first) == .bool(true))
        }
    }

    /// Hears a signal from now on. Empty parts match everything.
    ///
    /// - Parameter first: what the first argument must be: the bus then keeps all other signals to itself.
    public func match(
        sender: String? = nil, path: String? = nil, interface: String, member: String, first: String? = nil,
        _ handler: @escaping @LoopActor ([Value], _ sender: String) -> Void
    ) throws(BusError) -> SignalMatch {
        let match = SignalMatch(handler)
        let parts = [
            ("type", "signal"), ("sender", sender), ("path", path), ("interface", interface), ("member", member),
            ("arg0", first),
        ]
        let rule = parts.compactMap { name, value in value.map { "\(name)='\($0)'" } }.joined(separator: ",")
        var slot: OpaquePointer?
        let context = Unmanaged.passRetained(match)
        let code = sd_bus_add_match_async(raw, &slot, rule, heard, nil, context.toOpaque())
        if code < 0 { context.release() }
        try check(code, "match \(member)")
        match.slot = slot
        _ = sd_bus_slot_set_destroy_callback(slot) { context in
            Unmanaged<SignalMatch>.fromOpaque(context!).release()
        }
        return match
    }
}

private final class Pending {
    let answered: @LoopActor (Result<[Value], BusError>) -> Void
    init(_ answered: @escaping @LoopActor (Result<[Value], BusError>) -> Void) { self.answered = answered }
}

private let completed: sd_bus_message_handler_t = { message, context, _ in
    // libsystemd calls on the Loop's thread, and nothing leaves it.
    nonisolated(unsafe) let (message, context) = (message!, context!)
    return LoopActor.assumeIsolated {
        let pending = Unmanaged<Pending>.fromOpaque(context).takeRetainedValue()
        if let error = sd_bus_message_get_error(message) {
            let name = error.pointee.name.map { String(cString: $0) } ?? ""
            let text = error.pointee.message.map { String(cString: $0) } ?? name
            pending.answered(.failure(BusError(name, text)))
        } else {
            pending.answered(Result { () throws(BusError) in try Coding.readAll(message) })
        }
        return 1
    }
}

private let heard: sd_bus_message_handler_t = { message, context, _ in
    // libsystemd calls on the Loop's thread, and nothing leaves it.
    nonisolated(unsafe) let (message, context) = (message!, context!)
    return LoopActor.assumeIsolated {
        let match = Unmanaged<SignalMatch>.fromOpaque(context).takeUnretainedValue()
        let sender = sd_bus_message_get_sender(message).map { String(cString: $0) } ?? ""
        if let values = try? Coding.readAll(message) { match.handler(values, sender) }
        return 0
    }
}
