-- changes() behind a DROP TABLE is that of the DELETE which SQLite compiles into it: for parents, and for children with deferred keys, even
-- where that DELETE is passed over because no deferred key is violated.
PRAGMA foreign_keys = ON;
CREATE TABLE p(a PRIMARY KEY);
CREATE TABLE c(a NOT NULL, b REFERENCES p(a));
CREATE TABLE d(a PRIMARY KEY, b REFERENCES p(a) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO p VALUES(1);
SELECT changes();
DROP TABLE d;
SELECT changes();
INSERT INTO p VALUES(2);
DROP TABLE c;
SELECT changes();
CREATE TABLE e(a, b REFERENCES nosuch DEFERRABLE INITIALLY DEFERRED);
INSERT INTO p VALUES(3);
DROP TABLE e;
SELECT changes();
PRAGMA foreign_keys = OFF;
CREATE TABLE f(a, b REFERENCES p DEFERRABLE INITIALLY DEFERRED);
INSERT INTO p VALUES(4);
DROP TABLE f;
SELECT changes();
