"""What is wrong with a schema change of an attached database is told when it is prepared."""
import ctypes

ctypes.CDLL("libsqlite3.so.0", ctypes.RTLD_GLOBAL)
sqlite = ctypes.CDLL(None)  # by the names that the program has, not by libsqlite3's own
sqlite.sqlite3_errmsg.restype = ctypes.c_char_p
db = ctypes.c_void_p()
sqlite.sqlite3_open(b"main.db", ctypes.byref(db))


def run(text):
    statement = ctypes.c_void_p()
    code = sqlite.sqlite3_prepare_v2(db, text.encode(), -1, ctypes.byref(statement), None)
    print(text, code, sqlite.sqlite3_errmsg(db).decode(), end=" ")
    print(sqlite.sqlite3_step(statement) if statement else "", sqlite.sqlite3_errmsg(db).decode())
    sqlite.sqlite3_finalize(statement)


for statement in """ATTACH 'other.db' AS y
CREATE TABLE y.a(x, y)
CREATE TABLE y.a(x)
CREATE TABLE IF NOT EXISTS y.a(x)
CREATE TABLE none.k(x)
CREATE INDEX y.i ON none(x)
CREATE INDEX y.i ON a(none)
CREATE INDEX y.i ON a(x)
CREATE INDEX y.i ON a(x)
CREATE TABLE y.i(x)
DROP TABLE y.none
DROP TABLE IF EXISTS y.none
DROP INDEX y.none
DROP TRIGGER y.none
CREATE VIEW y.v AS SELECT * FROM a
CREATE VIEW y.v AS SELECT 1
DROP VIEW y.a
ALTER TABLE y.a ADD COLUMN x
ALTER TABLE y.none ADD COLUMN z
ALTER TABLE y.a RENAME COLUMN none TO r
ALTER TABLE y.a DROP COLUMN none
ALTER TABLE y.a RENAME TO a
CREATE TRIGGER y.t AFTER INSERT ON none BEGIN SELECT 1; END
CREATE TABLE y.b(x, x)
CREATE TABLE y.b(x PRIMARY KEY, y PRIMARY KEY)
CREATE TABLE y.sqlite_x(a)
CREATE TABLE y.b AS SELECT none FROM a
CREATE TABLE y.c(x, FOREIGN KEY(q) REFERENCES a(x))
CREATE TABLE y.c(x CHECK (none > 1))
CREATE TABLE y.c(x DEFAULT (y))
CREATE INDEX y.r ON a(random())
CREATE UNIQUE INDEX y.u ON v(x)
CREATE TABLE y.w(x) WITHOUT ROWID
BEGIN
CREATE TABLE y.a(x)
CREATE TABLE y.later(x)
INSERT INTO y.a(x, y, x) DEFAULT VALUES
INSERT INTO y.a(x, z) DEFAULT VALUES
INSERT INTO y.a(x) DEFAULT VALUES
INSERT INTO y.a DEFAULT VALUES
SELECT count(*) FROM y.a
CREATE INDEX y.later_x ON later(x)
CREATE VIEW y.seen AS SELECT * FROM a
DELETE FROM seen WHERE x = 9
UPDATE y.seen SET x = 1 WHERE 0
INSERT INTO seen SELECT 1, 2 WHERE 0
SELECT * FROM y.a(1)
SELECT * FROM seen('a')
SELECT count(*) FROM seen
ROLLBACK
CREATE INDEX y.later_x ON later(x)
CREATE TABLE y.later(x)
SELECT group_concat(name) FROM (SELECT name FROM y.sqlite_master ORDER BY name)""".split("\n"):
    run(statement)
