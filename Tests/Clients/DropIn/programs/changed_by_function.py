"""A function of the program's that changes rows while an UPDATE or DELETE of many rows finds its own."""
import sqlite3
STATEMENTS = ["UPDATE t SET b = b + 1 WHERE f(b) > 0", "UPDATE OR FAIL t SET b = b + 1 WHERE f(b) > 0", "UPDATE OR IGNORE t SET u = u + 1 WHERE f(b) > 0",
              "UPDATE OR ROLLBACK t SET b = (SELECT max(f(b)) FROM t) WHERE u > 10", "UPDATE t SET u = u + 10 WHERE f(b) > 0",
              "UPDATE t SET b = s.b FROM t AS s WHERE s.a = t.a AND f(t.a)"]
NESTED = ["UPDATE t SET e = e || 'u' WHERE a = 2", "UPDATE t SET u = 14 WHERE a = 2", "UPDATE OR REPLACE t SET u = 14 WHERE a = 2", "DELETE FROM t WHERE a = 3",
          "UPDATE t SET e = e || 'u'"]
for begin in ("", "BEGIN"):
    for nested in NESTED:
        for statement in STATEMENTS:
            db = sqlite3.connect('data.db', isolation_level=None)
            db.executescript("DROP TABLE IF EXISTS t; CREATE TABLE t(a INTEGER PRIMARY KEY, b, e, u UNIQUE);"
                             "INSERT INTO t VALUES (1, 1, 'a', 11), (2, 2, 'b', 12), (3, 3, 'c', 13), (4, 4, 'd', 14);" + begin)
            said = []

            def f(value):
                if not said:
                    said.append(None)
                    try:
                        db.execute(nested)
                    except sqlite3.Error as error:
                        said.append(str(error))
                return value
            db.create_function('f', 1, f)
            try:
                result = db.execute(statement).fetchall()
            except sqlite3.Error as error:
                result = str(error)
            print(begin, nested, statement, result, said, db.execute("SELECT * FROM t").fetchall(), db.execute("PRAGMA integrity_check").fetchall())
            db.close()
