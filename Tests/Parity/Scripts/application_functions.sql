-- Functions and collations of the application where a store judges rows itself: ApplicationFunctions.swift registers them.
CREATE TABLE checked(id INTEGER PRIMARY KEY, n INT CHECK (app_double(n) < 100), t TEXT CHECK (app_join(t, 'x') <> 'bad+x'));
INSERT INTO checked VALUES (1, 10, 'good'), (2, NULL, NULL);
INSERT INTO checked VALUES (3, 60, 'good');
INSERT INTO checked VALUES (3, 6, 'bad');
UPDATE checked SET n = n + 45;
UPDATE OR IGNORE checked SET t = 'bad';
SELECT * FROM checked ORDER BY id;
CREATE TABLE generated(a, b AS (app_double(a)), c TEXT AS (app_join(a, b, 'z')) STORED, d AS (unicode(a)));
INSERT INTO generated(a) VALUES (1), (2.5), ('x'), (NULL);
SELECT * FROM generated;
UPDATE generated SET a = 21 WHERE a = 1;
SELECT * FROM generated;
CREATE INDEX byDouble ON generated(app_double(a));
CREATE UNIQUE INDEX byJoin ON generated(app_join(a)) WHERE app_double(a) > 4;
INSERT INTO generated(a) VALUES (21);
INSERT INTO generated(a) VALUES ('x');
INSERT INTO generated(a) VALUES (1), (1);
SELECT a FROM generated WHERE app_double(a) = 42;
DELETE FROM generated WHERE app_double(a) = 2;
SELECT count(*) FROM generated;
-- Errors of the function are the statement's.
CREATE TABLE picky(n CHECK (app_picky(n) IS NOT 7));
INSERT INTO picky VALUES (-1);
INSERT OR IGNORE INTO picky VALUES (1), (-1);
INSERT INTO picky VALUES (7);
INSERT INTO picky VALUES (8);
SELECT * FROM picky;
-- What may not stand there.
CREATE TABLE bad(n CHECK (app_none(n)));
CREATE TABLE bad(n CHECK (app_double(n, n)));
CREATE TABLE bad(n CHECK (app_total(n) > 0));
CREATE TABLE bad(n, g AS (app_changing()));
CREATE INDEX bad ON checked(app_changing());
CREATE TABLE direct(n CHECK (app_direct(n)));
INSERT INTO direct VALUES (1);
CREATE INDEX bad ON checked(app_direct(n));
CREATE TABLE changing(n CHECK (app_changing() = n));
INSERT INTO changing VALUES (41);
INSERT INTO changing VALUES (42);
-- A default.
CREATE TABLE defaults(a, b DEFAULT (app_double(21)), c INTEGER DEFAULT (app_changing()));
INSERT INTO defaults(a) VALUES (1);
INSERT INTO defaults DEFAULT VALUES;
SELECT * FROM defaults;
ALTER TABLE checked ADD COLUMN g AS (app_double(n) + 1);
SELECT * FROM checked ORDER BY id;
-- A trigger and an UPSERT over them.
CREATE TABLE log(t);
CREATE TRIGGER logging AFTER UPDATE ON checked BEGIN INSERT INTO log VALUES (app_join(old.n, new.n, new.g)); END;
INSERT INTO checked(id, n) VALUES (1, 5) ON CONFLICT (id) DO UPDATE SET n = app_double(excluded.n) RETURNING *;
INSERT INTO checked(id, n) VALUES (1, 25) ON CONFLICT (id) DO UPDATE SET n = app_double(excluded.n);
SELECT * FROM log;
-- A collation of the application.
CREATE TABLE collated(id INTEGER PRIMARY KEY, t TEXT COLLATE app_backwards CHECK (t > 'd'), u TEXT);
INSERT INTO collated VALUES (1, 'a', 'b'), (2, 'c', 'd'), (3, 'b', 'a');
INSERT INTO collated VALUES (4, 'e', 'b');
SELECT * FROM collated ORDER BY t;
SELECT id FROM collated WHERE t < 'b';
SELECT id FROM collated WHERE u < 'b' COLLATE app_backwards ORDER BY u COLLATE app_backwards;
SELECT max(t), min(t) FROM collated;
CREATE INDEX partly ON collated(u) WHERE t < 'b';
UPDATE collated SET u = 'new' WHERE id = 1;
CREATE TABLE bad(t COLLATE app_nothing);
SELECT id FROM collated ORDER BY u COLLATE app_nothing;
-- @reopen
INSERT INTO checked(id, n) VALUES (9, 60);
INSERT INTO checked(id, n) VALUES (9, 6);
INSERT INTO generated(a) VALUES (22);
SELECT a, d FROM generated ORDER BY a;
SELECT id FROM collated ORDER BY t;
SELECT id, t FROM collated WHERE t < 'b';
INSERT INTO collated VALUES (5, 'e', 'b');
UPDATE collated SET t = 'bb' WHERE id = 2;
SELECT * FROM checked ORDER BY id;
PRAGMA integrity_check;
