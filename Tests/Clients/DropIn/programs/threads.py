# A transaction that threads hand on: begun in one, gone on with in others, ended in another. Pools of threads do it.
import sqlite3
import threading

connection = sqlite3.connect("data.db", isolation_level=None, check_same_thread=False)


def elsewhere(sql):
    def run():
        try:
            print(sql, connection.execute(sql).fetchall(), connection.in_transaction)
        except sqlite3.Error as error:
            print(sql, type(error).__name__, error.sqlite_errorname, error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def others():
    other = sqlite3.connect("data.db", timeout=0, isolation_level=None)
    try:
        other.execute("INSERT INTO t VALUES ('another connection')")
        print("written beside")
    except sqlite3.Error as error:
        print(type(error).__name__, error.sqlite_errorname, error)
    print(other.execute("SELECT a FROM t").fetchall())
    other.close()


connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE t (a UNIQUE)")
elsewhere("SELECT 1")
for begin, end in [("BEGIN IMMEDIATE", "COMMIT"), ("BEGIN", "COMMIT"), ("BEGIN EXCLUSIVE", "ROLLBACK"), ("SAVEPOINT outer", "RELEASE outer"),
                   ("SAVEPOINT outer", "ROLLBACK TO outer; COMMIT")]:
    connection.execute(begin)
    connection.execute("INSERT INTO t VALUES (?)", (begin + end + " first",))
    elsewhere("INSERT INTO t VALUES ('%s second')" % (begin + end))
    elsewhere("INSERT INTO t SELECT a FROM t")
    elsewhere("SAVEPOINT inner")
    elsewhere("DELETE FROM t")
    others()
    elsewhere("ROLLBACK TO inner")
    elsewhere("SELECT a FROM t")
    for statement in end.split("; "):
        elsewhere(statement)
    others()
    connection.execute("DELETE FROM t WHERE a = 'another connection'")

# The thread that began it is gone, and so is the connection.
elsewhere("BEGIN")
elsewhere("INSERT INTO t VALUES ('never committed')")
connection.close()
connection = sqlite3.connect("data.db", check_same_thread=False)
elsewhere("SELECT a FROM t")
elsewhere("CREATE TABLE u (a)")
elsewhere("INSERT INTO u VALUES (1)")
connection.commit()
connection.execute("ATTACH 'second.db' AS second")
connection.execute("CREATE TABLE second.v (a)")
connection.execute("INSERT INTO v VALUES (1)")
elsewhere("INSERT INTO v VALUES (2)")
elsewhere("COMMIT")
elsewhere("SELECT a FROM v")
