-- What a store of format 1 holds: every kind of value, key, index, constraint and object, few rows of each.
CREATE TABLE kinds (id INTEGER PRIMARY KEY, i INT, r REAL, t TEXT, b BLOB, n NUMERIC, any_value);
INSERT INTO kinds VALUES
    (1, 0, 0.0, '', x'', 0, NULL), (2, -1, -0.5, 'plain', x'00ff00', '12', 'text'),
    (3, 9223372036854775807, 1e308, 'ünïcödé ' || char(128512), zeroblob(300), 1.25, x'0102'),
    (-4, -9223372036854775808, -1e-308, 'it''s', x'fe', 'not a number', 9007199254740993),
    (5000000000, 255, 3.141592653589793, 'tab	and
line', x'27', 1e20, -9007199254740993.0);
INSERT INTO kinds (id, t) VALUES (6, printf('%.6000c', 'x'));
INSERT INTO kinds (id, b) VALUES (7, CAST(printf('%.20000c', 'y') AS BLOB));
CREATE TABLE author (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE, born INT CHECK (born > -3000));
INSERT INTO author (name, born) VALUES ('Lem', 1921), ('Strugatsky', 1925), ('Homer', -800), ('Gone', 1);
DELETE FROM author WHERE name = 'Gone';
CREATE TABLE book (
    isbn TEXT PRIMARY KEY, title TEXT NOT NULL, author INT REFERENCES author (id) ON DELETE CASCADE ON UPDATE CASCADE,
    price REAL DEFAULT 9.5, shelf TEXT AS (substr(title, 1, 1)) STORED, loud TEXT AS (upper(title))
) WITHOUT ROWID;
INSERT INTO book (isbn, title, author) VALUES ('978-1', 'Solaris', 1), ('978-2', 'Roadside Picnic', 2), ('978-3', 'Fiasko', 1);
INSERT INTO book (isbn, title, author, price) VALUES ('978-4', 'Odyssey', 3, NULL);
CREATE INDEX by_author ON book (author, title DESC);
CREATE INDEX by_length ON book (length(title), price);
CREATE UNIQUE INDEX cheap ON book (title) WHERE price < 10;
CREATE TABLE pair (a TEXT COLLATE RTRIM, b INT, c, PRIMARY KEY (a, b DESC)) WITHOUT ROWID;
INSERT INTO pair VALUES ('x ', 1, 'one'), ('x', 2, 'two'), ('', -5, NULL), ('y', 9223372036854775807, 2.5);
CREATE TABLE strict_one (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, t TEXT, a ANY) STRICT;
INSERT INTO strict_one VALUES (1, 10, 'ten', '10'), (2, 20, NULL, 20.5);
-- Keys longer than the engine takes, alike in their first thousands of bytes.
CREATE TABLE long (k TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
INSERT INTO long VALUES (printf('%.510c', 'k'), 510), (printf('%.511c', 'k'), 511), (printf('%.512c', 'k'), 512),
    (printf('%.5000c', 'k') || 'a', 5001), (printf('%.5000c', 'k') || 'b', 5002), ('short', 5);
CREATE TABLE noted (line TEXT);
CREATE INDEX noted_line ON noted (line COLLATE NOCASE DESC);
INSERT INTO noted VALUES (printf('%.800c', 'n') || '2'), (printf('%.800c', 'N') || '1');
CREATE TRIGGER sold AFTER DELETE ON book BEGIN INSERT INTO noted VALUES ('sold ' || old.title); END;
CREATE TRIGGER no_free BEFORE UPDATE OF price ON book WHEN new.price <= 0 BEGIN SELECT RAISE(ABORT, 'nothing is free'); END;
CREATE VIEW shelves AS SELECT author.name, count(*) AS books, max(price) AS dearest FROM book JOIN author ON author.id = book.author GROUP BY author.name;
CREATE TRIGGER shelves_insert INSTEAD OF INSERT ON shelves BEGIN INSERT INTO author (name) VALUES (new.name); END;
-- A table as ALTER leaves it: rows older than a column, a name of another time.
CREATE TABLE old_name (a, b, c);
INSERT INTO old_name VALUES (1, 'b', 'c');
ALTER TABLE old_name ADD COLUMN d DEFAULT 'later';
INSERT INTO old_name VALUES (2, 'B', 'C', 'D');
ALTER TABLE old_name DROP COLUMN b;
ALTER TABLE old_name RENAME COLUMN c TO renamed;
ALTER TABLE old_name RENAME TO "new name";
-- A tree that a dropped table left for the next one.
CREATE TABLE dropped (a UNIQUE);
INSERT INTO dropped VALUES (1), (2);
DROP TABLE dropped;
ANALYZE;
PRAGMA user_version = 42;
PRAGMA application_id = 1380996980;
