-- EXISTS in a SET list or in DO UPDATE that does not look at the row is evaluated once a statement, before its changes.
CREATE TABLE t(a INTEGER PRIMARY KEY, b);
INSERT INTO t VALUES(1,5),(2,6),(3,2);
UPDATE OR REPLACE t SET b=EXISTS(SELECT 1 FROM t WHERE b=0);
SELECT * FROM t;
UPDATE OR REPLACE t SET b=NOT EXISTS(SELECT 1 FROM t WHERE b=1) + a;
SELECT * FROM t;
INSERT INTO t VALUES(1,0),(2,0),(3,0) ON CONFLICT(a) DO UPDATE SET b=10*EXISTS(SELECT 1 FROM t WHERE b = 2) + a WHERE EXISTS(SELECT 1 FROM t WHERE b = 4);
SELECT * FROM t;
-- One that does look at it is evaluated for each row.
INSERT INTO t VALUES(1,0),(2,0),(3,0) ON CONFLICT(a) DO UPDATE SET b=EXISTS(SELECT 1 FROM t AS other WHERE other.b = t.b + 1);
SELECT * FROM t;
INSERT INTO t VALUES(1,0),(2,0),(3,0) ON CONFLICT(a) DO UPDATE SET b=EXISTS(SELECT 1 FROM t AS other WHERE other.a = excluded.a - 1);
SELECT * FROM t;
