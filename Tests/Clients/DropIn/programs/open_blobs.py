# A blob handle left open keeps its connection's read transaction, outlives ROLLBACK if it only reads, and overwrites nobody's change.
import sqlite3


def connect():
    connection = sqlite3.connect("data.db", isolation_level=None, timeout=0)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    return connection


def tell(name, call):
    try:
        print(name, call(), one.in_transaction)
    except sqlite3.Error as error:
        print(name, type(error).__name__, error.sqlite_errorcode, one.in_transaction)


def run(connection, sql):
    tell(sql, lambda: connection.execute(sql).fetchall())


def whole(blob):
    blob.seek(0)
    return blob.read()


COUNT = "SELECT count(*), sum(a) FROM t"
one, two = connect(), connect()
for sql in ["CREATE TABLE t(a, b)", "CREATE TABLE l(x)", "INSERT INTO l VALUES (x'01020304'), (x'05060708')"]:
    one.execute(sql)

# One snapshot, as long as the handle is open.
blob = one.blobopen("l", "x", 1, readonly=True)
run(two, "INSERT INTO t VALUES (10, 0)")
run(two, "UPDATE l SET x = x'0a0b0c0d' WHERE rowid = 1")
run(one, COUNT)
run(one, "INSERT INTO t VALUES (100, 0)")
run(one, "BEGIN")
run(one, "INSERT INTO t VALUES (100, 0)")
run(one, "COMMIT")
tell("read", lambda: whole(blob))
second = one.blobopen("l", "x", 2, readonly=True)
blob.close()
run(one, COUNT)
second.close()
run(one, COUNT)
run(one, "INSERT INTO t VALUES (100, 0)")

# What it wrote itself it sees, and from there on no other's.
blob = one.blobopen("l", "x", 1, readonly=True)
run(one, "INSERT INTO t VALUES (100, 0)")
run(two, "INSERT INTO t VALUES (10, 0)")
run(one, COUNT)
run(one, "INSERT INTO t VALUES (100, 0)")
blob.close()
run(one, COUNT)

# ROLLBACK, in vain and in earnest.
blob = one.blobopen("l", "x", 1, readonly=True)
run(one, "ROLLBACK")
tell("read", lambda: whole(blob))
for first, last in [("BEGIN", "ROLLBACK"), ("BEGIN IMMEDIATE", "ROLLBACK"), ("SAVEPOINT s", "ROLLBACK TO s")]:
    run(one, first)
    run(one, "INSERT INTO t VALUES (1000, 0)")
    run(one, last)
    tell("read", lambda: whole(blob))
run(one, "UPDATE l SET x = x'0e0e0e0e' WHERE rowid = 1")
run(one, "ROLLBACK")
tell("read", lambda: whole(blob))
blob.close()

# Of two that would write the value, one is refused: which one differs.
blob = one.blobopen("l", "x", 2)
done = 0
try:
    two.execute("UPDATE l SET x = x'11111111' WHERE rowid = 2")
    done += 1
except sqlite3.Error:
    pass
try:
    blob.write(b"\x22")
    done += 1
except sqlite3.Error:
    pass
try:
    blob.close()
except sqlite3.Error:
    pass
print("writes that went through:", done)
