-- The right side of a LEFT JOIN whose columns are subqueries: a row without a match must not make them NULL for the rows behind it.
CREATE TABLE t0(d);
INSERT INTO t0 VALUES(1);
CREATE TABLE s(d);
INSERT INTO s VALUES(1),('a'),(1);
CREATE TEMP TABLE nt(d);
INSERT INTO nt VALUES(1),('a'),(1);
SELECT x.rowid, y.r FROM t0 z CROSS JOIN nt x LEFT JOIN (SELECT (SELECT 1) f, rowid r FROM nt) y ON x.d WHERE y.f = z.d ORDER BY 1, 2;
SELECT x.rowid, y.r FROM t0 z CROSS JOIN s x LEFT OUTER JOIN (SELECT (SELECT 1) f, rowid r FROM s) y ON x.d WHERE y.f = z.d ORDER BY 1, 2;
SELECT x.rowid, y.r FROM t0 z CROSS JOIN nt x LEFT JOIN (SELECT rowid r, EXISTS(SELECT 1 FROM t0) f FROM nt WHERE d) y ON x.d WHERE y.f = z.d ORDER BY 1, 2;
SELECT x.rowid, y.r FROM t0 z CROSS JOIN nt x LEFT JOIN (SELECT rowid r, 1 IN (SELECT d FROM t0) f FROM nt) y ON x.d WHERE y.f = z.d ORDER BY 1, 2;
SELECT x.rowid, y.r FROM t0 z CROSS JOIN nt x LEFT JOIN (SELECT nt.rowid r, q.f f FROM nt LEFT JOIN (SELECT (SELECT 1) f FROM t0) q ON nt.d) y ON x.d WHERE y.f = z.d ORDER BY 1, 2;
CREATE TEMP VIEW v AS SELECT x.rowid k, y.r FROM main.t0 z CROSS JOIN nt x LEFT JOIN (SELECT (SELECT 1) f, rowid r FROM nt) y ON x.d WHERE y.f = z.d;
SELECT k, r FROM v ORDER BY 1, 2;
SELECT x.rowid, (SELECT count(*) FROM t0 z CROSS JOIN nt w LEFT JOIN (SELECT (SELECT 1) f, rowid r FROM nt ORDER BY 2) y ON w.d WHERE y.f = z.d) FROM nt x ORDER BY 1;
