-- What is said of changes that are refused. changes() in them is a function of the store's, which was named itself.
CREATE TABLE t(a INTEGER PRIMARY KEY, b, c, d);
CREATE TABLE one(x);
CREATE TRIGGER fires AFTER UPDATE ON t BEGIN SELECT 1; END;
UPDATE t SET b = changes(), nope = 1;
UPDATE t SET b = changes(), (d, c) = (SELECT * FROM one);
INSERT INTO t(b, c) VALUES(changes()) ON CONFLICT(a) DO UPDATE SET b = changes();
