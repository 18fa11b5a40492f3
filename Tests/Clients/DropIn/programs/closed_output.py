# A program whose standard input and output are closed: the database's files must not get their numbers, or what it prints
# goes into the database.
import os
import sqlite3
import sys

os.close(0)
os.close(1)
writer = sqlite3.connect("closed.db", isolation_level=None)
writer.execute("CREATE TABLE t (a)")
writer.execute("INSERT INTO t VALUES (1)")
for descriptor in (0, 1):
    try:
        os.write(descriptor, b"printed")
        print(descriptor, "can be written to", file=sys.stderr)
    except OSError as error:
        print(descriptor, error.strerror, file=sys.stderr)
writer.execute("INSERT INTO t VALUES (2)")
print(writer.execute("SELECT count(*) FROM t").fetchone(), file=sys.stderr)
writer.close()
print(sqlite3.connect("closed.db").execute("PRAGMA integrity_check").fetchall(), file=sys.stderr)
