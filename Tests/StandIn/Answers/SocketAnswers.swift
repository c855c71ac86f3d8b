import Foundation

/// socket.io over Engine.IO 4: long polling and direct websocket.
enum SocketAnswers {
    static let all = [
        Route("GET", "socket.io", .open) { world, call in
            if call.query["transport"] == "websocket" { return Answer(101, headers: [], body: .webSocket) }
            guard let sid = call.query["sid"] else {
                let sid = world.openSocket(upgrades: true)
                return Answer(200, headers: head, body: .poll(sid: sid))
            }
            guard world.sockets[sid] != nil else { return unknown }
            return Answer(200, headers: head, body: .poll(sid: sid))
        },
        Route("POST", "socket.io", .open) { world, call in
            guard let sid = call.query["sid"], world.sockets[sid] != nil else { return unknown }
            // Packets sent at once are joined by the record separator.
            for packet in String(decoding: call.bodyBytes, as: UTF8.self).split(separator: separator) {
                world.receive(String(packet), on: sid)
            }
            return Answer(200, type: "text/html", Data("ok".utf8), tagged: false)
        },
    ]

    static let separator: Character = "\u{1E}"

    private static let head = [
        (name: "Access-Control-Allow-Origin", value: "*"), (name: "Content-Type", value: "text/plain; charset=UTF-8"),
        (name: "Cache-Control", value: "no-store"),
    ]

    private static let unknown = Answer.json(["code": 1, "message": "Session ID unknown"], status: 400)
}
