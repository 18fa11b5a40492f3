-- Differences that random scripts have shown, shrunk; each case makes its own tables and drops them.

-- A widened range on the first key column says nothing of the second.
CREATE TABLE t1(c0 TEXT COLLATE RTRIM, c1 INT, PRIMARY KEY(c0, c1 DESC)) WITHOUT ROWID;
INSERT INTO t1(c0, c1) VALUES (26, '3'), ('e', 'e'), ('a', 'x'), (1, 'x');
SELECT * FROM t1 WHERE c0 = 26 AND c1 = x'';
SELECT * FROM t1 WHERE c0 = 26 AND c1 > 'a';
UPDATE OR FAIL t1 SET c1 = 'B', c0 = c0 || 'z' WHERE c0 = 26 AND c1 = x'';
DROP TABLE t1;

-- An index that names a column twice.
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 TEXT, c2 BLOB);
CREATE INDEX i2 ON t0(c1, c1, c2);
INSERT INTO t0 VALUES (1, '5', 3), (2, '5', 4), (3, NULL, 3);
SELECT * FROM t0 WHERE c1 IS '5';
SELECT * FROM t0 WHERE c1 = '5' AND c2 = 3;
DROP TABLE t0;

-- The primary key of a WITHOUT ROWID table is checked in its turn among the indexes, newest first.
CREATE TABLE t0(c0 BLOB NOT NULL, c1 REAL, c4 REAL UNIQUE, PRIMARY KEY(c1 DESC)) WITHOUT ROWID;
INSERT INTO t0 VALUES ('x', 1, 4);
CREATE UNIQUE INDEX i1 ON t0(c1);
INSERT INTO t0 VALUES ('x', 1, 4);
INSERT INTO t0 VALUES ('x', 2, 4);
DROP TABLE t0;

-- IN over columns without numeric affinity; a row that REPLACE removed before its turn is not counted.
CREATE TABLE t0(c0 TEXT PRIMARY KEY, c1 NOT NULL, c3 TEXT);
INSERT INTO t0 VALUES (5, 1e10, 11),('A', 5, '3');
SELECT * FROM t0 AS t WHERE t.c0 IN (SELECT s.c1 FROM t0 AS s);
CREATE TABLE t2(a TEXT, b, n INTEGER);
CREATE INDEX t2a ON t2(a, n);
CREATE INDEX t2b ON t2(b DESC, a);
INSERT INTO t2 VALUES ('05', '05', 5), ('5', 5, 5), ('5.0', 5.0, 6), (NULL, NULL, NULL), ('x', 'x', 7), ('a', x'61', 7), ('A', 'A', 8), ('b', 'b', 9);
SELECT * FROM t2 WHERE a IN (SELECT n FROM t2);
SELECT * FROM t2 WHERE b IN (SELECT n FROM t2);
SELECT * FROM t2 WHERE a IN (SELECT b FROM t2);
SELECT * FROM t2 WHERE b IN (SELECT a FROM t2);
SELECT * FROM t2 WHERE a IN (5, '05', 'x') AND n = 5;
SELECT * FROM t2 WHERE a IN (5, '05', 'x') AND n > 5 ORDER BY n DESC;
SELECT * FROM t2 WHERE a IN ('x', 'b', 'a', NULL, 'x') ORDER BY a, n;
SELECT * FROM t2 WHERE b IN (5, '5', x'61', 'b') AND a IN ('a', 'b', 5) ORDER BY b DESC, a;
SELECT count(*) FROM t2 AS x JOIN t2 AS y ON x.a IN (y.a, y.b, 'x');
UPDATE t2 SET n = n + 1 WHERE a IN ('x', 5, 'b');
DELETE FROM t2 WHERE b IN (SELECT a FROM t2) AND n > 9;
SELECT * FROM t2;
CREATE TABLE t1(c0 PRIMARY KEY, c1);
INSERT INTO t1(c0, c1) VALUES (1, 4), (zeroblob(3), 'a' || char(0)), (NULL, 6);
INSERT OR REPLACE INTO t1 VALUES (0, zeroblob(3)), (51, 31), (3, 0);
UPDATE OR REPLACE t1 SET c0 = -c0;
SELECT rowid, * FROM t1;
DROP TABLE t0;
DROP TABLE t1;
DROP TABLE t2;

-- DELETE without WHERE counts every row of a WITHOUT ROWID table.
CREATE TABLE t0(c0 NUMERIC, c2 INT, PRIMARY KEY(c2)) WITHOUT ROWID;
INSERT INTO t0 VALUES (1, 2), (3, 4);
DELETE FROM t0;
SELECT changes();
DROP TABLE t0;

-- An integer that a real cannot hold equals no real.
CREATE TABLE p(c0 INTEGER PRIMARY KEY, c2 BLOB, c3 TEXT);
CREATE TABLE c(c1 REAL);
CREATE INDEX i1 ON c(c1);
INSERT INTO c VALUES (9007199254740993), (9007199254740992), (9007199254740993.0), (5), (2.5);
INSERT INTO p(c2, c3) VALUES (9007199254740993, '9007199254740993'), ('5', 5);
SELECT * FROM c WHERE c1 IN (SELECT c2 FROM p);
SELECT * FROM c, p WHERE c1 = c2;
SELECT * FROM c, p WHERE c1 = c3;
SELECT * FROM c WHERE c1 = 9007199254740993;
SELECT * FROM c WHERE c1 = '9007199254740993';
DROP TABLE p;
DROP TABLE c;

-- UPDATE OR REPLACE: who took a row's place has its turn.
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 BLOB, c2, c3 BLOB UNIQUE);
INSERT INTO t0(c1, c2, c3) VALUES ('p', 'a', -2), (49, -2, 0), ('2.5', NULL, 1);
UPDATE OR REPLACE t0 SET c0 = c0 + 1, c2 = c2 + 1;
SELECT changes();
SELECT * FROM t0;
CREATE TABLE t1(c0 INTEGER PRIMARY KEY ON CONFLICT REPLACE, c2);
INSERT INTO t1 VALUES (1, 1), (2, 20), (3, 300);
UPDATE t1 SET c0 = c0 + 1, c2 = c2 + 1;
SELECT changes();
SELECT * FROM t1;
CREATE TABLE w(k PRIMARY KEY, v UNIQUE) WITHOUT ROWID;
INSERT INTO w VALUES (1, 1), (2, 20), (3, 300);
UPDATE OR REPLACE w SET k = k + 1, v = v + 1;
SELECT changes();
SELECT * FROM w;
UPDATE OR REPLACE w NOT INDEXED SET v = 5;
DROP TABLE t0;
DROP TABLE t1;
DROP TABLE w;

-- The twin gives back what it stores: with a REAL column, RETURNING would round the large integers of the others.
CREATE TABLE t1(c0 REAL, c1 INT CHECK (c1 IS NULL OR c1 >= -100), c2 NUMERIC, PRIMARY KEY(c0), UNIQUE(c2, c1));
INSERT OR ABORT INTO t1(c0, c1, c2) VALUES ('b', 9007199254740993, 1);
SELECT * FROM t1;
DROP TABLE t1;

-- A wrong type in a STRICT table aborts the statement, whatever its OR.
CREATE TABLE t0(c0 INTEGER, c1 REAL UNIQUE, c2 INTEGER, PRIMARY KEY(c2, c0)) STRICT, WITHOUT ROWID;
INSERT OR FAIL INTO t0(c0, c1, c2) VALUES (4, 18, 4), ('A', -2, 60), ('e', 0.5, 'B'), ('abc', 60, 1);
SELECT * FROM t0;
DROP TABLE t0;

-- A rowid is not used up by a row that is refused.
CREATE TABLE t3(c0 INTEGER PRIMARY KEY AUTOINCREMENT, c1 NOT NULL, c2 TEXT NOT NULL, UNIQUE(c2));
SAVEPOINT s1;
INSERT OR REPLACE INTO t3(c1, c2) VALUES (13, NULL);
SELECT * FROM sqlite_sequence;
INSERT INTO t3(c1, c2) VALUES (13, 1), (14, 1);
SELECT * FROM sqlite_sequence;
INSERT OR IGNORE INTO t3(c1, c2) VALUES (13, 1), (14, 1);
SELECT * FROM sqlite_sequence;
RELEASE s1;
DROP TABLE t3;

-- last_insert_rowid() moves with the rows of an INSERT that fails in the end.
PRAGMA foreign_keys = ON;
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 INT NOT NULL);
CREATE TABLE t1(c0 INTEGER PRIMARY KEY, c3 BLOB, FOREIGN KEY(c3) REFERENCES t0(c0));
INSERT INTO t1(c3) VALUES (6), (0);
INSERT OR IGNORE INTO t1(c3) SELECT s.c1 FROM t1 AS s;
SELECT last_insert_rowid();
DROP TABLE t1;
DROP TABLE t0;
PRAGMA foreign_keys = OFF;

-- Triggers are compiled with the statement.
CREATE TABLE t0(c0, c1, c2);
CREATE TRIGGER g0 AFTER DELETE ON t0 BEGIN UPDATE tally SET n = n + coalesce(length(old.c1), 100) WHERE event = 'g0'; END;
CREATE TRIGGER g1 AFTER UPDATE OF c1 ON t0 BEGIN UPDATE tally2 SET n = n; END;
DELETE FROM t0;
INSERT INTO t0 VALUES (1, 2, 3);
UPDATE t0 SET c0 = 5;
UPDATE t0 SET c1 = 5;
DROP TABLE t0;

-- OR FAIL keeps what the BEFORE triggers of the refused row did.
CREATE TABLE t1(c0 INTEGER PRIMARY KEY, c1 NOT NULL UNIQUE, c3 TEXT CHECK (c3 <> 'no'));
CREATE TABLE tally(event TEXT PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO tally VALUES ('g0', 0), ('g1', 0);
CREATE TRIGGER g0 BEFORE INSERT ON t1 BEGIN UPDATE tally SET n = n + coalesce(length(new.c3), 100) WHERE event = 'g0'; END;
CREATE TRIGGER g1 BEFORE UPDATE ON t1 BEGIN UPDATE tally SET n = n + 1 WHERE event = 'g1'; END;
INSERT OR FAIL INTO t1(c1, c3) VALUES ('a', 'b'), ('b', NULL), ('a', 'xyz'), ('c', 'abcd');
SELECT * FROM tally;
INSERT OR FAIL INTO t1(c1, c3) VALUES ('d', 'b'), (NULL, 'no'), ('a', 'xyz');
SELECT * FROM tally;
UPDATE OR FAIL t1 SET c1 = 'z';
SELECT * FROM tally;
SELECT * FROM t1;
INSERT OR ABORT INTO t1(c1, c3) VALUES ('u', 'u'), ('a', 'a');
SELECT * FROM tally;
DROP TABLE t1;
DROP TABLE tally;

-- A child whose parent is missing.
PRAGMA foreign_keys = ON;
CREATE TABLE t1(c0 INTEGER PRIMARY KEY, c3 BLOB, FOREIGN KEY(c3) REFERENCES t0(c0) ON UPDATE SET NULL);
DELETE FROM t1;
DROP TABLE t1;
PRAGMA foreign_keys = OFF;

-- A foreign key stops an INSERT of one row before the row, that of several behind the last.
PRAGMA foreign_keys = ON;
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 INT NOT NULL);
CREATE TABLE t1(c0 INTEGER PRIMARY KEY, c3 BLOB, FOREIGN KEY(c3) REFERENCES t0(c0));
INSERT INTO t1(c0, c3) VALUES (26, 1);
SELECT last_insert_rowid();
BEGIN;
INSERT INTO t1(c0, c3) VALUES (27, 1);
SELECT last_insert_rowid();
INSERT INTO t1(c0, c3) VALUES (28, 1), (29, 2);
SELECT last_insert_rowid();
INSERT OR REPLACE INTO t1(c0, c3) VALUES (30, 2);
SELECT last_insert_rowid();
ROLLBACK;
DROP TABLE t1;
DROP TABLE t0;
PRAGMA foreign_keys = OFF;

-- Triggers of DO UPDATE are compiled with the INSERT.
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 INTEGER, c3 INTEGER);
CREATE TRIGGER g0 AFTER UPDATE OF c3 ON t0 BEGIN UPDATE tally SET n = n; END;
INSERT INTO t0(c0, c3) VALUES (9, 4) ON CONFLICT(c0) DO UPDATE SET c3 = -3.25;
INSERT INTO t0(c0, c3) VALUES (9, 4) ON CONFLICT(c0) DO UPDATE SET c1 = -3.25;
DROP TABLE t0;

-- The BEFORE INSERT triggers of an UPSERT fire before it looks for what stands in the way, and once.
CREATE TABLE t0(c0 TEXT, c1 INTEGER, PRIMARY KEY(c1));
CREATE TABLE tally(event TEXT PRIMARY KEY, n INTEGER NOT NULL);
INSERT INTO tally VALUES ('g0', 0), ('g1', 0);
CREATE TRIGGER g0 BEFORE INSERT ON t0 WHEN new.c0 IS NOT NULL BEGIN UPDATE tally SET n = n + 1 WHERE event = 'g0'; END;
CREATE TRIGGER g1 AFTER UPDATE OF c1 ON t0 BEGIN UPDATE tally SET n = n + 1 WHERE event = 'g1'; END;
INSERT INTO t0(c0) VALUES ('A'), (3), (2.5) ON CONFLICT DO NOTHING;
INSERT INTO t0(c0, c1) VALUES ('b', 3) ON CONFLICT(c1) DO UPDATE SET c0 = excluded.c0;
SELECT * FROM tally;
INSERT INTO t0(c0, c1) VALUES ('b', 3) ON CONFLICT(c1) DO NOTHING;
INSERT INTO t0(c0, c1) VALUES ('b', 3) ON CONFLICT(c1) DO UPDATE SET c0 = 4 WHERE 0;
INSERT INTO t0(c0, c1) VALUES ('b', 7) ON CONFLICT(c1) DO UPDATE SET c0 = 4;
SELECT * FROM tally;
UPDATE t0 SET c0 = f.c0 FROM (SELECT * FROM t0 AS s ORDER BY s.rowid LIMIT 1) AS f WHERE t0.c1 > 1;
UPDATE OR REPLACE t0 SET c0 = f.c0 FROM (SELECT * FROM t0 AS s ORDER BY s.rowid LIMIT 1) AS f;
SELECT * FROM tally;
SELECT * FROM t0;
DROP TABLE t0;
DROP TABLE tally;

-- A child's text is compared with the parent's affinity.
PRAGMA foreign_keys = ON;
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 BLOB);
CREATE TABLE t1(c0 PRIMARY KEY, c1 BLOB NOT NULL UNIQUE, FOREIGN KEY(c1) REFERENCES t0(c0) ON UPDATE CASCADE ON DELETE RESTRICT);
INSERT INTO t0(c1) VALUES (3), (NULL), (49), (-1);
INSERT INTO t1(c0, c1) VALUES ('B', '1');
DELETE FROM t0;
UPDATE t0 SET c0 = c0 + 10;
SELECT * FROM t1;
DROP TABLE t1;
DROP TABLE t0;
PRAGMA foreign_keys = OFF;

-- RETURNING * behind ALTER TABLE.
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c2 NOT NULL DEFAULT '');
INSERT INTO t0(c0) VALUES (25), (35) RETURNING *;
ALTER TABLE t0 ADD COLUMN c3 TEXT DEFAULT 'added';
DELETE FROM t0 WHERE c0 = 25 RETURNING *;
INSERT INTO t0(c0) VALUES (26) RETURNING *;
DROP TABLE t0;

-- A deferred foreign key refuses the end of an INSERT that is a transaction by itself, with AUTOINCREMENT too.
PRAGMA foreign_keys = ON;
CREATE TABLE t0(c0 INTEGER PRIMARY KEY, c1 TEXT);
CREATE TABLE t1(c0 INTEGER PRIMARY KEY AUTOINCREMENT, c3 INTEGER, FOREIGN KEY(c3) REFERENCES t0(c0) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO t1(c0, c3) VALUES (23, 'ab');
SELECT * FROM t1;
INSERT INTO t1(c3) VALUES (NULL);
SELECT * FROM t1;
SELECT * FROM sqlite_sequence;
DROP TABLE t1;
DROP TABLE t0;
PRAGMA foreign_keys = OFF;
-- The foreign key check as a function.
CREATE TABLE fkParent(id INTEGER PRIMARY KEY);
CREATE TABLE fkChild(id INTEGER PRIMARY KEY, p REFERENCES fkParent(id));
INSERT INTO fkChild VALUES (1, 1), (2, 2);
SELECT count(*) FROM pragma_foreign_key_check;
SELECT * FROM pragma_foreign_key_check('fkChild') ORDER BY rowid;
SELECT * FROM pragma_foreign_key_check('fkParent');
DROP TABLE fkChild;
-- A key under another collation than its column's is no parent.
PRAGMA foreign_keys = ON;
CREATE TABLE collatedKey(a TEXT, b TEXT, PRIMARY KEY(a COLLATE NOCASE, b)) WITHOUT ROWID;
CREATE TABLE collatedChild(x, y, FOREIGN KEY(x, y) REFERENCES collatedKey(a, b));
INSERT INTO collatedKey VALUES ('a', 'b');
INSERT INTO collatedChild VALUES ('a', 'b');
INSERT INTO collatedChild VALUES (NULL, NULL);
SELECT * FROM collatedChild;
DROP TABLE collatedChild;
PRAGMA foreign_keys = OFF;
-- A temp table's sqlite_sequence hides the store's.
CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
INSERT INTO counted(a) VALUES (1);
CREATE TEMP TABLE countedToo(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
INSERT INTO countedToo(a) VALUES (1), (2);
SELECT * FROM sqlite_sequence;
SELECT * FROM main.sqlite_sequence WHERE name = 'counted';
SELECT * FROM temp.sqlite_sequence;
DROP TABLE countedToo;
-- What an assignment misses is said without a row.
CREATE TABLE emptyTable(id INTEGER PRIMARY KEY, a, b);
UPDATE emptyTable SET (a, b) = (SELECT x, y FROM missingTable);
UPDATE emptyTable SET a = (SELECT x FROM missingTable WHERE x = a);
INSERT INTO emptyTable VALUES (1, 2, 3) ON CONFLICT (id) DO UPDATE SET a = (SELECT x FROM missingTable);
SELECT * FROM emptyTable;
-- A child whose key does not fit is found by an INSERT into the parent that could make or cure its violations.
PRAGMA foreign_keys = ON;
CREATE TABLE unfit(a TEXT, b TEXT, PRIMARY KEY(a COLLATE NOCASE, b)) WITHOUT ROWID;
CREATE TABLE unfitChild(x, y, FOREIGN KEY(x, y) REFERENCES unfit(a, b));
INSERT INTO unfit VALUES ('a', 'b');
INSERT INTO unfit VALUES ('b', 'b'), ('c', 'b');
INSERT INTO unfit SELECT 'd', 'd';
CREATE TABLE unfitLater(x, y, FOREIGN KEY(x, y) REFERENCES unfit(a, b) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO unfit VALUES ('e', 'b') ON CONFLICT DO NOTHING;
INSERT INTO unfit VALUES ('e', 'b');
UPDATE unfit SET a = 'z' WHERE false;
UPDATE unfitLater SET x = 1;
UPDATE unfitChild SET y = 2, x = 'x' WHERE x = 5;
DROP TABLE unfitLater;
DROP TABLE unfitChild;
PRAGMA foreign_keys = OFF;
-- An empty text that stands in for a NULL reaches the twin as a text.
CREATE TABLE emptyDefault(c0 TEXT PRIMARY KEY, c1 REAL NOT NULL DEFAULT '');
CREATE INDEX emptyDefaultIndex ON emptyDefault(typeof(c0));
INSERT OR REPLACE INTO emptyDefault(c0, c1) VALUES (7, NULL), (8, 1);
SELECT c0, c1, typeof(c1) FROM emptyDefault;
-- A trigger of a temp table raises as SQLite's own do.
CREATE TEMP TABLE raising(a);
CREATE TRIGGER raisingRollback BEFORE INSERT ON raising BEGIN SELECT RAISE(ROLLBACK, 'raised') WHERE new.a = 1; END;
BEGIN;
INSERT INTO raising VALUES (1);
COMMIT;
DROP TABLE raising;
-- A stored generated column makes SQLite look at the types before the rowid.
CREATE TABLE strictStored(id INTEGER PRIMARY KEY, a INT, g ANY AS (a || 'g') STORED) STRICT;
INSERT INTO strictStored(id, a) VALUES (1, 1);
INSERT INTO strictStored(id, a) VALUES (1, 'no');
-- A clause that no row can meet is not compiled.
CREATE TABLE leftOut(id INTEGER PRIMARY KEY, a);
INSERT INTO leftOut(a) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = (SELECT x FROM missingTable);
SELECT * FROM leftOut;
-- A DELETE counts the rows that it removed: not those that RAISE(IGNORE) spared, a trigger or a cascade took before their turn.
CREATE TABLE spared(n INT NOT NULL UNIQUE, c NOT NULL);
CREATE TRIGGER sparing BEFORE DELETE ON spared BEGIN SELECT RAISE(IGNORE) WHERE old.n = 4; END;
ALTER TABLE spared RENAME TO sparedLater;
INSERT INTO sparedLater(n, c) VALUES (4, 4), (-0.0, 6);
DELETE FROM sparedLater;
SELECT changes();
DELETE FROM sparedLater WHERE n = 4 RETURNING n;
SELECT changes();
SELECT * FROM sparedLater;
CREATE TABLE takenEarly(k TEXT PRIMARY KEY, g AS (k || 'x')) WITHOUT ROWID;
CREATE TRIGGER takingEarly AFTER DELETE ON takenEarly BEGIN DELETE FROM takenEarly WHERE k = 'c'; END;
INSERT INTO takenEarly VALUES ('a'), ('b'), ('c'), ('d');
DELETE FROM takenEarly;
SELECT changes();
INSERT INTO takenEarly VALUES ('a'), ('b'), ('c'), ('d');
CREATE TRIGGER sparingToo BEFORE DELETE ON takenEarly WHEN old.k = 'b' BEGIN SELECT RAISE(IGNORE); END;
DELETE FROM takenEarly NOT INDEXED WHERE k >= 'a';
SELECT changes();
SELECT * FROM takenEarly;
CREATE TABLE ownTree(id INTEGER PRIMARY KEY, up REFERENCES ownTree(id) ON DELETE CASCADE);
PRAGMA foreign_keys = ON;
INSERT INTO ownTree VALUES (1, NULL), (2, 1), (3, 2), (4, NULL);
DELETE FROM ownTree WHERE id < 9;
SELECT changes();
INSERT INTO ownTree VALUES (1, NULL), (2, 1), (3, 2), (4, NULL);
DELETE FROM ownTree WHERE id < 4 RETURNING id;
SELECT changes();
SELECT * FROM ownTree;
PRAGMA foreign_keys = OFF;
-- What RAISE(FAIL) in an AFTER trigger stops at is written and counted; the row that any refusal came after gave the last rowid.
CREATE TABLE failing(id INTEGER PRIMARY KEY, a);
CREATE TRIGGER failingInsert AFTER INSERT ON failing BEGIN SELECT RAISE(FAIL, 'raised') WHERE new.a = 'x'; END;
INSERT INTO failing(a) VALUES (1), ('x'), (3);
SELECT changes(), last_insert_rowid();
INSERT INTO failing(id, a) VALUES (5, 1), (6, 'x'), (7, 3) ON CONFLICT (id) DO NOTHING;
SELECT changes(), last_insert_rowid();
CREATE TRIGGER failingUpdate AFTER UPDATE ON failing BEGIN SELECT RAISE(FAIL, 'raised') WHERE new.a = 'y'; END;
UPDATE failing SET a = 'y' WHERE id > 1;
SELECT changes();
CREATE TRIGGER failingDelete AFTER DELETE ON failing BEGIN SELECT RAISE(FAIL, 'raised') WHERE old.a = 'y'; END;
DELETE FROM failing;
SELECT changes();
SELECT * FROM failing;
CREATE TABLE refusing(a PRIMARY KEY);
CREATE TABLE refused(id INTEGER PRIMARY KEY, a);
CREATE TRIGGER refusedInsert AFTER INSERT ON refused BEGIN INSERT INTO refusing VALUES (new.a); END;
INSERT INTO refused(a) VALUES (1), (2);
INSERT INTO refused(a) VALUES (3), (2);
SELECT last_insert_rowid();
INSERT INTO refused(a) VALUES (3), (4), (2) ON CONFLICT DO NOTHING;
SELECT last_insert_rowid();
-- REPLACE puts in every default before it finds one that is NULL.
CREATE TABLE nullDefault(id INTEGER PRIMARY KEY, a BLOB NOT NULL DEFAULT NULL, b INTEGER NOT NULL);
INSERT OR REPLACE INTO nullDefault VALUES (NULL, NULL, NULL);
INSERT OR REPLACE INTO nullDefault VALUES (NULL, NULL, 1);
INSERT OR REPLACE INTO nullDefault VALUES (NULL, 1, 1);
UPDATE OR REPLACE nullDefault SET a = NULL, b = NULL;
UPDATE OR REPLACE nullDefault SET a = NULL;
SELECT * FROM nullDefault;
-- So does a generated column that is not stored make SQLite look at the types first.
CREATE TABLE strictVirtual(id INTEGER PRIMARY KEY, a TEXT, g ANY AS (length(id)) VIRTUAL, UNIQUE(g, a)) STRICT;
INSERT INTO strictVirtual(id, a) VALUES (1, 'a');
INSERT INTO strictVirtual(id, a) VALUES (1, x'ff');
-- A DO UPDATE is an UPDATE of its columns to a foreign key that does not fit.
PRAGMA foreign_keys = ON;
CREATE TABLE unfitUpsert(a BLOB, b TEXT, c, PRIMARY KEY(a, b COLLATE NOCASE DESC));
CREATE TABLE unfitUpsertChild(x, y, FOREIGN KEY(x, y) REFERENCES unfitUpsert(a, b));
INSERT INTO unfitUpsert VALUES ('abc', 'A', 1) ON CONFLICT (a, b) DO UPDATE SET b = 'b';
INSERT INTO unfitUpsert VALUES ('abc', 'A', 1) ON CONFLICT (a, b) DO UPDATE SET c = 2;
INSERT INTO unfitUpsert VALUES ('abc', 'A', 1) ON CONFLICT (a, b) DO NOTHING;
SELECT * FROM unfitUpsert;
DROP TABLE unfitUpsertChild;
PRAGMA foreign_keys = OFF;
-- A table that a trigger could insert into has its entry in sqlite_sequence, whether the trigger fires or not.
CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT, x);
CREATE TABLE numberedToo(id INTEGER PRIMARY KEY AUTOINCREMENT, x);
CREATE TABLE numbering(x);
CREATE TRIGGER numberingUpdate AFTER UPDATE ON numbering BEGIN INSERT INTO numbered(x) VALUES (1); END;
CREATE TRIGGER numberedInsert AFTER INSERT ON numbered BEGIN INSERT INTO numberedToo(x) VALUES (1); END;
BEGIN;
UPDATE numbering SET x = 1;
SELECT name, seq FROM sqlite_sequence ORDER BY name;
ROLLBACK;
SELECT name, seq FROM sqlite_sequence ORDER BY name;
UPDATE numbering SET x = 1;
SELECT name, seq FROM sqlite_sequence ORDER BY name;
INSERT INTO numbering VALUES (1), (2);
UPDATE numbering SET x = 3 WHERE x = 1;
SELECT name, seq FROM sqlite_sequence ORDER BY name;
-- CREATE TABLE AS SELECT over what only the connection has: temp tables, which may hide the store's, and attached ones.
CREATE TEMP TABLE chosen(c0 TEXT COLLATE RTRIM, c1 INT, c2 BLOB);
INSERT INTO chosen VALUES ('a ', 1, x'00'), ('b', 2, NULL);
CREATE TABLE chosenOnce AS SELECT t.c0 AS e0, t.c2 AS e1, t.c1 + 1, t.rowid AS r FROM chosen AS t;
SELECT rowid, * FROM chosenOnce;
SELECT sql FROM sqlite_schema WHERE name = 'chosenOnce';
CREATE TABLE chosenTwice AS SELECT * FROM temp.chosen, chosenOnce;
SELECT * FROM chosenTwice;
CREATE TABLE chosenNone AS SELECT * FROM nothere;
CREATE TABLE chosenNone AS SELECT nocolumn FROM chosen;
CREATE TABLE chosenTwice AS SELECT * FROM chosen;
CREATE TABLE IF NOT EXISTS chosenTwice AS SELECT * FROM chosen;
BEGIN;
CREATE TABLE chosenThen AS WITH w AS (SELECT c1 FROM chosen) SELECT c1 FROM w;
ROLLBACK;
SELECT * FROM chosenThen;
CREATE TABLE hiding(a);
CREATE TEMP TABLE hiding(b);
INSERT INTO temp.hiding VALUES (3);
CREATE TABLE chosenHidden AS SELECT b FROM hiding;
SELECT * FROM chosenHidden;
DROP TABLE temp.hiding;
DROP TABLE chosen;
-- A rowid that an UPSERT's clause turned away is used up all the same.
CREATE TABLE usedUp(id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE, b);
INSERT INTO usedUp(a) VALUES (1);
INSERT INTO usedUp(id, a) VALUES (37, 1) ON CONFLICT (a) DO UPDATE SET b = 2;
SELECT * FROM sqlite_sequence WHERE name = 'usedUp';
INSERT INTO usedUp(id, a) VALUES (40, 1) ON CONFLICT (a) DO NOTHING;
INSERT INTO usedUp(id, a) VALUES (35, 1), (41, 5), (44, 5) ON CONFLICT (id) DO UPDATE SET b = 3 ON CONFLICT (a) DO UPDATE SET b = 4;
SELECT * FROM sqlite_sequence WHERE name = 'usedUp';
INSERT INTO usedUp(id, a, b) VALUES (90, 1, 1) ON CONFLICT (a) DO UPDATE SET id = NULL;
INSERT INTO usedUp(id, a, b) VALUES (91, 1, 1) ON CONFLICT (a) DO UPDATE SET id = 60;
SELECT * FROM sqlite_sequence WHERE name = 'usedUp';
INSERT INTO usedUp(a) VALUES (9);
SELECT rowid, * FROM usedUp;
-- What an ON CONFLICT clause names is judged also where the rest of the statement is this connection's own.
CREATE TEMP TABLE given(a, b);
CREATE TABLE taking(id INTEGER PRIMARY KEY, a, b, g AS (a || b), UNIQUE(a, id), UNIQUE(b));
INSERT INTO taking(a, b) SELECT a, b FROM given WHERE true ON CONFLICT (a, id) DO NOTHING;
INSERT INTO taking(a, b) SELECT a, b FROM given WHERE true ON CONFLICT (b) DO NOTHING ON CONFLICT (a) DO NOTHING;
INSERT INTO taking AS t (a, b) SELECT a, b FROM given WHERE true ON CONFLICT (b) DO UPDATE SET a = t.a || excluded.a;
INSERT INTO taking AS t (a, b) SELECT a, b FROM given WHERE true ON CONFLICT (b) DO UPDATE SET a = nothere;
INSERT INTO taking AS t (a, b) SELECT a, b FROM given WHERE true ON CONFLICT (b) DO UPDATE SET a = (SELECT a FROM given);
DROP TABLE given;
-- A parent key without affinity is compared with a child's text as it is: an action that makes text of a number breaks the key.
PRAGMA foreign_keys = ON;
CREATE TABLE bare(id BLOB PRIMARY KEY);
CREATE TABLE bareChild(id TEXT REFERENCES bare ON UPDATE CASCADE);
INSERT INTO bare VALUES ('x'), ('5'), (7);
INSERT INTO bareChild VALUES ('x'), ('5');
UPDATE bare SET id = -id WHERE id = 'x';
UPDATE bare SET id = 8 WHERE id = 7;
INSERT INTO bareChild VALUES (8);
DELETE FROM bare WHERE id = 8;
SELECT quote(id) FROM bare ORDER BY 1;
SELECT quote(id) FROM bareChild ORDER BY 1;
PRAGMA foreign_keys = OFF;
-- A statement that was prepared before a ROLLBACK took its table of statistics away.
CREATE TABLE undone(a CHECK (a < 3), b NOT NULL);
SELECT * FROM undone;
SAVEPOINT undoing;
DROP TABLE IF EXISTS sqlite_stat1;
ANALYZE;
INSERT OR ROLLBACK INTO undone VALUES (1, 1), (2, NULL);
SELECT * FROM undone;
ANALYZE;
DROP TABLE sqlite_stat1;
ANALYZE;
REINDEX;
-- An UPDATE of a child's key looks up the parent keys of all that refer to the table, too: one that fits no index is told.
PRAGMA foreign_keys = ON;
CREATE TABLE upper(id TEXT PRIMARY KEY);
CREATE TABLE middle(a, b, up REFERENCES upper, other, PRIMARY KEY (a, b COLLATE NOCASE)) WITHOUT ROWID;
CREATE TABLE lower(a, b, FOREIGN KEY (a, b) REFERENCES middle(a, b));
UPDATE middle SET other = 1;
UPDATE middle SET up = 1;
UPDATE middle SET a = 1;
INSERT INTO upper VALUES ('u');
UPDATE upper SET id = 'v';
DROP TABLE lower;
UPDATE middle SET up = 1;
PRAGMA foreign_keys = OFF;
-- A foreign key's action aborts, whatever the statement says and the child's own clauses.
PRAGMA foreign_keys = ON;
CREATE TABLE acting(id INT PRIMARY KEY, x);
CREATE TABLE actedOn(id NUMERIC REFERENCES acting ON UPDATE SET NULL ON DELETE SET NULL, y, PRIMARY KEY (y, id)) WITHOUT ROWID;
INSERT INTO acting VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO actedOn VALUES (2, 2);
SAVEPOINT acts;
UPDATE OR ROLLBACK acting SET id = id + 10;
SELECT * FROM acting;
UPDATE OR IGNORE acting SET id = id + 10;
UPDATE OR FAIL acting SET id = id + 10;
UPDATE OR REPLACE acting SET id = id + 10;
DELETE FROM acting;
SELECT * FROM acting;
ROLLBACK;
CREATE TABLE actedOnLater(id INTEGER PRIMARY KEY REFERENCES acting ON DELETE SET NULL ON UPDATE CASCADE, z UNIQUE ON CONFLICT REPLACE);
INSERT INTO actedOnLater VALUES (2, 2), (3, 3);
DELETE FROM acting;
CREATE TABLE actedOnIgnoring(id NOT NULL ON CONFLICT IGNORE REFERENCES acting ON DELETE SET NULL);
INSERT INTO actedOnIgnoring VALUES (1);
DELETE FROM acting WHERE id = 1;
DELETE FROM acting WHERE id = 3;
SELECT * FROM acting;
CREATE TRIGGER actedOnFail BEFORE UPDATE ON actedOnIgnoring BEGIN SELECT RAISE(FAIL, 'failed'); END;
UPDATE OR IGNORE acting SET x = 9, id = id WHERE id < 3;
DELETE FROM acting WHERE id = 1;
SELECT * FROM acting;
PRAGMA foreign_keys = OFF;
-- An OR in the statement, OR ABORT too, overrides what the constraints say.
CREATE TABLE saying(a NOT NULL ON CONFLICT IGNORE, b CHECK (b > 0), c UNIQUE ON CONFLICT REPLACE, d DEFAULT 7 NOT NULL ON CONFLICT REPLACE);
INSERT INTO saying VALUES (1, 1, 1, 1);
INSERT OR ABORT INTO saying VALUES (NULL, 1, 2, 2), (3, 3, 3, 3);
INSERT OR FAIL INTO saying VALUES (4, 4, 4, 4), (NULL, 1, 2, 2), (5, 5, 5, 5);
INSERT OR ABORT INTO saying VALUES (6, 6, 1, 6);
INSERT OR ABORT INTO saying VALUES (6, 6, 6, NULL);
UPDATE OR ABORT saying SET a = NULL;
UPDATE OR FAIL saying SET d = NULL;
UPDATE saying SET d = NULL;
BEGIN;
INSERT OR ROLLBACK INTO saying VALUES (NULL, 1, 2, 2);
COMMIT;
INSERT INTO saying VALUES (NULL, 1, 2, 2), (3, 3, 3, NULL), (8, 8, 1, 8);
SELECT * FROM saying ORDER BY a;
-- DELETE without WHERE of tables with foreign keys, while nobody looks at the keys and while somebody does.
CREATE TABLE emptiedParent(id INTEGER PRIMARY KEY AUTOINCREMENT, u UNIQUE);
CREATE TABLE emptiedChild(id INTEGER PRIMARY KEY, p REFERENCES emptiedParent ON DELETE CASCADE, q TEXT);
CREATE INDEX emptiedIndex ON emptiedChild(q);
INSERT INTO emptiedParent(u) VALUES ('a'), ('b'), ('c');
INSERT INTO emptiedChild(p, q) VALUES (1, 'x'), (2, 'y'), (NULL, 'z');
BEGIN;
SAVEPOINT emptying;
DELETE FROM emptiedParent;
SELECT changes(), total_changes() > 0, (SELECT count(*) FROM emptiedParent), (SELECT count(*) FROM emptiedChild);
ROLLBACK TO emptying;
SELECT count(*) FROM emptiedParent WHERE u > 'a';
DELETE FROM emptiedChild AS e;
SELECT changes(), (SELECT count(*) FROM emptiedChild WHERE q > 'a');
INSERT INTO emptiedChild(p, q) VALUES (1, 'again');
SELECT * FROM emptiedChild ORDER BY q;
ROLLBACK;
PRAGMA foreign_keys = ON;
DELETE FROM emptiedParent;
SELECT changes(), (SELECT count(*) FROM emptiedParent), (SELECT count(*) FROM emptiedChild);
PRAGMA foreign_keys = OFF;
INSERT INTO emptiedParent(u) VALUES ('d');
DELETE FROM emptiedParent RETURNING id, u;
INSERT INTO emptiedParent(u) VALUES ('e');
CREATE TRIGGER emptiedTrigger AFTER DELETE ON emptiedParent BEGIN INSERT INTO emptiedChild(q) VALUES (old.u); END;
DELETE FROM emptiedParent;
SELECT changes(), (SELECT group_concat(q) FROM emptiedChild);
-- A key that fits no index says nothing of an UPDATE that sets other columns.
PRAGMA foreign_keys = ON;
CREATE TABLE unfitting(a TEXT, b, n, PRIMARY KEY (a COLLATE NOCASE)) WITHOUT ROWID;
CREATE TABLE unfittingChild(a REFERENCES unfitting(a) ON UPDATE CASCADE);
INSERT INTO unfitting VALUES ('x', 1, 1);
UPDATE unfitting SET n = n + 1;
UPDATE unfitting SET a = 'y';
DELETE FROM unfitting;
SELECT * FROM unfitting;
PRAGMA foreign_keys = OFF;
