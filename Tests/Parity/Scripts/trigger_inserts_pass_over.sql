-- A trigger's INSERT without a list of columns, from a SELECT *, into a table with a generated column. It passes over rows, and gives as
-- many values as the table takes, or more.
CREATE TABLE two(a, b);
CREATE TABLE three(a, b, c);
CREATE TABLE g(a UNIQUE, b, c AS (a || b) STORED);
CREATE TABLE s(x);
INSERT INTO two VALUES (1, 2), (1, 3), (4, 5);
INSERT INTO three VALUES (7, 8, 9);
CREATE TRIGGER after_insert AFTER INSERT ON s BEGIN INSERT INTO g SELECT * FROM two WHERE true ON CONFLICT DO NOTHING; END;
INSERT INTO s VALUES (1);
SELECT * FROM g;
CREATE TRIGGER after_update AFTER UPDATE ON s BEGIN INSERT OR IGNORE INTO g SELECT * FROM two; END;
INSERT INTO two VALUES (6, 6);
UPDATE s SET x = 2;
SELECT * FROM g;
CREATE TRIGGER after_delete AFTER DELETE ON s BEGIN INSERT INTO g SELECT * FROM three WHERE true ON CONFLICT DO NOTHING; END;
DELETE FROM s;
SELECT * FROM g;
SELECT * FROM s;
