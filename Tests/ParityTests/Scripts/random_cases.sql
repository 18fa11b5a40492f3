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
