"""Connections of one process that may only read, and others that may write, opened in both orders. Natively the same program answers the same."""
import os
import sqlite3
import subprocess
import sys


def connect(name, mode):
    return sqlite3.connect(f"file:{name}?mode={mode}", uri=True, isolation_level=None, timeout=0.1)


def told(what, connection, sql):
    try:
        answer = connection.execute(sql).fetchall()
    except sqlite3.Error as error:
        answer = (error.sqlite_errorname, str(error))
    print(what, sql, "->", answer)


def make(name):
    connection = sqlite3.connect(name)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
    connection.close()


CHANGES = ("INSERT INTO t VALUES (2)", "CREATE TABLE u(a)", "DROP TABLE t", "PRAGMA user_version = 3", "DELETE FROM t WHERE 0")

for modes in (["ro"], ["ro", "rw"], ["rw", "ro"], ["ro", "ro", "rwc", "ro"]):
    name = "-".join(modes) + ".db"
    make(name)
    connections = []
    for mode in modes:
        connection = connect(name, mode)
        connections.append((mode, connection))
        for sql in CHANGES if mode == "ro" else CHANGES[:1]:
            told(mode, connection, sql)
        for other, reader in connections:
            told(other, reader, "SELECT count(*) FROM t")
    connections[0][1].execute("BEGIN")
    told("in a transaction", connections[0][1], "SELECT count(*) FROM t")
    for mode, connection in connections[1:]:
        told(mode, connection, "INSERT INTO t VALUES (3)")
        told("in a transaction", connections[0][1], "SELECT count(*) FROM t")
    connections[0][1].execute("COMMIT")
    told("behind it", connections[0][1], "SELECT count(*) FROM t")
    connections.pop()[1].close()
    for mode, connection in connections:
        told(mode, connection, "INSERT INTO t VALUES (4)")
        connection.close()
    reader = connect(name, "ro")
    told("alone again", reader, "SELECT count(*) FROM t")
    told("alone again", reader, "INSERT INTO t VALUES (5)")
    reader.close()

# An attached one, and main's file read only beside it.
make("attached.db")
main = sqlite3.connect("file:ro.db?mode=ro", uri=True, isolation_level=None)
told("attach", main, "ATTACH 'file:attached.db?mode=ro' AS x")
told("attached", main, "INSERT INTO x.t VALUES (2)")
writer = connect("attached.db", "rw")
told("writer", writer, "INSERT INTO t VALUES (3)")
told("attached", main, "SELECT count(*) FROM x.t")
main.close()
writer.close()

# A reader changes no file, whoever may write it, and another process may write beside it.
make("kept.db")
before = open("kept.db", "rb").read()
reader = connect("kept.db", "ro")
told("reader", reader, "SELECT count(*) FROM t")
print(open("kept.db", "rb").read() == before)
code = "import sqlite3; c = sqlite3.connect('kept.db', isolation_level=None); print(c.execute('INSERT INTO t VALUES (2)').rowcount)"
print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stdout)
told("reader", reader, "SELECT count(*) FROM t")
reader.close()
print(sorted(name for name in os.listdir(".") if name.startswith("kept")))
