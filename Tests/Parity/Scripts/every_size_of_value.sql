-- Integers of every number of bytes, reals, empty and long texts and blobs, columns that are missing in older rows: by a scan,
-- by rowid, through an index and in a transaction that has written.
CREATE TABLE v (id INTEGER PRIMARY KEY, i INTEGER, r REAL, t TEXT, b BLOB, n NUMERIC);
INSERT INTO v VALUES
 (1, 0, 0.0, '', x'', 0),
 (2, 1, 0.5, 'a', x'00', 1.5),
 (3, -1, -0.5, 'ab', x'FF', -1.5),
 (4, 127, 1e300, 'é', x'0001', 1e300),
 (5, -128, -1e300, 'b', x'02', -1e300),
 (6, 128, 3, 'c', x'03', 3.0),
 (7, -129, -3, 'd', x'04', '5'),
 (8, 32767, 1e-300, 'e', x'05', '5.5'),
 (9, -32768, 123456789.125, 'f', x'06', 'x'),
 (10, 32768, 9007199254740993, 'g', x'07', 9007199254740993),
 (11, -32769, 1, 'h', x'08', -9007199254740993),
 (12, 8388607, 2, 'i', x'09', 8388608),
 (13, -8388608, 2, 'j', x'0A', -8388609),
 (14, 8388608, 2, 'k', x'0B', NULL),
 (15, -8388609, 2, 'l', NULL, NULL),
 (16, 2147483647, NULL, NULL, x'0C', NULL),
 (17, -2147483648, 2, 'm', x'0D', NULL),
 (18, 2147483648, 2, 'n', x'0E', NULL),
 (19, -2147483649, 2, 'o', x'0F', NULL),
 (20, 140737488355327, 2, 'p', x'10', NULL),
 (21, -140737488355328, 2, 'q', x'11', NULL),
 (22, 140737488355328, 2, 'r', x'12', NULL),
 (23, -140737488355329, 2, 's', x'13', NULL),
 (24, 9223372036854775807, 2, 't', x'14', NULL),
 (25, -9223372036854775808, 2, 'u', x'15', NULL),
 (26, 'text', 'text', 5, 5, 'text'),
 (27, 7, 7, printf('%.*c', 300, 'x'), zeroblob(300), 7),
 (28, 8, 8, printf('%.*c', 70000, 'y'), zeroblob(70000), 8),
 (29, 9, 9, 'a' || char(0) || 'b', x'610062', 9);
SELECT id, i, typeof(i), r, typeof(r), substr(t, 1, 9), length(t), typeof(t), hex(substr(b, 1, 9)), length(b), n, typeof(n)
 FROM v ORDER BY id;
SELECT id, i, r, length(t), length(b), n FROM v WHERE id IN (1, 6, 13, 14, 25, 27, 28, 29);
CREATE INDEX v_i ON v (i, r);
CREATE INDEX v_r ON v (r DESC, n);
CREATE INDEX v_t ON v (t);
SELECT i, r, id FROM v WHERE i > -200000 ORDER BY i, r;
SELECT i, r, n FROM v WHERE i < 200 ORDER BY i DESC, r DESC;
SELECT r, typeof(r), n, typeof(n), id, i FROM v ORDER BY r DESC, n, id;
SELECT length(t), typeof(t), hex(substr(t, 1, 4)), id FROM v WHERE t >= '' ORDER BY t;
SELECT a.id, b.r, b.t FROM v AS a JOIN v AS b ON b.id = a.i ORDER BY a.id, b.id;
SELECT a.id, b.id FROM v AS a JOIN v AS b ON b.id = a.r ORDER BY a.id, b.id;
SELECT id FROM v WHERE id = 3.0;
SELECT id FROM v WHERE id = '3';
SELECT id FROM v WHERE id = 3.5;
SELECT id FROM v WHERE id = 'three';
SELECT id FROM v WHERE id = NULL;
SELECT id FROM v WHERE id IS NULL;
SELECT id FROM v WHERE id = x'33';
SELECT id FROM v WHERE id > 26.5 AND id < '28.5';
ALTER TABLE v ADD COLUMN added INTEGER DEFAULT 300;
ALTER TABLE v ADD COLUMN worded TEXT DEFAULT 'word';
INSERT INTO v (id, i, added) VALUES (30, 30, 70000), (31, 31, NULL);
SELECT id, i, added, worded FROM v WHERE id > 27 ORDER BY id;
SELECT added, worded, id FROM v WHERE i = 30 OR i = 8 ORDER BY id;
BEGIN;
UPDATE v SET r = r + 1 WHERE id < 5;
SELECT id, i, r, t, hex(b), n, added, worded FROM v WHERE id < 7 ORDER BY id;
SELECT i, r, id, worded FROM v WHERE i BETWEEN -130 AND 130 ORDER BY i, r;
SELECT b.r, b.t, b.added FROM v AS a JOIN v AS b ON b.id = a.id + 1 WHERE a.id < 5 ORDER BY a.id;
COMMIT;
SELECT sum(r), sum(i % 1000), count(t), max(length(t)), min(b), max(t) FROM v WHERE id <> 26;
