.dbconfig defensive on
CREATE TABLE t(id INTEGER PRIMARY KEY, a);
CREATE TEMP TABLE t_keys(id INTEGER PRIMARY KEY, a);
INSERT INTO t_keys VALUES(1,2);
ATTACH ':memory:' AS m;
CREATE TABLE m.t_foreign1(a);
INSERT INTO m.t_foreign1 VALUES(7);
CREATE TEMP VIEW t_foreign AS SELECT 1;
CREATE TEMP TABLE t_foreignx AS SELECT 5 AS x;
SELECT * FROM t_keys,t_foreign1, t_foreign, t_foreignx;
