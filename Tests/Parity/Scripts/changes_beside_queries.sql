-- A query that seeks a text that spells a number looks what other statements may compare, and leaves changes() alone.
CREATE TABLE counted(k TEXT PRIMARY KEY ON CONFLICT ROLLBACK, v, UNIQUE(v, k)) WITHOUT ROWID;
CREATE TABLE gone(k);
CREATE TABLE watched(k TEXT UNIQUE ON CONFLICT REPLACE, v);
CREATE TRIGGER left_over AFTER DELETE ON watched BEGIN INSERT INTO gone VALUES(old.k); END;
INSERT INTO counted VALUES('10', 2), ('3.25', 3), ('4', 0);
SELECT * FROM counted WHERE k IN ('3.25', '4', '1');
SELECT changes();
INSERT OR ROLLBACK INTO watched VALUES('1', 1), ('2', 2) RETURNING v;
SELECT * FROM counted WHERE k = '4';
SELECT changes();
-- What may disguise a number is found all the same.
CREATE VIEW numbers AS SELECT rowid AS n FROM watched UNION ALL SELECT '04';
SELECT k, n FROM numbers CROSS JOIN counted ON counted.k = numbers.n;
SELECT k, n FROM numbers LEFT JOIN counted ON counted.k = numbers.n;
