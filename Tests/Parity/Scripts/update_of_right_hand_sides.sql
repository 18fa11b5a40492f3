-- A trigger of UPDATE OF c has nothing to do with a statement that only reads c: what its body names need not be there.
CREATE TABLE t(a, b, c);
INSERT INTO t VALUES (1, 2, 3);
CREATE TRIGGER g AFTER UPDATE OF c ON t BEGIN INSERT INTO missing VALUES (1); END;
CREATE TRIGGER h AFTER UPDATE OF rowid ON t BEGIN INSERT INTO missing VALUES (2); END;
UPDATE t SET a = c;
UPDATE t SET a = (c), b = c + a;
UPDATE t SET (a, b) = (c, rowid);
UPDATE t SET a = c IN (1, 3), b = coalesce(c, rowid) RETURNING *;
WITH w AS (SELECT 1 AS c) UPDATE t SET b = (SELECT c FROM w);
UPDATE t SET b = 1, c = 2;
UPDATE t SET (b, c) = (1, 2);
UPDATE t SET rowid = 5;
SELECT rowid, * FROM t;
