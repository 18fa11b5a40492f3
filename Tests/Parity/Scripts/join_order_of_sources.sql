-- Subqueries, common tables and views with a LEFT JOIN beside inner joins: they go behind these, which changes no row, no
-- column and no name (join_order.c).
CREATE TABLE p (id INTEGER PRIMARY KEY, by_user INT, parent INT, title TEXT);
CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE c (id INTEGER PRIMARY KEY, post INT, by_user INT, body TEXT);
CREATE INDEX c_post ON c (post);
CREATE INDEX c_user ON c (by_user);
INSERT INTO u WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) SELECT i, 'n' || i FROM n;
INSERT INTO p WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  SELECT i, i * 7 % 25, CASE i % 3 WHEN 0 THEN NULL ELSE i / 2 END, 't' || i FROM n;
INSERT INTO c WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
  SELECT i, i * 11 % 70, CASE i % 4 WHEN 0 THEN NULL ELSE i % 23 END, 'b' || i FROM n;
CREATE VIEW listed AS SELECT p.id, p.title, u.name, q.title AS above FROM p LEFT JOIN u ON u.id = p.by_user
  LEFT JOIN p q ON q.id = p.parent;
CREATE VIEW said AS SELECT c.id, c.post, u.name FROM c LEFT JOIN u ON u.id = c.by_user WHERE c.id < 150;
SELECT * FROM listed l JOIN c ON c.post = l.id WHERE c.by_user = 7 ORDER BY c.id;
SELECT * FROM listed JOIN c ON c.post = listed.id WHERE c.by_user = 7 ORDER BY c.id;
SELECT l.*, c.body FROM listed l, c WHERE c.post = l.id AND c.by_user = 8 ORDER BY c.id;
SELECT l.title, s.name, u.name FROM listed l JOIN said s ON s.post = l.id JOIN u ON u.id = s.id ORDER BY s.id;
SELECT * FROM u JOIN listed l ON l.name = u.name JOIN c ON c.post = l.id AND c.by_user = u.id ORDER BY c.id;
SELECT * FROM listed l JOIN c ON c.post = l.id LEFT JOIN u ON u.id = c.by_user WHERE l.above IS NULL ORDER BY c.id LIMIT 9;
SELECT * FROM c LEFT JOIN listed l ON l.id = c.post JOIN u ON u.id = c.by_user ORDER BY c.id LIMIT 9;
SELECT count(*), count(l.name) FROM listed l RIGHT JOIN c ON c.post = l.id;
SELECT count(*), count(l.name) FROM listed l FULL JOIN c ON c.post = l.id;
SELECT count(*) FROM listed l CROSS JOIN c ON c.post = l.id;
SELECT count(*) FROM listed l JOIN said s USING (id) JOIN c USING (id);
SELECT * FROM (SELECT p.id AS n, u.name FROM p LEFT JOIN u ON u.id = p.by_user) AS l JOIN c ON c.post = l.n WHERE c.id < 20 ORDER BY c.id;
SELECT * FROM (SELECT p.id, u.name FROM p LEFT JOIN u ON u.id = p.by_user ORDER BY p.id LIMIT 5) l JOIN c ON c.post = l.id ORDER BY c.id;
SELECT * FROM (SELECT p.by_user, count(u.id) FROM p LEFT JOIN u ON u.id = p.by_user GROUP BY 1) l JOIN u ON u.id = l.by_user ORDER BY u.id;
WITH l AS (SELECT p.id, q.title FROM p LEFT JOIN p q ON q.id = p.parent)
  SELECT l.*, c.body FROM l JOIN c ON c.post = l.id WHERE c.by_user = 5 ORDER BY c.id;
WITH l AS (SELECT p.id, q.title FROM p LEFT JOIN p q ON q.id = p.parent)
  SELECT count(*) FROM l a JOIN l b ON b.id = a.id + 1 JOIN c ON c.post = b.id;
SELECT (SELECT count(*) FROM listed l JOIN c ON c.post = l.id WHERE c.by_user = u.id) FROM u ORDER BY u.id;
SELECT id FROM u WHERE id IN (SELECT c.by_user FROM listed l JOIN c ON c.post = l.id WHERE l.above IS NOT NULL) ORDER BY id;
CREATE TABLE kept AS SELECT l.title, c.body FROM listed l JOIN c ON c.post = l.id WHERE c.id < 30;
SELECT * FROM kept ORDER BY body;
INSERT INTO kept SELECT l.title, c.id FROM listed l JOIN c ON c.post = l.id WHERE c.id > 190;
SELECT * FROM kept ORDER BY body, title;
-- a view of another shape under the same name, and none
DROP VIEW listed;
CREATE VIEW listed AS SELECT p.id, p.title, u.name FROM p JOIN u ON u.id = p.by_user;
SELECT * FROM listed l JOIN c ON c.post = l.id WHERE c.by_user = 7 ORDER BY c.id;
DROP VIEW said;
SELECT * FROM listed l JOIN c ON c.post = l.id WHERE c.by_user = 6 ORDER BY c.id;
-- Beside a RIGHT or FULL JOIN that SQLite merges into the FROM, an ON may name no table to its right.
CREATE VIEW both AS SELECT u.id, c.post FROM u FULL JOIN c ON c.by_user = u.id;
SELECT count(*), count(l.n) FROM (SELECT p.id, u.name AS n FROM p LEFT JOIN u ON u.id = p.by_user) l JOIN c ON c.post = l.id JOIN both b ON b.post = l.id;
SELECT count(*) FROM (SELECT p.id FROM p LEFT JOIN u ON u.id = p.by_user) l JOIN u ON u.id = l.id JOIN (SELECT b.id FROM both b JOIN c ON c.id = b.id) z ON z.id = u.id;
DROP VIEW both;
SELECT count(*), count(l.n) FROM (SELECT p.id, u.name AS n FROM p LEFT JOIN u ON u.id = p.by_user) l JOIN c ON c.post = l.id
  JOIN (SELECT u.id, c.post FROM u RIGHT JOIN c ON c.by_user = u.id) b ON b.post = l.id;
