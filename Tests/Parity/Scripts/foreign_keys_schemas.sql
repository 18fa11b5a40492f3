-- A foreign key stays inside its schema: a temp or attached child finds no parent in main, native or store.
PRAGMA foreign_keys = ON;
CREATE TABLE parent(id INTEGER PRIMARY KEY, t TEXT UNIQUE);
INSERT INTO parent VALUES (1, 'a'), (2, 'b');
CREATE TEMP TABLE child(id INTEGER PRIMARY KEY, p REFERENCES parent(id));
INSERT INTO child VALUES (1, 1);
INSERT INTO child VALUES (2, NULL);
ATTACH ':memory:' AS aux;
CREATE TABLE aux.child2(id INTEGER PRIMARY KEY, p REFERENCES parent(id));
INSERT INTO aux.child2 VALUES (1, 1);
-- With a parent of that name in its own schema it is that one's child.
CREATE TABLE aux.parent(id INTEGER PRIMARY KEY);
INSERT INTO aux.child2 VALUES (1, 1);
INSERT INTO aux.parent VALUES (1);
INSERT INTO aux.child2 VALUES (1, 1);
DELETE FROM aux.parent;
DELETE FROM parent WHERE id = 1;
SELECT * FROM parent;
SELECT * FROM aux.child2;
-- Nor is a table of main anybody's child elsewhere.
CREATE TEMP TABLE onlyTemp(id INTEGER PRIMARY KEY);
INSERT INTO onlyTemp VALUES (1);
CREATE TABLE mainChild(id INTEGER PRIMARY KEY, p REFERENCES onlyTemp(id));
INSERT INTO mainChild VALUES (1, 1);
SELECT * FROM mainChild;
DROP TABLE mainChild;
DETACH aux;
