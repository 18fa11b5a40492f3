# A statement that reads the schema alone, left open: its connection reads and writes in its snapshot, as WAL mode does.
import sqlite3


def connect():
    connection = sqlite3.connect("data.db", isolation_level=None, timeout=0)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    return connection


def tell(connection, sql):
    try:
        print(sql, connection.execute(sql).fetchall(), connection.in_transaction)
    except sqlite3.Error as error:
        print(sql, error.sqlite_errorcode, connection.in_transaction)


COUNT = "SELECT count(*), sum(a) FROM t"
one, two = connect(), connect()
for sql in ["CREATE TABLE t(a, b)", "CREATE TABLE u(a)", "INSERT INTO t VALUES (1, 1), (2, 2)"]:
    one.execute(sql)

for schema in [
    "SELECT name FROM sqlite_master ORDER BY name",
    "PRAGMA table_info(t)",
    "SELECT name FROM pragma_table_info('t')",
    "PRAGMA table_list",
]:
    print("--", schema)
    # Rows and codes beside another's commit.
    read = one.execute(schema)
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "INSERT INTO t VALUES (100, 0)")
    tell(one, "BEGIN")
    tell(one, "INSERT INTO t VALUES (100, 0)")
    tell(one, COUNT)
    tell(one, "ROLLBACK")
    tell(one, COUNT)
    read.close()
    tell(one, COUNT)
    tell(one, "INSERT INTO t VALUES (1000, 0)")
    # Its own commit, then another's.
    read = one.execute(schema)
    tell(one, "INSERT INTO t VALUES (1000, 0)")
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "INSERT INTO t VALUES (100, 0)")
    read.close()
    tell(one, COUNT)
    # Begun in a transaction, and open behind its end.
    for begin, end in [("BEGIN", "COMMIT"), ("BEGIN IMMEDIATE", "COMMIT"), ("BEGIN IMMEDIATE", "ROLLBACK")]:
        tell(one, begin)
        read = one.execute(schema)
        tell(one, COUNT)
        if begin != "BEGIN":
            tell(one, "UPDATE t SET b = b + 1")
        tell(one, end)
        tell(two, "INSERT INTO t VALUES (10, 0)")
        tell(one, COUNT)
        tell(one, "DELETE FROM t WHERE a = 10")
        read.close()
        tell(one, COUNT)
    # Nothing is held behind a statement that was read to its end.
    one.execute(schema).fetchall()
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "DELETE FROM t WHERE a = 10")
