-- OVER behind a call is an alias unless a window's name or definition follows.
CREATE TABLE t(a, b, d);
INSERT INTO t VALUES (1, 2, 3), (4, 5, 6);
SELECT max(d) OVER FROM t;
SELECT max(d) OVER, count(*) FROM t;
SELECT max(d) OVER over FROM t WINDOW over AS (ORDER BY a);
SELECT sum(d) FILTER (WHERE a > 1) OVER FROM t;
CREATE TABLE log(x);
CREATE TRIGGER named AFTER INSERT ON t BEGIN INSERT INTO log SELECT max(d) OVER FROM t; END;
INSERT INTO t VALUES (7, 8, 9);
SELECT * FROM log;
CREATE VIEW v AS SELECT max(d) OVER, max(a) FROM t;
SELECT * FROM v;
UPDATE t SET b = (SELECT max(d) OVER FROM t);
SELECT * FROM t ORDER BY a;
