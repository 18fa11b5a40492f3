"""Copies of databases whose tables with AUTOINCREMENT are gone, and copies over databases that have such tables, statistics and modules."""
import sqlite3


def show(connection):
    for sql in ("SELECT name FROM sqlite_schema ORDER BY name", "PRAGMA integrity_check"):
        print("  ", connection.execute(sql).fetchall())
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").fetchall():
        print("  ", connection.execute("SELECT name, seq FROM sqlite_sequence ORDER BY name").fetchall())
    connection.execute("CREATE TABLE IF NOT EXISTS later(id INTEGER PRIMARY KEY AUTOINCREMENT, a)")
    connection.execute("INSERT INTO later(a) VALUES('x')")
    print("  ", connection.execute("SELECT id, a FROM later").fetchall())
    connection.rollback()


GONE = "CREATE TABLE s(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO s VALUES(7); DROP TABLE s;"
KEPT = "CREATE TABLE plain(a); CREATE TABLE k(id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO k VALUES(9); DELETE FROM k;"
COUNTED = "CREATE TABLE c(a PRIMARY KEY, b); INSERT INTO c VALUES(1, 2); CREATE INDEX by_b ON c(b); ANALYZE;"
MODULES = "CREATE VIRTUAL TABLE f USING fts5(t); CREATE VIEW v AS SELECT 1; CREATE TABLE 'a \"table\"'(x); CREATE TRIGGER g AFTER INSERT ON c BEGIN SELECT 1; END;"

for number, script in enumerate((GONE, GONE + KEPT, KEPT + "DROP TABLE k;" + COUNTED, KEPT + COUNTED)):
    print(script)
    source = sqlite3.connect("source%d.db" % number)
    source.executescript(script)
    for target in "file:n%d.db?engine=sqlite", "file:s%d.db", "file:over%d.db":
        with sqlite3.connect(target % number, uri=True) as copy:
            if "over" in target:
                copy.executescript(COUNTED + GONE + MODULES)
            source.backup(copy)
            show(copy)
    image = source.serialize()
    memory = sqlite3.connect("file:x?mode=memory&engine=sqlite", uri=True)
    memory.deserialize(image)
    show(memory)
    memory.backup(source)
    show(source)
