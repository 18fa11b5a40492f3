-- A store that is opened describes a table when a statement first names it. What concerns tables that no statement has
-- named yet is shown here: foreign keys from them, triggers, views, indexes, ALTER, DROP, REINDEX, row values.
PRAGMA foreign_keys = ON;
CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent ON DELETE CASCADE, n REFERENCES "parent" (name) ON UPDATE SET NULL);
CREATE TABLE grandchild(id INTEGER PRIMARY KEY, child INT REFERENCES [child](id) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE kept(k TEXT PRIMARY KEY ON CONFLICT REPLACE, v UNIQUE ON CONFLICT IGNORE);
CREATE TABLE counted(id INTEGER PRIMARY KEY AUTOINCREMENT, v DEFAULT 7 CHECK (v > 0));
CREATE TABLE keyed(a, b TEXT COLLATE NOCASE, PRIMARY KEY (a, b)) WITHOUT ROWID;
CREATE TABLE plain(a INT, b TEXT NOT NULL, c REAL DEFAULT 1.5);
CREATE TABLE other(a, b, c);
CREATE INDEX plain_b ON plain(b);
CREATE INDEX plain_part ON plain(a) WHERE b > 'm';
CREATE INDEX other_expression ON other(lower(b));
CREATE INDEX child_parent ON child(parent);
CREATE VIEW seen AS SELECT plain.a, other.b FROM plain JOIN other USING (a);
CREATE TABLE log(what);
CREATE TRIGGER plain_in AFTER INSERT ON plain BEGIN INSERT INTO log VALUES ('plain ' || new.b); END;
CREATE TRIGGER child_gone AFTER DELETE ON child BEGIN INSERT INTO log VALUES ('child ' || old.id); END;
INSERT INTO parent VALUES (1, 'one'), (2, 'two'), (3, 'three');
INSERT INTO child VALUES (10, 1, 'one'), (11, 2, NULL), (12, 3, 'two');
INSERT INTO grandchild VALUES (100, 10), (101, 11);
INSERT INTO kept VALUES ('x', 1), ('y', 2);
INSERT INTO counted(v) VALUES (5), (6);
INSERT INTO keyed VALUES (1, 'a'), (2, 'b');
INSERT INTO plain VALUES (1, 'b', 2), (2, 'z', 3);
INSERT INTO other VALUES (1, 'B', 'c'), (2, 'Z', 'd');
-- @reopen
PRAGMA foreign_keys = ON;
DELETE FROM parent WHERE id = 3;
SELECT * FROM child;
SELECT * FROM log;
-- @reopen
PRAGMA foreign_keys = ON;
DELETE FROM parent WHERE id = 1;
SELECT * FROM child;
DELETE FROM grandchild WHERE id = 100;
BEGIN;
DELETE FROM parent WHERE id = 1;
COMMIT;
SELECT * FROM log;
-- @reopen
PRAGMA foreign_keys = ON;
UPDATE parent SET name = 'zwei' WHERE id = 2;
SELECT * FROM child;
-- @reopen
PRAGMA foreign_keys = ON;
BEGIN;
INSERT INTO grandchild VALUES (102, 77);
COMMIT;
ROLLBACK;
SELECT count(*) FROM grandchild;
-- @reopen
PRAGMA foreign_keys = ON;
DROP TABLE parent;
DROP TABLE child;
PRAGMA foreign_key_check;
-- @reopen
INSERT INTO kept VALUES ('x', 9);
INSERT INTO kept VALUES ('q', 2);
SELECT * FROM kept ORDER BY k;
-- @reopen
INSERT INTO counted(v) VALUES (8);
INSERT INTO counted DEFAULT VALUES;
INSERT INTO counted(v) VALUES (-1);
SELECT * FROM counted;
SELECT * FROM sqlite_sequence;
-- @reopen
SELECT * FROM seen ORDER BY 1;
SELECT * FROM keyed WHERE b = 'A';
SELECT a FROM plain INDEXED BY plain_part WHERE b > 'n';
SELECT c FROM other WHERE lower(b) = 'z';
-- @reopen
INSERT INTO plain VALUES (3, 'y', 4);
SELECT * FROM log;
SELECT a FROM plain WHERE (a, b) IN (SELECT a, lower(b) FROM other) ORDER BY a;
-- @reopen
SELECT a FROM plain WHERE (b, a) IN (SELECT lower(b), a FROM other) ORDER BY a;
-- @reopen
ALTER TABLE plain ADD COLUMN d TEXT DEFAULT 'new';
SELECT * FROM plain ORDER BY a;
PRAGMA table_info(plain);
-- @reopen
ALTER TABLE other RENAME COLUMN b TO bee;
SELECT bee FROM other ORDER BY 1;
SELECT sql FROM sqlite_master WHERE name IN ('seen', 'other_expression');
SELECT * FROM seen ORDER BY 1;
-- @reopen
ALTER TABLE plain RENAME TO flat;
SELECT * FROM seen ORDER BY 1;
INSERT INTO flat(a, b) VALUES (9, 'nine');
SELECT * FROM log;
-- @reopen
ALTER TABLE flat DROP COLUMN c;
SELECT * FROM flat ORDER BY a;
-- @reopen
BEGIN;
ALTER TABLE other ADD COLUMN extra DEFAULT 3;
CREATE INDEX other_a ON other(a);
DROP TABLE keyed;
CREATE TABLE late(x REFERENCES parent, y);
INSERT INTO late VALUES (2, 1);
ROLLBACK;
SELECT * FROM other ORDER BY a;
SELECT * FROM keyed;
SELECT * FROM late;
-- @reopen
SAVEPOINT s;
DROP TABLE counted;
CREATE TABLE counted(z);
INSERT INTO counted VALUES (1);
ROLLBACK TO s;
SELECT * FROM counted;
RELEASE s;
-- @reopen
CREATE TEMP TABLE other(hides);
INSERT INTO other VALUES ('temp');
SELECT * FROM other;
SELECT a FROM main.other ORDER BY a;
DROP TABLE temp.other;
SELECT a FROM other ORDER BY a;
-- @reopen
REINDEX;
PRAGMA integrity_check;
ANALYZE;
-- @reopen
SELECT count(*) FROM flat WHERE b = 'z';
SELECT tbl FROM sqlite_stat1 GROUP BY tbl ORDER BY tbl;
INSERT OR REPLACE INTO kept VALUES ('y', 2);
SELECT * FROM kept ORDER BY k;
