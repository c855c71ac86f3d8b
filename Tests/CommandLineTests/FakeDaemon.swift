import Control
import DBus
import EventLoop
import Foundation
import SDBus

/// Serves the real control interface with answers made up beforehand, and remembers what it was asked.
@LoopActor final class FakeDaemon {
    private let bus: Bus
    private let face = Face()

    init(on address: String) throws {
        bus = try Bus(.at(address)) { _ in }
        try bus.export(controlInterface, at: ControlName.path, face: face as any ControlFace)
        guard try bus.own(ControlName.bus) else { throw BusError.failed("the name is taken") }
    }

    func answers(_ answer: @escaping @Sendable (Command) throws -> any Encodable) { face.answer = answer }
    var asked: [Command] { face.asked }
    /// These are answered only once they are released.
    func holds(_ isHeld: @escaping @Sendable (Command) -> Bool) { face.isHeld = isHeld }

    func release() {
        face.isHeld = { _ in false }
        for (command, reply) in face.held { face.perform(command, reply) }
        face.held = []
    }

    func emit(_ signal: String, _ report: some Encodable) throws {
        try bus.emit(signal, [.string(try json(report))], of: ControlName.interface, at: ControlName.path)
    }

    func leave() {
        // The bus learns of a closed connection in its own time, and another may want the name at once.
        bus.release(ControlName.bus)
        bus.close()
    }

    /// Everything here happens on the Loop.
    private final class Face: ControlFace {
        let version = "0"
        var asked: [Command] = []
        var answer: @Sendable (Command) throws -> any Encodable = { _ in StatusReport() }

        var isHeld: @Sendable (Command) -> Bool = { _ in false }
        var held: [(Command, Reply)] = []

        func perform(_ command: Command, _ reply: Reply) {
            if isHeld(command) { return held.append((command, reply)) }
            asked.append(command)
            do {
                reply([.string(try json(try answer(command)))])
            } catch let error as ControlError {
                reply.fail(error.busError)
            } catch {
                reply.fail(.failed("\(error)"))
            }
        }

        func login(_ request: LoginRequest, secrets pipe: Descriptor, _ reply: Reply) {
            var request = request
            let bytes = FileHandle(fileDescriptor: pipe.number, closeOnDealloc: false).readDataToEndOfFile()
            let secrets = try? JSONDecoder().decode(LoginSecrets.self, from: bytes)
            request.secrets = secrets ?? LoginSecrets()
            perform(.login(request), reply)
        }
    }
}

func json(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
}
