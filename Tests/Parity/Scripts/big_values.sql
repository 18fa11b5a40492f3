-- Large blobs and text, many columns, wide rows.
CREATE TABLE b(id INTEGER PRIMARY KEY, x, y);
INSERT INTO b VALUES (1, zeroblob(1), 'a'), (2, zeroblob(1000), 'b'), (3, zeroblob(5000000), 'c'), (4, printf('%.*c', 3000000, 't'), 'd');
INSERT INTO b SELECT id + 10, x || x, y FROM b WHERE id < 3;
SELECT id, length(x), typeof(x), y FROM b ORDER BY id;
SELECT id FROM b WHERE x = zeroblob(5000000);
SELECT id FROM b WHERE x > zeroblob(4999999) ORDER BY id;
SELECT id, substr(x, 2999999), y FROM b WHERE id = 4;
UPDATE b SET x = zeroblob(255) WHERE id = 1;
UPDATE b SET x = zeroblob(256) WHERE id = 2;
UPDATE b SET y = printf('%.*c', 65535, 'y') WHERE id = 2;
UPDATE b SET y = printf('%.*c', 65536, 'y') WHERE id = 1;
SELECT id, length(x), length(y) FROM b ORDER BY id;
DELETE FROM b WHERE id = 3;
SELECT sum(length(x)), sum(length(y)) FROM b;
-- @reopen
SELECT id, length(x), length(y), typeof(x) FROM b ORDER BY id;
CREATE TABLE wide(c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29,c30,c31,c32,c33,c34,c35,c36,c37,c38,c39,c40,c41,c42,c43,c44,c45,c46,c47,c48,c49,c50,c51,c52,c53,c54,c55,c56,c57,c58,c59,c60,c61,c62,c63,c64,c65,c66,c67,c68,c69);
INSERT INTO wide(c0, c31, c63, c64, c69) VALUES (1, 'c31', 63, 'sixty four', x'69');
INSERT INTO wide(c30, c62, c65) VALUES ('c30', 62.5, 'c65');
SELECT * FROM wide ORDER BY rowid;
SELECT c69, c64, c0 FROM wide ORDER BY rowid;
SELECT rowid FROM wide WHERE c69 = x'69';
SELECT rowid FROM wide WHERE c65 IS NOT NULL;
UPDATE wide SET c64 = c64 || c63, c69 = NULL WHERE c0 = 1;
CREATE INDEX wide_64 ON wide(c64);
SELECT c64, c69 FROM wide WHERE c64 > 'a';
SELECT count(c69), count(c0), count(*) FROM wide;
