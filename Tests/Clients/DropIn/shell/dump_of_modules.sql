-- .dump writes virtual tables into sqlite_schema, under PRAGMA writable_schema: another database takes them over, here and in one that is opened later.
CREATE TABLE t(a, b);
INSERT INTO t VALUES(1,'one two'),(2,'three');
CREATE VIRTUAL TABLE ft USING fts5(a, b, prefix=2);
INSERT INTO ft VALUES('x y','z'),('p','q');
CREATE VIRTUAL TABLE ft4 USING fts4(a, b);
INSERT INTO ft4 VALUES('x y','z'),('p','q');
CREATE VIRTUAL TABLE external USING fts5(b, content=t, content_rowid=a);
INSERT INTO external(external) VALUES('rebuild');
CREATE VIRTUAL TABLE r USING rtree(id,x0,x1);
INSERT INTO r VALUES(1,2,3),(4,5,6);
CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO external(rowid,b) VALUES(new.a,new.b); END;
.output dump.sql
.dump
.output
.shell sqlite3 other.db <dump.sql
.shell sqlite3 other.db "SELECT * FROM ft('x')" "SELECT * FROM ft4 WHERE ft4 MATCH 'z'" "SELECT rowid,* FROM external('two')" "SELECT * FROM r" .tables "PRAGMA integrity_check"
.shell sqlite3 other.db "INSERT INTO t VALUES(3,'four two')" "SELECT rowid,* FROM external('two')" "INSERT INTO ft(ft) VALUES('integrity-check')" "SELECT rtreecheck('r')" "DROP TABLE ft" .tables
.shell sqlite3 other.db .dump >again.sql
.shell grep -c 'INTO sqlite_schema' again.sql
-- A transaction that goes back takes them along.
BEGIN;
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql) VALUES('table','gone','gone',0,'CREATE VIRTUAL TABLE gone USING fts5(a)');
ROLLBACK;
PRAGMA writable_schema=OFF;
SELECT count(*) FROM sqlite_schema WHERE name='gone';
SELECT * FROM gone;
