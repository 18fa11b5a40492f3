-- Values that an index stands between: equalities that stand for several keys, defaults beside evaluated indexes.
-- Long texts and numbers under one descending key: what an equality collected must not be taken for what a later one collects.
CREATE TABLE lk(c0, c1, PRIMARY KEY(c1 DESC, c0));
INSERT INTO lk(c0, c1) VALUES (-3.25, printf('%.*c', 600, 'x') || '0'), ('a', 6), (-1, CAST(x'ff' AS TEXT)), (0.5, 9e999), ('é', -1), (-3.25, '3'), (-2, 'ab'), ('a', 'B');
UPDATE OR IGNORE lk NOT INDEXED SET c0 = NULL, c1 = c1;
INSERT OR FAIL INTO lk(c0, c1) VALUES (4, printf('%.*c', 600, 'x') || '1'), ('A', 2);
SELECT t.c1, (SELECT count(*) FROM lk AS o WHERE o.c1 = t.c1) FROM lk AS t;
SELECT t.c1, (SELECT count(*) FROM lk AS o WHERE o.c1 = t.c1) FROM lk AS t ORDER BY t.rowid DESC;
-- An empty default that OR REPLACE takes for NULL, beside an index on an expression.
CREATE TABLE en(c0 TEXT PRIMARY KEY, c1 BLOB, c3 TEXT NOT NULL DEFAULT '', c5 INTEGER UNIQUE);
CREATE INDEX en_c1 ON en(length(c1));
INSERT OR REPLACE INTO en(c0, c1, c3, c5) VALUES ('b', 'b', NULL, 'a ');
UPDATE OR REPLACE en SET c3 = NULL, c1 = 'longer';
SELECT * FROM en WHERE length(c1) = 6;
