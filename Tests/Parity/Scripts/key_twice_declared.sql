-- A UNIQUE over the very columns of a primary key WITHOUT ROWID is that key: its ON CONFLICT holds for it.

CREATE TABLE a(k TEXT UNIQUE ON CONFLICT REPLACE, v, PRIMARY KEY(k)) WITHOUT ROWID;
INSERT INTO a VALUES (6, 'first'), (6, 'second');
INSERT INTO a VALUES ('6', 'third');
SELECT * FROM a;
CREATE TABLE b(k, l, v, PRIMARY KEY(k, l), UNIQUE(k, l) ON CONFLICT IGNORE) WITHOUT ROWID;
INSERT INTO b VALUES (1, 2, 'first'), (1, 2, 'second'), (1, 3, 'third');
SELECT * FROM b;
UPDATE b SET l = 2;
SELECT * FROM b;
-- Another order or collation is another constraint.
CREATE TABLE c(k, l, v, PRIMARY KEY(k, l), UNIQUE(l, k) ON CONFLICT IGNORE) WITHOUT ROWID;
INSERT INTO c VALUES (1, 2, 'first'), (1, 2, 'second');
CREATE TABLE d(k TEXT, v, UNIQUE(k COLLATE NOCASE) ON CONFLICT REPLACE, PRIMARY KEY(k)) WITHOUT ROWID;
INSERT INTO d VALUES ('a', 'first'), ('A', 'second');
INSERT INTO d VALUES ('A', 'third');
SELECT * FROM c;
SELECT * FROM d;
CREATE TABLE e(k INTEGER PRIMARY KEY UNIQUE ON CONFLICT REPLACE, v);
INSERT INTO e VALUES (1, 'first'), (1, 'second');
INSERT INTO e VALUES (2, 'third'), (2, 'fourth');
SELECT * FROM e;
CREATE TABLE f(k INTEGER UNIQUE ON CONFLICT REPLACE PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO f VALUES (1, 'first'), (1, 'second');
SELECT * FROM f;
PRAGMA integrity_check;
