-- A function of the application changes the schema while the statement that calls it is under way: the statement goes on, also where it
-- opens a table, or an index of it, only behind the change.
CREATE TABLE t1(x);
CREATE INDEX t1x ON t1(x);
INSERT INTO t1 VALUES (1), (2);
CREATE TABLE t2(y);
INSERT INTO t2 SELECT x + 2 FROM t1;
INSERT INTO t2 SELECT x + 4 FROM t1;
SELECT CASE y WHEN 3 THEN y + 100 WHEN 4 THEN app_run('CREATE TABLE t4(q)') + 200 ELSE 300 + y END FROM t2 UNION ALL SELECT * FROM t1;
SELECT CASE y WHEN 4 THEN app_run('CREATE INDEX t2y ON t2(y)') + 200 ELSE 300 + y END FROM t2 UNION ALL SELECT x FROM t1 WHERE x > 1 UNION ALL SELECT y FROM t2 WHERE y < 5;
SELECT app_run('CREATE TABLE IF NOT EXISTS t5(q)'), (SELECT max(x) FROM t1 WHERE x < y) FROM t2;
SELECT app_run('CREATE TABLE t6(q)') UNION ALL SELECT x FROM t1 UNION ALL SELECT app_run('CREATE INDEX t1x2 ON t1(x DESC)') UNION ALL SELECT x FROM t1;
SELECT app_run('CREATE VIEW v AS SELECT max(x) AS m FROM t1') UNION ALL SELECT y FROM t2 WHERE y IN (3, 5);
SELECT app_run('CREATE TRIGGER g AFTER INSERT ON t4 BEGIN INSERT INTO t5 VALUES (NEW.q); END') UNION ALL SELECT x FROM t1 WHERE x = 2;
INSERT INTO t4 VALUES (7);
SELECT * FROM t5, v;
SELECT name FROM sqlite_schema ORDER BY name;
-- A statement that has read before the schema changed reads on: nothing is dropped beside it.
CREATE TABLE t8(x);
SELECT app_run('CREATE TABLE t7(q)'), app_run('DROP INDEX t1x'), app_run('DROP TABLE t8'), x FROM t1;
SELECT name FROM sqlite_schema ORDER BY name;
