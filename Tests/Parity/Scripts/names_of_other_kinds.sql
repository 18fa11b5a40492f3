-- An index, a trigger and a table may have one name; what temp has of another kind hides nothing of the store's.
CREATE TABLE t(a INTEGER PRIMARY KEY, b);
CREATE TABLE log(x);
CREATE TEMP TABLE m(a, b);
CREATE INDEX temp.t ON m(a);
CREATE INDEX temp.log ON m(b);
CREATE TRIGGER g AFTER UPDATE OF b ON t BEGIN INSERT INTO log VALUES (new.b); END;
INSERT INTO t VALUES (1, 2);
UPDATE t SET b = 3;
SELECT * FROM log;
ALTER TABLE t DROP COLUMN a;
ALTER TABLE log ADD COLUMN y DEFAULT 7;
ALTER TABLE log RENAME TO lines;
SELECT * FROM lines;
PRAGMA table_info(t);
PRAGMA index_info(t);
CREATE INDEX tb ON t(b);
CREATE TEMP TABLE tb(z);
PRAGMA table_info(tb);
DROP INDEX tb;
DROP TABLE tb;
CREATE TEMP TABLE lines(q, r);
PRAGMA main.table_info(lines);
PRAGMA temp.table_info(lines);
PRAGMA table_info(lines);
DROP TABLE lines;
-- Triggers of temp have their names in common, whatever table they are on.
CREATE TEMP TRIGGER "x y" AFTER INSERT ON m BEGIN SELECT 1; END;
CREATE TEMP TRIGGER "x y" AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, 'not'); END;
CREATE TEMP TRIGGER IF NOT EXISTS "x y" AFTER INSERT ON t BEGIN SELECT RAISE(ABORT, 'not'); END;
INSERT INTO t VALUES (5, 6);
CREATE TEMP TRIGGER k AFTER INSERT ON t BEGIN INSERT INTO lines(x) VALUES (new.b); END;
CREATE TRIGGER k AFTER INSERT ON m BEGIN SELECT RAISE(ABORT, 'not'); END;
CREATE TEMP TRIGGER k AFTER INSERT ON m BEGIN SELECT RAISE(ABORT, 'not'); END;
CREATE TRIGGER IF NOT EXISTS k AFTER INSERT ON m BEGIN SELECT RAISE(ABORT, 'not'); END;
CREATE TRIGGER k AFTER DELETE ON t BEGIN INSERT INTO lines(x) VALUES (old.b); END;
INSERT INTO m VALUES (1, 2);
INSERT INTO t VALUES (8, 9);
DELETE FROM t WHERE a = 8;
SELECT * FROM lines;
SELECT name, tbl_name FROM sqlite_temp_schema ORDER BY 1, 2;
-- A view of temp takes no trigger of the store's view of its name.
CREATE VIEW v AS SELECT b AS c FROM t;
CREATE TEMP TRIGGER w INSTEAD OF INSERT ON v BEGIN INSERT INTO lines(x) VALUES (new.c); END;
CREATE TRIGGER w INSTEAD OF UPDATE OF c ON v BEGIN INSERT INTO lines(x) VALUES (old.c); END;
CREATE TEMP VIEW v AS SELECT 1 AS c;
CREATE TABLE other(a);
DROP TABLE other;
UPDATE main.v SET c = 9;
UPDATE v SET c = 9;
DROP VIEW v;
INSERT INTO v VALUES (77);
UPDATE v SET c = 9;
SELECT * FROM lines;
SELECT name, tbl_name FROM sqlite_schema ORDER BY 1, 2;
-- What has no rows of the store has nothing wrong.
PRAGMA integrity_check(v);
PRAGMA integrity_check(m);
PRAGMA quick_check('m');
PRAGMA integrity_check(missing);
PRAGMA main.integrity_check(m);
-- A table may be called as a schema is: ANALYZE means the schema.
CREATE TABLE temp(a INTEGER PRIMARY KEY, b);
INSERT INTO temp VALUES (1, 2);
ANALYZE temp;
ANALYZE main.temp;
SELECT * FROM sqlite_stat1;
-- In triggers of temp tables, too, values are given.
CREATE TRIGGER n AFTER INSERT ON m BEGIN INSERT INTO t DEFAULT VALUES; /* syntax */ END;
CREATE TEMP TRIGGER n AFTER INSERT ON t BEGIN INSERT INTO t DEFAULT VALUES; /* syntax */ END;
-- A view is no parent.
PRAGMA foreign_keys = ON;
CREATE VIEW parents AS SELECT 1 AS a;
CREATE TABLE children(a REFERENCES parents(a), b REFERENCES parents);
INSERT INTO children VALUES (1, 2);
DELETE FROM children;
UPDATE children SET a = 1;
