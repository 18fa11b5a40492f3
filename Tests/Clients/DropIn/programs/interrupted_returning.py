"""An interrupt while RETURNING is evaluated: what is told to be interrupted has changed nothing."""
import sqlite3
db = sqlite3.connect('data.db', isolation_level=None)
db.executescript("CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")


def f(value):
    db.interrupt()
    return value


db.create_function('f', 1, f)
for begin in (None, "BEGIN"):
    for statement in ("INSERT INTO t VALUES (9, 9) RETURNING f(a)", "INSERT INTO t VALUES (19, 9), (20, 1) RETURNING f(a)",
                      "UPDATE t SET b = b + 1 RETURNING f(a)", "UPDATE t SET b = b + 1 WHERE a = 1 RETURNING f(a)",
                      "DELETE FROM t WHERE a = 1 RETURNING f(a)", "DELETE FROM t RETURNING f(a)", "INSERT INTO t VALUES (29, 9) RETURNING a",
                      "INSERT INTO t VALUES (39, f(9)) RETURNING a", "INSERT INTO t VALUES (1, 1) ON CONFLICT DO UPDATE SET b = f(7) RETURNING a"):
        if begin:
            db.execute(begin)
        try:
            result = db.execute(statement).fetchall()
        except sqlite3.Error as error:
            result = str(error)
        print(begin, statement, result, db.in_transaction)
        if db.in_transaction:
            db.execute("ROLLBACK")
        print(db.execute("SELECT * FROM t").fetchall())
