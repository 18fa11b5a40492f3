-- A row value in SET may stand in more parentheses than one pair: with and without FROM, in DO UPDATE and in triggers.
CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
INSERT INTO t VALUES(1,2,3),(2,3,4),(3,NULL,5);
CREATE TABLE u(id INTEGER PRIMARY KEY, v, w);
INSERT INTO u VALUES(1,10,11),(2,20,21);
UPDATE t SET (b, c) = ((SELECT v, w FROM u WHERE u.id = t.a)) WHERE a = 1;
UPDATE t SET (b, c) = ( ( (SELECT v, w FROM u WHERE u.id = t.a) ) ) WHERE a = 2;
SELECT * FROM t ORDER BY a;
UPDATE t SET (b, c) = ((u.v + 1, u.w)) FROM u WHERE u.id = t.a;
UPDATE t SET (b, c) = (((SELECT max(v), min(w) FROM u))) FROM u WHERE u.id = t.a AND t.a = 2;
UPDATE t SET (b, c) = ((1), (2)) WHERE a = 3;
UPDATE t SET (b) = ((4)), c = ((5)) WHERE a = 3;
SELECT * FROM t ORDER BY a;
INSERT INTO t VALUES(1, 7, 8) ON CONFLICT(a) DO UPDATE SET (b, c) = ((excluded.c, excluded.b));
INSERT INTO t VALUES(2, 7, 8) ON CONFLICT(a) DO UPDATE SET (b, c) = (((SELECT v, w FROM u ORDER BY id DESC)));
CREATE TRIGGER tr AFTER INSERT ON u BEGIN UPDATE t SET (b, c) = ((new.v, new.w)) WHERE a = new.id; UPDATE t SET (b, c) = ((SELECT v, w FROM u WHERE id = 1)) WHERE a = 2; END;
INSERT INTO u VALUES(3, 30, 31);
SELECT * FROM t ORDER BY a;
