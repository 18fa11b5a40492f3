-- The shell's commands that look at a database from outside: .expert, .recover, .archive, .tables, .schema, .dump, .lint, .sha3sum and the like.
-- What Debian's build of the shell lacks, it says on both sides.
CREATE TABLE a(id INTEGER PRIMARY KEY, t TEXT, n INT);
INSERT INTO a VALUES(1,'one',1),(2,'two',2),(3,'three',3);
CREATE TABLE b(x REFERENCES a(id), y, PRIMARY KEY(x, y)) WITHOUT ROWID;
INSERT INTO b VALUES(1,'p'),(2,'q');
CREATE INDEX bi ON b(y);
CREATE VIEW v AS SELECT a.id, b.y FROM a JOIN b ON b.x=a.id;
CREATE TRIGGER tr AFTER INSERT ON a BEGIN UPDATE a SET n=0 WHERE id=new.id; END;
.databases
.expert
SELECT * FROM a WHERE t='one' ORDER BY n;
.expert --verbose
SELECT * FROM a JOIN b ON a.id=b.x WHERE b.y=1 AND a.n>2;
.expert --sample 100
SELECT * FROM a WHERE n=1;
UPDATE a SET t='x' WHERE n=1;
.recover
.recover --ignore-freelist
.shell echo hi >f1; echo ho >f2; touch -d @1000000000 f1 f2
.archive --list
.archive --create f1 f2
.archive --list
.archive --list --verbose
.shell rm f1; echo more >f2; touch -d @1000000001 f2
.archive --extract f1
.shell cat f1
.archive --update f2
.archive --insert f1
.archive --list
.archive --remove f1
.archive --list
.archive --create --file ar.db f1 f2
.archive --list --file ar.db
SELECT name, sz, data FROM sqlar;
.tables
.tables b%
.indexes
.indexes b
.schema
.schema --indent a
.schema --nosys b%
.fullschema
.dump
.dump a
.dump --data-only b
.dump --preserve-rowids a
.lint fkey-indexes
.lint fkey-indexes -verbose
.sha3sum
.sha3sum --schema
.sha3sum --sha3-256 a
.selftest --init
.selftest
.shell printf 'id,t,n\n7,seven,7\n8,"eight, or so",8\n' >data.csv
.import --csv --skip 1 data.csv a
.import --csv data.csv fresh
SELECT * FROM a;
SELECT * FROM fresh;
.mode insert a
SELECT * FROM a WHERE id>6;
.mode list
.backup copy.db
DELETE FROM a;
.restore copy.db
SELECT count(*) FROM a;
.clone clone.db
.shell sqlite3 clone.db .schema "SELECT count(*) FROM a"
.save saved.db
.shell sqlite3 saved.db .tables .dump
.open saved.db
.tables
.dbinfo
.limit attached
.changes on
UPDATE a SET n=n+1;
.changes off
.parameter set :x 5
SELECT :x, count(*) FROM a WHERE id<:x;
.parameter list
.session open main s
