-- VACUUM drops sqlite_sequence where no table has AUTOINCREMENT any more, and keeps it where one has.
CREATE TABLE t(a INTEGER PRIMARY KEY AUTOINCREMENT);
CREATE TABLE plain(b);
INSERT INTO t VALUES(NULL);
INSERT INTO plain VALUES(1);
VACUUM;
SELECT name, seq FROM sqlite_sequence;
DROP TABLE t;
SELECT name FROM sqlite_schema WHERE name = 'sqlite_sequence';
VACUUM;
SELECT name FROM sqlite_schema WHERE name = 'sqlite_sequence';
SELECT name, seq FROM sqlite_sequence;
SELECT * FROM plain;
-- It comes again with the next such table, and stands after an opening as before.
CREATE TABLE again(a INTEGER PRIMARY KEY AUTOINCREMENT, b);
INSERT INTO again(b) VALUES('x'), ('y');
SELECT name, seq FROM sqlite_sequence;
-- @reopen
SELECT name, seq FROM sqlite_sequence;
DROP TABLE again;
VACUUM;
-- @reopen
SELECT name FROM sqlite_schema ORDER BY name;
PRAGMA integrity_check;
