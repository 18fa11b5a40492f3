-- What is said of changes that are refused. changes() in them is a function of the store's, which was named itself.
CREATE TABLE t(a INTEGER PRIMARY KEY, b, c, d);
CREATE TABLE one(x);
CREATE TRIGGER fires AFTER UPDATE ON t BEGIN SELECT 1; END;
UPDATE t SET b = changes(), nope = 1;
UPDATE t SET b = changes(), (d, c) = (SELECT * FROM one);
INSERT INTO t(b, c) VALUES(changes()) ON CONFLICT(a) DO UPDATE SET b = changes();
-- A generated column in the SET of an UPDATE that names a temp table, and in that of a trigger: rows were changed.
CREATE TEMP TABLE beside(a);
CREATE TABLE made(a INTEGER PRIMARY KEY, b, c AS (b + 1) UNIQUE, d AS (a * 2) STORED);
INSERT INTO made(a, b) VALUES(1, 2), (3, 4);
UPDATE OR ABORT made SET c = (SELECT a FROM beside), b = -1;
UPDATE OR REPLACE made SET c = (SELECT a FROM beside), b = -1;
UPDATE made SET b = -2, d = (SELECT a FROM beside) RETURNING a;
UPDATE made SET c = EXISTS(SELECT 1 FROM beside), b = -3 RETURNING a;
SELECT * FROM made;
CREATE TRIGGER returns AFTER INSERT ON beside BEGIN INSERT INTO made(b) VALUES(9) RETURNING a; END;
