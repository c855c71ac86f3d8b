internal import HTTP

/// One request to one endpoint, before it has an address and a login.
struct Call: Sendable {
    let method: String
    /// As the server's source names it, for error texts: "GET /api/items/:id".
    let endpoint: String
    private(set) var path: [String]
    var query: [(String, String)] = []
    var headers: [HTTPHeader] = []
    var body: JSON?
    var timeout = 30.0
    /// Nothing comes for a while, and that is no sign of anything.
    var mayBeSilent = false
    /// What is lost on the way is not there to be asked for again.
    var isOnce = false
    /// Of the answer, in bytes.
    var bodyLimit = 64 << 20
    /// Sent as it is, instead of ``body``.
    var text: String?
    /// Every version of the server has this route: it says in a word that what is asked for is not there.
    var isOfEveryServer = false
    /// For people, when it is not there.
    var what = "what was asked for"

    init(_ method: String, _ route: String, _ values: String...) {
        self.method = method
        endpoint = "\(method) \(route)"
        var values = values[...]
        path = route.split(separator: "/").map { segment in
            segment.hasPrefix(":") ? values.popFirst() ?? "" : String(segment)
        }
    }

    func request(_ server: ServerAddress, headers more: [HTTPHeader], caFile: String?) -> HTTPRequest {
        var headers = self.headers + more
        if body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        if text != nil { headers.append(HTTPHeader("Content-Type", "text/plain;charset=UTF-8")) }
        headers.append(HTTPHeader("Accept", text == nil ? "application/json" : "*/*"))
        var request = HTTPRequest(
            method, server.url(path, query: query), headers: headers, body: text.map { Array($0.utf8) } ?? body?.bytes,
            caFile: caFile, timeout: timeout, bodyLimit: bodyLimit)
        if mayBeSilent { request.idleTimeout = timeout }
        request.isOnce = isOnce
        return request
    }

    /// The server answers in a word or two: what is longer is not its answer.
    fileprivate var brief: Call { with { $0.bodyLimit = 1 << 20 } }

    fileprivate func with(_ change: (inout Call) -> Void) -> Call {
        var call = self
        change(&call)
        return call
    }
}

extension Call {
    static let status = Call("GET", "/status").with { $0.timeout = 15 }.brief
    static let me = Call("GET", "/api/me")
    static let libraries = Call("GET", "/api/libraries")

    static func login(user: String, password: String) -> Call {
        Call("POST", "/login").with {
            $0.body = ["username": .string(user), "password": .string(password)]
            $0.headers = [HTTPHeader("x-return-tokens", "true")]
        }
    }

    static func refresh(_ token: String) -> Call {
        Call("POST", "/auth/refresh").with { $0.headers = [HTTPHeader("x-refresh-token", token)] }
    }

    static func logout(_ token: String?) -> Call {
        Call("POST", "/logout").with {
            $0.headers = token.map { [HTTPHeader("x-refresh-token", $0)] } ?? []
            $0.timeout = 10
        }.brief
    }

    /// - Parameter fresh: a number never used before. The server keeps answers by url, and answers that depend on
    ///   progress go stale there.
    static func items(library: String, _ page: PageRequest, fresh: Int64) -> Call {
        Call("GET", "/api/libraries/:id/items", library).with {
            $0.query = [("limit", "\(page.limit)"), ("page", "\(page.page)"), ("minified", "1")]
            if let sort = page.sort { $0.query.append(("sort", sort)) }
            if page.isDescending { $0.query.append(("desc", "1")) }
            if let filter = page.filter { $0.query.append(("filter", filter.parameter)) }
            if page.dependsOnProgress { $0.query.append(("fresh", "\(fresh)")) }
            $0.what = "that library"
        }
    }

    static func recentEpisodes(library: String, limit: Int, page: Int = 0) -> Call {
        Call("GET", "/api/libraries/:id/recent-episodes", library).with {
            $0.query = [("limit", "\(limit)"), ("page", "\(page)")]
        }
    }

    static func search(library: String, words: String, limit: Int) -> Call {
        Call("GET", "/api/libraries/:id/search", library).with { $0.query = [("q", words), ("limit", "\(limit)")] }
    }

    static func collections(library: String, limit: Int, page: Int) -> Call {
        Call("GET", "/api/libraries/:id/collections", library).with {
            $0.query = [("limit", "\(limit)"), ("page", "\(page)"), ("minified", "1")]
            $0.what = "that library"
        }
    }

    static func playlists(library: String) -> Call {
        Call("GET", "/api/libraries/:id/playlists", library).with { $0.what = "that library" }
    }

    static func itemsInProgress(limit: Int) -> Call {
        Call("GET", "/api/me/items-in-progress").with { $0.query = [("limit", "\(limit)")] }
    }

    static func item(_ id: ShelfItemID) -> Call {
        Call("GET", "/api/items/:id", id.item).with {
            $0.query = [("expanded", "1"), ("include", "progress")]
            if let episode = id.episode { $0.query.append(("episode", episode)) }
            $0.what = id.id.description
        }
    }

    static func cover(_ id: ShelfItemID, width: Int) -> Call {
        Call("GET", "/api/items/:id/cover", id.item).with {
            $0.query = [("width", "\(width)"), ("format", "jpeg")]
        }
    }

    static func play(_ id: ShelfItemID, body: JSON) -> Call {
        let call =
            if let episode = id.episode {
                Call("POST", "/api/items/:id/play/:episodeId", id.item, episode)
            } else {
                Call("POST", "/api/items/:id/play", id.item)
            }
        return call.with {
            $0.body = body
            $0.what = id.id.description
        }
    }

    static func sync(session: String, body: JSON) -> Call {
        Call("POST", "/api/session/:id/sync", session).with { $0.body = body }.brief
    }

    static func close(session: String) -> Call {
        Call("POST", "/api/session/:id/close", session).with { $0.body = [:] }.brief
    }

    static func localSessions(body: JSON) -> Call {
        Call("POST", "/api/session/local-all").with { $0.body = body }.brief
    }

    static let bookmarks = Call("GET", "/api/me/bookmarks").with { $0.timeout = 15 }
    static let statistics = Call("GET", "/api/me/listening-stats").with { $0.timeout = 15 }

    static func putBookmark(_ id: ShelfItemID, at seconds: Double, title: String) -> Call {
        Call("POST", "/api/me/item/:id/bookmark", id.item).with {
            $0.body = ["time": .number(seconds), "title": .string(title)]
            $0.what = id.id.description
            $0.isOfEveryServer = true
        }.brief
    }

    static func removeBookmark(_ id: ShelfItemID, at seconds: Double) -> Call {
        Call("DELETE", "/api/me/item/:id/bookmark/:time", id.item, JSON.number(seconds).string ?? "0").with {
            $0.what = "that bookmark"
            $0.isOfEveryServer = true
        }.brief
    }

    static func sessions(of id: ShelfItemID?, limit: Int, page: Int) -> Call {
        let call =
            switch (id?.item, id?.episode) {
            case (let item?, let episode?):
                Call("GET", "/api/me/item/listening-sessions/:libraryItemId/:episodeId", item, episode)
            case (let item?, nil): Call("GET", "/api/me/item/listening-sessions/:libraryItemId", item)
            case (nil, _): Call("GET", "/api/me/listening-sessions")
            }
        return call.with {
            $0.query = [("itemsPerPage", "\(limit)"), ("page", "\(page)")]
            $0.timeout = 15
        }
    }

    static func progress(_ id: ShelfItemID) -> Call { progress("GET", id) }

    static func patchProgress(_ id: ShelfItemID, body: JSON) -> Call {
        progress("PATCH", id).with { $0.body = body }
    }

    /// Engine.IO by polling. The slash at the end belongs to the path.
    ///
    /// - Parameter session: nil opens one.
    static func poll(session: String?, timeout: Double) -> Call {
        engine("GET", session).with {
            $0.timeout = timeout
            $0.mayBeSilent = true
            // What happened meanwhile would be told to nobody: whoever polls is to know that an answer was lost.
            $0.isOnce = true
            $0.bodyLimit = 16 << 20  // a whole user comes with all their progress
        }
    }

    static func push(_ packet: String, session: String) -> Call {
        engine("POST", session).with {
            $0.text = packet
            $0.timeout = 15
            $0.bodyLimit = 64 << 10
        }
    }

    private static func engine(_ method: String, _ session: String?) -> Call {
        Call(method, "/socket.io").with {
            $0.path.append("")
            $0.query = [("EIO", "4"), ("transport", "polling")] + (session.map { [("sid", $0)] } ?? [])
            $0.what = "the live connection"
        }
    }

    private static func progress(_ method: String, _ id: ShelfItemID) -> Call {
        let call =
            if let episode = id.episode {
                Call(method, "/api/me/progress/:libraryItemId/:episodeId", id.item, episode)
            } else {
                Call(method, "/api/me/progress/:libraryItemId", id.item)
            }
        return call.with {
            $0.what = id.id.description
            $0.isOfEveryServer = true
        }.brief
    }
}
