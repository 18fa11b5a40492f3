-- SET with subqueries: what reads other tables alone is evaluated for all rows first, what reads the changed table row by row.
CREATE TABLE t(a INTEGER PRIMARY KEY, b INTEGER, c TEXT, d REAL);
CREATE INDEX t_b ON t(b);
CREATE TABLE o(k INTEGER PRIMARY KEY, v TEXT, n INTEGER);
CREATE TABLE p(id INTEGER PRIMARY KEY, n INTEGER);
CREATE TABLE q(id INTEGER PRIMARY KEY, p INTEGER REFERENCES p(id) ON UPDATE CASCADE, n INTEGER);
CREATE VIEW seen AS SELECT a, b FROM t;
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 60)
INSERT INTO t SELECT x, x * 7 % 61, 'c' || x, x / 2.0 FROM n;
INSERT INTO o SELECT a, CASE WHEN a % 5 THEN '0' || b ELSE NULL END, b * 3 FROM t WHERE a % 3;
UPDATE t SET b = (SELECT n FROM o WHERE k = t.a);
SELECT changes(), count(*), sum(b), count(b) FROM t;
UPDATE t SET b = (SELECT v FROM o WHERE k = a), c = (SELECT k FROM o WHERE n > t.a ORDER BY n LIMIT 1) WHERE a > 10;
SELECT a, b, typeof(b), c, typeof(c) FROM t ORDER BY a;
UPDATE t SET d = (SELECT count(*) FROM o WHERE o.n < t.a), b = a + (SELECT max(n) FROM o);
SELECT a, b, d FROM t ORDER BY a;
-- The changed table: row by row.
UPDATE t SET b = (SELECT sum(b) FROM t AS u WHERE u.a < t.a) + 1 WHERE a < 20;
SELECT a, b FROM t WHERE a < 20 ORDER BY a;
UPDATE t SET b = (SELECT sum(s.b) FROM seen AS s WHERE s.a < t.a) WHERE a < 20;
SELECT a, b FROM t WHERE a < 20 ORDER BY a;
UPDATE t SET b = (SELECT n FROM o WHERE k = (SELECT max(a) FROM t AS u WHERE u.b < t.b)) WHERE a % 4 = 0;
SELECT a, b FROM t ORDER BY a;
UPDATE t SET b = (WITH w AS (SELECT a, b FROM t) SELECT max(b) FROM w WHERE w.a < t.a) WHERE a BETWEEN 30 AND 40;
SELECT a, b FROM t ORDER BY a;
UPDATE t SET b = a IN (SELECT b FROM t), c = a IN (SELECT n FROM o) WHERE a > 50;
SELECT a, b, c FROM t WHERE a > 50 ORDER BY a;
UPDATE t SET (b, c) = (SELECT n, v FROM o WHERE k = t.a) WHERE a < 30;
SELECT a, b, c FROM t ORDER BY a;
-- A temp table hides one that is read; a table-valued function reads none.
CREATE TEMP TABLE o(k, v, n);
INSERT INTO temp.o SELECT a, 'temp', a FROM t;
UPDATE t SET c = (SELECT v FROM o WHERE k = t.a);
SELECT c, count(*) FROM t GROUP BY c;
UPDATE t SET c = (SELECT v FROM main.o WHERE k = t.a);
SELECT c, count(*) FROM t GROUP BY c ORDER BY c;
DROP TABLE temp.o;
UPDATE t SET b = (SELECT sum(value) FROM json_each('[1,2,' || t.a || ']'));
SELECT sum(b) FROM t;
-- Children follow their parent while it changes.
PRAGMA foreign_keys = ON;
INSERT INTO p VALUES(1, 10), (2, 20), (3, 30);
INSERT INTO q VALUES(1, 1, 5), (2, 2, 6), (3, 3, 7);
UPDATE p SET id = id + 10 + (SELECT count(*) FROM q WHERE q.p > 10);
SELECT * FROM p ORDER BY id;
SELECT * FROM q ORDER BY id;
UPDATE p SET n = n + (SELECT sum(n) FROM q WHERE q.p = p.id);
SELECT changes(), * FROM p ORDER BY id;
UPDATE q SET n = n + (SELECT n FROM p WHERE p.id = q.p) WHERE n > 5;
SELECT changes(), * FROM q ORDER BY id;
UPDATE q SET p = (SELECT max(id) FROM p WHERE p.n < 1000 - q.n);
SELECT * FROM q ORDER BY id;
UPDATE q SET p = (SELECT max(id) + 1 FROM p);
SELECT * FROM q ORDER BY id;
UPDATE q SET n = NULL, p = p;
SELECT changes(), * FROM q ORDER BY id;
-- The schema changes in between.
ALTER TABLE t ADD COLUMN e DEFAULT 5;
UPDATE t SET e = (SELECT n FROM o WHERE k = t.a), b = 1;
SELECT sum(e), sum(b) FROM t;
BEGIN;
UPDATE t SET b = (SELECT n FROM o WHERE k = t.a);
SAVEPOINT s;
UPDATE t SET b = b + 1, c = (SELECT max(v) FROM o WHERE k < t.a);
SELECT sum(b), max(c) FROM t;
ROLLBACK TO s;
SELECT sum(b), max(c) FROM t;
COMMIT;
PRAGMA integrity_check;
