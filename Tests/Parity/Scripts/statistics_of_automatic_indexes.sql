-- ANALYZE of the indexes that UNIQUE and PRIMARY KEY make.
CREATE TABLE s(a, b UNIQUE, c PRIMARY KEY);
INSERT INTO s VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3), (1, NULL, 4), (1, NULL, 5), (1, NULL, 6), (1, NULL, 7), (1, NULL, 8);
ANALYZE;
SELECT * FROM sqlite_stat1 ORDER BY tbl, idx;
CREATE TABLE s2(a TEXT PRIMARY KEY, b, UNIQUE (b, a));
INSERT INTO s2 VALUES (1, 1), (NULL, 1), (NULL, 2), (NULL, 2), (2, 2), (3, 2), (4, 2), (NULL, NULL);
ANALYZE s2;
SELECT * FROM sqlite_stat1 WHERE tbl = 's2' ORDER BY tbl, idx;
CREATE TABLE s3(a PRIMARY KEY, b) WITHOUT ROWID;
CREATE TABLE s4(a, b, c, UNIQUE(a, b), UNIQUE(c), PRIMARY KEY(b, c, a)) WITHOUT ROWID;
INSERT INTO s3 VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (7, 1), (8, 1);
INSERT INTO s4 SELECT a % 3, a % 4, a FROM s3;
ANALYZE;
SELECT * FROM sqlite_stat1 ORDER BY tbl, idx;
