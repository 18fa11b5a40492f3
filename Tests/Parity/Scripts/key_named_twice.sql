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
-- Beside triggers the last value alone is judged, and in their bodies it counts.
CREATE TABLE late(a INTEGER PRIMARY KEY, b, c);
CREATE TABLE told(x);
INSERT INTO late VALUES (1, 1, 1);
INSERT INTO late VALUES (1, 1, 1) ON CONFLICT(a) DO UPDATE SET a = 'x', rowid = 9;
CREATE TRIGGER late_key AFTER UPDATE OF a ON late BEGIN INSERT INTO told VALUES ('a ' || new.a); END;
CREATE TRIGGER late_rowid AFTER UPDATE OF rowid ON late BEGIN INSERT INTO told VALUES ('rowid ' || new.a); END;
UPDATE late SET a = 'x', a = 10;
UPDATE late SET a = 'x', rowid = 11;
UPDATE late SET rowid = 'x', a = 12;
UPDATE late SET rowid = 'x', oid = 13;
UPDATE late SET (a, a) = ('x', 14);
UPDATE late SET (a, a) = (SELECT 'x', 15);
UPDATE late SET a = 16, a = 'x';
CREATE TRIGGER told_more AFTER INSERT ON told WHEN new.x = 'go' BEGIN
  UPDATE late SET a = 'x', rowid = 20;
  UPDATE late SET a = 'x', a = a + 1;
  UPDATE late SET rowid = a + 20, a = a + 1 WHERE b = 1;
  UPDATE late SET ("a", _rowid_) = (SELECT 268, 4) WHERE a = 22;
END;
INSERT INTO told VALUES ('go');
SELECT * FROM late;
SELECT * FROM told;
