-- What everybody types first: tables, rows, errors with their place, UPSERT and RETURNING, triggers, the shell's dot commands.
CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE, n INT DEFAULT 7);
INSERT INTO t(name) VALUES('a'),('b'),('c');
SELECT * FROM t ORDER BY name DESC;
INSERT INTO t(name) VALUES('a') ON CONFLICT(name) DO UPDATE SET n=n+1 RETURNING *;
UPDATE t SET n=9 WHERE id=2 RETURNING id,n;
INSERT INTO t(name) VALUES('a');
SELECT x FROM nope;
SELEC 1;
BEGIN; DELETE FROM t; SELECT changes(); ROLLBACK;
SELECT count(*) FROM t;
.tables
.schema
.dump
PRAGMA table_info(t);
CREATE TRIGGER tr AFTER INSERT ON t BEGIN UPDATE t SET n=n+1 WHERE id=new.id; END;
INSERT INTO t(name,n) VALUES('zz',1);
SELECT * FROM t;
ALTER TABLE t ADD COLUMN more REAL DEFAULT 1.5;
.mode box
SELECT * FROM t;
.mode insert t2
SELECT * FROM t;
.headers on
.mode csv
SELECT id AS "the id", name FROM t WHERE id = 99;
SELECT id AS "the id", name FROM t WHERE id = 1;
.indexes
PRAGMA auto_vacuum=1;
PRAGMA auto_vacuum;
PRAGMA journal_mode=wal;
PRAGMA journal_mode;
PRAGMA locking_mode;
PRAGMA mmap_size=1000000;
PRAGMA mmap_size;
