-- An UPDATE of several rows in a trigger's body makes the values of each row at its turn: it sees what triggers of the rows before have done to it.
CREATE TABLE go(n INTEGER PRIMARY KEY, x, y);
CREATE TABLE p(id INTEGER PRIMARY KEY, w, v INT DEFAULT 0);
CREATE TABLE log(n INTEGER PRIMARY KEY, what);
INSERT INTO p(id, w) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
CREATE TRIGGER pu AFTER UPDATE OF w ON p BEGIN
    UPDATE p SET w = w || '+' || new.id WHERE id = new.id + 1;
    INSERT INTO log(what) SELECT 'after ' || old.w || ' ' || new.w || ' ' || (SELECT group_concat(w) FROM p);
END;
CREATE TRIGGER g_all AFTER INSERT ON go WHEN new.x = 'all' BEGIN
    UPDATE p SET w = w || 'x', v = v + 1;
    INSERT INTO log(what) VALUES ('changes ' || changes());
END;
CREATE TRIGGER g_some AFTER INSERT ON go WHEN new.x = 'some' BEGIN
    UPDATE p SET (v, w) = (v + new.n, (SELECT q.w || new.y || p.id FROM p AS q WHERE q.id = p.id - 1)) WHERE id > 1;
    INSERT INTO log(what) VALUES ('changes ' || changes());
    UPDATE p SET w = p.w || (SELECT max(w) FROM p) || rowid, v = (SELECT count(*) FROM p AS o WHERE o.v >= p.v) WHERE w IS NOT NULL;
    UPDATE p SET w = substr("w", 1, 9) || changes() || new.y;
END;
INSERT INTO go(x) VALUES ('all');
SELECT changes(), total_changes();
SELECT * FROM p;
INSERT INTO go(x, y) VALUES ('some', '-'), ('all', NULL), ('some', 1.5);
SELECT changes(), total_changes();
SELECT * FROM p;
SELECT * FROM log;
PRAGMA recursive_triggers = ON;
UPDATE p SET w = id;
DELETE FROM log;
INSERT INTO go(x, y) VALUES ('all', 1), ('some', x'41');
SELECT * FROM p;
SELECT count(*), sum(length(what)), max(what) FROM log;
PRAGMA recursive_triggers = OFF;
-- A trigger that removes a row whose turn is to come, or puts another one in its place.
DROP TRIGGER pu;
CREATE TRIGGER pu2 BEFORE UPDATE ON p WHEN old.id % 2 = 1 BEGIN
    DELETE FROM p WHERE id = old.id + 1;
    INSERT INTO p SELECT old.id + 1, 'put by ' || old.id, 100 WHERE old.id = 3;
END;
UPDATE p SET w = 'w' || id;
INSERT INTO p(id, w) VALUES (2, 'two'), (6, 'six');
CREATE TRIGGER g_gone AFTER INSERT ON go WHEN new.x = 'gone' BEGIN
    UPDATE p SET w = w || v, v = v * 2 + length(w) WHERE w <> new.y;
    INSERT INTO log(what) VALUES ('gone ' || changes());
END;
INSERT INTO go(x, y) VALUES ('gone', '');
SELECT * FROM p;
SELECT what FROM log ORDER BY n DESC LIMIT 1;
INSERT OR REPLACE INTO go(n, x, y) VALUES (1, 'gone', 'two');
INSERT OR IGNORE INTO go(x, y) VALUES ('gone', '');
SELECT * FROM p;
DROP TRIGGER pu2;
-- RAISE: in the trigger of the row, and in the assignment itself.
CREATE TRIGGER pu3 AFTER UPDATE ON p BEGIN
    UPDATE p SET v = v + 1000 WHERE id > new.id;
    SELECT raise(IGNORE) WHERE new.w = 'ignored';
    SELECT CASE WHEN new.v > 4000 THEN raise(ABORT, 'too many') WHEN new.v = 77 THEN raise(FAIL, 'fails') END;
END;
DELETE FROM p;
INSERT INTO p VALUES (1, 'a', 1), (2, 'ignored', 2), (3, 'c', 3), (4, 'd', 4), (5, 'e', 5);
CREATE TRIGGER g_raise AFTER INSERT ON go WHEN new.x = 'raise' BEGIN
    UPDATE p SET v = v + new.y, w = w;
    INSERT INTO log(what) VALUES ('raised ' || changes());
END;
CREATE TRIGGER g_own AFTER INSERT ON go WHEN new.x = 'own' BEGIN
    UPDATE p SET v = CASE WHEN v > 3000 + new.y THEN raise(ABORT, 'own') ELSE v + 1 END;
END;
INSERT INTO go(x, y) VALUES ('raise', 10);
SELECT * FROM p;
INSERT INTO go(x, y) VALUES ('raise', 3000);
INSERT OR FAIL INTO go(x, y) VALUES ('raise', 76);
SELECT * FROM p;
UPDATE p SET v = id WHERE id < 3;
INSERT OR IGNORE INTO go(x, y) VALUES ('raise', 76);
INSERT INTO go(x, y) VALUES ('own', 0);
SELECT * FROM p;
SELECT n, what FROM log WHERE what LIKE 'raised%';
SELECT x, count(*) FROM go GROUP BY x;
DROP TRIGGER pu3;
-- The OR of the statement, of what fires it, and of the constraints.
CREATE TABLE u(id INTEGER PRIMARY KEY, a UNIQUE, b UNIQUE ON CONFLICT IGNORE, c NOT NULL DEFAULT 0);
INSERT INTO u VALUES (1, 10, 1, 0), (2, 20, 2, 0), (3, 30, 3, 0), (4, 40, 4, 0), (6, 60, 6, 0);
CREATE TABLE how(n INTEGER PRIMARY KEY, x);
CREATE TRIGGER uu AFTER UPDATE ON u BEGIN UPDATE u SET c = c + 1 WHERE id > new.id; END;
CREATE TRIGGER h1 AFTER INSERT ON how WHEN new.x = 'replace' BEGIN UPDATE OR REPLACE u SET a = a + 10, c = c * 10 + id WHERE id > 1; INSERT INTO log(what) VALUES ('u ' || changes()); END;
CREATE TRIGGER h2 AFTER INSERT ON how WHEN new.x = 'ignore' BEGIN UPDATE OR IGNORE u SET a = a + 10, c = c * 10 + id; INSERT INTO log(what) VALUES ('u ' || changes()); END;
CREATE TRIGGER h3 AFTER INSERT ON how WHEN new.x = 'key' BEGIN UPDATE OR REPLACE u SET id = id + 1, c = c || '-' || id; INSERT INTO log(what) VALUES ('u ' || changes()); END;
CREATE TRIGGER h4 AFTER INSERT ON how WHEN new.x = 'plain' BEGIN UPDATE u SET rowid = rowid + 1, b = b + 1, c = id; INSERT INTO log(what) VALUES ('u ' || changes()); END;
CREATE TRIGGER h5 AFTER INSERT ON how WHEN new.x = 'abort' BEGIN UPDATE OR ABORT u SET b = b + 1, c = c || 'a'; END;
INSERT INTO how(x) VALUES ('ignore');
SELECT * FROM u;
INSERT INTO how(x) VALUES ('replace');
SELECT * FROM u;
INSERT INTO u VALUES (3, 300, 30, 0), (5, 500, 50, 0);
INSERT INTO how(x) VALUES ('key');
SELECT * FROM u;
INSERT INTO how(x) VALUES ('plain');
INSERT OR REPLACE INTO how(x) VALUES ('plain');
SELECT * FROM u;
INSERT INTO how(x) VALUES ('abort');
INSERT OR IGNORE INTO how(x) VALUES ('plain'), ('abort');
INSERT OR FAIL INTO how(x) VALUES ('plain');
SELECT * FROM u;
SELECT what FROM log WHERE what LIKE 'u %';
PRAGMA integrity_check;
-- WITHOUT ROWID, generated columns, STRICT, indexes, an order of keys that is not that of an index.
CREATE TABLE w(a TEXT, b INT, c, g AS (c || '/' || b), PRIMARY KEY (a, b DESC)) WITHOUT ROWID;
CREATE INDEX w_c ON w(c);
INSERT INTO w VALUES ('x', 1, 5), ('x', 2, 4), ('y', 1, 3), ('z', 7, 2);
CREATE TRIGGER wu AFTER UPDATE ON w BEGIN
    UPDATE w SET c = c + 100 WHERE a > new.a;
    INSERT INTO log(what) VALUES ('w ' || old.g || ' ' || new.g);
END;
CREATE TRIGGER h6 AFTER INSERT ON how WHEN new.x = 'w' BEGIN UPDATE w SET c = c * 2 + new.n * 0 WHERE c > 0; END;
CREATE TRIGGER h7 AFTER INSERT ON how WHEN new.x = 'wk' BEGIN UPDATE OR REPLACE w SET b = b + 1, a = a || c, c = g WHERE b < 7; END;
INSERT INTO how(x) VALUES ('w');
SELECT * FROM w;
INSERT INTO how(x) VALUES ('wk'), ('w');
SELECT * FROM w;
CREATE TABLE s(k INTEGER PRIMARY KEY, t TEXT, i INT, r REAL) STRICT;
INSERT INTO s VALUES (1, '1', 1, 1), (2, '2', 2, 2), (3, '3', 3, 3);
CREATE TRIGGER su AFTER UPDATE ON s BEGIN UPDATE s SET t = t || '!' WHERE k = new.k + 1; END;
CREATE TRIGGER h8 AFTER INSERT ON how WHEN new.x = 's' BEGIN UPDATE s SET i = length(t), r = i, t = t || i; END;
CREATE TRIGGER h9 AFTER INSERT ON how WHEN new.x = 'st' BEGIN UPDATE s SET i = t; END;
INSERT INTO how(x) VALUES ('s');
SELECT *, typeof(r) FROM s;
INSERT INTO how(x) VALUES ('st');
INSERT OR IGNORE INTO how(x) VALUES ('st');
SELECT * FROM s;
SELECT what FROM log WHERE what LIKE 'w %';
-- Affinities and the names of OLD and NEW.
CREATE TABLE e(id INTEGER PRIMARY KEY, t TEXT, i INT, n);
INSERT INTO e VALUES (1, '5', 5, 5), (2, '05', 5, '5'), (3, NULL, 6, 5.0);
CREATE TRIGGER eu AFTER UPDATE ON e BEGIN UPDATE e SET n = n || ';' WHERE id > new.id; END;
CREATE TABLE f(id INTEGER PRIMARY KEY, t TEXT, i INT, n);
INSERT INTO f VALUES (1, '5', 5, 5), (5, '05', 6, '5');
CREATE TRIGGER fu AFTER UPDATE ON f BEGIN
    UPDATE e SET n = n || (t = new.i) || (t = new.t) || (i = new.t) || (n = new.n) || (old.id = '5') || (t = old.rowid) || quote(old.n), i = new.i + i;
    INSERT INTO log(what) SELECT 'e ' || group_concat(n) FROM e;
END;
UPDATE f SET n = n || 'n', id = id + 1;
SELECT * FROM e;
DELETE FROM f;
-- Triggers of temp tables, of views, and temp triggers.
CREATE VIEW pv AS SELECT id, w, v FROM p;
CREATE TRIGGER pvu INSTEAD OF UPDATE ON pv BEGIN UPDATE p SET w = w || new.w, v = v + old.v WHERE id >= old.id; INSERT INTO log(what) VALUES ('view ' || changes()); END;
CREATE TRIGGER pu5 AFTER UPDATE ON p WHEN new.w NOT LIKE '%/' BEGIN UPDATE p SET w = w || '/' WHERE id = new.id + 1; END;
UPDATE p SET w = 'w', v = id;
UPDATE pv SET w = 'V' WHERE id IN (1, 3);
SELECT * FROM p;
CREATE TEMP TABLE tt(x);
CREATE TEMP TRIGGER ttu AFTER INSERT ON tt BEGIN UPDATE p SET w = w || new.x, v = (SELECT sum(v) FROM p) + v WHERE id <> new.x; END;
INSERT INTO tt VALUES (2), ('t');
SELECT * FROM p;
CREATE TEMP TRIGGER pt BEFORE UPDATE OF v ON p BEGIN UPDATE p SET w = w || ':' || new.v WHERE id = new.id + 1; INSERT INTO tt SELECT new.w WHERE 0; END;
CREATE TEMP TRIGGER got AFTER INSERT ON go WHEN new.x = 'temp' BEGIN UPDATE p SET v = v + 1, w = w || 'T'; END;
INSERT INTO go(x) VALUES ('temp');
SELECT * FROM p;
INSERT INTO tt VALUES ('u');
UPDATE pv SET v = 1 WHERE id = 2;
SELECT * FROM p;
SELECT what FROM log WHERE what LIKE 'view%';
-- Nested: the UPDATE that fires is itself in a trigger that one of several rows has fired.
PRAGMA recursive_triggers = ON;
CREATE TABLE a(id INTEGER PRIMARY KEY, x);
CREATE TABLE b(id INTEGER PRIMARY KEY, x);
CREATE TABLE c(id INTEGER PRIMARY KEY, x);
INSERT INTO a VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO b SELECT * FROM a;
INSERT INTO c SELECT * FROM a;
CREATE TRIGGER ab AFTER UPDATE ON a BEGIN UPDATE b SET x = x + (SELECT sum(x) FROM c) + new.x WHERE id >= new.id; END;
CREATE TRIGGER bc AFTER UPDATE ON b BEGIN UPDATE c SET x = x + new.x % 7 + (SELECT max(x) FROM b WHERE b.id <> c.id) % 5; UPDATE a SET x = x + 1 WHERE id > new.id AND new.x % 2 AND x < 30; END;
CREATE TRIGGER cc AFTER UPDATE ON c WHEN new.x < 40 BEGIN UPDATE c SET x = x + id WHERE id <> new.id AND x < 40; END;
UPDATE a SET x = x + 1;
SELECT 'a', * FROM a UNION ALL SELECT 'b', * FROM b UNION ALL SELECT 'c', * FROM c;
PRAGMA recursive_triggers = OFF;
UPDATE a SET x = x + 1;
INSERT INTO a VALUES (2, 7) ON CONFLICT (id) DO UPDATE SET x = x + excluded.x;
SELECT 'a', * FROM a UNION ALL SELECT 'b', * FROM b UNION ALL SELECT 'c', * FROM c;
-- Without any trigger: a subquery over the table itself.
CREATE TABLE plain(id INTEGER PRIMARY KEY, x);
INSERT INTO plain VALUES (1, 1), (2, 2), (3, 3);
CREATE TRIGGER h10 AFTER INSERT ON how WHEN new.x = 'plain rows' BEGIN
    UPDATE plain SET x = x + (SELECT max(x) FROM plain AS q WHERE q.id <> plain.id);
    UPDATE plain SET x = x + (SELECT max(x) FROM plain);
    UPDATE plain SET x = x + 1 WHERE x IN (SELECT x FROM plain WHERE id > 1);
END;
INSERT INTO how(x) VALUES ('plain rows');
SELECT * FROM plain;
-- A foreign key to the table itself.
PRAGMA foreign_keys = ON;
CREATE TABLE tree(id INTEGER PRIMARY KEY, k UNIQUE, up REFERENCES tree(k) ON UPDATE CASCADE, note);
INSERT INTO tree VALUES (1, 1, NULL, 'n'), (2, 2, 1, 'n'), (3, 3, 2, 'n');
CREATE TRIGGER h11 AFTER INSERT ON how WHEN new.x = 'tree' BEGIN UPDATE tree SET k = k * 10, note = note || ifnull(up, '-'); END;
INSERT INTO how(x) VALUES ('tree');
SELECT * FROM tree;
-- UPDATE FROM finds all values first.
CREATE TRIGGER h12 AFTER INSERT ON how WHEN new.x = 'from' BEGIN UPDATE p SET w = p.w || q.w, v = q.v FROM p AS q WHERE q.id = p.id + 1; END;
INSERT INTO how(x) VALUES ('from');
SELECT * FROM p;
PRAGMA integrity_check;
-- changes() in the assignments, of an UPSERT too; a subquery that an UPSERT of several rows runs once; OR ABORT in a body, by which its triggers go.
PRAGMA foreign_keys = OFF;
DELETE FROM log;
CREATE TABLE g(id INTEGER PRIMARY KEY, x, z);
INSERT INTO g VALUES (1, 8, 's'), (2, 9, 't'), (3, 1, 'r');
CREATE TRIGGER gu AFTER UPDATE OF x ON g BEGIN UPDATE plain SET x = x WHERE id = new.x; END;
CREATE TRIGGER h13 AFTER INSERT ON how WHEN new.x = 'changes' BEGIN
    DELETE FROM plain WHERE x < 0;
    UPDATE g SET z = changes(), x = x + 2;
    INSERT INTO g SELECT * FROM g WHERE true ON CONFLICT DO UPDATE SET x = (SELECT sum(x) FROM g) + changes();
END;
INSERT INTO how(x) VALUES ('changes');
SELECT * FROM g;
INSERT INTO how(x) VALUES ('changes'), ('changes');
SELECT * FROM g;
CREATE TRIGGER gr AFTER UPDATE OF z ON g BEGIN INSERT OR REPLACE INTO plain VALUES (1, new.z); END;
CREATE TRIGGER h14 AFTER INSERT ON how WHEN new.x = 'or abort' BEGIN UPDATE OR ABORT g SET z = z || 'A' WHERE id = new.n - new.n + 2; END;
CREATE TRIGGER h15 AFTER INSERT ON how WHEN new.x = 'or' BEGIN UPDATE g SET z = z || 'B'; END;
INSERT INTO how(x) VALUES ('or abort');
INSERT INTO how(x) VALUES ('or');
SELECT * FROM g;
SELECT * FROM plain;
DROP TRIGGER gr;
-- A temp table that hides one of the body's does not count for a trigger of the schema.
CREATE TEMP TABLE plain(id, x);
INSERT INTO temp.plain VALUES (1, 'temp');
CREATE TRIGGER h16 AFTER INSERT ON how WHEN new.x = 'hidden' BEGIN
    UPDATE g SET x = (SELECT max(x) FROM plain WHERE id <= g.id) WHERE x IS NOT NULL;
    INSERT INTO g(id) VALUES (1) ON CONFLICT (id) DO UPDATE SET z = (SELECT group_concat(x) FROM plain);
END;
INSERT INTO how(x) VALUES ('hidden');
SELECT * FROM g;
