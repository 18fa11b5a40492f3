-- sqlite_sequence gets no row where an action of a foreign key could fire a trigger into an AUTOINCREMENT table, and does not.
PRAGMA foreign_keys = ON;
CREATE TABLE p(id INTEGER PRIMARY KEY, a);
CREATE TABLE c(id INTEGER PRIMARY KEY, x REFERENCES p(id) ON DELETE CASCADE ON UPDATE CASCADE);
CREATE TABLE log(id INTEGER PRIMARY KEY AUTOINCREMENT, v);
CREATE TRIGGER cd AFTER DELETE ON c BEGIN INSERT INTO log(v) VALUES (old.id); END;
SELECT * FROM sqlite_sequence;
DELETE FROM p;
SELECT * FROM sqlite_sequence;
INSERT INTO p VALUES (1, 1);
SELECT * FROM sqlite_sequence;
UPDATE p SET a = 2;
SELECT * FROM sqlite_sequence;
UPDATE p SET id = 2;
SELECT * FROM sqlite_sequence;
DELETE FROM p WHERE id = 77;
SELECT * FROM sqlite_sequence;
DELETE FROM p WHERE id = 2;
SELECT * FROM sqlite_sequence;
