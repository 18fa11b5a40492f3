-- SQLite hides a virtual table's column whose type has the word HIDDEN; that of a table is a type as any other.
CREATE TABLE t(a, b HIDDEN VARCHAR, c hidden, d "INTEGER HIDDEN", hidden TEXT, e "of ""hidden"" INT");
INSERT INTO t VALUES(1, 2, 3, '4', 5, '6');
SELECT * FROM t;
SELECT typeof(a), typeof(b), typeof(c), typeof(d), typeof(hidden), typeof(e) FROM t;
INSERT INTO t SELECT * FROM t;
UPDATE t SET c = c || 'x' WHERE rowid = 2;
SELECT * FROM t AS x JOIN t AS y USING (c);
PRAGMA table_xinfo(t);
CREATE TABLE u(k HIDDEN PRIMARY KEY, v "HIDDEN") WITHOUT ROWID;
INSERT INTO u VALUES('k', 'v') RETURNING *;
SELECT * FROM u;
ALTER TABLE u ADD COLUMN w HIDDEN DEFAULT 7;
SELECT * FROM u;
-- So are GENERATED ALWAYS without AS behind them, and what stands behind the type counts.
CREATE TABLE g(a TEXT GENERATED ALWAYS NOT NULL ON CONFLICT IGNORE, b GENERATED ALWAYS AS (a || 'x') STORED,
  c INT NOT NULL GENERATED ALWAYS AS (length(a)), d GENERATED, e generated always UNIQUE ON CONFLICT REPLACE,
  f INT GENERATED ALWAYS REFERENCES u(k) DEFERRABLE INITIALLY DEFERRED, CHECK (a <> 'no'));
INSERT INTO g(a, d, e) VALUES ('a', 1, 2), (NULL, 2, 3), ('b', '5', 2);
INSERT INTO g(a) VALUES ('no');
SELECT *, typeof(a), typeof(d), typeof(e) FROM g;
PRAGMA table_xinfo(g);
PRAGMA foreign_key_list(g);
PRAGMA foreign_keys = ON;
BEGIN;
INSERT INTO g(a, f) VALUES ('c', 7);
ROLLBACK;
