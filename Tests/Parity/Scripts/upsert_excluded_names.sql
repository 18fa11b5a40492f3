-- excluded.column as it may be written, beside a table or an alias of a subquery that has the name.
CREATE TABLE t(k INTEGER PRIMARY KEY, a INT UNIQUE, b TEXT COLLATE NOCASE, c);
INSERT INTO t VALUES(1, 1, 'a', 1), (2, 2, 'b', 2), (3, 3, 'c', 3);
INSERT INTO t VALUES(1, 9, 7, '7') ON CONFLICT(k) DO UPDATE SET b = (excluded.b), c = ((EXCLUDED."c"));
INSERT INTO t VALUES(2, 9, 'B', 'x') ON CONFLICT(k) DO UPDATE SET c = /* the */ [excluded] . b, b = excluded.c;
INSERT INTO t VALUES(3, 9, 'C', 5) ON CONFLICT(k) DO UPDATE SET c = excluded.b = 'c', b = t.b = excluded.b;
INSERT INTO t VALUES(3, 9, 'q', 5)
    ON CONFLICT(k) DO UPDATE SET c = excluded.b = 'Q', b = (SELECT x FROM (SELECT 'in' AS x) AS excluded WHERE excluded.x = 'in');
INSERT INTO t VALUES(1, 9, 'row', 6) ON CONFLICT(k) DO UPDATE SET (b, c) = (excluded.c, excluded.b);
INSERT INTO t VALUES(1, 9, 'sub', 6) ON CONFLICT(k) DO UPDATE SET (b, c) = (SELECT excluded.b, excluded.b = 'SUB');
INSERT INTO t VALUES(2, 9, 'w', 6) ON CONFLICT(k) DO UPDATE SET b = excluded.b WHERE excluded.b = 'W';
INSERT INTO t VALUES(2, 9, 'w', 6) ON CONFLICT(k) DO UPDATE SET b = excluded.b WHERE excluded.b = 'w';
INSERT INTO t AS excluded VALUES(3, 9, 'alias', 6) ON CONFLICT(k) DO UPDATE SET b = excluded.b || '!', c = excluded.c;
SELECT *, typeof(b), typeof(c) FROM t;
CREATE TABLE excluded(k INTEGER PRIMARY KEY, b TEXT);
INSERT INTO excluded VALUES(1, 'old');
INSERT INTO excluded VALUES(1, 'new') ON CONFLICT(k) DO UPDATE SET b = excluded.b || '+';
SELECT * FROM excluded;
-- What the clauses have found free is not sought again, unless a row that was replaced has let something in.
PRAGMA recursive_triggers = 1;
CREATE TABLE r(k INTEGER PRIMARY KEY, a UNIQUE, b UNIQUE ON CONFLICT REPLACE, c UNIQUE);
CREATE TABLE old(k, c);
CREATE TRIGGER g AFTER DELETE ON r BEGIN INSERT INTO old VALUES(old.k, old.c); END;
INSERT INTO r VALUES(1, 1, 1, 1), (2, 2, 2, 2);
INSERT INTO r VALUES(3, 3, 2, 3) ON CONFLICT(a) DO UPDATE SET c = 9;
SELECT changes();
INSERT INTO r VALUES(4, 4, 1, 3) ON CONFLICT(c) DO UPDATE SET c = 9 ON CONFLICT(a) DO NOTHING;
INSERT INTO r VALUES(5, 5, 1, 6) ON CONFLICT(c) DO UPDATE SET c = 9 ON CONFLICT(a) DO NOTHING;
INSERT INTO r VALUES(6, 5, 7, 7) ON CONFLICT(c) DO NOTHING;
INSERT INTO r VALUES(7, 7, 8, 6) ON CONFLICT(a) DO NOTHING;
INSERT INTO r VALUES(8, 8, 8, 8) ON CONFLICT DO NOTHING;
INSERT INTO r SELECT k + 20, a, b + 20, c + 20 FROM r WHERE true ON CONFLICT(a) DO UPDATE SET a = a + 30;
SELECT * FROM r;
SELECT * FROM old;
PRAGMA integrity_check;
