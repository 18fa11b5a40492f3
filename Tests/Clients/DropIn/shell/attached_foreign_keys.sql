-- What a foreign key of an attached database refuses, in its words.
ATTACH 'x.db' AS x;
PRAGMA foreign_keys=ON;
CREATE TABLE x.p(id INTEGER PRIMARY KEY); INSERT INTO x.p VALUES(2),(4);
CREATE TABLE x.ch(a, b REFERENCES p(id)); INSERT INTO x.ch VALUES(1,2);
DELETE FROM x.p WHERE id=2;
DELETE FROM x.p;
BEGIN;
DELETE FROM x.p WHERE id=2;
DELETE FROM x.p;
UPDATE x.p SET id=9 WHERE id=2;
UPDATE x.ch SET b=9;
INSERT INTO x.ch VALUES(1,7);
INSERT INTO x.ch VALUES(1,2),(1,7);
SELECT * FROM x.ch;
COMMIT;
