-- A cursor is kept with its table and used again: what one statement left half done must not show in the next.
CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INTEGER);
CREATE TABLE w (k TEXT, n INTEGER, v BLOB, PRIMARY KEY (k, n)) WITHOUT ROWID;
CREATE INDEX t_n ON t (n);
INSERT INTO t VALUES (1, 'one', 10), (2, 'two', 20), (3, 'three', 30), (4, NULL, NULL);
INSERT INTO w VALUES ('a', 1, x'01'), ('a', 2, x''), ('b', 1, NULL);
-- rows that are only counted, and not to the end
SELECT 1 FROM t LIMIT 1;
SELECT a FROM t WHERE id = 2;
SELECT 1 FROM t LIMIT 2;
SELECT id, a, n FROM t WHERE id = 3;
SELECT 1 FROM w LIMIT 1;
SELECT v FROM w WHERE k = 'a' AND n = 2;
SELECT EXISTS (SELECT 1 FROM t), (SELECT a FROM t WHERE id = 1);
-- counted first, and read after all
SELECT count(*) FROM t, (SELECT 1 FROM t LIMIT 1);
SELECT (SELECT count(*) FROM t), id FROM t ORDER BY id;
SELECT 1, rowid FROM t LIMIT 2;
-- one cursor after another with other plans of the same table
SELECT n FROM t WHERE n > 5 ORDER BY n LIMIT 1;
SELECT id, a, n FROM t WHERE n = 20;
SELECT id FROM t WHERE id BETWEEN 2 AND 3;
SELECT n, id FROM t ORDER BY n DESC;
SELECT a FROM t ORDER BY n;
SELECT k, n, v FROM w ORDER BY k DESC, n DESC;
SELECT a.id, b.a FROM t AS a JOIN t AS b ON b.id = a.id + 1 ORDER BY a.id;
SELECT a.id, b.id, b.a FROM t AS a JOIN t AS b ON b.n = a.n ORDER BY a.id;
-- the same while the transaction writes
BEGIN;
INSERT INTO t VALUES (5, 'five', 50);
SELECT 1 FROM t LIMIT 1;
SELECT id, a, n FROM t WHERE id = 5;
SELECT id, a, n FROM t WHERE n >= 30 ORDER BY n;
UPDATE t SET n = n + 1 WHERE id IN (1, 5);
SELECT a.id, b.a, b.n FROM t AS a JOIN t AS b ON b.id = a.id - 1 ORDER BY a.id;
SELECT v, n, k FROM w WHERE k = 'a' AND n = 1;
ROLLBACK;
SELECT id, a, n FROM t ORDER BY id;
