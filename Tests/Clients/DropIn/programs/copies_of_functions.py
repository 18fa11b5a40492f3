"""Copies of a database whose indexes and generated columns call functions of the program."""
import sqlite3


def connect(name):
    db = sqlite3.connect(name)
    db.create_function("twice", 1, lambda x: None if x is None else 2 * x, deterministic=True)
    db.create_collation("backwards", lambda a, b: (a < b) - (a > b))
    return db


def show(label, db):
    for text in ("SELECT a, b, c FROM t ORDER BY a", "SELECT a FROM t WHERE twice(a) = 4",
                 "SELECT name FROM sqlite_master WHERE type = 'index'", "SELECT x FROM w ORDER BY x",
                 "PRAGMA integrity_check"):
        try:
            print(label, text, db.execute(text).fetchall())
        except sqlite3.Error as error:
            print(label, text, type(error).__name__, error)


db = connect("main.db")
db.executescript("""CREATE TABLE t(a, b AS (twice(a)), c AS (twice(a) + 1) STORED, CHECK (twice(a) <> 14));
CREATE INDEX ta ON t(twice(a)); CREATE INDEX tc ON t(a) WHERE twice(a) > 2;
CREATE TABLE w(x COLLATE backwards); CREATE VIEW v AS SELECT twice(a) FROM t;
CREATE TRIGGER g AFTER DELETE ON t BEGIN INSERT INTO w VALUES(twice(old.a)); END;
INSERT INTO t(a) VALUES (1), (2), (3); INSERT INTO w VALUES ('a'), ('b')""")
db.commit()
copy = connect(":memory:")
db.backup(copy)
show("copy", copy)
copy.execute("INSERT INTO t(a) VALUES (20)")
copy.execute("DELETE FROM t WHERE a = 3")
copy.commit()
show("changed copy", copy)
copy.backup(db)
show("back", db)
stranger = sqlite3.connect(":memory:")
db.backup(stranger)
print(stranger.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall())
try:
    print(stranger.execute("SELECT twice(1)").fetchall())
except sqlite3.Error as error:
    print(type(error).__name__, error)
if hasattr(db, "serialize"):
    again = connect(":memory:")
    again.deserialize(db.serialize())
    show("again", again)
