-- Joins sorted by a column of one table first, with a LIMIT: the walk in that order ends behind the value that fills the
-- LIMIT (sort_hint.c). Which rows are the first ones hangs on all terms, and on rows of that value that come last.
CREATE TABLE p (id INTEGER PRIMARY KEY, by_user INT, made INT, title TEXT COLLATE NOCASE, state TEXT, gone INT);
CREATE TABLE u (id INTEGER PRIMARY KEY, name TEXT, land TEXT);
CREATE TABLE k (a INT, b TEXT, c INT, PRIMARY KEY (a DESC, b)) WITHOUT ROWID;
CREATE INDEX p_made ON p (made DESC);
CREATE INDEX p_state_made ON p (state, made);
CREATE INDEX p_title ON p (title);
CREATE INDEX p_user ON p (by_user);
INSERT INTO u WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
  SELECT i, 'n' || (i * 7 % 40), CASE i % 4 WHEN 0 THEN NULL ELSE 'l' || i % 4 END FROM n;
INSERT INTO p WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
  SELECT i, i * 11 % 50, CASE i % 9 WHEN 0 THEN NULL ELSE i * 13 % 30 END,
    CASE i % 2 WHEN 0 THEN 'T' ELSE 't' END || i % 17, CASE i % 3 WHEN 0 THEN 'new' ELSE 'old' END,
    CASE i % 5 WHEN 0 THEN i END FROM n;
INSERT INTO k SELECT id % 20, title || id, made FROM p;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made DESC, p.id LIMIT 20;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made DESC, u.name, p.id LIMIT 20 OFFSET 30;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.name DESC, p.id LIMIT 60;
SELECT p.id, u.name FROM p LEFT JOIN u ON u.id = p.by_user AND u.land = 'l1' ORDER BY made, u.name, p.id LIMIT 50;
SELECT p.id, u.name FROM p LEFT JOIN u ON u.id = p.by_user WHERE u.id IS NULL ORDER BY p.title, p.made, p.id LIMIT 9;
SELECT p.id, p.title FROM p JOIN u ON u.id = p.by_user ORDER BY p.title DESC, u.land, p.id LIMIT 11 OFFSET 3;
SELECT p.id FROM p JOIN u ON u.id = p.by_user WHERE p.state = 'new' AND u.land = 'l2' ORDER BY p.made DESC, p.id LIMIT 7;
SELECT p.id FROM p JOIN u ON u.id = p.by_user WHERE p.state IN ('new', 'old') ORDER BY p.made DESC, u.id, p.id LIMIT 7;
SELECT p.id FROM p JOIN u ON u.id = p.by_user WHERE p.gone IS NULL OR u.land IS NULL ORDER BY p.made, u.id, p.id LIMIT 9;
SELECT p.id FROM p JOIN u ON u.id = p.by_user WHERE (p.made = 4 OR p.by_user = 7) ORDER BY p.made, u.id, p.id LIMIT 5;
SELECT p.id FROM p JOIN u ON u.id = p.by_user WHERE p.title LIKE 't1%' ORDER BY p.made DESC, u.id, p.id LIMIT 9;
SELECT p.id, u.id FROM u, p WHERE p.made > u.id ORDER BY p.made, u.id DESC, p.id LIMIT 25;
SELECT u.id, p.id FROM u JOIN p ON p.by_user = u.id ORDER BY u.id DESC, p.made DESC, p.id LIMIT 15 OFFSET 4;
SELECT u.id, p.id FROM u CROSS JOIN p ON p.by_user = u.id ORDER BY p.id DESC, u.id LIMIT 15 OFFSET 4;
SELECT k.a, k.b, u.id FROM k JOIN u ON u.id = k.c ORDER BY k.a DESC, u.name, k.b LIMIT 30;
SELECT k.a, k.b, u.id FROM k JOIN u ON u.id = k.c WHERE k.a = 7 ORDER BY k.b DESC, u.name LIMIT 4;
SELECT p.made AS m, p.id FROM p JOIN u ON u.id = p.by_user ORDER BY m, 2 DESC LIMIT 60;
SELECT p.made, p.id FROM p JOIN u ON u.id = p.by_user ORDER BY 1 DESC, 2 LIMIT 5;
SELECT DISTINCT p.made, u.land FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.land LIMIT 12;
SELECT p.made, count(*) FROM p JOIN u ON u.id = p.by_user GROUP BY p.made ORDER BY p.made, 2 LIMIT 5;
SELECT count(*), max(p.id) FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.name LIMIT 3;
SELECT p.id, row_number() OVER (ORDER BY p.id) FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.name, p.id LIMIT 5;
SELECT p.id, u.id FROM p RIGHT JOIN u ON u.id = p.by_user AND p.made > 3 ORDER BY p.made, u.id, p.id LIMIT 9;
SELECT p.id, u.id FROM p FULL JOIN u ON u.id = p.by_user ORDER BY p.made DESC, u.id, p.id LIMIT 9;
SELECT p.id FROM p JOIN u ON u.id = p.by_user ORDER BY p.made NULLS LAST, u.name, p.id LIMIT 5;
SELECT p.id FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.name, p.id LIMIT -1 OFFSET 280;
SELECT p.id FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.name, p.id LIMIT 3 OFFSET -2;
SELECT p.id FROM p JOIN u ON u.id = p.by_user ORDER BY p.made, u.name, p.id LIMIT 0;
SELECT * FROM (SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made DESC, u.name, p.id LIMIT 9) WHERE name > 'n2';
SELECT id FROM u WHERE id IN (SELECT p.by_user FROM p JOIN k ON k.c = p.made ORDER BY p.made, k.b, p.id LIMIT 40);
SELECT u.id FROM u WHERE EXISTS (SELECT 1 FROM p JOIN k ON k.c = p.made WHERE p.by_user = u.id ORDER BY p.made, k.b LIMIT 2);
-- both hints of one table
CREATE INDEX p_live ON p (made) WHERE gone IS NOT NULL;
SELECT p.id FROM p JOIN u ON u.id = p.by_user WHERE p.gone IS NOT NULL ORDER BY p.made DESC, u.name, p.id LIMIT 9;
-- in a transaction that has changed the rows
BEGIN;
UPDATE p SET made = made + 5 WHERE id % 7 = 0;
DELETE FROM u WHERE id % 6 = 0;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made DESC, u.name, p.id LIMIT 20;
ROLLBACK;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made DESC, u.name, p.id LIMIT 20;
-- the column is another one, and the index is gone
ALTER TABLE p RENAME COLUMN made TO at;
ALTER TABLE p RENAME COLUMN gone TO made;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.made DESC, u.name, p.id LIMIT 20;
ANALYZE;
SELECT p.id, u.name FROM p JOIN u ON u.id = p.by_user ORDER BY p.at DESC, u.name, p.id LIMIT 20;
