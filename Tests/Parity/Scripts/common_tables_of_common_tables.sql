-- A common table that is read by way of others counts as often as they are read; what is read twice is kept for the statement.
CREATE TABLE t(a INTEGER PRIMARY KEY, b);
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50);
BEGIN;
WITH c AS (SELECT sum(b) AS b, max(a) AS a FROM t), d AS (SELECT b, a FROM c) INSERT INTO t SELECT a, b FROM d UNION ALL SELECT a + 1, b FROM c WHERE true ON CONFLICT DO UPDATE SET b = t.b + (SELECT b FROM d);
SELECT * FROM t;
ROLLBACK;
BEGIN;
WITH c AS (SELECT sum(b) AS b, max(a) AS a FROM t), d AS (SELECT b, a FROM c UNION ALL SELECT b, a + 1 FROM c) INSERT INTO t SELECT a, b FROM (SELECT * FROM d UNION ALL SELECT * FROM c UNION ALL SELECT * FROM c) WHERE true ON CONFLICT DO UPDATE SET b = t.b + (SELECT sum(b) FROM t);
SELECT * FROM t;
ROLLBACK;
BEGIN;
WITH c AS (SELECT sum(b) AS b, max(a) AS a FROM t), d AS MATERIALIZED (SELECT b, a FROM c UNION ALL SELECT b, a + 1 FROM c), e AS MATERIALIZED (SELECT b, a FROM d UNION ALL SELECT b, a + 1 FROM c) INSERT INTO t SELECT a, b FROM (SELECT b, a FROM d UNION ALL SELECT b, a FROM c UNION ALL SELECT b, a FROM c) WHERE true ON CONFLICT DO UPDATE SET b = t.b + (SELECT sum(b) FROM t);
SELECT * FROM t;
ROLLBACK;
-- SQLite reads all of a SELECT of the table before the first row; of a common table's rows, too.
BEGIN;
WITH c AS MATERIALIZED (SELECT count(*) + sum(b) AS b, max(a) AS a FROM t), e AS MATERIALIZED (SELECT count(*) + sum(b) AS b, max(a) AS a FROM t), f AS (SELECT b, a FROM e UNION ALL SELECT b, a + 1 FROM e) INSERT INTO t SELECT a, b FROM (SELECT b, a FROM c UNION ALL SELECT b, a FROM e UNION ALL SELECT b, a FROM f) WHERE true ON CONFLICT DO UPDATE SET b = t.b + (SELECT sum(b) FROM t);
SELECT * FROM t;
ROLLBACK;
-- RETURNING and the assignments are compiled for the INSERT and for each key of a DO UPDATE, and each asks once.
BEGIN;
INSERT INTO t VALUES (6, 1), (5, 2), (4, 3), (7, 4), (3, 5) ON CONFLICT DO UPDATE SET b = t.b + (SELECT sum(b) FROM t) RETURNING *, (SELECT sum(b) FROM t);
WITH c AS MATERIALIZED (SELECT sum(b) AS b FROM t) INSERT INTO t VALUES (8, 1), (5, 2), (9, 3) ON CONFLICT DO UPDATE SET b = (SELECT b FROM c) RETURNING *, (SELECT b FROM c), (SELECT sum(b) FROM t);
ROLLBACK;
CREATE TABLE k(a INTEGER PRIMARY KEY, b, u UNIQUE, w UNIQUE);
INSERT INTO k VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3), (4, 4, 4, 4);
BEGIN;
INSERT INTO k VALUES (1, 0, 9, 9), (9, 0, 2, 9), (9, 0, 9, 3), (2, 0, 8, 8), (9, 0, 4, 8) ON CONFLICT DO UPDATE SET b = b + 10 + (SELECT sum(b) FROM k) RETURNING *, (SELECT sum(b) FROM k);
ROLLBACK;
BEGIN;
INSERT INTO k VALUES (1, 0, 9, 9), (9, 0, 2, 9), (9, 0, 9, 3), (2, 0, 8, 8), (9, 0, 4, 8) ON CONFLICT(u) DO UPDATE SET b = (SELECT sum(b) FROM k) ON CONFLICT(a) DO UPDATE SET b = 1 + (SELECT sum(b) FROM k) ON CONFLICT DO UPDATE SET b = 2 + (SELECT sum(b) FROM k) RETURNING *, (SELECT sum(b) FROM k);
SELECT * FROM k;
ROLLBACK;
-- A table's name that a common table has.
WITH t AS MATERIALIZED (SELECT 70 AS a, 7 AS b), c AS (SELECT * FROM t) INSERT INTO main.t SELECT a, b FROM t UNION ALL SELECT a + 1, b FROM c UNION ALL SELECT a + 2, b FROM c WHERE true ON CONFLICT DO UPDATE SET b = 0 RETURNING *;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3), m AS (SELECT i FROM n) INSERT INTO t SELECT i, i FROM m UNION ALL SELECT i + 1, i FROM n WHERE true ON CONFLICT DO UPDATE SET b = (SELECT max(i) FROM m) RETURNING *, (SELECT count(*) FROM n);
SELECT * FROM t;
