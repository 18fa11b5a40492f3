-- Rows around the lengths at which the offsets of their columns take another byte: 255 and 65,535 bytes, with and without the key's own texts.
CREATE TABLE plain (a INTEGER PRIMARY KEY, b, c TEXT, d REAL, e BLOB);
CREATE TABLE keyed (k TEXT PRIMARY KEY, b, c TEXT) WITHOUT ROWID;
CREATE TABLE nocase (k TEXT COLLATE NOCASE PRIMARY KEY, b, c TEXT) WITHOUT ROWID;
CREATE TABLE wide (a01, a02, a03, a04, a05, a06, a07, a08, a09, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33);
WITH RECURSIVE n(i) AS (SELECT 180 UNION ALL SELECT i + 1 FROM n WHERE i < 270)
INSERT INTO plain SELECT i, -i, printf('%.*c', i, 'x'), i / 4.0, zeroblob(i % 3) FROM n;
WITH RECURSIVE n(i) AS (SELECT 65480 UNION ALL SELECT i + 3 FROM n WHERE i < 65540)
INSERT INTO plain SELECT i, i, printf('%.*c', i, 'y'), -i, 'z' FROM n;
INSERT INTO plain VALUES (1, 'a' || char(0) || 'b', printf('%.*c', 300, 'n') || char(0), 9223372036854775807, x'00');
INSERT INTO keyed SELECT c, b, 'short' FROM plain;
INSERT INTO keyed SELECT c || 'k', a, c FROM plain WHERE length(c) > 0;
INSERT INTO nocase SELECT c || 'K', a, c FROM plain WHERE length(c) < 400;
INSERT INTO wide SELECT a, b, c, d, e, a, b, NULL, d, e, a, b, 't', d, e, a, b, c, d, e, a, b, NULL, d, e, a, b, 0, d, e, 1, -1, '' FROM plain WHERE length(c) < 400;
UPDATE plain SET b = b || '.' WHERE a % 2;
UPDATE wide SET a33 = a03, a08 = a08;
REPLACE INTO plain SELECT a, 7, c || 'r', d, e FROM plain WHERE a % 5 = 0;
SELECT count(*), sum(length(c)), sum(d), sum(length(e)), min(c), total(b) FROM plain;
SELECT a, b, length(c), substr(c, -3), d, hex(e) FROM plain WHERE a < 300 OR a > 65500 ORDER BY a;
SELECT length(k), b, length(c) FROM keyed ORDER BY k;
SELECT length(k), b, length(c) FROM nocase ORDER BY k;
SELECT count(*), sum(length(a03) + length(a18) + length(a33)), sum(a31 + a32), sum(a24), min(a13), max(a08) FROM wide;
SELECT a01, a02, length(a03), a04, hex(a05), a28, a31, a32, length(a33) FROM wide ORDER BY a01 LIMIT 20;
