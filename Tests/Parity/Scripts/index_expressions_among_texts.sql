-- An expression has no affinity, so a TEXT column makes its reals texts of 15 digits, or Inf. An index of the expression
-- has the reals themselves: one text may be equal to many of them (ranges.c).
CREATE TABLE s (k INTEGER PRIMARY KEY, c);
CREATE INDEX sc ON s (c + 0);
CREATE TABLE d (k INTEGER PRIMARY KEY, c);
CREATE INDEX dc ON d (+c COLLATE NOCASE DESC, k);
CREATE TABLE e (k INTEGER PRIMARY KEY, c);
CREATE UNIQUE INDEX ec ON e (c + 0);
CREATE TABLE q (id TEXT);
INSERT INTO s VALUES (1, 1e999), (2, -1e999), (3, 0.1 + 0.2), (4, 0.3), (5, 1e15 / 3), (6, 123456789012345.6), (7, 1e15), (8, 5.0),
  (9, 5), (10, 1e20), (11, -1e-7 / 3), (12, NULL), (13, 'Inf'), (14, '5.0'), (15, x'35');
INSERT INTO d SELECT * FROM s;
INSERT INTO e SELECT * FROM s WHERE k < 12 AND k <> 9;
INSERT INTO q SELECT c FROM s;
INSERT INTO q VALUES ('inf'), ('-INF'), ('INF '), ('1.0E+20'), ('1e20'), ('.3'), ('0.30'), ('05'), ('0.3 ');
SELECT q.id, s.k FROM q CROSS JOIN s ON q.id = s.c + 0 ORDER BY q.rowid, s.k;
SELECT q.id, s.k FROM q CROSS JOIN s ON s.c + 0 IS q.id AND s.k > 2 ORDER BY q.rowid, s.k;
SELECT q.id, d.k FROM q CROSS JOIN d ON q.id = +d.c ORDER BY q.rowid, d.k;
SELECT q.id, d.k FROM q CROSS JOIN d ON +d.c COLLATE NOCASE = q.id ORDER BY q.rowid, d.k;
SELECT q.id, e.k FROM q CROSS JOIN e ON q.id = e.c + 0 ORDER BY q.rowid, e.k;
SELECT id, (SELECT group_concat(k) FROM (SELECT k FROM s WHERE c + 0 = q.id ORDER BY k)) FROM q ORDER BY rowid;
SELECT k FROM s WHERE c + 0 IN (SELECT id FROM q) ORDER BY k;
SELECT k FROM s WHERE c + 0 IN (CAST(0.3 AS TEXT), 'Inf') ORDER BY k;
SELECT k FROM s WHERE c + 0 = CAST(0.3 AS TEXT) ORDER BY k;
SELECT k FROM s WHERE c + 0 = '0.3' OR c + 0 = 0.3 ORDER BY k;
SELECT q.id, s.k FROM q CROSS JOIN s ON q.id <= s.c + 0 ORDER BY q.rowid, s.k;
SELECT q.id, s.k FROM q CROSS JOIN s ON q.id > s.c + 0 ORDER BY q.rowid, s.k;
