-- A SET that names the INTEGER PRIMARY KEY twice, by its own name and by names of the rowid: the last one counts.
CREATE TABLE t(a INTEGER PRIMARY KEY, b, c, d);
INSERT INTO t VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3);
UPDATE t SET a = -d, rowid = b + 100;
SELECT * FROM t;
UPDATE t SET oid = d, a = b + 200 WHERE a = 101;
UPDATE t SET (a, _rowid_) = (SELECT -d, b + 300) WHERE b = 2;
SELECT * FROM t;
UPDATE t SET a = -d, rowid = changes() + b RETURNING *;
WITH w(x) AS (SELECT 50) UPDATE t SET a = -d, rowid = x + b FROM w;
SELECT * FROM t;
CREATE TABLE log(x);
CREATE TRIGGER g AFTER INSERT ON log BEGIN
    UPDATE t SET a = -d, rowid = b + new.x;
    UPDATE t SET rowid = a + 1, a = a + 7 FROM (SELECT 1) WHERE b = 1;
END;
INSERT INTO log VALUES (400);
SELECT * FROM t;
CREATE TABLE n(rowid INTEGER PRIMARY KEY, oid);
INSERT INTO n VALUES (1, 2);
UPDATE n SET rowid = 5, oid = 6, _rowid_ = 7;
SELECT * FROM n;
