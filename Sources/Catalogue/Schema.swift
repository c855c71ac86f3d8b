internal import GRDB

/// The index's shape. It holds nothing that a server has not: an index of another version is made anew.
///
/// Times are milliseconds since 1970, places and lengths microseconds; lists of texts are parted by the unit separator.
enum Schema {
    static let version = 1

    static func create(_ db: Database) throws {
        try db.execute(sql: tables)
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    private static let tables = """
        CREATE TABLE libraries (
            number INTEGER PRIMARY KEY, account TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
            isPodcasts INTEGER NOT NULL, rank INTEGER NOT NULL, total INTEGER NOT NULL DEFAULT 0,
            pass INTEGER NOT NULL DEFAULT 0, -- the number of the last reading from end to end
            offset INTEGER, -- how far it is; NULL when none is under way
            passTotal INTEGER, filled INTEGER, checked INTEGER, UNIQUE (account, id)
        ) STRICT;
        CREATE TABLE items (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, library INTEGER NOT NULL, parent INTEGER,
            kind TEXT NOT NULL, title TEXT NOT NULL, folded TEXT NOT NULL, subtitle TEXT, authors TEXT NOT NULL,
            byAuthor TEXT NOT NULL, -- the first one, folded
            narrators TEXT NOT NULL, series TEXT NOT NULL, genres TEXT NOT NULL, podcast TEXT,
            duration INTEGER NOT NULL, added INTEGER, published INTEGER, released TEXT, episodes INTEGER,
            isPlayable INTEGER NOT NULL, fingerprint INTEGER NOT NULL, pass INTEGER NOT NULL,
            stale INTEGER NOT NULL DEFAULT 0 -- of a podcast: its episodes have to be read
        ) STRICT;
        CREATE INDEX itemsByTitle ON items (library, parent, folded);
        CREATE INDEX itemsByAddition ON items (library, parent, added);
        CREATE INDEX itemsByName ON items (folded);
        CREATE INDEX itemsOf ON items (parent) WHERE parent IS NOT NULL;
        CREATE INDEX itemsByMoment ON items (coalesce(published, added)) WHERE isPlayable;
        CREATE TABLE summaries (item INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
        CREATE TABLE covers (item TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL) STRICT;
        CREATE TABLE links (
            kind TEXT NOT NULL, folded TEXT NOT NULL, item INTEGER NOT NULL, name TEXT NOT NULL, rank REAL,
            PRIMARY KEY (kind, folded, item)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX linksOf ON links (item);
        CREATE TABLE lists (
            number INTEGER PRIMARY KEY, library INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
            name TEXT NOT NULL, folded TEXT NOT NULL, UNIQUE (library, kind, id)
        ) STRICT;
        CREATE TABLE listed (
            list INTEGER NOT NULL, rank INTEGER NOT NULL, item TEXT NOT NULL, PRIMARY KEY (list, rank)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE progress (
            item TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL, duration INTEGER NOT NULL,
            isFinished INTEGER NOT NULL, isHidden INTEGER NOT NULL, updated INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX progressByTime ON progress (updated) WHERE NOT isFinished;
        CREATE VIRTUAL TABLE words USING fts5 (
            title, names, tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3 4'
        );
        CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
        CREATE TABLE terms (
            term TEXT NOT NULL PRIMARY KEY, first TEXT NOT NULL, length INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX termsByShape ON terms (first, length);
        CREATE TABLE typos (
            variant TEXT NOT NULL, term TEXT NOT NULL, PRIMARY KEY (variant, term)
        ) STRICT, WITHOUT ROWID;
        """
}
