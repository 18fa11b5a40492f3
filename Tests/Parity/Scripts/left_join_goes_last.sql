-- A LEFT JOIN that stands before inner joins may go behind them: rows, their columns and the columns' names are SQLite's.
CREATE TABLE a (id INTEGER PRIMARY KEY, x INT, s TEXT);
CREATE TABLE b (id INTEGER PRIMARY KEY, a INT, t TEXT);
CREATE TABLE c (id INTEGER PRIMARY KEY, x INT, z INT);
CREATE INDEX a_x ON a (x);
CREATE INDEX c_z ON c (z);
INSERT INTO a VALUES (1, 1, 'p'), (2, 2, 'q'), (3, 1, NULL), (4, NULL, 'r');
INSERT INTO b VALUES (1, 1, 'k'), (2, 1, 'l'), (3, 3, NULL);
INSERT INTO c VALUES (1, 1, 1), (2, 2, 1), (3, 1, 2), (4, NULL, 1);
CREATE VIEW v AS SELECT a.id AS i, b.t, c.z FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x;
-- those that go
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x WHERE c.z = 1 ORDER BY 1, 2, 3;
SELECT * FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x WHERE c.z = 1 ORDER BY 1, 4, 7;
SELECT *, a.id + 1, b.* FROM a LEFT OUTER JOIN b ON b.a = a.id, c AS "d e" WHERE "d e".z = 1 ORDER BY 1, 4, 7;
SELECT count(*), count(b.id), sum(c.id) FROM a LEFT JOIN b ON b.a = a.id LEFT JOIN c AS e ON e.x = a.id JOIN c ON c.x = a.x;
SELECT a.id, y.n, c.id FROM a LEFT JOIN (SELECT a, count(*) AS n FROM b GROUP BY a) AS y ON y.a = a.id JOIN c ON c.x = a.x ORDER BY 1, 3;
SELECT c.id, q.id, b.id FROM c JOIN a AS q ON q.x = c.x LEFT JOIN b ON b.a = q.id JOIN a AS w ON w.id = c.z ORDER BY 1, 2, 3;
SELECT id, (SELECT count(*) FROM a AS q LEFT JOIN b ON b.a = q.id JOIN c AS e ON e.x = q.x WHERE e.z = a.x) FROM a ORDER BY id;
SELECT id FROM a WHERE EXISTS (SELECT * FROM b LEFT JOIN c ON c.id = b.id JOIN a AS q ON q.id = b.a WHERE q.id = a.id) ORDER BY id;
SELECT * FROM v WHERE z = 1 ORDER BY 1, 2;
SELECT i, count(t) FROM v GROUP BY i ORDER BY i;
WITH w AS (SELECT * FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x) SELECT * FROM w ORDER BY 1, 4, 7;
CREATE TABLE made AS SELECT * FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x;
SELECT * FROM made ORDER BY 1, 4, 7;
SELECT*FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x ORDER BY 1, 4, 7;
SELECT DISTINCT*FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x ORDER BY 1, 4, 7;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = (a.x)WHERE c.z = 1 ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = (a.x)ORDER BY 1, 2, 3;
-- those that stay
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = coalesce(b.id, 1) ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.id = length(t) OR c.z = 2 ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = a.x AND (b.t IS NULL OR b.t > 'k') ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id CROSS JOIN c ON c.x = a.x ORDER BY 1, 2, 3;
SELECT * FROM a LEFT JOIN b ON b.a = a.id JOIN c USING (x) ORDER BY 1, 4, 7;
SELECT * FROM a LEFT JOIN b USING (id) JOIN c USING (x) ORDER BY 1, 4;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = a.id JOIN c ON c.x = (SELECT count(*) FROM a WHERE b.t = 'k') ORDER BY 1, 2, 3;
SELECT a.id, b.id, j.value FROM a LEFT JOIN b ON b.a = a.id JOIN json_each('[' || coalesce(b.id, 7) || ']') AS j ORDER BY 1, 2, 3;
SELECT a.id, b.id, j.value FROM a LEFT JOIN b ON b.a = a.id JOIN json_each('[' || a.id || ',8]') AS j ORDER BY 1, 2, 3;
SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.a = c.id JOIN c ON c.x = a.x ORDER BY 1, 2, 3;
-- a view or a subquery beside a RIGHT or FULL JOIN: SQLite merges it
CREATE VIEW y AS SELECT c.* FROM c LEFT JOIN b ON b.id = c.id JOIN a ON a.x = c.x;
SELECT DISTINCT y.id FROM a FULL JOIN b ON a.id = 77 JOIN y ON a.x = 77;
SELECT DISTINCT q.id FROM a FULL JOIN b ON a.id = 77 JOIN (SELECT c.* FROM c LEFT JOIN b ON b.id = c.id JOIN a ON a.x = c.x) AS q ON a.x = 77;
WITH w AS (SELECT c.* FROM c LEFT JOIN b ON b.id = c.id JOIN a ON a.x = c.x) SELECT DISTINCT w.id FROM a RIGHT JOIN b ON a.id = 77 JOIN w ON a.x = 77;
