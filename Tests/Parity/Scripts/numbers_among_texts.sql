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
