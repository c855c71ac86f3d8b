extension World {
    var statusJSON: JSON {
        [
            "app": "audiobookshelf", "serverVersion": .string(version.rawValue), "isInit": true, "language": "en-us",
            "authMethods": ["local"],
            "authFormData": ["authLoginCustomMessage": version == .v236 ? "" : nil],
        ]
    }

    /// The user as `/api/me`, `/login` and the `user_updated` event carry it.
    /// - Parameter withOldTokenMark: adds `isOldToken`, which only `/api/me` has, and only for the old token.
    func userJSON(_ id: String, usedLegacyToken: Bool? = nil) -> JSON {
        guard let user = users.first(where: { $0.account.id == id }) else { return nil }
        let account = user.account
        var json: JSON = [
            "id": .string(id), "username": .string(account.name), "email": nil, "type": .string(account.kind.rawValue),
            "token": .string(legacyToken(account)),
        ]
        if usedLegacyToken == true, version.hasRefreshTokens { json = json.adding(["isOldToken": true]) }
        return json.adding([
            "mediaProgress": .array(user.progress.map(\.json)), "seriesHideFromContinueListening": [],
            "bookmarks": .array(user.bookmarks), "isActive": .bool(account.isActive), "isLocked": false,
            "lastSeen": .optional(user.lastSeen), "createdAt": .int(user.createdAt),
            "permissions": permissions(account),
            "librariesAccessible": .strings(account.libraries ?? []), "itemTagsSelected": [], "hasOpenIDLink": false,
        ])
    }

    private func permissions(_ account: StandInUser) -> JSON {
        let isAdmin = JSON.bool(account.isAdmin)
        return [
            "download": .bool(account.mayDownload), "update": isAdmin, "delete": .bool(account.kind == .root),
            "upload": isAdmin, "createEreader": isAdmin, "accessAllLibraries": .bool(account.libraries == nil),
            "accessAllTags": true, "accessExplicitContent": .bool(account.seesExplicit),
            "selectedTagsNotAccessible": false,
        ]
    }

    func loginJSON(_ id: String, _ call: Call, tokens: JSON = [:]) -> JSON {
        let account = users.first { $0.account.id == id }?.account
        let first = configuration.libraries.first { library in account.map { may($0, see: library) } ?? false }
        return [
            "user": userJSON(id, usedLegacyToken: call.usedLegacyToken).adding(tokens),
            "userDefaultLibraryId": .optional(first?.id), "serverSettings": serverSettings, "ereaderDevices": [],
            "Source": "docker",
        ]
    }

    private var serverSettings: JSON {
        let scanner: JSON = [
            "id": "server-settings", "scannerFindCovers": false, "scannerCoverProvider": "google",
            "scannerParseSubtitle": false, "scannerPreferMatchedMetadata": false, "scannerDisableWatcher": false,
            "storeCoverWithItem": false, "storeMetadataWithItem": false, "metadataFileFormat": "json",
            "rateLimitLoginRequests": 10, "rateLimitLoginWindow": 600000, "allowIframe": false,
            "backupPath": "/audiobooks/metadata/backups", "backupSchedule": false, "backupsToKeep": 2,
            "maxBackupSize": 1, "loggerDailyLogsToKeep": 7, "loggerScannerLogsToKeep": 2,
        ]
        let display: JSON = [
            "homeBookshelfView": 1, "bookshelfView": 1, "podcastEpisodeSchedule": "0 * * * *",
            "sortingIgnorePrefix": false, "sortingPrefixes": ["the", "a"], "chromecastEnabled": false,
            "dateFormat": "MM/dd/yyyy", "timeFormat": "HH:mm", "language": "en-us",
        ]
        let login: JSON = [
            "logLevel": 2, "version": .string(version.rawValue), "buildNumber": 1, "authLoginCustomMessage": nil,
            "authActiveAuthMethods": ["local"], "authOpenIDIssuerURL": nil, "authOpenIDAuthorizationURL": nil,
            "authOpenIDTokenURL": nil, "authOpenIDUserInfoURL": nil, "authOpenIDJwksURL": nil,
            "authOpenIDLogoutURL": nil, "authOpenIDTokenSigningAlgorithm": "RS256",
            "authOpenIDButtonText": "Login with OpenId", "authOpenIDAutoLaunch": false,
            "authOpenIDAutoRegister": false, "authOpenIDMatchExistingBy": nil,
        ]
        let origins: JSON = version == .v225 ? [:] : ["allowedOrigins": []]
        let zone: JSON = version == .v236 ? ["timeZone": "UTC"] : [:]
        return scanner.adding(display).adding(origins).adding(login).adding(zone)
    }
}
