-- A text in quotes is one key of a column of text, whatever else the schema and the statement compare. It was taken for
-- a number that the text may spell. Of the rows that might be equal SQLite looked at the first alone, and changed none.
CREATE TABLE log(n INTEGER PRIMARY KEY, x);
CREATE TABLE a(id TEXT, z TEXT);
CREATE INDEX a_i ON a(z) WHERE z IS NOT NULL;
CREATE TABLE b(id INTEGER, x, y, z);
CREATE TABLE c(id TEXT PRIMARY KEY, x TEXT, y INT UNIQUE ON CONFLICT FAIL);
CREATE TABLE d(id INT, x INT, y INT);
CREATE TABLE e(id TEXT PRIMARY KEY COLLATE NOCASE, x TEXT, y INT UNIQUE ON CONFLICT FAIL);
INSERT INTO c(id,x,y) VALUES('1','one',1),('2','two',2),('02','two',3);
INSERT INTO e SELECT * FROM c;
CREATE TRIGGER tr0 AFTER UPDATE ON d WHEN (SELECT count(*) FROM log) < 33 BEGIN INSERT INTO b(id,x,y,z) VALUES(new.x,1,8,old.y); END;
INSERT INTO d VALUES(1,1,1);
UPDATE c SET x=(SELECT x FROM b AS q WHERE q.id <> c.id) WHERE id = '2';
SELECT changes(), * FROM c;
UPDATE OR REPLACE c SET x=(SELECT min(x) FROM b AS q WHERE q.id <> c.id), y=5 WHERE id='2' AND y>0;
SELECT changes(), * FROM c;
UPDATE OR REPLACE e SET x=(SELECT min(x) FROM b AS q WHERE q.id <> e.id), y=5 WHERE id='2';
SELECT changes(), * FROM e;
UPDATE d SET x=2;
SELECT changes(), * FROM b;
CREATE TRIGGER tr1 AFTER UPDATE ON d BEGIN UPDATE c SET x=(SELECT max(x) FROM b AS q WHERE q.id <> c.id) WHERE id='2' AND y>0; END;
UPDATE d SET y=2;
SELECT changes(), * FROM c;
