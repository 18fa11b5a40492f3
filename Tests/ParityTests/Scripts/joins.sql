-- Transient indexes in write transactions: kept from row to row of an UPDATE, and never older than the rows they are of.
CREATE TABLE t(id INTEGER PRIMARY KEY, f INT, pad TEXT);
CREATE TABLE r(a INT, b TEXT, c INT);
CREATE TABLE w(a INT, b TEXT, c INT, d TEXT COLLATE NOCASE, PRIMARY KEY (b DESC, a)) WITHOUT ROWID;
CREATE TABLE n(a INT, b TEXT, c INT, pad TEXT, PRIMARY KEY (a));
CREATE INDEX n_b ON n(b, c);
INSERT INTO t WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 60) SELECT i, i * 7 % 40, 'p' FROM x;
INSERT INTO r WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 50) SELECT i, CASE i % 4 WHEN 0 THEN '0' || i ELSE '' || i END, nullif(i % 9, 3) FROM x;
INSERT INTO w SELECT a, b, c, CASE a % 3 WHEN 0 THEN 'K' ELSE 'k' END || a FROM r;
INSERT INTO n SELECT a, b, c, 'q' FROM r;
SELECT t.id, (SELECT group_concat(a) FROM w WHERE w.c = t.f) FROM t ORDER BY t.id;
BEGIN;
UPDATE t SET pad = (SELECT count(*) FROM r WHERE r.a = t.f);
SELECT id, pad FROM t ORDER BY id;
UPDATE t SET pad = (SELECT count(*) FROM r WHERE r.b = t.f);
SELECT id, pad FROM t ORDER BY id;
UPDATE t SET pad = (SELECT max(w.a) FROM w WHERE w.c = t.f);
SELECT id, pad FROM t ORDER BY id;
UPDATE t SET pad = (SELECT count(*) FROM w WHERE w.d = 'K' || t.f);
SELECT id, pad FROM t ORDER BY id;
UPDATE t SET pad = (SELECT count(*) FROM w WHERE w.a = t.f AND w.c IS t.id % 9);
SELECT id, pad FROM t ORDER BY id;
UPDATE t SET pad = (SELECT min(b) FROM n WHERE n.c = t.f);
SELECT id, pad FROM t ORDER BY id;
UPDATE t SET pad = (SELECT count(*) FROM w WHERE w.c IS t.pad);
SELECT id, pad FROM t ORDER BY id;
DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM w WHERE w.a = t.f);
SELECT id, pad FROM t ORDER BY id;
INSERT INTO r SELECT f, (SELECT c FROM w WHERE w.a = t.f), id FROM t;
SELECT * FROM r ORDER BY a, b, c;
ROLLBACK;
-- Of the table that is changed: each row sees what the rows before it have become.
UPDATE t SET f = (SELECT count(*) FROM t AS y WHERE y.f = t.id) + f;
SELECT * FROM t ORDER BY id;
UPDATE w SET c = (SELECT count(*) FROM w AS y WHERE y.c = w.c);
SELECT * FROM w ORDER BY b, a;
UPDATE n SET b = (SELECT max(y.b) FROM n AS y WHERE y.c = n.c) WHERE c > 2;
SELECT * FROM n ORDER BY a;
-- A trigger that changes the table that the subquery looks at, after some rows, and one that undoes itself.
CREATE TABLE g(a INT, b INT, UNIQUE (b));
INSERT INTO g SELECT a, a FROM r;
CREATE TRIGGER t_g AFTER UPDATE ON t WHEN new.id % 7 = 0 BEGIN
  UPDATE r SET c = c + 1 WHERE a % 5 = 0;
  DELETE FROM w WHERE a = new.id + 1;
  INSERT INTO w VALUES (new.id + 200, 'new', new.f, 'N');
END;
UPDATE t SET pad = (SELECT count(*) FROM r WHERE r.c = t.f) || '-' || (SELECT count(*) FROM w WHERE w.c = t.f);
SELECT * FROM t ORDER BY id;
SELECT * FROM w ORDER BY b, a;
DROP TRIGGER t_g;
CREATE TRIGGER t_g AFTER UPDATE ON t BEGIN
  UPDATE r SET c = c + 1 WHERE a = new.id;
  INSERT OR IGNORE INTO g VALUES (new.id, new.id % 11);
  SELECT CASE WHEN new.id % 4 = 0 THEN RAISE(IGNORE) END;
  UPDATE r SET c = c + 1 WHERE a = new.id;
END;
UPDATE t SET pad = (SELECT group_concat(a) FROM (SELECT a FROM r WHERE r.c = t.f ORDER BY a));
SELECT * FROM t ORDER BY id;
SELECT * FROM r ORDER BY a, b, c;
UPDATE OR IGNORE g SET b = (SELECT count(*) FROM r WHERE r.c = g.a);
SELECT * FROM g ORDER BY a, b;
UPDATE OR REPLACE g SET b = (SELECT count(*) FROM g AS y WHERE y.b = g.a % 10);
SELECT * FROM g ORDER BY a, b;
DROP TRIGGER t_g;
-- UPDATE FROM.
UPDATE t SET pad = w.b FROM w WHERE w.a = t.f;
SELECT * FROM t ORDER BY id;
UPDATE w SET d = t.id FROM t WHERE t.f = w.a;
SELECT * FROM w ORDER BY b, a;
