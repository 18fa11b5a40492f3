-- An index on a function of the application serves as one on SQLite's own does, where the function is deterministic.
CREATE TABLE t (id INTEGER PRIMARY KEY, a, s TEXT, n INTEGER);
CREATE INDEX by_double ON t (app_double(a));
CREATE INDEX by_join ON t (app_join(s, n));
CREATE INDEX by_picky ON t (app_picky(n)) WHERE n > 0;
CREATE INDEX by_unicode ON t (unicode(s));
INSERT INTO t (a, s, n) VALUES (1, 'x', 1), (2.5, 'y', 2), ('3', 'z', 3), (NULL, NULL, 4), (x'04', 'x', -1), (4, 'x', NULL), (2, 'Y', 2);
SELECT id FROM t WHERE app_double(a) = 4 ORDER BY id;
SELECT id FROM t WHERE app_double(a) = '3' ORDER BY id;
SELECT id FROM t WHERE app_double(a) = 5.0;
SELECT id FROM t WHERE app_double(a) > 2 ORDER BY app_double(a), id;
SELECT id FROM t WHERE app_double(a) BETWEEN 2 AND 5 ORDER BY app_double(a) DESC, id;
SELECT id FROM t WHERE app_double(a) IN (2, 8, '3') ORDER BY id;
SELECT id FROM t WHERE app_double(a) IS NULL;
SELECT id FROM t ORDER BY app_double(a), id;
SELECT id FROM t WHERE app_join(s, n) = 'x+1';
SELECT id FROM t WHERE app_join(s, n) >= 'x' ORDER BY app_join(s, n), id;
SELECT app_join(s, n), count(*) FROM t GROUP BY app_join(s, n) ORDER BY 1;
SELECT id FROM t WHERE n > 0 AND app_picky(n) = 2 ORDER BY id;
-- The function replaces one of SQLite's.
SELECT id FROM t WHERE unicode(s) = 1001 ORDER BY id;
SELECT o.id, i.id FROM t AS o JOIN t AS i ON app_double(i.a) = o.n * 2 ORDER BY 1, 2;
UPDATE t SET a = a + 1 WHERE app_double(a) = 4;
DELETE FROM t WHERE app_join(s, n) = 'z+3';
SELECT id, a FROM t WHERE app_double(a) > 4 ORDER BY id;
CREATE UNIQUE INDEX only_once ON t (app_double(a)) WHERE typeof(a) = 'real';
INSERT INTO t (a) VALUES (2.5);
INSERT INTO t (a) VALUES (7.5) ON CONFLICT (app_double(a)) WHERE typeof(a) = 'real' DO UPDATE SET s = 'again';
SELECT id, a, s FROM t ORDER BY id;
-- One that may change serves no index.
CREATE INDEX by_changing ON t (app_changing());
SELECT count(*) FROM t WHERE app_changing() = 42;
PRAGMA integrity_check;
