-- Beside a LEFT JOIN the tables of inner joins are told how many terms choose rows of them that xBestIndex is not shown
-- (own_terms.c). No row, no column and no name is another one.
CREATE TABLE x (id INTEGER PRIMARY KEY, a INT, b TEXT);
CREATE TABLE y (a INT, g INT, t TEXT);
CREATE TABLE z (k TEXT PRIMARY KEY, a INT, g) WITHOUT ROWID;
CREATE INDEX ya ON y (a);
INSERT INTO x WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i, i % 7, 'b' || i % 5 FROM n;
INSERT INTO y WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)
  SELECT i % 9, CASE i % 4 WHEN 0 THEN NULL ELSE i % 3 END, 'b' || i FROM n;
INSERT INTO z WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25)
  SELECT 'b' || i, i % 6, CASE i % 3 WHEN 0 THEN NULL ELSE i % 4 END FROM n;
SELECT count(*) FROM x LEFT JOIN y ON x.a IS y.g JOIN z ON z.g;
SELECT count(*), count(y.a) FROM x LEFT JOIN y ON y.a = x.a JOIN z ON z.g AND z.a = x.a;
SELECT * FROM x JOIN z LEFT JOIN y ON y.a = x.a WHERE z.a > z.g AND z.a = x.id ORDER BY x.id, z.k, y.t;
SELECT x.id, z.k FROM x LEFT JOIN y ON y.a = x.a AND y.g JOIN z WHERE z.a + 1 = 3 AND NOT z.g AND x.b = z.k ORDER BY 1, 2, y.t;
SELECT x.id FROM x JOIN z LEFT JOIN y ON y.a = z.a AND z.g WHERE x.id NOT IN (1, 2) AND length(z.k) = 2 AND z.a = x.a ORDER BY 1, z.k, y.t;
SELECT x.id FROM x JOIN z AS q LEFT JOIN y ON y.a = q.a WHERE (q.g OR q.a) AND coalesce(x.a, 1) AND q.a = x.a ORDER BY 1, q.k, y.t;
SELECT x.id, s.g FROM x LEFT JOIN (SELECT z.k, z.g FROM z JOIN y ON y.a = z.a LEFT JOIN x w ON w.id = y.g WHERE z.g) s ON s.k = x.b
  JOIN y ON y.a = x.a AND y.g ORDER BY 1, 2, y.t;
SELECT id, (SELECT count(*) FROM z LEFT JOIN y ON y.a = z.a WHERE z.g AND z.a = x.a) FROM x ORDER BY id;
SELECT id FROM x WHERE EXISTS (SELECT 1 FROM z JOIN y ON y.a = z.a LEFT JOIN x w ON w.id = y.a WHERE z.g AND y.g AND z.a = x.a) ORDER BY id;
WITH s AS (SELECT z.a, x.id FROM z JOIN x ON x.a = z.a LEFT JOIN y ON y.g = z.g WHERE z.g AND x.a % 2)
  SELECT s.a, count(*) FROM s LEFT JOIN y ON y.a = s.a JOIN z ON z.a = s.a AND -z.g GROUP BY 1 ORDER BY 1;
SELECT x.id, y.t FROM x JOIN z ON z.k = x.b LEFT JOIN y ON y.a = x.a WHERE z.g AND x.a ORDER BY x.id, y.t, z.a LIMIT 10;
SELECT x.id FROM x JOIN z NOT INDEXED LEFT JOIN y ON y.a = z.a WHERE z.g AND x.b = z.k ORDER BY x.id, y.t;
-- beside a RIGHT or FULL JOIN
SELECT count(*) FROM (SELECT z.k, z.a FROM z JOIN x ON x.b = z.k LEFT JOIN y ON y.a = z.a WHERE z.g) s RIGHT JOIN x ON x.id = s.a;
CREATE VIEW both AS SELECT x.id, y.t FROM x FULL JOIN y ON y.a = x.id;
SELECT count(*), count(y.a) FROM x JOIN z ON z.k = x.b AND z.g JOIN both ON both.id = x.id LEFT JOIN y ON y.a = z.a;
SELECT count(*), count(y.a) FROM both JOIN z ON z.g JOIN x ON x.id = both.id AND x.b = z.k LEFT JOIN y ON y.a = z.a;
