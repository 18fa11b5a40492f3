-- column IN (...) ORDER BY with LIMIT: an index is walked for each value, and each walk ends by itself. Texts, numbers and values that are
-- equal to several keys, both directions, NULLs, bounds, other terms, keys WITHOUT ROWID, OFFSET, subqueries, rows of one's own writes.
CREATE TABLE p (id INTEGER PRIMARY KEY, status TEXT, who INT, made, any_value, note TEXT COLLATE NOCASE);
CREATE INDEX ps ON p (status, made);
CREATE INDEX pw ON p (who, made DESC);
CREATE INDEX pa ON p (any_value, status, made);
CREATE INDEX pn ON p (note, made);
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
INSERT INTO p SELECT i, substr('abcA5', i % 5 + 1, 1), i % 4, CASE WHEN i <> 30 THEN i * 37 % 61 END,
    CASE i % 4 WHEN 0 THEN 5 WHEN 1 THEN '5' WHEN 2 THEN 'a' END, substr('abAB', i % 4 + 1, 1) FROM n;
CREATE TABLE q (kind TEXT, id INT, v, PRIMARY KEY (kind, id DESC)) WITHOUT ROWID;
INSERT INTO q SELECT status, id, made FROM p;
SELECT id, made FROM p WHERE status IN ('a', 'b') ORDER BY made LIMIT 9;
SELECT id, made FROM p WHERE status IN ('a', 'b', 5) ORDER BY made DESC LIMIT 9 OFFSET 4;
SELECT id, made FROM p WHERE status IN ('b', 'a', 'b', NULL) ORDER BY made DESC, id LIMIT 9;
SELECT id, made FROM p WHERE status IN ('a', 'A') AND made > 20 ORDER BY made LIMIT 5;
SELECT id, made FROM p WHERE status IN ('a', 'A', 'c') AND id % 3 = 0 AND who > 0 ORDER BY made DESC LIMIT 5;
SELECT id, made FROM p WHERE status IN ('a', 'b') AND who IN (1, 2) ORDER BY made, id DESC LIMIT 7;
SELECT id, made FROM p WHERE who IN (1, '2', 3.0) ORDER BY made LIMIT 8;
SELECT id, made FROM p WHERE who IN (1, 2, 2) ORDER BY made DESC LIMIT 8;
SELECT id, made FROM p WHERE who IN (SELECT who FROM p WHERE id < 3) ORDER BY made DESC LIMIT 8;
SELECT id, made FROM p WHERE status IN (SELECT status FROM p WHERE id < 3) ORDER BY made LIMIT 8;
SELECT id, made FROM p WHERE status IN (SELECT who + 5 FROM p WHERE id < 9) ORDER BY made LIMIT 8;
SELECT id, made FROM p WHERE any_value IN (5, 'a') AND status IN ('a', 'b') ORDER BY made LIMIT 8;
SELECT id, status, made FROM p WHERE any_value IN ('5', 5) ORDER BY status, made LIMIT 8;
SELECT id, status, made FROM p WHERE any_value IN (SELECT status FROM p) ORDER BY status DESC, made LIMIT 8;
SELECT id, made FROM p WHERE note IN ('A', 'b') ORDER BY made DESC LIMIT 8;
SELECT id, made FROM p WHERE note IN ('A', 'a') ORDER BY made, id LIMIT 8;
SELECT id, made FROM p WHERE status IN ('a', 'b') ORDER BY made NULLS LAST LIMIT 9;
SELECT id, made FROM p WHERE status IN ('a', 'b') ORDER BY made DESC NULLS FIRST LIMIT 9;
SELECT id, made FROM p WHERE status NOT IN ('a', 'b') ORDER BY made LIMIT 9;
SELECT id, made FROM p WHERE status IN () ORDER BY made LIMIT 9;
SELECT id, made FROM p WHERE status IN ('zz') ORDER BY made LIMIT 9;
SELECT id, made FROM p WHERE status IN ('a', 'b') ORDER BY made LIMIT 0;
SELECT id, made FROM p WHERE status IN ('a', 'b') ORDER BY made DESC LIMIT -1;
SELECT kind, id FROM q WHERE kind IN ('a', 'c') AND id > 12 ORDER BY id LIMIT 6;
SELECT kind, id FROM q WHERE kind IN ('a', 'c') ORDER BY id DESC LIMIT 6;
SELECT kind, id, v FROM q WHERE kind IN ('a', 'c', 'A') AND v > 9 ORDER BY id LIMIT 6;
SELECT p.id, q.id FROM p JOIN q ON q.id = p.id AND q.kind IN ('a', 'b') WHERE p.status IN ('a', 'b') ORDER BY p.made, q.id LIMIT 6;
SELECT x.id, (SELECT id FROM p WHERE who IN (x.who, 3) ORDER BY made DESC LIMIT 1) FROM p x ORDER BY x.id LIMIT 20;
BEGIN;
UPDATE p SET made = made * 100 WHERE id % 2;
DELETE FROM p WHERE id BETWEEN 10 AND 20;
SELECT id, made FROM p WHERE status IN ('a', 'b', 'c') ORDER BY made DESC LIMIT 9;
SELECT id, made FROM p WHERE who IN (1, 2) ORDER BY made LIMIT 9;
ROLLBACK;
ANALYZE;
SELECT id, made FROM p WHERE status IN ('a', 'b', 'c') ORDER BY made DESC LIMIT 9;
SELECT id, made FROM p WHERE who IN (1, 2) ORDER BY made LIMIT 9;
