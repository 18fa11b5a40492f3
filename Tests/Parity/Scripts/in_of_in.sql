-- A list behind IN is no row value, though another IN follows it.
CREATE TABLE t(a, b);
INSERT INTO t VALUES (1, 2), (2, 0), (3, 1), (NULL, 1);
SELECT * FROM t WHERE a IN (1, 2) IN (0, 1) ORDER BY 1;
SELECT * FROM t WHERE a IN (1, 2) IN (0, 7) ORDER BY 1;
SELECT * FROM t WHERE a IN (1, 2) IN (SELECT b FROM t) ORDER BY 1, 2;
SELECT a IN (1, 2) IN (0, 7), a NOT IN (1, 2) IN (1, 1) FROM t;
SELECT * FROM t WHERE (a, b) IN (VALUES (1, 2), (3, 1)) IN (1, 5) ORDER BY 1;
SELECT * FROM t JOIN t AS u ON t.a IN (u.a, u.b) IN (1, 2) ORDER BY 1, 2, 3, 4;
DELETE FROM t WHERE a IN (2, 9) IN (3, 1) IN (1, 1);
UPDATE t SET b = 5 WHERE a IN (1, 2) IN (1, 2) RETURNING *;
CREATE TEMP TABLE m(a CHECK(a IN (1, 2) IN (1, 3)));
INSERT INTO m VALUES (1);
INSERT INTO m VALUES (3);
SELECT * FROM t ORDER BY a;
