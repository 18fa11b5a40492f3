-- A scan passes over rows that LIKE leaves out: of texts, by a pattern that is a literal or a parameter.
CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body VARCHAR(40) COLLATE NOCASE, n INTEGER, any BLOB);
CREATE TABLE tags (id INTEGER PRIMARY KEY, note INTEGER, name TEXT);
CREATE TABLE keyed (name TEXT, kind TEXT, v, PRIMARY KEY (name, kind)) WITHOUT ROWID;
WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 300)
INSERT INTO notes SELECT x, CASE x % 11 WHEN 0 THEN NULL WHEN 1 THEN x WHEN 2 THEN CAST('blob word ' || x AS BLOB) WHEN 3 THEN 'Word ' || x
    WHEN 4 THEN 'a wOrD' WHEN 5 THEN 'Größe ' || x || ' ÄÖÜ' WHEN 6 THEN '' WHEN 7 THEN 'nul' || char(0) || 'word' WHEN 8 THEN x || '%_' || x
    WHEN 9 THEN 'wwordwoword' ELSE 'other ' || x END, 'Body of ' || (x % 7), x % 13, x FROM i;
INSERT INTO notes VALUES (1001, 4.5, 7, NULL, 'word'), (1002, X'C3', X'776F7264', 1, 'WORD'), (1003, CAST(X'776F7264FF' AS TEXT), CAST(X'C3776F7264' AS TEXT), 2, NULL),
    (1004, 'İword', 'ſ K', 3, 'Straße'), (1005, '[word]', '@word`{', 4, 'a\b'), (1006, CAST(X'E297776F7264' AS TEXT), 'x', 5, 6);
INSERT INTO tags SELECT id, id % 50, CASE id % 3 WHEN 0 THEN 'red' WHEN 1 THEN 'Red Hot' END FROM notes;
INSERT INTO keyed SELECT coalesce(CAST(title AS TEXT), 'none') || id, body, id FROM notes;
SELECT id, title FROM notes WHERE title LIKE '%word%';
SELECT id FROM notes WHERE title LIKE '%WORD';
SELECT id FROM notes WHERE title LIKE 'word%';
SELECT id FROM notes WHERE title LIKE 'WoRd';
SELECT id FROM notes WHERE title LIKE 'w%o%d';
SELECT id FROM notes WHERE title LIKE '%word%word%';
SELECT id FROM notes WHERE title LIKE '%o%r%%d%';
SELECT id FROM notes WHERE title LIKE '%[word]%';
SELECT id FROM notes WHERE body LIKE '%@word`{%';
SELECT id FROM notes WHERE title LIKE '';
SELECT id FROM notes WHERE title LIKE '%';
SELECT count(*) FROM notes WHERE title LIKE '%%';
SELECT id FROM notes WHERE title LIKE NULL;
SELECT id FROM notes WHERE title LIKE '%w_rd%';
SELECT id FROM notes WHERE title LIKE '%ö%';
SELECT id FROM notes WHERE title LIKE '%Ö%';
SELECT id FROM notes WHERE title LIKE '%äöü';
SELECT id FROM notes WHERE title LIKE '%1%';
SELECT id FROM notes WHERE title LIKE 45 OR title LIKE 4.5;
SELECT id FROM notes WHERE title LIKE X'25776F726425';
SELECT id FROM notes WHERE title LIKE '%' || char(0) || '%';
SELECT id FROM notes WHERE title LIKE '%\%%' ESCAPE '\';
SELECT id FROM notes WHERE title NOT LIKE '%word%';
SELECT id FROM notes WHERE NOT (title LIKE '%word%');
SELECT id FROM notes WHERE title LIKE '%word%' IS NULL;
SELECT id FROM notes WHERE title GLOB '*word*';
SELECT id FROM notes WHERE like('%word%', title);
SELECT id FROM notes WHERE n LIKE '%1%';
SELECT id FROM notes WHERE any LIKE '%5%';
SELECT id FROM notes WHERE body LIKE '%OF 3';
SELECT id FROM notes WHERE title LIKE body;
SELECT id FROM notes WHERE title LIKE '%wor%' AND body LIKE '%4%' AND n > 3;
SELECT id FROM notes WHERE title LIKE '%word%' OR body LIKE '%of 5%' ORDER BY id;
SELECT id FROM notes WHERE (n = 3 OR n = 5) AND title LIKE '%o%' ORDER BY id;
SELECT id, title FROM notes WHERE title LIKE '%wor%' ORDER BY n, id LIMIT 7 OFFSET 2;
SELECT count(*), sum(n), group_concat(title) FROM notes WHERE title LIKE '%ther%';
SELECT title LIKE '%word%', count(*) FROM notes GROUP BY 1;
SELECT v FROM keyed WHERE name LIKE '%word%' AND kind LIKE '%2';
SELECT name, kind FROM keyed WHERE kind LIKE '%of 6' ORDER BY v LIMIT 5;
-- Outer joins: a LIKE of an ON chooses no rows of the table on the left.
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON notes.title LIKE '%word%' AND tags.note = notes.id ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON tags.note = notes.id AND like('%word%', notes.title) ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON notes.title LIKE '%word%' AND tags.note = notes.id WHERE notes.body LIKE '%of%' ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON tags.note = notes.id AND like('%word%', notes.title) WHERE notes.body LIKE '%of%' ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON tags.note = notes.id WHERE notes.title LIKE '%word%' ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON tags.note = notes.id WHERE tags.name LIKE '%red%' ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes LEFT JOIN tags ON tags.note = notes.id AND tags.name LIKE '%red%' WHERE notes.title LIKE '%w%' ORDER BY 1, 2;
SELECT x.id, tags.id FROM (SELECT id, title LIKE '%word%' AS f FROM notes WHERE title LIKE '%o%') x LEFT JOIN tags ON x.f AND tags.note = x.id ORDER BY 1, 2;
SELECT notes.id, tags.id FROM tags RIGHT JOIN notes ON tags.note = notes.id AND notes.title LIKE '%word%' ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes FULL JOIN tags ON tags.note = notes.id WHERE notes.title LIKE '%word%' ORDER BY 1, 2;
SELECT notes.id, tags.id FROM notes JOIN tags ON tags.note = notes.id AND notes.title LIKE '%word%' ORDER BY 1, 2;
SELECT a.id, b.id FROM notes a, notes b WHERE a.title LIKE '%word%' AND b.title LIKE 'a%' AND a.n = b.n ORDER BY 1, 2;
SELECT id FROM notes WHERE id IN (SELECT note FROM tags WHERE name LIKE '%hot%') AND title LIKE '%o%';
SELECT id FROM notes WHERE EXISTS (SELECT 1 FROM tags WHERE note = notes.id AND name LIKE '%hot%' AND notes.title LIKE '%r%');
WITH w AS (SELECT * FROM notes WHERE title LIKE '%word%') SELECT w.id, tags.name FROM w LEFT JOIN tags ON tags.note = w.id ORDER BY 1, 2;
SELECT id FROM notes WHERE title LIKE '%word%' UNION SELECT note FROM tags WHERE name LIKE 'red' ORDER BY 1;
CREATE VIEW worded AS SELECT id, title FROM notes WHERE title LIKE '%word%';
SELECT id FROM worded WHERE title LIKE 'w%';
SELECT worded.id, tags.id FROM worded LEFT JOIN tags ON tags.note = worded.id WHERE worded.title LIKE '%a%' ORDER BY 1, 2;
-- The application's own way to compare.
PRAGMA case_sensitive_like = ON;
SELECT id FROM notes WHERE title LIKE '%Word%';
SELECT id FROM notes WHERE title LIKE '%word%';
PRAGMA case_sensitive_like = OFF;
SELECT id FROM notes WHERE title LIKE '%Word%';
-- Changes.
UPDATE notes SET n = n + 100 WHERE title LIKE '%word%' AND n < 100;
SELECT id, n FROM notes WHERE n >= 100 AND title LIKE '%W%';
DELETE FROM tags WHERE name LIKE '%HOT' AND note > 10;
SELECT count(*) FROM tags WHERE name LIKE '%hot';
BEGIN;
INSERT INTO notes (id, title) VALUES (2000, 'a new word'), (2001, 'a new one');
SELECT id FROM notes WHERE title LIKE '%new w%';
ROLLBACK;
SELECT id FROM notes WHERE title LIKE '%new w%';
-- Statements that differ in their patterns, run by a program: in the order that their own patterns give.
CREATE TABLE folded (id INTEGER PRIMARY KEY, c TEXT COLLATE NOCASE, n INTEGER);
CREATE INDEX folded_c ON folded (c);
INSERT INTO folded VALUES (1, 'ac', 1), (2, 'ab', 1), (3, 'b', 1), (4, 'AA', 1), (5, 'bC', 2), (6, 'BB', 2);
UPDATE folded SET n = 7 WHERE c LIKE 'A%' RETURNING id, n;
UPDATE folded SET n = 8 WHERE c LIKE 'b%' RETURNING id, n;
UPDATE folded SET n = 9 WHERE c LIKE 'a%' RETURNING id, n;
UPDATE folded SET n = 9 WHERE c LIKE 'ac''%' RETURNING id, n;
DELETE FROM folded WHERE c LIKE 'a%' RETURNING id, c;
DELETE FROM folded WHERE c LIKE '%b' RETURNING id, c;
SELECT * FROM folded ORDER BY id;
-- Beside a partial index, and one on the column.
CREATE INDEX named ON notes (title) WHERE title IS NOT NULL;
SELECT id FROM notes WHERE title LIKE '%word%' AND title IS NOT NULL;
SELECT id, body FROM notes WHERE title LIKE 'word%' AND n IS NOT NULL;
CREATE INDEX bodies ON notes (body);
SELECT id FROM notes WHERE body LIKE 'body of 3%' AND title LIKE '%r%';
SELECT count(*) FROM notes WHERE body LIKE '%5';
