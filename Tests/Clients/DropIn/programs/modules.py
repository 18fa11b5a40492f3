"""Full-text and R-Tree tables over several connections, reopened, and after a process was killed."""
import os
import signal
import sqlite3
import subprocess
import sys

PATH = "modules.db"


def check(db):
    db.execute("INSERT INTO ft(ft) VALUES('integrity-check')")
    db.execute("INSERT INTO f4(f4) VALUES('integrity-check')")
    return db.execute("SELECT rtreecheck('r')").fetchone()[0]


def show(label, db):
    print(label, db.execute("SELECT rowid, body FROM ft WHERE ft MATCH 'word' ORDER BY rowid").fetchall(),
          db.execute("SELECT docid FROM f4 WHERE f4 MATCH 'word' ORDER BY docid").fetchall(),
          db.execute("SELECT id FROM r WHERE x1 >= 0 ORDER BY id").fetchall())


def insert(db, number, text):
    db.execute("INSERT INTO ft(rowid, body) VALUES(?, ?)", (number, text))
    db.execute("INSERT INTO f4(docid, body) VALUES(?, ?)", (number, text))
    db.execute("INSERT INTO r VALUES(?, ?, ?)", (number, number, number + 1))


def killed():
    db = sqlite3.connect(PATH, isolation_level=None)
    insert(db, 50, "word that was committed")
    db.execute("BEGIN")
    insert(db, 51, "word that was not")
    db.execute("SAVEPOINT s")
    insert(db, 52, "word that was not either")
    os.kill(os.getpid(), signal.SIGKILL)


if len(sys.argv) > 1:
    killed()

one = sqlite3.connect(PATH, isolation_level=None)
one.execute("PRAGMA journal_mode=WAL")
one.execute("CREATE VIRTUAL TABLE ft USING fts5(body, prefix='2')")
one.execute("CREATE VIRTUAL TABLE f4 USING fts4(body)")
one.execute("CREATE VIRTUAL TABLE r USING rtree(id, x0, x1)")
two = sqlite3.connect(PATH, isolation_level=None)
insert(one, 1, "a word of one")
show("two sees", two)
insert(two, 2, "a word of two")
show("one sees", one)
for number in range(3, 40):
    insert((one, two)[number % 2], number, "some text %d" % number)
    if number % 5 == 0:
        (two, one)[number % 2].execute("DELETE FROM ft WHERE rowid=?", (number - 1,))
show("one sees", one)
print(one.execute("SELECT count(*) FROM ft WHERE ft MATCH 'te*'").fetchone(), check(one), check(two))

# A snapshot goes on seeing what it saw.
one.execute("BEGIN")
show("before", one)
insert(two, 40, "a word meanwhile")
show("meanwhile", one)
one.execute("COMMIT")
show("after", one)

# data_version: other connections' commits only.
version = one.execute("PRAGMA data_version").fetchone()[0]
insert(one, 41, "own")
print("own commit:", one.execute("PRAGMA data_version").fetchone()[0] == version)
insert(two, 42, "other")
print("other's commit:", one.execute("PRAGMA data_version").fetchone()[0] == version)

# A table made and dropped by the other connection.
two.execute("CREATE VIRTUAL TABLE more USING fts5(body)")
two.execute("INSERT INTO more VALUES('more of it')")
print(one.execute("SELECT * FROM more WHERE more MATCH 'it'").fetchall())
one.execute("INSERT INTO more VALUES('and it')")
print(two.execute("SELECT * FROM more WHERE more MATCH 'it' ORDER BY rank").fetchall())
one.execute("DROP TABLE more")
try:
    two.execute("SELECT * FROM more")
except sqlite3.OperationalError as error:
    print(error)

# Rolled back, failed in the middle, and within savepoints.
one.execute("BEGIN")
insert(one, 60, "word rolled back")
one.execute("ROLLBACK")
one.execute("CREATE TABLE source(n INTEGER PRIMARY KEY, body)")
one.executemany("INSERT INTO source VALUES(?, ?)", [(70, "word a"), (71, "word b"), (2, "word clash")])
one.execute("BEGIN")
insert(one, 61, "word before")
try:
    one.execute("INSERT INTO ft(rowid, body) SELECT n, body FROM source ORDER BY n DESC")
except sqlite3.DatabaseError as error:
    print(type(error).__name__)
insert(one, 62, "word behind")
one.execute("SAVEPOINT s")
insert(one, 63, "word inside")
one.execute("ROLLBACK TO s")
one.execute("RELEASE s")
one.execute("COMMIT")
show("two sees", two)
print(check(two))
one.close()
two.close()

environment = dict(os.environ)
child = subprocess.run([sys.executable, os.path.abspath(sys.argv[0]), "killed"])
print("killed:", child.returncode == -signal.SIGKILL)
again = sqlite3.connect(PATH, isolation_level=None)
show("reopened", again)
print(check(again))
insert(again, 80, "word at last")
show("written", again)
again.execute("VACUUM")
show("vacuumed", again)
print(check(again), again.execute("PRAGMA integrity_check").fetchall())

# temp and attached tables are SQLite's.
again.execute("CREATE VIRTUAL TABLE temp.tf USING fts5(body)")
again.execute("INSERT INTO tf SELECT body FROM ft")
print(again.execute("SELECT count(*) FROM tf WHERE tf MATCH 'word'").fetchall())
print(again.execute("SELECT ft.rowid FROM ft JOIN tf ON tf.rowid = 1 WHERE ft MATCH 'last' AND tf MATCH 'word'").fetchall())
again.execute("DROP TABLE tf")
names = again.execute("SELECT name FROM sqlite_schema ORDER BY name").fetchall()
print(names)
for (name,) in names:
    if name in ("ft", "f4", "r"):
        again.execute("DROP TABLE %s" % name)
print(again.execute("SELECT name FROM sqlite_schema ORDER BY name").fetchall())
again.close()
