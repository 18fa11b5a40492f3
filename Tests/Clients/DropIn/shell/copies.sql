-- Copies of all kinds by the shell: .backup, .restore, .clone, .save, .dump into another file, .import, VACUUM INTO.
CREATE TABLE a(id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT DEFAULT 'x' CHECK(length(t)<9), g AS (id*2), r REAL);
CREATE TABLE b(x UNIQUE, y REFERENCES a(id), z BLOB, rowid TEXT);
CREATE TABLE w(k TEXT, l INT, v, PRIMARY KEY(k, l)) WITHOUT ROWID;
CREATE INDEX bi ON b(z DESC) WHERE z IS NOT NULL;
CREATE VIEW v AS SELECT a.id, b.x FROM a JOIN b ON b.y=a.id;
CREATE TRIGGER tr AFTER INSERT ON a BEGIN INSERT INTO w VALUES('t', new.id, new.t); END;
INSERT INTO a(t,r) VALUES('one',1.5),('two',NULL),('three',3.0);
DELETE FROM a WHERE id=3;
INSERT INTO b VALUES('p',1,x'00ff','r'),('q',2,NULL,'s');
INSERT INTO b(oid,x) VALUES(77,'far');
PRAGMA user_version=42;
PRAGMA application_id=43;
ANALYZE;
.backup copy.db
.save copy2.db
.clone copy3.db
ATTACH 'plain.db' AS p;
.print copy
.shell sqlite3 copy.db .dump "PRAGMA user_version" "PRAGMA application_id" "SELECT oid,* FROM b" "PRAGMA integrity_check" "SELECT count(*)>0 FROM sqlite_stat1"
.print copy2
.shell sqlite3 copy2.db .dump
.print copy3
.shell sqlite3 copy3.db "SELECT * FROM a; SELECT * FROM b; SELECT * FROM w; SELECT * FROM v"
INSERT INTO a(t) VALUES('more');
DROP VIEW v;
CREATE TABLE extra(n);
.restore copy.db
SELECT name, sql FROM sqlite_schema ORDER BY name;
SELECT * FROM a;
SELECT oid, x, y, hex(z), rowid FROM b;
SELECT * FROM v;
INSERT INTO a(t) VALUES('next');
SELECT * FROM a;
SELECT * FROM w;
PRAGMA user_version;
PRAGMA integrity_check;
.shell printf '1,one\n2,two\n' > data.csv
.import --csv data.csv imported
CREATE TABLE i2(a INT, b TEXT);
.import --csv data.csv i2
.import --csv --skip 1 data.csv i2
SELECT * FROM i2;
.shell sqlite3 copy.db "VACUUM INTO 'v.db'"; sqlite3 v.db "SELECT count(*) FROM a"
VACUUM INTO 'no/such/folder.db';
.schema imported
.tables
.indexes b
.fullschema
.lint fkey-indexes
.sha3sum
.dbconfig enable_fkey
