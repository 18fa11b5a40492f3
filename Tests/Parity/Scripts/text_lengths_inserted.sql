-- Texts of every length up to where they are copied another way, alone, beside others and with a NUL in each place.
CREATE TABLE source (n INTEGER PRIMARY KEY, t TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
INSERT INTO source SELECT i, substr('abcdefghijklmnopqrstuvwxyzäöüABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ßabcdefghijklmnopqrst', 1, i) FROM n;
SELECT n, length(t), hex(t), typeof(t) FROM source ORDER BY n;
CREATE TABLE texts (id INTEGER PRIMARY KEY, a TEXT, b REAL, c TEXT, d BLOB, e INTEGER);
INSERT INTO texts SELECT n, t, n / 4.0, substr(t, 3), CAST(t AS BLOB), n * 1000 FROM source;
SELECT id, a, b, c, hex(d), e FROM texts ORDER BY id;
SELECT count(*), sum(length(a)), sum(length(c)), sum(length(d)) FROM texts;
-- With a NUL at the beginning, inside and at the end of words of eight bytes.
CREATE TABLE nuls (at INTEGER, size INTEGER, t TEXT, PRIMARY KEY (at, size)) WITHOUT ROWID;
INSERT INTO nuls SELECT p.n, s.n, substr(substr('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmn', 1, p.n) || char(0) || 'stuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789', 1, s.n)
    FROM source AS p JOIN source AS s ON s.n > p.n AND p.n < 40 AND s.n < 44;
SELECT count(*), sum(length(t)), sum(length(CAST(t AS BLOB))) FROM nuls;
SELECT at, size, length(t), hex(t), t = substr(t, 1, 5) FROM nuls WHERE size % 3 = at % 3 ORDER BY at, size;
-- Bytes above 0x80 are no NULs, whatever stands beside them.
CREATE TABLE high (id INTEGER PRIMARY KEY, t TEXT);
INSERT INTO high VALUES (1, CAST(x'8080808080808080' AS TEXT)), (2, CAST(x'0180018001800180' AS TEXT)), (3, CAST(x'ff01ff01ff01ff0101' AS TEXT)),
    (4, CAST(x'0101010101010101' AS TEXT)), (5, CAST(x'80' AS TEXT)), (6, ''), (7, char(0)), (8, CAST(x'0100010001000100' AS TEXT)), (9, NULL);
SELECT id, hex(t), length(t), length(CAST(t AS BLOB)) FROM high ORDER BY id;
REPLACE INTO high SELECT n, t FROM source WHERE n BETWEEN 5 AND 20;
SELECT id, t, hex(t) FROM high ORDER BY t, id;
-- @reopen
SELECT id, a, c FROM texts WHERE id % 7 = 1 ORDER BY id DESC;
SELECT at, size, hex(t) FROM nuls WHERE at = 8 ORDER BY size;
