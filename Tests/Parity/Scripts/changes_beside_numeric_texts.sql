-- changes() after a look-up by a text that spells a number, and inside the statement that makes one: which comparison it is SQLite's
-- program tells, and the EXPLAIN of a statement that changes rows sets changes().
CREATE TABLE t(a UNIQUE, b TEXT UNIQUE, n INT);
CREATE TABLE u(a UNIQUE);
INSERT INTO u VALUES((SELECT 1));
SELECT a FROM u WHERE a = '1';
SELECT changes();
INSERT INTO t SELECT 1, '7', 0 UNION ALL SELECT 2, '8', 0 UNION ALL SELECT 3, '9', 0;
SELECT a FROM t WHERE a = '1';
SELECT changes();
SELECT a FROM t WHERE b = 7;
SELECT changes();
UPDATE t SET n = changes() WHERE b = 7;
SELECT * FROM t;
UPDATE t SET n = n + 1;
UPDATE t SET n = changes() WHERE b = (SELECT b FROM t WHERE b = 8);
SELECT * FROM t;
-- With a trigger that has a compound, each statement that fires it may compare one of its numbers.
CREATE TABLE log(x);
CREATE TRIGGER g AFTER UPDATE ON t BEGIN
  INSERT INTO log SELECT changes();
  INSERT INTO log SELECT n FROM t WHERE b = 7 UNION ALL SELECT 'x';
  INSERT INTO log SELECT changes();
END;
UPDATE t SET n = 5 WHERE b = 9;
SELECT a FROM t WHERE a = '1';
SELECT changes(), total_changes();
UPDATE t SET n = 5 WHERE b > 1;
SELECT * FROM log;
SELECT changes(), total_changes();
SELECT a FROM u WHERE a IN (SELECT b FROM t UNION SELECT '1');
SELECT changes();
