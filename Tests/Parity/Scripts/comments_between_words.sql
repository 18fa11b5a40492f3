-- Comments and odd names between the words of a change: its parts are found all the same.
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT DEFAULT 'none', c DEFAULT 7, UNIQUE(b COLLATE NOCASE));
CREATE TABLE log(x, y DEFAULT (1 + 1));
CREATE TABLE few(k INTEGER PRIMARY KEY, v);
CREATE TABLE w(k TEXT PRIMARY KEY, n INTEGER, m) WITHOUT ROWID;
INSERT INTO few VALUES (1, 10), (2, 20), (3, NULL);
INSERT INTO w VALUES ('a', 1, 0), ('b', 2, 0), ('c', 7, 0), ('d', 8, 0);
INSERT /*1*/ INTO /*2*/ main /*3*/ . /*4*/ t /*5*/ (/*6*/ a /*7*/, "b" -- 8
  ) /*9*/ VALUES /*10*/ (1 /*11*/, 'x' -- 12
  ), /*13*/ (2, 'y') /*14*/;
INSERT /*1*/ OR /*2*/ REPLACE /*3*/ INTO t /*4*/ (a) VALUES (3) /*5*/ ; -- 6
REPLACE /*1*/ INTO t(a, b) /*2*/ SELECT /*3*/ 4, 'z' /*4*/;
INSERT INTO t /*1*/ AS /*2*/ "the t" (a, b) VALUES (1, 'p') /*3*/ ON /*4*/ CONFLICT /*5*/ ( /*6*/ a /*7*/ ) /*8*/ DO /*9*/ UPDATE /*10*/ SET /*11*/ b /*12*/ = /*13*/ "the t".b || excluded.b /*14*/ WHERE /*15*/ "the t".a = 1 /*16*/ RETURNING /*17*/ a, b /*18*/ AS /*19*/ "returning" /*20*/;
INSERT INTO t(a, b) VALUES (9, 'XP') ON CONFLICT ((b) COLLATE /*1*/ nocase) DO UPDATE SET c = 1 RETURNING *;
INSERT INTO t(a, b) VALUES (10, 'new') ON CONFLICT (t.a) DO NOTHING ON CONFLICT DO NOTHING RETURNING /*1*/ *;
INSERT INTO log /*1*/ DEFAULT /*2*/ VALUES /*3*/;
INSERT INTO log(x) /*1*/ SELECT /*2*/ "k" FROM few /*3*/ WHERE /*4*/ v IS NOT NULL /*5*/;
INSERT INTO log(x) VALUES (1) UNION ALL SELECT 2 /*1*/;
SELECT * FROM t; SELECT * FROM log;
UPDATE /*1*/ OR /*2*/ IGNORE /*3*/ t /*4*/ AS /*5*/ u /*6*/ SET /*7*/ b /*8*/ = /*9*/ 'same' -- 10
 /*11*/ WHERE /*12*/ u.a /*13*/ > 2 /*14*/;
UPDATE t SET /*1*/ (b, c) /*2*/ = /*3*/ (SELECT 'row' || a, /*4*/ 5) WHERE a = 2 RETURNING /*5*/ a, b, c /*6*/;
UPDATE t SET c = few.v /*1*/ FROM /*2*/ few /*3*/ WHERE /*4*/ few.k = t.a /*5*/;
UPDATE w SET m /*1*/ = m /*2*/ + 1, /*3*/ n = /*4*/ n /*5*/ WHERE /*6*/ n > 1 /*7*/;
UPDATE w SET m == (SELECT count(*) FROM few WHERE k < n) /*1*/;
DELETE /*1*/ FROM /*2*/ w /*3*/ WHERE /*4*/ n /*5*/ NOT /*6*/ IN /*7*/ ( /*8*/ SELECT /*9*/ k FROM /*10*/ few /*11*/ ) /*12*/ AND /*13*/ m < 100 /*14*/;
DELETE FROM w /*1*/ NOT /*2*/ INDEXED /*3*/ WHERE /*4*/ k = 'a' /*5*/ RETURNING /*6*/ k /*7*/;
SELECT * FROM t; SELECT * FROM w;
-- A common table whose name is a column's, too, and one that is read twice.
WITH /*1*/ n /*2*/ (v) /*3*/ AS /*4*/ NOT /*5*/ MATERIALIZED /*6*/ (SELECT count(*) FROM t), k AS (SELECT 1 AS n, 2 AS k)
  INSERT INTO log(x, y) SELECT n, (SELECT v FROM n) FROM k RETURNING x, y, (SELECT n FROM k), (SELECT k FROM k);
WITH c AS (SELECT max(a) AS c FROM t) UPDATE t SET c = (SELECT c FROM c), b = b || (SELECT c FROM c) WHERE a IN (SELECT a FROM few, c WHERE k = a) RETURNING a, b, c;
CREATE TRIGGER t_log AFTER UPDATE OF /*1*/ c, /*2*/ b ON t BEGIN /*3*/
  INSERT /*4*/ OR /*5*/ IGNORE INTO log /*6*/ (x) VALUES /*7*/ (NEW.a) /*8*/ ; /*9*/
  UPDATE /*10*/ few SET v /*11*/ = OLD.c /*12*/ WHERE k = NEW.a /*13*/;
  INSERT INTO few(k, v) VALUES (NEW.a, 0) ON CONFLICT (k) DO UPDATE SET v = v + excluded.v -- 14
  ; /*15*/ DELETE FROM log WHERE x IS NULL /*16*/;
END /*17*/;
UPDATE t SET c = c + 1 WHERE a < 3;
INSERT INTO t(a, b) VALUES (1, 'q') ON CONFLICT DO UPDATE SET b = excluded.b;
SELECT * FROM t; SELECT * FROM log; SELECT * FROM few;
SELECT sql FROM sqlite_master WHERE name = 't_log';
-- What has no tree SQLite refuses in its own words.
INSERT INTO t(a) VALUES (1) syntax;
UPDATE t SET syntax WHERE a = 1;
EXPLAIN EXPLAIN /* syntax */ INSERT INTO t(a) VALUES (1);
