-- IN on tables of attached stores: each kind of column beside each kind of list.
ATTACH 'x.db' AS x;
CREATE TABLE x.t(id INTEGER PRIMARY KEY, a TEXT, b, c TEXT COLLATE NOCASE, d NUMERIC, e BLOB, UNIQUE(a), UNIQUE(c, a));
CREATE TABLE x.i(n INTEGER); CREATE TABLE x.u(v); CREATE TABLE x.s(w TEXT); CREATE TABLE m(w TEXT, v, n INT, r REAL);
INSERT INTO x.t(a, b, c, d, e) VALUES
  ('4', 4, 'Ab', 4, x'34'), ('05', '05', 'aB', '05', 5), ('5.0', 5.0, 'x', 5.0, '5'), (NULL, NULL, NULL, NULL, NULL),
  ('a"b\c', 'a"b\c', 'A"B\C', 1, 'a'), ('tab' || char(9) || char(1), 1, 'ä', 2, 2), (x'41', x'41', x'41', x'41', x'41'),
  ('nul' || char(0) || 'x', 2, 'nul' || char(0), 3, 3), ('', '', '', '', ''), ('🙂', '🙂', '🙂', '🙂', '🙂');
INSERT INTO x.i VALUES (4), (5), (NULL); INSERT INTO x.u VALUES (4), ('5'), ('05'), (x'41'), ('ab'), (5.0);
INSERT INTO x.s SELECT a FROM x.t WHERE a NOTNULL UNION ALL SELECT c FROM x.t; INSERT INTO m SELECT a, b, d, d FROM x.t;
SELECT id FROM x.t WHERE a IN (SELECT n FROM i) ORDER BY id; SELECT id FROM x.t WHERE a IN (SELECT v FROM u) ORDER BY id;
SELECT id FROM x.t WHERE a IN (SELECT w FROM s) ORDER BY id; SELECT id FROM x.t WHERE a IN (SELECT w FROM m) ORDER BY id;
SELECT id FROM x.t WHERE a IN (SELECT n FROM m) ORDER BY id; SELECT id FROM x.t WHERE a IN (SELECT r FROM m) ORDER BY id;
SELECT id FROM x.t WHERE a IN (SELECT v FROM m) ORDER BY id; SELECT id FROM x.t WHERE a IN (4, 5) ORDER BY id; SELECT id FROM x.t WHERE a IN ('4', '05') ORDER BY id;
SELECT id FROM x.t WHERE b IN (SELECT n FROM i) ORDER BY id; SELECT id FROM x.t WHERE b IN (SELECT v FROM u) ORDER BY id;
SELECT id FROM x.t WHERE b IN (SELECT w FROM s) ORDER BY id; SELECT id FROM x.t WHERE b IN (SELECT r FROM m) ORDER BY id;
SELECT id FROM x.t WHERE b IN ('4', '05', 4, 5) ORDER BY id; SELECT id FROM x.t WHERE b IN (4) ORDER BY id; SELECT id FROM x.t WHERE b IN ('05', '') ORDER BY id;
SELECT id FROM x.t WHERE c IN (SELECT w FROM s) ORDER BY id; SELECT id FROM x.t WHERE c IN ('AB', 'X') ORDER BY id; SELECT id FROM x.t WHERE c IN (SELECT v FROM u) ORDER BY id;
SELECT id FROM x.t WHERE c COLLATE BINARY IN ('AB', 'x') ORDER BY id; SELECT id FROM x.t WHERE a COLLATE NOCASE IN ('A"B\C', '4') ORDER BY id;
SELECT id FROM x.t WHERE c IN ('ab', 'x') AND a IN ('4', '5.0', '05') ORDER BY c, a;
SELECT id FROM x.t WHERE d IN (SELECT w FROM s) ORDER BY id; SELECT id FROM x.t WHERE d IN ('4', 5) ORDER BY id; SELECT id FROM x.t WHERE e IN (SELECT w FROM s) ORDER BY id;
SELECT id FROM x.t WHERE e IN (x'34', 5, '5') ORDER BY id; SELECT id FROM x.t WHERE e IN (SELECT n FROM i) ORDER BY id; SELECT id FROM x.t WHERE id IN (SELECT v FROM u) ORDER BY id;
SELECT id FROM x.t WHERE a NOT IN (SELECT v FROM u) ORDER BY id; SELECT id FROM x.t WHERE a IN (SELECT w FROM s WHERE 0) ORDER BY id; SELECT id FROM x.t WHERE a IN (NULL) ORDER BY id;
SELECT id FROM x.t WHERE a IN (NULL, '4') ORDER BY id; SELECT id FROM x.t WHERE (a, c) IN (SELECT w, 'ab' FROM s) ORDER BY id; SELECT id FROM x.t WHERE (a, b) IN (SELECT w, v FROM m) ORDER BY id;
SELECT id FROM x.t WHERE a IN (SELECT n FROM i UNION ALL SELECT '05') ORDER BY id; SELECT id FROM x.t WHERE a IN (SELECT '05' UNION ALL SELECT n FROM i) ORDER BY id;
SELECT id FROM x.t WHERE a IN (SELECT w FROM s UNION SELECT 5) ORDER BY id; SELECT m.n, (SELECT count(*) FROM x.t WHERE a IN (m.w, m.n, m.v)) FROM m;
SELECT m.rowid, t.id FROM m, x.t WHERE t.a IN (m.w, m.v) AND t.b IN (m.v, m.n) ORDER BY 1, 2;
SELECT id FROM x.t ORDER BY a IN (SELECT v FROM u), id; UPDATE x.t SET d = 100 WHERE a IN (SELECT w FROM m WHERE n = 4);
DELETE FROM x.t WHERE a IN (SELECT w FROM m WHERE n > 4); SELECT * FROM x.t WHERE id < 6;
