-- DROP TABLE of a parent whose rows refer to each other: an action takes rows before their turn, and changes() counts
-- those that had one.
PRAGMA foreign_keys = 1;
CREATE TABLE t(id INTEGER PRIMARY KEY, up REFERENCES t ON DELETE CASCADE);
INSERT INTO t VALUES(1, NULL), (2, 1), (3, 2), (4, NULL), (5, 9);
INSERT INTO t VALUES(5, 4), (6, 5), (7, 7);
SELECT changes();
DROP TABLE t;
SELECT changes();
CREATE TABLE w(id TEXT PRIMARY KEY, up REFERENCES w ON DELETE CASCADE) WITHOUT ROWID;
INSERT INTO w VALUES('b', NULL), ('a', 'b'), ('c', 'a'), ('d', 'c');
DROP TABLE w;
SELECT changes();
CREATE TABLE n(id INTEGER PRIMARY KEY, up REFERENCES n ON DELETE SET NULL, g AS (up + 1));
INSERT INTO n(id, up) VALUES(1, 2), (2, 1), (3, 1);
DROP TABLE n;
SELECT changes();
-- Deferred violations: those of the transaction stay, those that the DROP leaves refuse it at its end.
CREATE TABLE p(id INTEGER PRIMARY KEY, up REFERENCES p DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE c(x REFERENCES p DEFERRABLE INITIALLY DEFERRED);
INSERT INTO p VALUES(1, 1), (2, 1);
INSERT INTO c VALUES(2);
DROP TABLE p;
SELECT changes();
SELECT * FROM p;
BEGIN;
DROP TABLE p;
SELECT changes();
COMMIT;
DELETE FROM c;
COMMIT;
SELECT changes();
SELECT * FROM c;
-- In a savepoint.
CREATE TABLE q(id INTEGER PRIMARY KEY, up REFERENCES q ON DELETE RESTRICT);
INSERT INTO q VALUES(1, NULL), (2, 1);
SAVEPOINT s;
DROP TABLE q;
SELECT * FROM q;
UPDATE q SET up = NULL;
DROP TABLE q;
ROLLBACK TO s;
RELEASE s;
SELECT * FROM q;
SELECT changes();
