# A database's file is removed while a connection has it open, and made again under its name: two databases, of which
# neither knows the other. A process that comes later sees the new one, and waits for its writer.
import os
import sqlite3
import subprocess
import sys

OTHER = """
import sqlite3
connection = sqlite3.connect("data.db", timeout=0.2)
try:
    connection.execute("INSERT INTO new VALUES (100)")
    connection.commit()
except sqlite3.Error as error:
    print("another process:", error)
print("another process:", connection.execute("SELECT a FROM new").fetchall())
"""


def made(table):
    connection = sqlite3.connect("data.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE %s(a)" % table)
    connection.execute("INSERT INTO %s VALUES (1)" % table)
    return connection


def shown(what, connection, table):
    print(what, connection.execute("SELECT a FROM %s" % table).fetchall(), connection.execute("PRAGMA integrity_check").fetchall())


def removed():
    for name in os.listdir("."):
        if name in ("data.db", "data.db-wal", "data.db-shm"):
            os.remove(name)


def another():
    print(subprocess.run([sys.executable, "-c", OTHER], stdout=subprocess.PIPE, text=True).stdout, end="")


old = made("old")
shown("old", old, "old")
reads = old.execute("SELECT a FROM old")
removed()
new = made("new")
shown("old", old, "old")
shown("new", new, "new")
new.execute("INSERT INTO new VALUES (2)")
shown("new", new, "new")
another()
new.execute("BEGIN IMMEDIATE")
new.execute("INSERT INTO new VALUES (3)")
print("reads", reads.fetchall())
old.close()
another()
new.execute("COMMIT")
another()
shown("new", new, "new")
for i in range(5):
    removed()
    again = made("new")
    again.execute("INSERT INTO new VALUES (?)", (i,))
    another()
    if i % 2:
        new.close()
        new = again
    shown("new", new, "new")
again.close()
new.close()
another()

# Openers of a new file at once, one of which still has the last one open.
BEGINNER = """
import sqlite3
connection = sqlite3.connect("data.db", timeout=60)
connection.executescript("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS new(a); INSERT INTO new VALUES (1); COMMIT")
"""
for i in range(10):
    removed()
    beginners = [subprocess.Popen([sys.executable, "-c", BEGINNER]) for _ in range(4)]
    kept = sqlite3.connect("data.db", timeout=60)
    kept.executescript("BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS new(a); COMMIT")
    print([beginner.wait() for beginner in beginners], kept.execute("SELECT count(*) FROM new").fetchall())

# Another database is put over one that is open. Who has that open closes it; the new one's readers and writers go on.
UPDATE = """
import sqlite3
connection = sqlite3.connect("data.db", timeout=60)
for _ in range(3):
    with connection:
        connection.execute("UPDATE t SET a = a + 1")
"""


def update():
    print(subprocess.run([sys.executable, "-c", UPDATE]).returncode)


def filled(name, first):
    connection = sqlite3.connect(name, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("CREATE TABLE t(a)")
    connection.executemany("INSERT INTO t VALUES (?)", [(first,)] * 20)
    return connection


def sums(connection):
    return connection.execute("SELECT count(*), sum(a) FROM t").fetchall()


for reads_old in (False, True):
    removed()
    old = filled("data.db", 1)
    filled("copy.db", 100).close()
    reads = old.execute("SELECT a FROM t")
    if reads_old:
        print(reads.fetchone())
    for name in ("data.db-wal", "data.db-shm"):
        if os.path.exists(name):
            os.remove(name)
    os.replace("copy.db", "data.db")
    new = sqlite3.connect("data.db", isolation_level=None)
    new_reads = new.execute("SELECT a FROM t")
    print(new_reads.fetchone(), sums(old))
    reads.close()
    old.close()
    update()
    update()
    print(set(new_reads.fetchall()), sums(new))
    new.execute("INSERT INTO t VALUES (1)")
    update()
    print(sums(new), new.execute("PRAGMA integrity_check").fetchall())
    new.close()

# The same while another process has the older file open, which goes on with it. Both had the same number of commits.
HOLDER = """
import sqlite3, sys
connection = sqlite3.connect("data.db", timeout=60, isolation_level=None)
print(connection.execute("SELECT count(*), sum(a) FROM t").fetchall(), flush=True)
for line in sys.stdin:
    connection.execute("UPDATE t SET a = a + 1000")
    print(connection.execute("SELECT count(*), sum(a) FROM t").fetchall(), connection.execute("PRAGMA integrity_check").fetchall(), flush=True)
"""
for opens_before in (False, True):
    removed()
    filled("data.db", 1).close()
    mine = sqlite3.connect("data.db", isolation_level=None) if opens_before else None
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print("holder", holder.stdout.readline().strip(), sums(mine) if mine else "")
    filled("copy.db", 100).close()
    removed_log = [os.remove(name) for name in ("data.db-wal", "data.db-shm") if os.path.exists(name)]
    os.replace("copy.db", "data.db")
    new = sqlite3.connect("data.db", isolation_level=None)
    for i in range(3):
        print("new", sums(new))
        new.execute("UPDATE t SET a = a + 1")
        update()
        holder.stdin.write("go\n")
        holder.stdin.flush()
        print("holder", holder.stdout.readline().strip(), sums(mine) if mine else "")
        print("new", sums(new), new.execute("PRAGMA integrity_check").fetchall())
    if mine:
        mine.close()
        update()
    holder.stdin.close()
    holder.wait()
    update()
    print("new", sums(new), new.execute("PRAGMA integrity_check").fetchall())
    new.close()

# VACUUM of a file that was moved away leaves alone what VACUUM of the one at its place is writing.
removed()
mine = filled("data.db", 1)
os.rename("data.db", "moved.db")
removed()
new = filled("data.db", 100)
open("data.db-rootstock-vacuum", "w").close()
try:
    mine.execute("VACUUM")
except sqlite3.Error:
    pass  # also natively, where it does not write into the new one
print(os.path.exists("data.db-rootstock-vacuum"), sums(new))
