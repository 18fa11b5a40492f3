-- UPDATE FROM that sets a name of the rowid, not the INTEGER PRIMARY KEY's, to NULL: no key, and not the old one.
CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, e);
CREATE TABLE o(k INTEGER PRIMARY KEY, x);
INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
INSERT INTO o VALUES (1, NULL), (2, 20), (3, '7');
UPDATE t SET rowid = o.x FROM o WHERE o.k = t.e;
UPDATE t SET oid = o.x FROM o WHERE o.k = t.e AND o.k = 1;
UPDATE t SET b = b + 10, _rowid_ = o.x FROM o WHERE o.k = t.e;
UPDATE t SET rowid = o.x FROM o WHERE o.k = t.e RETURNING *;
UPDATE OR IGNORE t SET rowid = o.x FROM o WHERE o.k = t.e;
SELECT * FROM t;
UPDATE t SET rowid = o.x, a = t.a FROM o WHERE o.k = t.e;
UPDATE t SET rowid = o.x FROM o WHERE o.k = t.e AND o.x IS NOT NULL;
SELECT * FROM t;
CREATE TRIGGER g BEFORE UPDATE ON t BEGIN UPDATE t SET b = b + 100 WHERE a = old.a; END;
UPDATE t SET rowid = o.x FROM o WHERE o.k = t.e;
SELECT * FROM t;
