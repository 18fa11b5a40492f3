-- (a, b) IN a SELECT of whatever has rows, beside columns of numeric affinities, which decide the comparison, and others.
CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b REAL, c NUMERIC, k TEXT, u);
CREATE INDEX t_ab ON t (a, b DESC);
CREATE INDEX t_ca ON t (c, a);
CREATE INDEX t_ka ON t (k, a);
CREATE INDEX t_u ON t (u, a);
CREATE TABLE s (x, y TEXT, z INT, q BLOB);
CREATE VIEW v AS SELECT z AS p, x AS r, y FROM s;
INSERT INTO t VALUES (1, 1, 1, 1, '1', 1), (2, 2, 2.5, '2.5', '02', '2'), (3, NULL, 3, 3, '3', 3), (4, 4, NULL, NULL, NULL, NULL),
  (5, 'five', 'x', 'five', 'five', 'five'), (6, 1, 2, x'31', '1', x'31'), (7, 1, 1e18, 9007199254740993, '2', 2.0), (8, 2, 2.5, 2, '2', '2');
INSERT INTO s VALUES (1, '1', 1, x'31'), ('1', '01', 2, '1'), (2.5, '2.5', 2, 2.5), (NULL, NULL, NULL, NULL), ('five', 'x', 'five', 'x'),
  (x'31', '2', 1, 2), ('2', '2.50', 1, '2'), (1e18, '1e18', 1, 1e18);
SELECT id FROM t WHERE (a, b) IN (SELECT z, x FROM (SELECT z, x FROM s)) ORDER BY id;
SELECT id FROM t WHERE (a, b) IN (SELECT p, r FROM (SELECT z AS p, y AS r FROM s LIMIT 7)) ORDER BY id;
SELECT id FROM t WHERE (a, b) IN (SELECT p, r FROM v) ORDER BY id;
SELECT id FROM t WHERE (a, b) IN (SELECT p, y FROM v WHERE y > '1') ORDER BY id;
SELECT id FROM t WHERE (a, b) IN (SELECT * FROM (SELECT z, max(x) FROM s GROUP BY z)) ORDER BY id;
SELECT id FROM t WHERE (a, c) IN (SELECT y, x FROM (SELECT x, y FROM s UNION SELECT z, q FROM s)) ORDER BY id;
SELECT id FROM t WHERE (c, a) IN (SELECT s.y, o.z FROM s LEFT JOIN s o ON o.z = s.z) ORDER BY id;
SELECT id FROM t WHERE (c, a) IN (SELECT o.q, s.z FROM s LEFT JOIN (SELECT q, x AS w FROM s) o ON o.w = s.x) ORDER BY id;
SELECT id FROM t WHERE (k, a) IN (SELECT y, z FROM (SELECT y, z FROM s)) ORDER BY id;
SELECT id FROM t WHERE (k, a) IN (SELECT x, z FROM (SELECT x, z FROM s)) ORDER BY id;
SELECT id FROM t WHERE (k, a) IN (SELECT r, p FROM v) ORDER BY id;
SELECT id FROM t WHERE (u, a) IN (SELECT z, z FROM (SELECT z FROM s)) ORDER BY id;
SELECT id FROM t WHERE (u, a) IN (SELECT y, z FROM (SELECT y, z FROM s)) ORDER BY id;
SELECT id FROM t WHERE (a, b) NOT IN (SELECT z, x FROM (SELECT z, x FROM s WHERE z IS NOT NULL)) ORDER BY id;
SELECT id FROM t WHERE (a, b) IN (SELECT z, x FROM (SELECT z, x FROM s)) AND k IN ('1', '2') ORDER BY id;
SELECT id FROM t WHERE (a, b) IN (SELECT z, x FROM (SELECT z, x FROM s) WHERE x = t.c) ORDER BY id;
SELECT id, (a, b) IN (SELECT z, x FROM (SELECT z, x FROM s)) FROM t ORDER BY id;
SELECT t.id, o.id FROM t JOIN t o ON (o.a, o.b) IN (SELECT z, x FROM (SELECT z, x FROM s)) AND o.id > t.id ORDER BY 1, 2;
SELECT t.id, o.id FROM t LEFT JOIN t o ON (o.a, o.c) IN (SELECT z, x FROM (SELECT z, x FROM s)) AND o.id > t.id ORDER BY 1, 2;
SELECT * FROM (SELECT id, a, b FROM t) WHERE (a, b) IN (SELECT z, x FROM (SELECT z, x FROM s)) ORDER BY id;
UPDATE t SET k = k || '!' WHERE (a, b) IN (SELECT z, x FROM (SELECT z, x FROM s));
DELETE FROM t WHERE (c, a) IN (SELECT x, z FROM (SELECT x, z FROM s LIMIT 3));
SELECT * FROM t ORDER BY id;
