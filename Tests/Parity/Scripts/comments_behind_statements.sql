-- Comments behind the last token, where the front door writes something behind it; and a byte order mark in front of the first.
CREATE TABLE t(a, b DEFAULT (5 -- five
), c DEFAULT 7 -- seven
);
INSERT INTO t(a) VALUES(1) -- tail
;
INSERT INTO t(a) SELECT 2 -- tail
;
REPLACE INTO t(a, b) SELECT 3, 4 /* tail */;
WITH q AS (SELECT 8 AS z) INSERT INTO t(a) SELECT z FROM q -- tail
;
SELECT * FROM t -- tail
;
CREATE UNIQUE INDEX ta ON t(a) WHERE a > 0 -- positive
;
INSERT INTO t VALUES(9, 9, 9) RETURNING a, b -- tail
;
INSERT INTO t(a) VALUES(9) ON CONFLICT DO NOTHING -- tail
;
INSERT INTO t(a) VALUES(9) ON CONFLICT(a) WHERE a > 0 DO UPDATE SET b = b + 1 WHERE b < 99 -- tail
;
UPDATE t SET b = (SELECT 3 -- three
) WHERE a = 1 RETURNING * -- tail
;
UPDATE t SET b = u.x FROM (SELECT 6 AS x) AS u WHERE t.a = 2 -- tail
;
UPDATE t SET b = b + 1 /* all */;
DELETE FROM t WHERE a = 3 RETURNING a, b /* tail
*/;
SELECT a, b, c FROM t WHERE a > 0 ORDER BY a -- tail
;
CREATE INDEX te ON t(b + 1 -- next
, a) WHERE b > 0 AND -- and
a > 0 -- positive
;
INSERT INTO t VALUES(20, 21, 22) -- tail
;
SELECT a FROM t WHERE b + 1 = 22 AND b > 0 AND a > 0 -- tail
;
SELECT a FROM t WHERE b > 0 AND a > 0 ORDER BY b + 1 -- tail
;
UPDATE t SET c = 1 WHERE b + 1 = 22 -- tail
;
SELECT * FROM t ORDER BY a;
CREATE TRIGGER tt AFTER INSERT ON t BEGIN
  UPDATE t SET c = new.a -- c
  WHERE a = new.a - 1 -- one less
  ;
END -- the END
;
INSERT INTO t(a) VALUES(21) -- tail
;
SELECT * FROM t ORDER BY a;
CREATE VIEW v AS SELECT a FROM t -- tail
;
SELECT count(*) FROM v -- tail
;
SELECT name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY name -- tail
;
CREATE TABLE p(id INTEGER PRIMARY KEY);
CREATE TABLE ch(p REFERENCES p DEFERRABLE INITIALLY DEFERRED -- late
);
PRAGMA foreign_keys = ON -- tail
;
BEGIN -- tail
;
INSERT INTO ch VALUES(1) -- tail
;
COMMIT -- tail
;
INSERT INTO p VALUES(1) -- tail
;
COMMIT -- tail
;
PRAGMA table_info(ch) -- tail
;
EXPLAIN QUERY PLAN SELECT * FROM ch -- tail
;
REINDEX t -- tail
;
ANALYZE -- tail
;
SELECT tbl, idx FROM sqlite_stat1 ORDER BY tbl, idx -- tail
;
DELETE FROM t -- tail
;
SELECT count(*) FROM t -- tail
;
DROP TABLE t -- tail
;
﻿CREATE TABLE bom(a);
INSERT INTO bom VALUES(1);
SELECT name FROM sqlite_master WHERE name = 'bom';
SELECT 2 AS ﻿x;
