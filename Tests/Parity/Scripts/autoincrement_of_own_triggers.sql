-- AUTOINCREMENT: a statement whose triggers could insert into the table makes its entry in sqlite_sequence, whether one fires or not.
CREATE TABLE t (k INTEGER PRIMARY KEY AUTOINCREMENT, a, b);
CREATE TRIGGER u BEFORE UPDATE ON t WHEN new.a > 3 BEGIN INSERT INTO t (a) VALUES (new.a - 3); END;
UPDATE t SET b = 1;
SELECT * FROM sqlite_sequence;
DELETE FROM sqlite_sequence;
DELETE FROM t;
SELECT * FROM sqlite_sequence;
CREATE TRIGGER d AFTER DELETE ON t BEGIN INSERT INTO t (a) VALUES (old.a || '!'); END;
DELETE FROM t RETURNING k;
SELECT * FROM sqlite_sequence;
DELETE FROM sqlite_sequence;
UPDATE OR REPLACE t SET a = 1 WHERE k = 5 RETURNING k;
SELECT * FROM sqlite_sequence;
INSERT INTO t (a) VALUES (1), (2);
UPDATE t SET a = a + 2;
DELETE FROM t WHERE k = 1;
SELECT * FROM t;
SELECT * FROM sqlite_sequence;
