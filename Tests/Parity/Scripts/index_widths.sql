-- Of two indexes that serve a statement alike, the one of the narrower columns does: an UPDATE OR IGNORE shows which.
CREATE TABLE t(a TEXT COLLATE RTRIM, b TEXT COLLATE NOCASE, c REAL, UNIQUE(a, c));
CREATE INDEX i0 ON t(a COLLATE RTRIM, b COLLATE BINARY);
INSERT INTO t VALUES ('9', 'abc', 9e18), ('9', 'a ', 'Inf');
UPDATE OR IGNORE t SET c = 'u' WHERE a < x'61' COLLATE RTRIM;
SELECT * FROM t ORDER BY b;
CREATE TABLE u(a NUMERIC, b TEXT, c NUMERIC, UNIQUE(a DESC, c));
CREATE UNIQUE INDEX i1 ON u(a COLLATE BINARY, b);
INSERT INTO u VALUES (0, 'z', ''), (0, '1.0', '1 ');
UPDATE OR IGNORE u SET c = 'u' WHERE a = 9.5 OR a = '0';
SELECT * FROM u ORDER BY b;
-- Widths that differ by little, a declared length, many columns.
CREATE TABLE v(a REAL, b REAL, c VARCHAR(10), d INT, e, f VARCHAR(200), UNIQUE(c, d));
CREATE INDEX v0 ON v(b, e);
CREATE INDEX v1 ON v(b, f);
CREATE INDEX v2 ON v(b, d, a);
CREATE INDEX v3 ON v(d, f);
CREATE INDEX v4 ON v(d, e, c);
INSERT INTO v VALUES (1, 7, 'x', 1, 3, 'k'), (2, 7, 'y', 2, 2, 'j'), (3, 7, 'z', 3, 1, 'l'), (3, 8, 'w', 3, 0, 'a');
SELECT a FROM v WHERE b = 7 AND b < 9;
SELECT a, c FROM v WHERE c = 'x' AND b = 7;
SELECT e FROM v WHERE b = 7;
SELECT a, f FROM v WHERE d = 3;
SELECT * FROM v WHERE d > 1;
UPDATE OR IGNORE v SET c = 'same', d = 9 WHERE b = 7;
SELECT * FROM v ORDER BY a, b;
