internal import GRDB

/// The database's shape. A migration that has been released is never changed; a new shape is a new one after it.
///
/// Tables are STRICT, so that a number stays a number whatever wrote it. Times are milliseconds since 1970, places and
/// lengths microseconds on an item's timeline, items the text of their ids.
enum Schema {
    static let migrator: DatabaseMigrator = {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { try $0.execute(sql: v1) }
        migrator.registerMigration("v2") { try $0.execute(sql: v2) }
        migrator.registerMigration("v3") { try $0.execute(sql: v3) }
        migrator.registerMigration("v4") { try $0.execute(sql: v4) }
        migrator.registerMigration("v5") { try $0.execute(sql: v5) }
        migrator.registerMigration("v6") { try $0.execute(sql: v6) }
        migrator.registerMigration("v7") { try $0.execute(sql: v7) }
        migrator.registerMigration("v8") { try $0.execute(sql: v8) }
        migrator.registerMigration("v9") { try $0.execute(sql: v9) }
        migrator.registerMigration("v10") { try $0.execute(sql: v10) }
        return migrator
    }()

    /// In the order in which a damaged database is read out: what cannot be had again first.
    static let tables = [
        "meta", "accounts", "stretches", "progress", "places", "bookmarks", "rates", "queue", "items", "moves",
        "history",
    ]

    private static let v1 = """
        CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;
        CREATE TABLE accounts (
            id TEXT NOT NULL PRIMARY KEY, server TEXT NOT NULL, user TEXT NOT NULL, login TEXT NOT NULL,
            serverVersion TEXT, hasHeaders INTEGER NOT NULL, caFile TEXT, isSignedOut INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE places (
            item TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL, duration INTEGER NOT NULL,
            isFinished INTEGER NOT NULL, updated INTEGER NOT NULL,
            played INTEGER -- here, by this computer's clock; NULL for a place that only a server told
        ) STRICT;
        CREATE INDEX placesPlayed ON places (played) WHERE played IS NOT NULL;
        CREATE TABLE stretches (
            id TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL, started INTEGER NOT NULL, updated INTEGER NOT NULL,
            startPlace INTEGER NOT NULL, place INTEGER NOT NULL, duration INTEGER NOT NULL, listened INTEGER NOT NULL,
            sentListened INTEGER NOT NULL, sentPlace INTEGER, delivery TEXT NOT NULL, isClosed INTEGER NOT NULL,
            isHeldByServer INTEGER NOT NULL, refusal TEXT
        ) STRICT;
        CREATE TABLE progress (
            item TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, position INTEGER NOT NULL, duration INTEGER NOT NULL,
            made INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT;
        CREATE TABLE moves (
            number INTEGER PRIMARY KEY, at INTEGER NOT NULL, item TEXT NOT NULL, origin INTEGER NOT NULL,
            target INTEGER NOT NULL, cause TEXT NOT NULL
        ) STRICT;
        CREATE TABLE rates (item TEXT NOT NULL PRIMARY KEY, rate REAL NOT NULL) STRICT;
        """

    /// Refused commands are kept, commands may leave the place to the server, and there is a queue.
    private static let v2 = """
        ALTER TABLE progress ADD COLUMN refusal TEXT;
        ALTER TABLE progress ADD COLUMN isPlaceKnown INTEGER NOT NULL DEFAULT 1;
        CREATE TABLE queue (number INTEGER PRIMARY KEY, item TEXT NOT NULL UNIQUE, json TEXT NOT NULL) STRICT;
        """

    /// Servers are remembered with their clocks.
    private static let v3 = "ALTER TABLE accounts ADD COLUMN clockOffset INTEGER NOT NULL DEFAULT 0"

    /// The queue may hold an item more than once, and knows how it goes on.
    private static let v4 = """
        CREATE TABLE line (
            number INTEGER PRIMARY KEY, item TEXT NOT NULL, copy INTEGER NOT NULL, playlist TEXT,
            isNext INTEGER NOT NULL, round INTEGER NOT NULL, json TEXT NOT NULL
        ) STRICT;
        INSERT INTO line SELECT number, item, 0, NULL, 0, 0, json FROM queue;
        DROP TABLE queue;
        ALTER TABLE line RENAME TO queue;
        """

    /// There are bookmarks, and a history that stays when servers have what was heard. It begins with what they have not
    /// got yet.
    private static let v5 = """
        CREATE TABLE bookmarks (
            item TEXT NOT NULL, time INTEGER NOT NULL, title TEXT NOT NULL, created INTEGER NOT NULL,
            number REAL NOT NULL, -- the time in seconds as its server has it
            owed TEXT, -- what the server has yet to be told
            made INTEGER NOT NULL, refusal TEXT,
            PRIMARY KEY (item, time)
        ) STRICT;
        CREATE TABLE history (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, item TEXT NOT NULL,
            session TEXT, -- by which a server knows it
            day INTEGER NOT NULL, -- of the listener's calendar, since 1970
            started INTEGER NOT NULL, ended INTEGER NOT NULL, origin INTEGER NOT NULL, place INTEGER NOT NULL,
            listened INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX historySessions ON history (session);
        INSERT INTO history (id, item, session, day, started, ended, origin, place, listened)
            SELECT id, item, id,
                coalesce(CAST(strftime('%s', started / 1000, 'unixepoch', 'localtime') AS INTEGER), started / 1000) / 86400,
                started, updated, startPlace, place, listened
            FROM stretches WHERE listened > 0 ORDER BY started;
        """

    /// An account that was logged out of is remembered: logging in again gives back what hangs on its id.
    private static let v6 = "ALTER TABLE accounts ADD COLUMN isRemoved INTEGER NOT NULL DEFAULT 0"

    /// The queue knows what was played before: -1, the present one: 0, and what waits: 1.
    private static let v7 = "ALTER TABLE queue ADD COLUMN stand INTEGER NOT NULL DEFAULT 1"

    /// A place may be where another device left the item: not where the listener left it here.
    private static let v8 = "ALTER TABLE places ADD COLUMN isServers INTEGER NOT NULL DEFAULT 0"

    /// A server's stamps and the headers of its answers may go by different clocks.
    private static let v9 = "ALTER TABLE accounts ADD COLUMN headerLag INTEGER NOT NULL DEFAULT 0"

    /// A server that moves to another address knows its users all the same.
    private static let v10 = "ALTER TABLE accounts ADD COLUMN userId TEXT"

    /// What the history holds at most.
    static let historyRows = 5000

    /// Descriptions of items that were merely looked at are dropped beyond the newest 500, so that browsing a large
    /// library does not grow the file for ever. Saving an item again gives it a new rowid.
    static let prune = """
        DELETE FROM items
        WHERE rowid <= (SELECT rowid FROM items ORDER BY rowid DESC LIMIT 1 OFFSET 500)
            AND id NOT IN (SELECT item FROM places WHERE played IS NOT NULL)
            AND id NOT IN (SELECT item FROM stretches) AND id NOT IN (SELECT item FROM progress)
            AND id NOT IN (SELECT item FROM moves) AND id NOT IN (SELECT item FROM bookmarks)
            AND id NOT IN (SELECT item FROM history) AND id NOT IN (SELECT item FROM queue)
        """
}
