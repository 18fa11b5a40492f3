# Threads commit while others VACUUM: a commit that waits for a shared flush may find that the path names another file.
import sqlite3
import threading


def connect():
    return sqlite3.connect("data.db", isolation_level=None, timeout=60)


def writes(number):
    connection = connect()
    for turn in range(400):
        connection.execute("SAVEPOINT s")
        connection.execute("INSERT INTO t VALUES (?, ?)", (number, turn))
        connection.execute("SELECT count(*) FROM t").fetchall()
        if turn % 2:
            connection.execute("ANALYZE")
        connection.execute("RELEASE s" if turn % 3 else "COMMIT")
        if number == 0 and turn % 5 == 0:
            connection.execute("VACUUM")
    connection.close()


first = connect()
first.execute("PRAGMA journal_mode = WAL")
first.execute("CREATE TABLE t(a, b)")
threads = [threading.Thread(target=writes, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(first.execute("SELECT a, count(*), sum(b) FROM t GROUP BY a").fetchall(), first.execute("PRAGMA integrity_check").fetchall())
