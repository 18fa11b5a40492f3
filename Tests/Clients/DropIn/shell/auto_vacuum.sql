-- A database that vacuums itself has no free pages.
.headers off
PRAGMA auto_vacuum=FULL;
PRAGMA auto_vacuum;
CREATE TABLE t(a, b);
PRAGMA auto_vacuum=0;
PRAGMA auto_vacuum;
WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2000) INSERT INTO t SELECT i, randomblob(400) FROM n;
DELETE FROM t;
PRAGMA freelist_count;
