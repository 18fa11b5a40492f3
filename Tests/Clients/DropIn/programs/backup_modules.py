"""Backups of FTS5, FTS4 and R-Tree tables, stores and native databases in every direction, each looked at, changed, and looked at again; and
all of them written in one transaction."""
import sqlite3

QUESTIONS = (
    "SELECT type, name, tbl_name FROM sqlite_schema ORDER BY name",
    "SELECT count(*), sum(rowid) FROM ft('x')",
    "SELECT count(*), sum(rowid) FROM f4 WHERE f4 MATCH 'b'",
    "SELECT id, x1, note FROM rt WHERE x1 BETWEEN 3 AND 30 ORDER BY id",
    "SELECT count(*) FROM rt",
    "INSERT INTO ft(ft) VALUES('integrity-check')",
    "INSERT INTO f4(f4) VALUES('integrity-check')",
    "SELECT rtreecheck('rt')",
    "PRAGMA integrity_check",
)


def show(connection):
    for sql in QUESTIONS:
        try:
            print("  ", sql, connection.execute(sql).fetchall())
        except sqlite3.Error as error:
            print("  ", sql, error)


def fill(connection, rows):
    connection.executescript(
        "CREATE VIRTUAL TABLE ft USING fts5(a, b); CREATE VIRTUAL TABLE f4 USING fts4(a); CREATE VIRTUAL TABLE rt USING rtree(id, x1, x2, +note);"
        "CREATE TABLE plain(a); CREATE INDEX by_a ON plain(a); CREATE TRIGGER of_plain AFTER INSERT ON plain BEGIN INSERT INTO ft VALUES(new.a, 'by trigger'); END;")
    for i in range(rows):
        connection.execute("INSERT INTO ft VALUES(?, 'z')", ("x y %d" % i,))
        connection.execute("INSERT INTO f4 VALUES(?)", ("a b %d" % i,))
        connection.execute("INSERT INTO rt VALUES(?, ?, ?, ?)", (i + 1, i, i + 1, "note %d" % i))
    connection.execute("INSERT INTO plain VALUES('x plain')")
    connection.commit()


def change(connection):
    connection.execute("INSERT INTO plain VALUES('x more')")
    connection.execute("INSERT OR REPLACE INTO rt VALUES(1000, 4, 5, 'more')")
    connection.execute("UPDATE rt SET note = 'changed' WHERE id = 25")
    connection.execute("DELETE FROM rt WHERE id < 20")
    connection.execute("INSERT INTO f4 VALUES('b')")
    connection.commit()


store, native, small = "a.db", "file:native.db?engine=sqlite", "file:small.db?engine=sqlite"
for source, target in (store, "b.db"), (store, native), (native, "c.db"), (store, ":memory:"), (small, store):
    print(source, "to", target)
    read, written = sqlite3.connect(source, uri=True), sqlite3.connect(target, uri=True)
    if source == small:
        read.execute("PRAGMA page_size = 1024")
    if not read.execute("SELECT 1 FROM sqlite_schema").fetchall():
        fill(read, 300 if source == small else 60)
    read.backup(written)
    show(written)
    change(written)
    show(written)
    if target != ":memory:":
        written.close()
        written = sqlite3.connect(target, uri=True)
        show(written)
print("deserialized")
copy = sqlite3.connect(":memory:")
copy.deserialize(sqlite3.connect(store).serialize())
show(copy)
