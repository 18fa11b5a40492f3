-- Triggers that change the row that fires them, and rows whose turn is still to come: before and after the UPDATE.
CREATE TABLE t(k INTEGER PRIMARY KEY, a UNIQUE, b, c DEFAULT 'c');
CREATE TABLE log(n INTEGER PRIMARY KEY, what, k, a, b, c);
INSERT INTO t(k, a, b) VALUES(1, 10, 1), (2, 20, 2), (3, 30, 3), (4, 40, 4);
CREATE TRIGGER after_b AFTER UPDATE OF b ON t BEGIN
    UPDATE t SET c = c || '+' WHERE k = new.k;
    UPDATE t SET c = c || '>' WHERE k = new.k + 1;
    DELETE FROM t WHERE k = new.k + 2 AND new.b = 3;
    INSERT INTO log(what, k, a, b, c) SELECT 'after', k, a, b, c FROM t WHERE k = new.k;
END;
UPDATE t SET b = b + 1;
SELECT changes();
SELECT * FROM t;
UPDATE t SET b = b + 1, c = 'set' WHERE a > 10;
SELECT * FROM t;
CREATE TRIGGER before_a BEFORE UPDATE OF a ON t BEGIN
    UPDATE t SET c = 'before', b = 77 WHERE k = old.k;
    DELETE FROM t WHERE k = old.k AND old.a = 20;
END;
UPDATE t SET b = b + 1;
UPDATE t SET a = a + 1;
SELECT changes();
SELECT * FROM t;
UPDATE OR REPLACE t SET a = 41, c = 'r' WHERE k = 1;
SELECT changes();
INSERT INTO t(k, a, b) VALUES(1, 50, 5) ON CONFLICT(k) DO UPDATE SET a = excluded.a, b = excluded.b;
SELECT * FROM t;
SELECT * FROM log;
CREATE TABLE w(k TEXT PRIMARY KEY, a, g AS (a * 2)) WITHOUT ROWID;
CREATE TRIGGER after_w AFTER UPDATE ON w BEGIN INSERT INTO log(what, a, b) VALUES(old.k || new.k, old.g, new.g); END;
INSERT INTO w VALUES('a', 1), ('b', 2);
UPDATE w SET k = k || 'x', a = a + (SELECT count(*) FROM log);
SELECT * FROM w;
SELECT * FROM log WHERE n > 8;
PRAGMA integrity_check;
