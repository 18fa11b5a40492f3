-- A value of one page of its own may be the store's last page: the check counts it as there.
CREATE TABLE t0(c0 REAL PRIMARY KEY, c1 BLOB, CHECK (c1 IS NULL OR length(c1) < 277)) STRICT;
CREATE TABLE t1(c0 VARCHAR(10) PRIMARY KEY, c1 INT NOT NULL DEFAULT 5 CHECK (c1 <> 'x'), c2 VARCHAR(10) UNIQUE DEFAULT x'6162', c3 AS (length(c0)) VIRTUAL, c4 NUMERIC, c5 INT DEFAULT (lower('ABC')));
INSERT OR ROLLBACK INTO t1(c2) VALUES (NULL);
INSERT INTO t0(c0, c1) VALUES (10.5, NULL), (24.5, x''), (8.5, x'ff');
INSERT OR ABORT INTO t1(c0, c1, c2, c4, c5) VALUES ('2.5', printf('%.*c', 3000, 'x'), '', 10, char(0));
INSERT OR IGNORE INTO t1(c0, c1, c2, c4, c5) VALUES (x'0061', 4, '', 3, -2), (2, 4, printf('%.*c', 600, 'x') || '0', -1, NULL);
BEGIN IMMEDIATE;
INSERT INTO t1(c0, c1, c2, c4, c5) VALUES (0, -1, 'a' || char(0) || 'b', NULL, -3.25), ('a ', 'é', NULL, NULL, printf('%.*c', 600, 'x') || '3');
DELETE FROM t0;
COMMIT;
INSERT OR IGNORE INTO t1(c2, c1, c5) VALUES (0, 5, -1);
UPDATE OR ABORT t1 NOT INDEXED SET c5 = c5 || 'z' WHERE +t1.c2 >= 'abc';
CREATE INDEX i1 ON t1(c5 || 'e', upper(c5) COLLATE NOCASE);
UPDATE t1 NOT INDEXED SET c1 = c1 || 'z', c5 = NULL WHERE rowid = 2;
PRAGMA integrity_check;
SELECT rowid, length(c0), length(c1), length(c2), typeof(c5) FROM t1;
