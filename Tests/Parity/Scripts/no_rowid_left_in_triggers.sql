-- No rowid is left: the statement is undone as a whole where it may fire triggers, and its transaction goes on.
CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
CREATE TABLE u(id INTEGER PRIMARY KEY, a);
CREATE TABLE log(a);
CREATE TRIGGER g AFTER INSERT ON u WHEN new.a = 'fire' BEGIN INSERT INTO log VALUES (new.id); INSERT INTO t(a) VALUES (new.id); END;
INSERT INTO t VALUES (9223372036854775807, 1);
INSERT INTO u VALUES (30, 'fire');
BEGIN;
INSERT INTO u VALUES (3, 1);
INSERT INTO u VALUES (4, 'fire');
INSERT INTO u VALUES (40, 'a'), (41, 'fire'), (42, 'b');
INSERT INTO u VALUES (5, 1);
COMMIT;
SELECT * FROM u;
SELECT * FROM t;
SELECT * FROM log;
SELECT * FROM sqlite_sequence;
PRAGMA integrity_check;
