-- ANY of a STRICT table has no affinity, through views too; HIDDEN is a type as any other.
ATTACH 'x.db' AS x;
CREATE TABLE x.t0(c0 ANY, c1 TEXT, c2 ANY) STRICT;
INSERT INTO t0 VALUES (1,'3',3),(2,'x','3');
SELECT t0.c0 FROM t0 JOIN t0 AS j ON j.c1=t0.c2;
SELECT c0 FROM t0 WHERE c2=c1;
SELECT c0, c2='3', c2=3, typeof(c2) FROM t0;
SELECT c0 FROM t0 WHERE c2='3';
SELECT c0 FROM t0 WHERE c2 IN ('3');
SELECT c0 FROM t0 WHERE c2 BETWEEN '3' AND '3';
SELECT c0 FROM t0 ORDER BY c2+0;
CREATE VIEW x.v AS SELECT c0, c1, c2, CAST(c2 AS TEXT) AS d, c1 || '' AS e FROM t0;
SELECT c0 FROM x.v WHERE c2=c1; SELECT c0, c2='3', c2=3, typeof(c2), d='3', d=3, e=3 FROM x.v; SELECT v.c0 FROM x.v JOIN t0 ON t0.c1=v.c2;
CREATE TABLE x.h(a ANY, b HIDDEN, c "very hidden x", d ANY TEXT); INSERT INTO x.h VALUES ('1', 2, 3, 4); SELECT * FROM x.h WHERE a = 1 AND b = '2'; SELECT a = '1', b FROM x.h; SELECT * FROM x.h;
-- Rows of several SELECTs: whole numbers stay so, whatever the affinity of the first one's columns.
CREATE TABLE reals(r REAL, n INT);
INSERT INTO reals VALUES (1, 1), (2, 2);
CREATE TABLE x.mixed(a, b UNIQUE, c DEFAULT 7);
INSERT INTO x.mixed(a, b) SELECT r, n FROM reals UNION ALL SELECT n, r + 10 FROM reals;
INSERT INTO x.mixed SELECT *, 3 FROM reals WHERE 0 UNION ALL SELECT n, n + 20, 4 FROM reals;
INSERT INTO x.mixed(a, b) VALUES (CAST(5 AS REAL), 31), (6, (SELECT max(n) + 40 FROM reals));
SELECT quote(a), quote(b), c FROM x.mixed;
