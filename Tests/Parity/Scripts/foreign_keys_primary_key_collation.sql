-- A foreign key that names no parent columns looks its parent up under the primary key's collation, which may differ from the column's.
PRAGMA foreign_keys = 1;
CREATE TABLE p(a, PRIMARY KEY(a COLLATE NOCASE));
CREATE TABLE c(x REFERENCES p);
INSERT INTO p VALUES('A');
INSERT INTO c VALUES('a');
INSERT INTO c VALUES('b');
UPDATE c SET x = 'A';
UPDATE c SET x = 'B';
DELETE FROM p;
SELECT * FROM c;
SELECT * FROM p;
-- The columns in another order, without a rowid, and a key stricter than its column.
CREATE TABLE p2(a TEXT COLLATE NOCASE, b TEXT, PRIMARY KEY(b COLLATE RTRIM, a COLLATE BINARY)) WITHOUT ROWID;
CREATE TABLE c2(x, y, FOREIGN KEY(x, y) REFERENCES p2);
INSERT INTO p2 VALUES('A', 'k');
INSERT INTO c2 VALUES('k  ', 'A');
INSERT INTO c2 VALUES('k', 'a');
INSERT INTO c2 VALUES('K', 'A');
SELECT * FROM c2;
-- Affinity is the column's all the same.
CREATE TABLE p3(a INTEGER, b TEXT, PRIMARY KEY(b COLLATE NOCASE, a));
CREATE TABLE c3(x, y, FOREIGN KEY(x, y) REFERENCES p3 ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO p3 VALUES(1, 'Q');
INSERT INTO p3 VALUES(2, '7');
INSERT INTO c3 VALUES('q', '1');
INSERT INTO c3 VALUES(7, 2);
INSERT INTO c3 VALUES('Q', 1);
UPDATE p3 SET b = 'R' WHERE a = 1;
DELETE FROM p3 WHERE a = 2;
SELECT * FROM c3;
PRAGMA foreign_key_check;
-- Named columns need a unique index under their own collation.
CREATE TABLE c4(x REFERENCES p(a));
INSERT INTO c4 VALUES('A');
