-- A subquery that is run once a statement has the affinity that its result has: an expression has none, so a TEXT column
-- makes it a text; a column without type is compared as it is.
CREATE TABLE t (k TEXT PRIMARY KEY, n);
CREATE TABLE u (i INTEGER PRIMARY KEY, d, e TEXT);
CREATE TABLE log (line);
INSERT INTO u VALUES (17, 6, '6'), (6, 7, 8);
INSERT INTO t VALUES ('6', 0), ('a', 0), ('7', 0);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = 'not in' WHERE t.k NOT IN (SELECT +i FROM u);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' in' WHERE t.k IN (SELECT +i FROM u);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' untyped' WHERE t.k IN (SELECT d FROM u);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' plus' WHERE t.k IN (SELECT +d FROM u);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' text' WHERE t.k IN (SELECT e FROM u);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' cast' WHERE t.k IN (SELECT CAST(e AS INT) FROM u);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' literal' WHERE t.k = (SELECT 6);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' value' WHERE t.k = (SELECT +i FROM u WHERE d = 7);
INSERT INTO t VALUES (6, 1) ON CONFLICT (k) DO UPDATE SET n = n || ' row' WHERE (t.k, 7) IN (SELECT +i, d FROM u);
SELECT * FROM t ORDER BY k;
CREATE TRIGGER changed AFTER UPDATE ON t BEGIN
    INSERT INTO log VALUES (new.k || ': ' || new.n);
END;
UPDATE t SET n = k IN (SELECT +i FROM u);
UPDATE t SET n = (k = (SELECT 6));
UPDATE t SET n = k IN (SELECT d FROM u);
UPDATE t SET n = 1 WHERE k IN (SELECT +d FROM u) RETURNING k, k IN (SELECT +i FROM u), k = (SELECT 7), k IN (SELECT d FROM u);
WITH w AS (SELECT +i AS x, d FROM u)
UPDATE t SET n = (k IN (SELECT x FROM w)) || (k IN (SELECT d FROM w)) RETURNING k, n, k IN (SELECT x FROM w);
SELECT * FROM log ORDER BY rowid;
