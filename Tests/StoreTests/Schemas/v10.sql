CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY, server TEXT NOT NULL, user TEXT NOT NULL, login TEXT NOT NULL,
    serverVersion TEXT, hasHeaders INTEGER NOT NULL, caFile TEXT, isSignedOut INTEGER NOT NULL
, clockOffset INTEGER NOT NULL DEFAULT 0, isRemoved INTEGER NOT NULL DEFAULT 0, headerLag INTEGER NOT NULL DEFAULT 0, userId TEXT) STRICT;
INSERT INTO "accounts" VALUES('aaaaaaaa-0000-4000-8000-000000000000','https://books.example.org','lena','tokens','2.36.0',0,NULL,0,4000,0,20000,'31c57967-724c-437c-8fb4-422fe2c82746');
INSERT INTO "accounts" VALUES('aaaaaaaa-0000-4000-8000-000000000009','https://books.example.org','max','tokens','2.36.0',0,NULL,0,4000,1,20000,'31c57967-724c-437c-8fb4-422fe2c82746');
CREATE TABLE bookmarks (
    item TEXT NOT NULL, time INTEGER NOT NULL, title TEXT NOT NULL, created INTEGER NOT NULL,
    number REAL NOT NULL, -- the time in seconds as its server has it
    owed TEXT, -- what the server has yet to be told
    made INTEGER NOT NULL, refusal TEXT,
    PRIMARY KEY (item, time)
) STRICT;
INSERT INTO "bookmarks" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',12000000,'Thor',1795000033000,12.0,NULL,1795000033000,NULL);
INSERT INTO "bookmarks" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',500123457,'Loki',1795000034000,500.123456789,'removal',1795000035000,'it said no');
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO "grdb_migrations" VALUES('v1');
INSERT INTO "grdb_migrations" VALUES('v2');
INSERT INTO "grdb_migrations" VALUES('v4');
INSERT INTO "grdb_migrations" VALUES('v3');
INSERT INTO "grdb_migrations" VALUES('v5');
INSERT INTO "grdb_migrations" VALUES('v6');
INSERT INTO "grdb_migrations" VALUES('v7');
INSERT INTO "grdb_migrations" VALUES('v8');
INSERT INTO "grdb_migrations" VALUES('v9');
INSERT INTO "grdb_migrations" VALUES('v10');
CREATE TABLE history (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, item TEXT NOT NULL,
    session TEXT, -- by which a server knows it
    day INTEGER NOT NULL, -- of the listener's calendar, since 1970
    started INTEGER NOT NULL, ended INTEGER NOT NULL, origin INTEGER NOT NULL, place INTEGER NOT NULL,
    listened INTEGER NOT NULL
) STRICT;
INSERT INTO "history" VALUES(1,'0e414ac2-551f-423f-b16f-08f9ae1e96c4','abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000003','0e414ac2-551f-423f-b16f-08f9ae1e96c4',20775,1795000209481,1795000209621,31000000,35000000,4000000);
INSERT INTO "history" VALUES(2,'5e0d7a31-7c1c-4b19-9a40-8f1f0c6f1b11','file:9e107d9d372bb6826bd81d3542a419d6',NULL,20775,1795000000000,1795000009000,1000000,10000000,9000000);
CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, json TEXT NOT NULL) STRICT;
INSERT INTO "items" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001','{"kind":"book","chapters":[{"start":0,"end":300000000,"title":"Chapter 1"},{"start":300000000,"end":3600000000,"title":"Chapter 2"}],"genres":[],"title":"Saga","series":[],"tracks":[{"duration":1800000000,"title":"Saga1.mp3"},{"duration":1800000000,"title":"Saga2.mp3"}],"narrators":[],"authors":["A. Thor"],"duration":3600000000}');
CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "meta" VALUES('queue.loop','queue');
INSERT INTO "meta" VALUES('queue.seed','18446744073709551615');
INSERT INTO "meta" VALUES('queue.underWay','1');
INSERT INTO "meta" VALUES('deviceId','92e5a411-8940-46ff-b30d-145e6c2331a3');
CREATE TABLE moves (
    number INTEGER PRIMARY KEY, at INTEGER NOT NULL, item TEXT NOT NULL, origin INTEGER NOT NULL,
    target INTEGER NOT NULL, cause TEXT NOT NULL
) STRICT;
INSERT INTO "moves" VALUES(1,1795000030040,'abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',30000000,3598000000,'seek');
INSERT INTO "moves" VALUES(2,1795000030140,'abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',3598100000,2700000000,'chapter');
CREATE TABLE places (
    item TEXT NOT NULL PRIMARY KEY, position INTEGER NOT NULL, duration INTEGER NOT NULL,
    isFinished INTEGER NOT NULL, updated INTEGER NOT NULL,
    played INTEGER -- here, by this computer's clock; NULL for a place that only a server told
, isServers INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "places" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',2703201000,3600000000,0,1795000033341,1795000033441,0);
INSERT INTO "places" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000003',0,90000000,0,1795000209621,1795000209621,0);
INSERT INTO "places" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000002',0,800000000,0,1795000209521,NULL,1);
CREATE TABLE progress (
    item TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, position INTEGER NOT NULL, duration INTEGER NOT NULL,
    made INTEGER NOT NULL
, refusal TEXT, isPlaceKnown INTEGER NOT NULL DEFAULT 1) STRICT;
INSERT INTO "progress" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000002','finish',800000000,800000000,1795000209000,'it said no',1);
CREATE TABLE "queue" (
    number INTEGER PRIMARY KEY, item TEXT NOT NULL, copy INTEGER NOT NULL, playlist TEXT,
    isNext INTEGER NOT NULL, round INTEGER NOT NULL, json TEXT NOT NULL
, stand INTEGER NOT NULL DEFAULT 1) STRICT;
INSERT INTO "queue" VALUES(1,'abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000004',0,NULL,0,0,'{"kind":"book","chapters":[],"genres":[],"title":"Edda","series":[],"tracks":[{"duration":90000000,"title":"a.mp3"}],"narrators":[],"authors":[],"duration":90000000}',-1);
INSERT INTO "queue" VALUES(2,'abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000005',0,'latest',0,0,'{"kind":"book","chapters":[],"genres":[],"title":"Kalevala","series":[],"tracks":[{"duration":90000000,"title":"a.mp3"}],"narrators":[],"authors":[],"duration":90000000}',0);
INSERT INTO "queue" VALUES(3,'abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',0,NULL,1,0,'{"kind":"book","chapters":[{"start":0,"end":300000000,"title":"Chapter 1"},{"start":300000000,"end":3600000000,"title":"Chapter 2"}],"genres":[],"title":"Saga","series":[],"tracks":[{"duration":1800000000,"title":"Saga1.mp3"},{"duration":1800000000,"title":"Saga2.mp3"}],"narrators":[],"authors":["A. Thor"],"duration":3600000000}',1);
CREATE TABLE rates (item TEXT NOT NULL PRIMARY KEY, rate REAL NOT NULL) STRICT;
INSERT INTO "rates" VALUES('abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000001',1.25);
CREATE TABLE stretches (
    id TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL, started INTEGER NOT NULL, updated INTEGER NOT NULL,
    startPlace INTEGER NOT NULL, place INTEGER NOT NULL, duration INTEGER NOT NULL, listened INTEGER NOT NULL,
    sentListened INTEGER NOT NULL, sentPlace INTEGER, delivery TEXT NOT NULL, isClosed INTEGER NOT NULL,
    isHeldByServer INTEGER NOT NULL, refusal TEXT
) STRICT;
INSERT INTO "stretches" VALUES('0e414ac2-551f-423f-b16f-08f9ae1e96c4','abs:aaaaaaaa-0000-4000-8000-000000000000/b0000000-0000-4000-8000-000000000003',1795000209481,1795000209621,31000000,35000000,90000000,4000000,0,31000000,'local',0,1,NULL);
CREATE INDEX placesPlayed ON places (played) WHERE played IS NOT NULL;
CREATE INDEX historySessions ON history (session);
