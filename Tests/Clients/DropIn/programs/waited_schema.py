# BEGIN DEFERRED waits for a writer who changes the schema: the transaction has the lock then, even if its statement fails.
import sqlite3
import threading
import time


def connect(timeout):
    return sqlite3.connect("data.db", timeout=timeout, isolation_level=None)


def told(what, connection, sql):
    try:
        print(what, sql, connection.execute(sql).fetchall(), connection.in_transaction)
    except sqlite3.Error as error:
        print(what, sql, error.sqlite_errorname, error, connection.in_transaction)


def waits(sql):
    connection = connect(60)
    told("waits", connection, "BEGIN")
    began.set()
    told("waits", connection, sql)
    told("beside", third, "INSERT INTO t(a) VALUES ('beside')")
    told("waits", connection, "COMMIT")
    told("beside", third, "INSERT INTO t(a) VALUES ('behind')")
    connection.close()


first, third = connect(60), sqlite3.connect("data.db", timeout=0, isolation_level=None, check_same_thread=False)
first.execute("PRAGMA journal_mode = WAL")
first.execute("CREATE TABLE t(a, b)")
for change, sql in [("DROP TABLE u", "INSERT INTO u VALUES (1)"), ("CREATE TABLE v(a)", "UPDATE t SET b = 1"),
                    ("ALTER TABLE t DROP COLUMN b", "INSERT INTO t(b) VALUES (1)"), ("CREATE INDEX i ON t(a)", "DELETE FROM t")]:
    first.execute("CREATE TABLE IF NOT EXISTS u(a)")
    first.execute("BEGIN IMMEDIATE")
    first.execute(change)
    began = threading.Event()
    thread = threading.Thread(target=waits, args=(sql,))
    thread.start()
    began.wait()
    time.sleep(0.3)
    first.execute("COMMIT")
    thread.join()
    told("first", first, "SELECT * FROM t")
