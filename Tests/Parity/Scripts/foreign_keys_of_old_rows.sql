-- Foreign keys beside rows that violate them already: what is looked at, and when.

CREATE TABLE s(id INTEGER PRIMARY KEY, up REFERENCES s(id), v, x REAL);
CREATE TABLE p(id INTEGER PRIMARY KEY, k UNIQUE, v);
CREATE TABLE c(id INTEGER PRIMARY KEY, pid REFERENCES p(id), v);
CREATE TABLE w(a INT, b INT REFERENCES c(id), v, PRIMARY KEY(a, b));
INSERT INTO s VALUES (5, 6, 4, 2), (8, 8, 1, 1);
INSERT INTO w VALUES (8, 0, NULL);
INSERT INTO c VALUES (17, 24, 'x');
PRAGMA foreign_keys = ON;

-- An UPDATE that sets no column of any key looks at none, in a table that refers to itself either.
UPDATE s SET v = 0;
UPDATE OR IGNORE s SET x = 1.5, v = x + 4 WHERE x IS NOT NULL;
UPDATE OR REPLACE s SET v = 7 WHERE id IN (SELECT id FROM s);
UPDATE s SET up = up;
UPDATE s SET id = id WHERE id = 8;
UPDATE s SET id = id;
INSERT INTO s VALUES (8, 8, 2, 2) ON CONFLICT DO UPDATE SET v = 9;
INSERT INTO s VALUES (5, 6, 2, 2) ON CONFLICT DO UPDATE SET v = 9;
SELECT * FROM s;

-- An INSERT of one row is refused for its own violation, whatever it cures.
INSERT INTO s VALUES (6, 15, 1, 1);
INSERT OR FAIL INTO s VALUES (6, 15, 1, 1);
INSERT OR IGNORE INTO s VALUES (6, 15, 1, 1) ON CONFLICT DO NOTHING;
SELECT last_insert_rowid();
INSERT INTO s VALUES (6, 15, 1, 1) RETURNING id;
SELECT * FROM s;
DELETE FROM s WHERE id = 6;
INSERT OR REPLACE INTO s VALUES (6, 15, 1, 1);
SELECT * FROM s;
INSERT INTO c VALUES (0, 0, 'y');
INSERT OR ABORT INTO c VALUES (0, 0, 'y');
SELECT * FROM c;
BEGIN;
INSERT INTO s(id, up) VALUES (15, 16);
INSERT INTO s(id, up) VALUES (15, 16), (16, 15);
COMMIT;
SELECT * FROM s;

-- A DO UPDATE of a column that others refer to makes it a statement of several changes.
INSERT INTO s VALUES (24, 99, 1, 1) ON CONFLICT DO UPDATE SET v = 1;
INSERT INTO s VALUES (24, 99, 1, 1) ON CONFLICT DO UPDATE SET id = 70;
SELECT * FROM s WHERE id > 16;

-- Where that stops the row, and where it is in the table by then: last_insert_rowid().
INSERT INTO p VALUES (1, 1, 1);
INSERT OR ROLLBACK INTO c VALUES (3, 1, 'z');
INSERT OR REPLACE INTO c VALUES (70, 4, 'a') ON CONFLICT DO NOTHING;
SELECT last_insert_rowid();
INSERT OR REPLACE INTO c VALUES (71, 4, 'a');
SELECT last_insert_rowid();
INSERT OR IGNORE INTO c VALUES (72, 4, 'a');
SELECT last_insert_rowid();
PRAGMA defer_foreign_keys = ON;
INSERT OR IGNORE INTO c VALUES (73, 4, 'a');
SELECT last_insert_rowid();
CREATE TRIGGER g AFTER UPDATE ON c BEGIN INSERT INTO c(pid) VALUES (1); END;
PRAGMA defer_foreign_keys = ON;
INSERT INTO c VALUES (74, 9, 1.5);
SELECT last_insert_rowid();
SELECT * FROM c;
PRAGMA foreign_key_check;
