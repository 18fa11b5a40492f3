-- DO UPDATE whose columns get those of `excluded` as they are, and neighbours of that.
CREATE TABLE k(k TEXT PRIMARY KEY, i INTEGER, r REAL, t TEXT, n NUMERIC, b, u UNIQUE, CHECK (i IS NULL OR i < 100));
INSERT INTO k VALUES ('a', 1, 1, 1, 1, 1, 1), ('b', 2, 2.5, 'x', 'y', x'00', 2), ('c', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO k VALUES ('a', '7', '7', 7, '7.0', '7', 11) ON CONFLICT (k) DO UPDATE SET i = excluded.i, r = excluded.r, t = excluded.t, n = excluded.n, b = excluded.b, u = excluded.u;
SELECT *, typeof(i), typeof(r), typeof(t), typeof(n), typeof(b), typeof(u), changes() FROM k WHERE k = 'a';
INSERT INTO k VALUES ('b', 7.5, -0.0, 7.5, 1e300, 0.0, 12.0) ON CONFLICT (k) DO UPDATE SET i = excluded.i, r = excluded.r, t = excluded.t, n = excluded.n, b = excluded.b, u = excluded.u;
SELECT *, typeof(i), typeof(r), typeof(t), typeof(n), typeof(b), typeof(u), changes() FROM k WHERE k = 'b';
-- Another column's value, under another affinity.
INSERT INTO k VALUES ('c', 5, 6, '8', 9, '10', 13) ON CONFLICT (k) DO UPDATE SET i = excluded.t, r = excluded.i, t = excluded.r, n = excluded.b, b = excluded.t;
SELECT *, typeof(i), typeof(r), typeof(t), typeof(n), typeof(b), changes() FROM k WHERE k = 'c';
INSERT INTO k(k, i) VALUES ('c', 5) ON CONFLICT (k) DO UPDATE SET i = excluded.i, i = excluded.b;
INSERT INTO k(k, i) VALUES ('c', 5) ON CONFLICT (k) DO UPDATE SET t = excluded.k, k = excluded.k || 'z';
INSERT INTO k(k, i) VALUES ('b', 5) ON CONFLICT (k) DO UPDATE SET (i, t) = (excluded.i, excluded.k);
INSERT INTO k(k, i) VALUES ('b', 6) ON CONFLICT (k) DO UPDATE SET i = excluded.i WHERE excluded.i > 6;
INSERT INTO k(k, i) VALUES ('b', 8) ON CONFLICT (k) DO UPDATE SET i = excluded.i WHERE excluded.i > 6;
INSERT INTO k(k, i) VALUES ('b', 9) ON CONFLICT (k) DO UPDATE SET i = i, t = "excluded"."k", n = [excluded].i;
SELECT * FROM k ORDER BY k;
INSERT INTO k(k, i) VALUES ('a', 100) ON CONFLICT (k) DO UPDATE SET i = excluded.i;
INSERT INTO k(k, i, u) VALUES ('a', 50, 12) ON CONFLICT (k) DO UPDATE SET u = excluded.u;
INSERT OR IGNORE INTO k(k, i, u) VALUES ('a', 50, 12) ON CONFLICT (k) DO UPDATE SET u = excluded.u;
INSERT INTO k(k, i) VALUES ('a', 51) ON CONFLICT DO UPDATE SET i = excluded.absent;
INSERT INTO k(k, i) VALUES ('a', 51), ('d', 52), ('a', 53), ('d', 54) ON CONFLICT (k) DO UPDATE SET i = excluded.i RETURNING k, i;
SELECT changes(), last_insert_rowid(); SELECT * FROM k ORDER BY k;
-- A table or an alias of that name.
CREATE TABLE excluded(k PRIMARY KEY, v, w);
INSERT INTO excluded VALUES (1, 2, 3);
INSERT INTO excluded VALUES (1, 5, 6) ON CONFLICT (k) DO UPDATE SET v = (CASE WHEN 1 THEN excluded.w END);
SELECT * FROM excluded;
CREATE TABLE o(k PRIMARY KEY, v, w);
INSERT INTO o VALUES (1, 2, 3);
INSERT INTO o AS excluded VALUES (1, 5, 6) ON CONFLICT (k) DO UPDATE SET v = (CASE WHEN 1 THEN excluded.w END);
SELECT * FROM o;
INSERT INTO o VALUES (1, 7, 8) ON CONFLICT (k) DO UPDATE SET v = (CASE WHEN 1 THEN excluded.w END), w = excluded.v;
SELECT * FROM o;
-- The rowid, by any name, generated columns, STRICT, and rows that grow.
CREATE TABLE g(a INTEGER PRIMARY KEY, b INTEGER, c AS (b * 2), d TEXT DEFAULT 'dd', e);
CREATE INDEX ge ON g(e, d); CREATE INDEX gp ON g(b) WHERE e > 2; CREATE INDEX gx ON g(b + 1);
INSERT INTO g(a, b) VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO g(a, b) VALUES (1, 10) ON CONFLICT (a) DO UPDATE SET b = excluded.b, d = excluded.d;
INSERT INTO g(a, b) VALUES (2, 20) ON CONFLICT (a) DO UPDATE SET b = excluded.a, e = excluded.c;
INSERT INTO g(a, b) VALUES (3, 30) ON CONFLICT (a) DO UPDATE SET b = excluded.rowid, e = excluded.oid;
INSERT INTO g(a, b) VALUES (3, 30) ON CONFLICT (a) DO UPDATE SET a = excluded.b, rowid = excluded.b;
INSERT INTO g(a, b, e) VALUES (1, 40, hex(zeroblob(3000))) ON CONFLICT (a) DO UPDATE SET e = excluded.e, b = excluded.b;
SELECT a, b, c, d, length(e), typeof(e) FROM g ORDER BY a; SELECT b FROM g WHERE b + 1 > 3 ORDER BY b + 1;
CREATE TABLE s(a INTEGER PRIMARY KEY, b INT, c ANY, d REAL) STRICT;
INSERT INTO s VALUES (1, 1, 1, 1);
INSERT INTO s VALUES (1, '5', '5', '5') ON CONFLICT (a) DO UPDATE SET b = excluded.b, c = excluded.c, d = excluded.d;
INSERT INTO s VALUES (1, 6, 'six', 6) ON CONFLICT (a) DO UPDATE SET b = excluded.c, d = excluded.b;
INSERT INTO s VALUES (1, 6, 'six', 6) ON CONFLICT (a) DO UPDATE SET c = excluded.b, d = excluded.b;
SELECT *, typeof(b), typeof(c), typeof(d) FROM s;
-- Triggers that change the row before, and see it after; foreign keys.
CREATE TABLE log(x);
CREATE TRIGGER ob BEFORE UPDATE ON o BEGIN INSERT INTO log VALUES ('b ' || old.v || new.v); UPDATE s SET d = d + 1; END;
CREATE TRIGGER oa AFTER UPDATE ON o BEGIN INSERT INTO log VALUES ('a ' || old.v || new.v); END;
CREATE TRIGGER oi BEFORE INSERT ON o BEGIN INSERT INTO log VALUES ('i ' || new.v); END;
INSERT INTO o SELECT 1, value, value FROM (SELECT 'p' AS value UNION ALL SELECT 'q') WHERE true ON CONFLICT (k) DO UPDATE SET v = excluded.v, w = excluded.k;
SELECT changes(); SELECT * FROM o; SELECT * FROM log; SELECT d FROM s;
PRAGMA foreign_keys = on;
CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES o(k) ON UPDATE CASCADE);
INSERT INTO c VALUES (1, 1);
INSERT INTO c VALUES (1, 9) ON CONFLICT (id) DO UPDATE SET p = excluded.p;
INSERT INTO c VALUES (1, NULL) ON CONFLICT (id) DO UPDATE SET p = excluded.p;
INSERT INTO c VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET p = excluded.p;
INSERT INTO o VALUES (1, 2, 77) ON CONFLICT (k) DO UPDATE SET k = excluded.w;
SELECT * FROM c; SELECT * FROM o;
-- In a trigger's body.
CREATE TRIGGER ks AFTER INSERT ON s BEGIN INSERT INTO k(k, i) VALUES ('s', new.a) ON CONFLICT (k) DO UPDATE SET i = excluded.i, t = excluded.k; END;
INSERT INTO s(a) VALUES (5), (6), (7);
SELECT * FROM k WHERE k = 's';
-- WITHOUT ROWID.
CREATE TABLE w(x COLLATE NOCASE, y INT, z, PRIMARY KEY (x, y DESC)) WITHOUT ROWID;
INSERT INTO w VALUES ('a', 1, 2), ('A', 2, 3), ('b', 1, 4);
INSERT INTO w VALUES ('A', 1, 20), ('B', '1', 40), ('B', 2, 50) ON CONFLICT (x, y) DO UPDATE SET z = excluded.z, x = excluded.x;
SELECT changes(); SELECT * FROM w;
PRAGMA integrity_check;
