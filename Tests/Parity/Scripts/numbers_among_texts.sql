-- Numbers of another table looked up among texts and columns without a type: texts that spell no number are left out of
-- what is collected, and of the transient index (automatic.c). A text that is looked up next needs them again.
CREATE TABLE t (k TEXT PRIMARY KEY, v INT);
CREATE TABLE u (k, v INT);
CREATE INDEX uk ON u (k);
CREATE TABLE o (n INTEGER PRIMARY KEY, i INT, r REAL, x);
INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)
  SELECT CASE i % 5 WHEN 0 THEN i WHEN 1 THEN ' ' || i || '.0' WHEN 2 THEN '0' || i ELSE 'k' || i END, i FROM n;
INSERT INTO t VALUES ('', 1), ('Inf', 2), ('-Inf', 3), ('1e1', 4), ('0x10', 5), ('0.333333333333333', 6), (NULL, 7), (x'31', 8);
INSERT INTO u SELECT k, v FROM t;
INSERT INTO u VALUES (5, 9), (6.0, 10), (1e999, 11), (1.0 / 3, 12), (7, 13), ('7', 14);
INSERT INTO o WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39) SELECT i, i * 7, i * 3.5, i FROM n;
INSERT INTO o VALUES (50, 'k3', 1e999, 'k4'), (51, 'Inf', -1e999, '16'), (52, NULL, NULL, NULL), (53, 1, 1.0 / 3, 1.0 / 3), (54, 10, 10, x'31');
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k = o.i ORDER BY 1, 3;
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k = o.r ORDER BY 1, 3;
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k = o.x ORDER BY 1, 3;
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k IS o.i ORDER BY 1, 3;
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k = o.r + 0 ORDER BY 1, 3;
SELECT o.n, u.k, u.v FROM o CROSS JOIN u WHERE u.k = o.i ORDER BY 1, 3;
SELECT o.n, u.k, u.v FROM o CROSS JOIN u WHERE u.k = o.r ORDER BY 1, 3;
SELECT o.n, u.k, u.v FROM o CROSS JOIN u WHERE u.k = o.x ORDER BY 1, 3;
SELECT o.n, u.k, u.v FROM o LEFT JOIN u ON u.k = CAST(o.i AS TEXT) ORDER BY 1, 3;
SELECT x, (SELECT group_concat(v) FROM (SELECT v FROM t WHERE t.k = x ORDER BY v)) FROM (SELECT i AS x FROM o UNION ALL SELECT k FROM t WHERE v < 30);
SELECT n, (SELECT max(k) FROM t WHERE k < o.i + 0), (SELECT v FROM u WHERE u.k = o.i ORDER BY v DESC LIMIT 1) FROM o ORDER BY n;
BEGIN;
INSERT INTO t VALUES ('7.00', 600), ('k', 601);
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k = o.i ORDER BY 1, 3;
DELETE FROM t WHERE v % 2;
SELECT o.n, t.k, t.v FROM o CROSS JOIN t WHERE t.k = o.i ORDER BY 1, 3;
COMMIT;
-- A literal text is no number: at a column without type it means one key, and is looked up rather than another column.
CREATE TABLE lit(a, b, c TEXT, d INT);
CREATE INDEX lit_ab ON lit(a, b DESC);
CREATE UNIQUE INDEX lit_cd ON lit(c, a, d);
CREATE TABLE lit_key(a, b, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
INSERT INTO lit WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < 60)
  SELECT CASE i % 5 WHEN 0 THEN 1 WHEN 1 THEN '1' WHEN 2 THEN '1.0' WHEN 3 THEN x'31' ELSE 1.0 END, CASE i % 2 WHEN 0 THEN i ELSE '' || i END, i % 7, i FROM g;
INSERT OR IGNORE INTO lit_key SELECT a, b, c FROM lit;
SELECT typeof(a), a, b FROM lit WHERE a = '1' ORDER BY b DESC, d;
SELECT typeof(a), a, b FROM lit WHERE a = '1' AND b = '11';
SELECT typeof(a), a, b FROM lit WHERE a IS '1' AND b > '3' AND b <= '51' ORDER BY b;
SELECT typeof(a), a, count(*), max(b) FROM lit WHERE a = CAST('1' AS INT) GROUP BY 1, 2 ORDER BY 1, 2;
SELECT typeof(a), a, count(*) FROM lit WHERE a = CAST(1 AS TEXT) GROUP BY 1, 2;
SELECT typeof(a), a, count(*) FROM lit WHERE a = +'1' OR a = '1.0' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT typeof(a), b FROM lit WHERE c = '3' AND a = '1' AND d = '31';
SELECT typeof(a), b FROM lit_key WHERE a = '1' AND b = '31';
SELECT typeof(a), b FROM lit_key WHERE a = '1' AND b = 31;
SELECT x.d, count(*) FROM lit x JOIN lit y ON y.a = '1' AND y.a = x.d WHERE x.d < 3 GROUP BY 1;
SELECT x.d, count(*) FROM lit x JOIN lit y ON y.a = x.d AND x.d = '1' GROUP BY 1;
SELECT x.d, y.d FROM lit x JOIN lit y ON y.c = '3' AND y.c = x.d WHERE x.d < 5 ORDER BY 1, 2;
SELECT v.n, count(*) FROM (SELECT d AS n FROM lit WHERE d < 3 UNION ALL SELECT '1') v JOIN lit y ON y.a = v.n GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM lit WHERE a = '1' AND a IN ('1', 1, x'31') AND b IN (11, '11', 31);
UPDATE lit_key SET c = 'one' WHERE a = '1' AND b = '31';
DELETE FROM lit_key WHERE a = '1.0' AND b = 12;
UPDATE lit SET c = 'one' WHERE c = '3' AND a = '1' AND d = '31';
SELECT count(*), sum(c = 'one') FROM lit_key UNION ALL SELECT count(*), sum(c = 'one') FROM lit;
