-- A statement has an entry of sqlite_sequence for every AUTOINCREMENT table that it could insert into, by way of a foreign key's
-- action and the triggers of the table that this changes, too, whether a row comes or not.
CREATE TABLE au(id INTEGER PRIMARY KEY AUTOINCREMENT, x);
CREATE TABLE p(id INTEGER PRIMARY KEY, x UNIQUE);
CREATE TABLE c(id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE);
CREATE TRIGGER g AFTER DELETE ON c BEGIN INSERT INTO au(x) VALUES(1); END;
INSERT INTO p VALUES(1, 1), (2, 2), (3, 3);
INSERT INTO c VALUES(1, 1);
DELETE FROM p WHERE id = 3;
SELECT * FROM sqlite_sequence;
PRAGMA foreign_keys = ON;
UPDATE p SET x = 5 WHERE id = 2;
SELECT * FROM sqlite_sequence;
DELETE FROM p WHERE id = 99;
SELECT * FROM sqlite_sequence;
DELETE FROM p WHERE id > 0;
SELECT * FROM sqlite_sequence;
SELECT * FROM au;
-- By ON UPDATE SET NULL, two tables away.
CREATE TABLE au2(id INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE q(k UNIQUE);
CREATE TABLE r(k UNIQUE REFERENCES q(k) ON UPDATE CASCADE);
CREATE TABLE s(k REFERENCES r(k) ON UPDATE SET NULL);
CREATE TRIGGER h AFTER UPDATE ON s BEGIN INSERT INTO au2 VALUES(NULL); END;
INSERT INTO q VALUES(1);
UPDATE q SET k = 2 WHERE k = 7;
SELECT * FROM sqlite_sequence ORDER BY name;
REPLACE INTO q VALUES(1);
SELECT * FROM sqlite_sequence ORDER BY name;
PRAGMA integrity_check;
