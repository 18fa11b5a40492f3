-- PRAGMA defer_foreign_keys=OFF forgets what was counted while it was on: the rebuild of a parent table commits.
PRAGMA foreign_keys=ON;
CREATE TABLE a(id INTEGER PRIMARY KEY, name);
CREATE TABLE b(id INTEGER PRIMARY KEY, a_id REFERENCES a(id));
CREATE TABLE d(id INTEGER PRIMARY KEY, a_id REFERENCES a(id) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO a VALUES(1,'x');
INSERT INTO b VALUES(1,1);
BEGIN;
PRAGMA defer_foreign_keys=ON;
CREATE TABLE a_new(id INTEGER PRIMARY KEY, full_name);
INSERT INTO a_new SELECT id,name FROM a;
DROP TABLE a;
ALTER TABLE a_new RENAME TO a;
PRAGMA foreign_key_check;
PRAGMA defer_foreign_keys=OFF;
COMMIT;
SELECT * FROM a;
-- While it is on, the commit still refuses.
BEGIN;
PRAGMA defer_foreign_keys=ON;
INSERT INTO b VALUES(2,77);
COMMIT;
INSERT INTO a VALUES(77,'y');
COMMIT;
-- A key that is declared deferred counts on, counted before the pragma; with it, it is forgotten too.
BEGIN;
INSERT INTO d VALUES(3,88);
PRAGMA defer_foreign_keys=ON;
INSERT INTO b VALUES(3,99);
PRAGMA defer_foreign_keys=OFF;
COMMIT;
ROLLBACK;
BEGIN;
PRAGMA defer_foreign_keys=ON;
INSERT INTO d VALUES(3,88);
PRAGMA defer_foreign_keys=OFF;
COMMIT;
PRAGMA foreign_key_check;
-- Savepoints keep both counts.
BEGIN;
INSERT INTO d VALUES(4,100);
SAVEPOINT s;
INSERT INTO a VALUES(100,'z');
PRAGMA defer_foreign_keys=ON;
INSERT INTO b VALUES(4,101);
ROLLBACK TO s;
PRAGMA defer_foreign_keys=OFF;
COMMIT;
INSERT INTO a VALUES(100,'z');
COMMIT;
SELECT * FROM a ORDER BY id;
SELECT * FROM d ORDER BY id;
-- A new transaction begins without it.
BEGIN;
INSERT INTO b VALUES(9,500);
ROLLBACK;
