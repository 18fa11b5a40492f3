-- An index whose leading columns have few values is looked up behind them, under each value in turn: the rows and their
-- order are those of a scan. NULLs, values of all kinds, collations, directions, partial indexes and expressions.
CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, made INT, n, s TEXT COLLATE NOCASE, r REAL);
CREATE INDEX t_made ON t (kind, made);
CREATE INDEX t_back ON t (kind DESC, n DESC, r);
CREATE INDEX t_s ON t (made, s);
CREATE INDEX t_part ON t (n, r) WHERE r IS NOT NULL;
CREATE INDEX t_low ON t (lower(kind), s || '!');
CREATE TABLE w (a INT, b TEXT, c, d INT, PRIMARY KEY (a, d)) WITHOUT ROWID;
CREATE INDEX w_bc ON w (b COLLATE RTRIM, c);
CREATE TABLE long (k TEXT, v INT);
CREATE INDEX long_kv ON long (k, v);
CREATE TABLE none (k INT, v INT);
CREATE INDEX none_kv ON none (k, v);
INSERT INTO t WITH RECURSIVE i (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 600)
  SELECT x, CASE x % 4 WHEN 0 THEN NULL WHEN 1 THEN 'K1' WHEN 2 THEN 'k2' ELSE '' END, x % 5,
    CASE x % 6 WHEN 0 THEN NULL WHEN 1 THEN 7 WHEN 2 THEN 7.0 WHEN 3 THEN '7' WHEN 4 THEN x'37' ELSE x END,
    CASE x % 3 WHEN 0 THEN 'S' ELSE 's' END || (x % 100), CASE WHEN x % 7 THEN x / 2.0 END FROM i;
INSERT INTO w SELECT id % 3, CASE id % 2 WHEN 0 THEN 'b' ELSE 'b  ' END, n, id FROM t;
INSERT INTO long SELECT CASE id % 4 WHEN 0 THEN 'short' WHEN 1 THEN hex(zeroblob(400)) || (id % 2)
  WHEN 2 THEN 'z' || hex(zeroblob(400)) ELSE NULL END, id % 50 FROM t;
ANALYZE;
EXPLAIN QUERY PLAN SELECT kind FROM t INDEXED BY t_made WHERE made = 3;
SELECT id FROM t WHERE made = 3 ORDER BY id;
SELECT kind, made, id FROM t INDEXED BY t_made WHERE made = 3 ORDER BY kind, made, id LIMIT 40;
SELECT kind, id FROM t INDEXED BY t_made WHERE made > 3 ORDER BY kind DESC, made DESC, id DESC LIMIT 160;
SELECT kind, id FROM t INDEXED BY t_made WHERE made BETWEEN 1 AND 2 AND id > 590 ORDER BY id;
SELECT id FROM t INDEXED BY t_made WHERE made IN (1, 4, NULL, '1', 1.5) AND id < 20 ORDER BY id;
SELECT count(*) FROM t INDEXED BY t_made WHERE made = NULL;
SELECT count(*) FROM t INDEXED BY t_made WHERE made IS NULL;
SELECT count(*) FROM t INDEXED BY t_back WHERE n IS NULL;
SELECT kind, typeof(n), count(*) FROM t INDEXED BY t_back WHERE n = 7 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT kind, typeof(n), count(*) FROM t INDEXED BY t_back WHERE n = '7' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT kind, typeof(n), count(*) FROM t INDEXED BY t_back WHERE n = x'37' GROUP BY 1, 2 ORDER BY 1, 2;
SELECT kind, n FROM t INDEXED BY t_back WHERE n > 560 ORDER BY kind DESC, n DESC;
SELECT kind, n FROM t INDEXED BY t_back WHERE n > 560 AND typeof(n) = 'integer' ORDER BY kind, n;
SELECT id FROM t INDEXED BY t_s WHERE s = 'S7' ORDER BY id;
SELECT id FROM t INDEXED BY t_s WHERE s = 'S7' COLLATE BINARY ORDER BY id;
SELECT id FROM t INDEXED BY t_s WHERE s LIKE 's9%' ORDER BY id LIMIT 12;
SELECT n, r FROM t WHERE r = 12.5;
SELECT n, r FROM t WHERE r < 3 AND r IS NOT NULL ORDER BY r;
SELECT id FROM t WHERE s || '!' = 's7!' ORDER BY id;
SELECT a, d FROM w WHERE d = 77;
SELECT a, d FROM w WHERE d > 595 ORDER BY a DESC, d DESC;
SELECT b, c, d FROM w WHERE c = 11 ORDER BY d;
SELECT b, c, d FROM w INDEXED BY w_bc WHERE c > 570 AND typeof(c) = 'integer' ORDER BY b, c, d;
SELECT length(k), v, count(*) FROM long WHERE v = 17 GROUP BY 1, 2 ORDER BY 1;
SELECT length(k), v, count(*) FROM long WHERE v > 47 GROUP BY 1, 2 ORDER BY 1, 2;
SELECT length(k), v FROM long WHERE v = 16 ORDER BY k DESC, v DESC;
SELECT count(*) FROM none WHERE v = 1;
SELECT x.id, y.id FROM t x JOIN t y INDEXED BY t_made ON y.made = x.id WHERE x.id < 4 AND y.id < 12 ORDER BY 1, 2;
SELECT x.id, count(y.id) FROM t x LEFT JOIN t y INDEXED BY t_made ON y.made = x.id AND y.kind > 'a' WHERE x.id < 7 GROUP BY 1;
SELECT id FROM t WHERE id < 30 AND (made = 3 OR s = 's7') ORDER BY id;
BEGIN;
INSERT INTO t (kind, made) VALUES ('new', 3), (x'00', 3), (5, 3), (NULL, 3);
SELECT typeof(kind), kind, id FROM t INDEXED BY t_made WHERE made = 3 AND (kind IS NULL OR kind NOT IN ('K1', 'k2', '')) AND id > 590 ORDER BY id;
UPDATE t SET made = made + 3 WHERE made = 0;
SELECT made, count(*) FROM t GROUP BY made ORDER BY made;
DELETE FROM t WHERE made = 3;
SELECT made, count(*) FROM t GROUP BY made ORDER BY made;
DELETE FROM t WHERE kind IS NOT NULL;
SELECT count(*) FROM t INDEXED BY t_made WHERE made = 4;
DELETE FROM t;
SELECT count(*) FROM t INDEXED BY t_made WHERE made = 4;
ROLLBACK;
SELECT count(*) FROM t WHERE made = 4;
-- Texts and numbers that may each be equal to several keys: in the index's order, too.
CREATE TABLE several (k INT, v, n INT);
CREATE INDEX several_kv ON several (k, v DESC, n);
INSERT INTO several SELECT id % 3, CASE id % 4 WHEN 0 THEN id % 40 WHEN 1 THEN '' || id % 40 WHEN 2 THEN id % 40 || '.0' ELSE x'3136' END, id FROM t;
ANALYZE;
SELECT k, typeof(v), v, n FROM several INDEXED BY several_kv WHERE v = '16' ORDER BY k, v DESC, n;
SELECT k, typeof(v), v, n FROM several INDEXED BY several_kv WHERE v = 16 ORDER BY k DESC, v, n DESC;
SELECT DISTINCT k FROM several WHERE v = '17' ORDER BY k;
SELECT o.id, x.k, x.v, x.n FROM t o JOIN several x INDEXED BY several_kv ON x.v = o.made WHERE o.id < 5 ORDER BY 1, 2, 3, 4;
SELECT o.id, x.k, x.v, x.n FROM t o JOIN several x INDEXED BY several_kv ON x.v = o.id || '' WHERE o.id BETWEEN 15 AND 18 ORDER BY 1, 2, 3, 4;
