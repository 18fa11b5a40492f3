-- Texts that differ in values alone: what the first ones became says what the others become.
CREATE TABLE t (k INTEGER PRIMARY KEY, a TEXT, b INTEGER DEFAULT 7, c TEXT DEFAULT 'new');
CREATE TABLE u (k TEXT PRIMARY KEY, n INTEGER, m NUMERIC DEFAULT 1.5) WITHOUT ROWID;
CREATE INDEX t_b ON t (b);
-- Defaults are filled in.
INSERT INTO t (k, a) VALUES (1, 'one');
INSERT INTO t (k, a) VALUES (2, 'two');
INSERT INTO t (k, a) VALUES (3, 'three');
INSERT INTO t (k, a) VALUES (4, 'it''s "four"');
INSERT INTO t (k, a) VALUES (-5, '');
INSERT INTO t (k, a) VALUES (6, 'rootstock value 000');
INSERT INTO t (k, a) VALUES (907135642198300000, 'rootstock value 001');
INSERT INTO t (a, k) VALUES (8, '9'), (10, '11');
INSERT INTO t (a, k) VALUES (12, '13'), (14, '15');
INSERT INTO t (a, k) VALUES (16, '17'), (18, '19');
SELECT * FROM t ORDER BY k;
-- RETURNING, whose columns are named by what is written.
INSERT INTO u VALUES ('a', 1, 2) RETURNING *, n = 1, k || 'x' = 'ax';
INSERT INTO u VALUES ('b', 2, 3) RETURNING *, n = 2, k || 'x' = 'ax';
INSERT INTO u VALUES ('c', 3, 4) RETURNING *, n = 1, k || 'x' = 'cx';
INSERT INTO u VALUES ('d"', 4, 5) RETURNING *, n = 1, k || 'x' = 'd"x';
INSERT INTO u (k, n) VALUES ('e', 5) ON CONFLICT (k) DO UPDATE SET n = 50 WHERE n < 10 RETURNING k, n, m;
INSERT INTO u (k, n) VALUES ('e', 6) ON CONFLICT (k) DO UPDATE SET n = 60 WHERE n < 11 RETURNING k, n, m;
INSERT INTO u (k, n) VALUES ('e', 7) ON CONFLICT (k) DO UPDATE SET n = 70 WHERE n < 12 RETURNING k, n, m;
INSERT INTO u (k, n) VALUES ('e', 8) ON CONFLICT (k) DO UPDATE SET n = 80 WHERE n < 100 RETURNING k, n, m;
-- Changes of many rows.
UPDATE t SET b = 1, c = 'first' WHERE a <> 'one' AND b = 7;
UPDATE t SET b = 2, c = 'second' WHERE a <> 'two' AND b = 1;
UPDATE t SET b = 3, c = 'third' WHERE a <> 'three' AND b = 2;
UPDATE t SET b = 2, c = '2' WHERE a <> '2' AND b = 2;
SELECT *, changes() FROM t ORDER BY k;
DELETE FROM u WHERE n > 1 AND n < 3;
DELETE FROM u WHERE n > 2 AND n < 4;
DELETE FROM u WHERE n > 3 AND n < 5;
SELECT * FROM u ORDER BY k;
DELETE FROM t WHERE k = 10 RETURNING k, changes() = 0;
DELETE FROM t WHERE k = 11 RETURNING k, changes() = 0;
DELETE FROM t WHERE k = 13 RETURNING k, changes() = 1;
-- LIMIT and OFFSET.
SELECT k, a FROM t ORDER BY k LIMIT 2 OFFSET 1;
SELECT k, a FROM t ORDER BY k LIMIT 3 OFFSET 2;
SELECT k, a FROM t ORDER BY k LIMIT 1 OFFSET 3;
SELECT k, a FROM t ORDER BY k LIMIT 0 OFFSET 0;
SELECT k AS offset FROM t ORDER BY offset -2 LIMIT 2;
SELECT k AS offset FROM t ORDER BY offset -3 LIMIT 1;
SELECT count(*) FROM t;
SELECT count(*) FROM t;
SELECT count(*) FROM t;
-- A LEFT JOIN that WHERE makes an inner one, and values that are compared with it.
SELECT t.k, u.n = 1 FROM t LEFT JOIN u ON u.n = t.k WHERE u.m < 3;
SELECT t.k, u.n = 2 FROM t LEFT JOIN u ON u.n = t.k WHERE u.m < 4;
SELECT t.k, u.n = 3 FROM t LEFT JOIN u ON u.n = t.k WHERE u.m < 5;
-- A string before a point is a table's name.
SELECT t.k, v.k FROM t, u v WHERE t.k = 'v'.n AND v.n <> 't'.b ORDER BY t.k, v.k;
SELECT t.k, v.k FROM t, u v WHERE t.k = 't'.n AND v.n <> 'v'.b ORDER BY t.k, v.k;
SELECT t.k FROM t, u v WHERE t.k IN ('v'.n, 3) AND 't'.k > 1 ORDER BY t.k, v.k;
SELECT t.k FROM t, u v WHERE t.k IN ('t' . b, 3) AND 'v'.k > 1 ORDER BY t.k, v.k;
-- Lists of IN, and BETWEEN.
SELECT k, k IN (1, 2), a BETWEEN 'a' AND 'p' FROM t WHERE k IN (1, 2, 3) AND k BETWEEN 0 AND 9 ORDER BY k;
SELECT k, k IN (3, 2), a BETWEEN 'p' AND 'z' FROM t WHERE k IN (3, 2, 6) AND k BETWEEN 1 AND 5 ORDER BY k;
SELECT k, k IN (6, 4), a BETWEEN 'b' AND 'c' FROM t WHERE k IN (6, 4, 1) AND k BETWEEN -3 AND 5 ORDER BY k;
SELECT k FROM t WHERE (k, a) IN (VALUES (1, 'one'), (2, 'no')) OR a IN ('two', '13') ORDER BY k;
SELECT k FROM t WHERE (k, a) IN (VALUES (3, 'three'), (4, 'no')) OR a IN ('x', '17') ORDER BY k;
UPDATE t SET b = b + 1 WHERE k IN (1, 2) AND b NOT BETWEEN 100 AND 200 RETURNING k, b IN (3, 4), b BETWEEN 3 AND 9;
UPDATE t SET b = b + 2 WHERE k IN (2, 3) AND b NOT BETWEEN 4 AND 5 RETURNING k, b IN (4, 5), b BETWEEN 1 AND 4;
UPDATE t SET b = b + 3 WHERE k IN (4, 6) AND b NOT BETWEEN 0 AND 1 RETURNING k, b IN (6, 7), b BETWEEN 6 AND 7;
DELETE FROM t WHERE a IN ('15', 'nobody') AND k NOT IN (-5, 16);
DELETE FROM t WHERE a IN ('17', 'three') AND k NOT IN (-5, 3);
DELETE FROM t WHERE (k, b) IN (SELECT k, b FROM t ORDER BY b, 1 LIMIT 1) RETURNING k;
DELETE FROM t WHERE (k, b) IN (SELECT k, b FROM t ORDER BY b, 2 LIMIT 1) RETURNING k;
DELETE FROM t WHERE k IN (SELECT k FROM t GROUP BY b, 1 ORDER BY b, 1 DESC LIMIT 1) RETURNING k;
SELECT * FROM t ORDER BY k;
-- What is wrong with one is told each time.
INSERT INTO t (k, a) VALUES (1, 'again');
INSERT INTO t (k, nowhere) VALUES (21, 'x');
INSERT INTO t (k, nowhere) VALUES (22, 'y');
-- A temp table takes the name.
CREATE TEMP TABLE t (k INTEGER PRIMARY KEY, a TEXT);
INSERT INTO t (k, a) VALUES (1, 'in temp');
INSERT INTO t (k, a) VALUES (2, 'in temp, too');
SELECT k, a FROM t ORDER BY k LIMIT 1 OFFSET 1;
SELECT count(*) FROM t;
SELECT count(*) FROM main.t;
SELECT rowid, * FROM t WHERE rowid = 1;
SELECT rowid, * FROM t WHERE rowid = 2;
DROP TABLE temp.t;
-- It goes: what its texts needed says nothing of the store's table.
SELECT rowid, * FROM t WHERE rowid = 2;
SELECT rowid, * FROM t WHERE rowid = 1;
INSERT INTO t (k, a) VALUES (31, 'in main');
INSERT INTO t (k, a) VALUES (32, 'in main, too');
SELECT count(*) FROM t;
SELECT * FROM t WHERE k > 30 ORDER BY k;
-- The schema changes.
ALTER TABLE t ADD COLUMN d TEXT DEFAULT 'added';
INSERT INTO t (k, a) VALUES (41, 'after');
INSERT INTO t (k, a) VALUES (42, 'after, too');
CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO u (k, n) VALUES ('of ' || new.k, 1); END;
INSERT INTO t (k, a) VALUES (43, 'fires');
INSERT INTO t (k, a) VALUES (44, 'fires, too');
INSERT INTO t (k, a) VALUES (45, 'fires again');
SELECT * FROM t WHERE k > 40 AND k < 50 ORDER BY k;
SELECT * FROM u ORDER BY k;
