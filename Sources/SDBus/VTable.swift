internal import CSystemd
internal import DBus
internal import EventLoop
internal import Glibc

/// One interface of one object on the bus. libsystemd is given, for each member, a pointer to the object here that answers
/// for it: no name is looked up when a call comes.
@LoopActor final class Export {
    /// Lives as long as the process, as libsystemd wants: an interface is exported once.
    let vtable: UnsafeMutablePointer<sd_bus_vtable>
    private let properties: [ExportedProperty]
    private let methods: [ExportedMethod]

    init<Face>(_ interface: BusInterface<Face>, face: Face) {
        var properties: [ExportedProperty] = []
        var methods: [ExportedMethod] = []
        var entries: [sd_bus_vtable] = []
        for member in interface.members {
            switch member {
            case .property(let property):
                let exported = ExportedProperty(
                    get: { property.get(face) }, set: property.set.map { set in { try set(face, $0) } })
                properties.append(exported)
                entries.append(entry(property, Unmanaged.passUnretained(exported).toOpaque()))
            case .method(let method):
                let exported = ExportedMethod { arguments, call in
                    switch method.body {
                    case .now(let body): Export.answer(call, Result { try body(face, arguments) }.mapError(busError))
                    case .later(let body):
                        guard let reply = Export.reply(to: call) else { return Export.sendError(call, Export.tooMany) }
                        body(face, arguments, reply)
                    }
                }
                methods.append(exported)
                entries.append(entry(method, Unmanaged.passUnretained(exported).toOpaque()))
            case .signal(let name, let arguments): entries.append(signal(name, arguments))
            }
        }
        self.properties = properties
        self.methods = methods
        vtable = .allocate(capacity: entries.count + 2)
        vtable[0] = start()
        for (index, entry) in entries.enumerated() { vtable[index + 1] = entry }
        vtable[entries.count + 1] = end()
    }

    /// Calls of each client that wait for their answers.
    private static var waiting: [String: Int] = [:]
    /// More than anybody has a use for, and little enough to hold in memory.
    private static let mostWaiting = 1000
    fileprivate static let tooMany = BusError(
        "org.freedesktop.DBus.Error.LimitsExceeded",
        "\(mostWaiting) calls of yours wait for their answers; wait for some of them")

    /// Sends the answer on the Loop, from whichever thread it comes.
    /// - Returns: nil if too many of this client's wait already.
    fileprivate static func reply(to call: OpaquePointer) -> Reply? {
        let client = sd_bus_message_get_sender(call).map { String(cString: $0) } ?? ""
        guard waiting[client, default: 0] < mostWaiting else { return nil }
        waiting[client, default: 0] += 1
        let held = HeldCall(Message(borrowing: call))
        return Reply { result in
            LoopActor.onLoop {
                guard let message = held.take() else { return }
                waiting[client] = waiting[client].flatMap { $0 > 1 ? $0 - 1 : nil }
                answer(message.raw, result)
            }
        }
    }

    fileprivate static func answer(_ call: OpaquePointer, _ result: Result<[Value], BusError>) {
        guard sd_bus_message_get_expect_reply(call) > 0 else { return }
        do throws(BusError) {
            let values = try result.get()
            var raw: OpaquePointer?
            try check(sd_bus_message_new_method_return(call, &raw), "reply")
            let reply = Message(consuming: raw!)
            for value in values { try Coding.append(value, to: reply.raw) }
            try check(sd_bus_send(nil, reply.raw, nil), "reply")
        } catch {
            sendError(call, error)
        }
    }

    fileprivate static func sendError(_ call: OpaquePointer, _ error: BusError) {
        error.name.withCString { name in
            error.message.sendable.withCString { message in
                var raw = sd_bus_error(name: name, message: message, _need_free: 0)
                _ = sd_bus_reply_method_error(call, &raw)
            }
        }
    }
}

/// A call waiting for its answer; whoever answers first takes it. Touched on the Loop only.
private final class HeldCall: @unchecked Sendable {  // `take` is only called on the Loop
    private var message: Message?
    init(_ message: Message) { self.message = message }
    func take() -> Message? {
        defer { message = nil }
        return message
    }
}

private func busError(_ error: any Error) -> BusError { error as? BusError ?? .failed("\(error)") }

private final class ExportedProperty {
    let get: () -> Value
    let set: ((Value) throws -> Void)?

    init(get: @escaping () -> Value, set: ((Value) throws -> Void)?) {
        self.get = get
        self.set = set
    }
}

private final class ExportedMethod {
    let call: ([Value], OpaquePointer) -> Void
    init(_ call: @escaping ([Value], OpaquePointer) -> Void) { self.call = call }
}

private let getter: sd_bus_property_get_t = { _, _, _, _, reply, context, _ in
    // libsystemd calls on the Loop's thread, and nothing leaves it.
    nonisolated(unsafe) let (reply, context) = (reply!, context!)
    return LoopActor.assumeIsolated {
        let property = Unmanaged<ExportedProperty>.fromOpaque(context).takeUnretainedValue()
        do throws(BusError) {
            try Coding.append(property.get(), to: reply)
            return 1
        } catch {
            return -EIO
        }
    }
}

private let setter: sd_bus_property_set_t = { _, _, _, _, value, context, failure in
    // libsystemd calls on the Loop's thread, and nothing leaves it.
    nonisolated(unsafe) let (value, context, failure) = (value!, context!, failure)
    return LoopActor.assumeIsolated {
        let property = Unmanaged<ExportedProperty>.fromOpaque(context).takeUnretainedValue()
        do {
            try property.set?(Coding.read(value))
            return 1
        } catch {
            let error = busError(error)
            return sd_bus_error_set(failure, error.name, error.message.sendable)
        }
    }
}

private let handler: sd_bus_message_handler_t = { call, context, failure in
    // libsystemd calls on the Loop's thread, and nothing leaves it.
    nonisolated(unsafe) let (call, context, failure) = (call!, context!, failure)
    return LoopActor.assumeIsolated {
        let method = Unmanaged<ExportedMethod>.fromOpaque(context).takeUnretainedValue()
        do throws(BusError) {
            method.call(try Coding.readAll(call), call)
            return 1
        } catch {
            return sd_bus_error_set(failure, error.name, error.message.sendable)
        }
    }
}

// libsystemd keeps pointers into the table and its strings for ever.

private func start() -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: "<")
    entry.x.start.element_size = MemoryLayout<sd_bus_vtable>.stride
    entry.x.start.features = UInt64(_SD_BUS_VTABLE_PARAM_NAMES)
    // Without it sd-bus silently leaves argument names out of the introspection.
    entry.x.start.vtable_format_reference = dogear_vtable_format()
    return entry
}

private typealias Arguments = [(name: String, signature: Signature)]

private func end() -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: ">")
    return entry
}

private func entry<Face>(_ method: BusInterface<Face>.Method, _ context: UnsafeMutableRawPointer) -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: "M")
    entry.flags = UInt64(SD_BUS_VTABLE_UNPRIVILEGED) | UInt64(SD_BUS_VTABLE_ABSOLUTE_OFFSET)
    entry.x.method.member = kept(method.name)
    entry.x.method.signature = kept(method.inputs.map(\.signature.text).joined())
    entry.x.method.result = kept(method.outputs.map(\.signature.text).joined())
    entry.x.method.names = keptNames(method.inputs + method.outputs)
    entry.x.method.handler = handler
    entry.x.method.offset = Int(bitPattern: context)
    return entry
}

private func signal(_ name: String, _ arguments: Arguments) -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: "S")
    entry.x.signal.member = kept(name)
    entry.x.signal.signature = kept(arguments.map(\.signature.text).joined())
    entry.x.signal.names = keptNames(arguments)
    return entry
}

private func entry<Face>(
    _ property: BusInterface<Face>.Property, _ context: UnsafeMutableRawPointer
) -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: property.set == nil ? "P" : "W")
    entry.flags = UInt64(SD_BUS_VTABLE_ABSOLUTE_OFFSET)
    // Refused by libsystemd on a property that is only read.
    if property.set != nil { entry.flags |= UInt64(SD_BUS_VTABLE_UNPRIVILEGED) }
    switch property.emits {
    case .always: entry.flags |= UInt64(SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
    case .invalidates: entry.flags |= UInt64(SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION)
    case .constant: entry.flags |= UInt64(SD_BUS_VTABLE_PROPERTY_CONST)
    case .never: break
    }
    entry.x.property.member = kept(property.name)
    entry.x.property.signature = kept(property.signature.text)
    entry.x.property.get = getter
    if property.set != nil { entry.x.property.set = setter }
    entry.x.property.offset = Int(bitPattern: context)
    return entry
}

private func kept(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(strdup(text)) }

/// Each name ends in a NUL, the list in one more.
private func keptNames(_ arguments: Arguments) -> UnsafePointer<CChar> {
    let bytes: [UInt8] = arguments.map { Array($0.name.utf8) + [0] }.joined() + [0]
    let memory = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { memory[index] = CChar(bitPattern: byte) }
    return UnsafePointer(memory)
}
