internal import CSystemd
internal import DBus
internal import EventLoop
internal import Glibc

/// One interface of one object on the bus: what libsystemd's callbacks find behind their `void *`.
@LoopActor final class Export {
    typealias Getter = () -> Value
    typealias Setter = (Value) throws -> Void

    let getters: [String: Getter]
    let setters: [String: Setter]
    let methods: [String: ([Value], OpaquePointer) -> Int32]
    /// Lives as long as the process, as libsystemd wants: an interface is exported once.
    let vtable: UnsafeMutablePointer<sd_bus_vtable>

    init<Face>(_ interface: BusInterface<Face>, face: Face) {
        var getters: [String: Getter] = [:]
        var setters: [String: Setter] = [:]
        var methods: [String: ([Value], OpaquePointer) -> Int32] = [:]
        for member in interface.members {
            switch member {
            case .property(let property):
                getters[property.name] = { property.get(face) }
                if let set = property.set { setters[property.name] = { try set(face, $0) } }
            case .method(let method):
                methods[method.name] = { arguments, call in
                    switch method.body {
                    case .now(let body): Export.answer(call, Result { try body(face, arguments) }.mapError(busError))
                    case .later(let body):
                        body(face, arguments, Export.reply(to: call))
                    }
                    return 1
                }
            case .signal: break
            }
        }
        self.getters = getters
        self.setters = setters
        self.methods = methods
        self.vtable = makeVTable(interface)
    }

    /// Sends the answer on the Loop, from whichever thread it comes.
    private static func reply(to call: OpaquePointer) -> Reply {
        let held = HeldCall(Message(borrowing: call))
        return Reply { result in
            LoopActor.onLoop {
                guard let message = held.take() else { return }
                answer(message.raw, result)
            }
        }
    }

    private static func answer(_ call: OpaquePointer, _ result: Result<[Value], BusError>) {
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

    private static func sendError(_ call: OpaquePointer, _ error: BusError) {
        error.name.withCString { name in
            error.message.withCString { message in
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

private let getter: sd_bus_property_get_t = { _, _, _, property, reply, context, _ in
    nonisolated(unsafe) let (property, reply, context) = (property!, reply!, context!)
    return LoopActor.assumeIsolated {
        let export = Unmanaged<Export>.fromOpaque(context).takeUnretainedValue()
        guard let get = export.getters[String(cString: property)] else { return -ENOENT }
        do throws(BusError) {
            try Coding.append(get(), to: reply)
            return 1
        } catch {
            return -EIO
        }
    }
}

private let setter: sd_bus_property_set_t = { _, _, _, property, value, context, failure in
    nonisolated(unsafe) let (property, value, context, failure) = (property!, value!, context!, failure)
    return LoopActor.assumeIsolated {
        let export = Unmanaged<Export>.fromOpaque(context).takeUnretainedValue()
        do {
            try export.setters[String(cString: property)]?(Coding.read(value))
            return 1
        } catch {
            let error = busError(error)
            return sd_bus_error_set(failure, error.name, error.message)
        }
    }
}

private let handler: sd_bus_message_handler_t = { call, context, failure in
    nonisolated(unsafe) let (call, context, failure) = (call!, context!, failure)
    return LoopActor.assumeIsolated {
        let export = Unmanaged<Export>.fromOpaque(context).takeUnretainedValue()
        do throws(BusError) {
            let arguments = try Coding.readAll(call)
            guard let method = export.methods[String(cString: sd_bus_message_get_member(call))] else { return 0 }
            return method(arguments, call)
        } catch {
            return sd_bus_error_set(failure, error.name, error.message)
        }
    }
}

/// libsystemd keeps pointers into the table and its strings for ever.
private func makeVTable<Face>(_ interface: BusInterface<Face>) -> UnsafeMutablePointer<sd_bus_vtable> {
    let table = UnsafeMutablePointer<sd_bus_vtable>.allocate(capacity: interface.members.count + 2)
    table[0] = start()
    for (index, member) in interface.members.enumerated() {
        switch member {
        case .method(let method): table[index + 1] = entry(method.name, method.inputs, method.outputs)
        case .property(let property): table[index + 1] = entry(property.name, property)
        case .signal(let name, let arguments): table[index + 1] = signal(name, arguments)
        }
    }
    var end = sd_bus_vtable()
    end.type = UInt8(ascii: ">")
    table[interface.members.count + 1] = end
    return table
}

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

private func entry(_ name: String, _ inputs: Arguments, _ outputs: Arguments) -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: "M")
    entry.flags = UInt64(SD_BUS_VTABLE_UNPRIVILEGED)
    entry.x.method.member = kept(name)
    entry.x.method.signature = kept(inputs.map(\.signature.text).joined())
    entry.x.method.result = kept(outputs.map(\.signature.text).joined())
    entry.x.method.names = keptNames(inputs + outputs)
    entry.x.method.handler = handler
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

private func entry<Face>(_ name: String, _ property: BusInterface<Face>.Property) -> sd_bus_vtable {
    var entry = sd_bus_vtable()
    entry.type = UInt8(ascii: property.set == nil ? "P" : "W")
    // Refused by libsystemd on a property that is only read.
    if property.set != nil { entry.flags = UInt64(SD_BUS_VTABLE_UNPRIVILEGED) }
    switch property.emits {
    case .always: entry.flags |= UInt64(SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
    case .constant: entry.flags |= UInt64(SD_BUS_VTABLE_PROPERTY_CONST)
    case .never: break
    }
    entry.x.property.member = kept(name)
    entry.x.property.signature = kept(property.signature.text)
    entry.x.property.get = getter
    if property.set != nil { entry.x.property.set = setter }
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
