-- Foreign keys of a store's tables that triggers of views and of native tables change: looked at when the whole statement has ended.

PRAGMA foreign_keys = ON;
CREATE TABLE p(id INTEGER PRIMARY KEY);
CREATE TABLE c(id INTEGER PRIMARY KEY, pid REFERENCES p(id));
CREATE TABLE d(id INTEGER PRIMARY KEY, pid REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO p VALUES (1);
INSERT INTO c VALUES (1, 1);
CREATE VIEW shown AS SELECT id, pid FROM c;
CREATE TRIGGER shown_insert INSTEAD OF INSERT ON shown BEGIN INSERT INTO c VALUES (new.id, new.pid); INSERT OR IGNORE INTO p VALUES (new.id); END;
CREATE TRIGGER shown_update INSTEAD OF UPDATE ON shown BEGIN UPDATE c SET pid = new.pid WHERE id = new.id; END;
CREATE TRIGGER shown_delete INSTEAD OF DELETE ON shown BEGIN DELETE FROM p WHERE id = old.pid; END;
CREATE TEMP TABLE n(a);
CREATE TEMP TRIGGER n_insert AFTER INSERT ON n BEGIN UPDATE c SET pid = new.a; END;
CREATE TEMP TRIGGER n_delete AFTER DELETE ON n BEGIN INSERT INTO d VALUES (old.a, old.a); END;

-- Outside of a transaction, and in one.
UPDATE shown SET pid = 9;
INSERT INTO n VALUES (9);
SELECT changes(), total_changes();
SELECT * FROM c;
BEGIN;
UPDATE shown SET pid = 9;
SELECT changes();
DELETE FROM shown;
INSERT INTO shown VALUES (5, 6);
INSERT INTO n VALUES (9);
SELECT changes();
INSERT OR FAIL INTO n VALUES (9), (1), (8);
INSERT OR IGNORE INTO n VALUES (9);
SELECT * FROM c;
SELECT * FROM n;
SELECT * FROM p;
COMMIT;
PRAGMA foreign_key_check;

-- Violated on the way and cured, by the same row or a later one.
INSERT INTO shown VALUES (7, 7);
BEGIN;
INSERT INTO shown VALUES (20, 21), (21, 20);
INSERT INTO n VALUES (99), (1);
INSERT INTO n SELECT 98 UNION ALL SELECT 7;
COMMIT;
SELECT * FROM c;
SELECT * FROM p;
SELECT * FROM n;

-- Deferred keys wait for the COMMIT.
BEGIN;
DELETE FROM n WHERE a = 99;
COMMIT;
INSERT INTO p VALUES (99);
COMMIT;
BEGIN;
SAVEPOINT a;
DELETE FROM n WHERE a = 98;
UPDATE shown SET pid = 55;
ROLLBACK TO a;
COMMIT;
DELETE FROM n;
SELECT * FROM d;
SELECT * FROM n;

-- The OR of the statement, and what an error of another kind leaves.
CREATE TEMP TABLE u(a UNIQUE, b);
CREATE TEMP TRIGGER u_insert AFTER INSERT ON u BEGIN UPDATE c SET pid = new.b WHERE id = 1; END;
BEGIN;
INSERT INTO u VALUES (1, 7), (2, 50), (1, 7);
INSERT OR FAIL INTO u VALUES (1, 7), (1, 20), (3, 20);
SELECT * FROM u;
SELECT * FROM c WHERE id = 1;
INSERT OR REPLACE INTO u VALUES (1, 20), (3, 60);
INSERT OR ROLLBACK INTO u VALUES (5, 1), (1, 1);
SELECT * FROM u;
SELECT * FROM c WHERE id = 1;
ROLLBACK;
PRAGMA foreign_keys = OFF;
BEGIN;
UPDATE shown SET pid = 77 WHERE id = 1;
INSERT INTO n VALUES (78);
COMMIT;
SELECT * FROM c;
