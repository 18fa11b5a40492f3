"""A function of the program's that rolls back to a savepoint, or releases one, within a change: the change ends there."""
import sqlite3
STATEMENTS = ["UPDATE t SET b = b + 1 WHERE f(a)", "UPDATE t SET b = f(b)", "DELETE FROM t WHERE f(a) > 1", "INSERT INTO t VALUES (9, f(9)), (10, f(10))",
              "INSERT INTO t VALUES (9, f(9)) RETURNING a", "INSERT INTO t VALUES (1, f(9)) ON CONFLICT DO UPDATE SET b = 99", "INSERT INTO t VALUES (1, 3) ON CONFLICT DO UPDATE SET b = f(99)",
              "INSERT INTO g VALUES (5, 5), (6, 6)", "UPDATE g SET b = b + 1", "INSERT INTO o SELECT a + 10, f(b) FROM t", "INSERT INTO n(b) SELECT f(b) FROM t", "SELECT a, f(b) FROM t"]
for before in ("SELECT 1", "INSERT INTO t VALUES (4, 4)", "DELETE FROM t WHERE a = 2"):
    for nested in ("ROLLBACK TO outermost", "ROLLBACK TO one", "ROLLBACK TO two", "RELEASE one"):
        for call in (1, 2):
            for statement in STATEMENTS:
                db = sqlite3.connect("data.db", isolation_level=None)
                calls, said = [], []
                nested_deeper = "g" in statement.split() or "f(99)" in statement  # of what a trigger's function does then less is kept

                def f(value):
                    calls.append(value)
                    if len(calls) == call:
                        try:
                            db.execute(nested)
                            if not nested_deeper:
                                db.execute("INSERT INTO o VALUES (99, 1)")
                        except sqlite3.Error as error:
                            said.append(str(error))
                    return value
                db.create_function("f", 1, f)
                db.executescript("""DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS g; DROP TABLE IF EXISTS o; DROP TABLE IF EXISTS n; CREATE TABLE o(a INTEGER PRIMARY KEY, b); CREATE TABLE n(a INTEGER PRIMARY KEY AUTOINCREMENT, b);
                    CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE g(a, b); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3); INSERT INTO g VALUES (0, 0);
                    CREATE TRIGGER added AFTER INSERT ON g BEGIN INSERT INTO t VALUES (new.a + 100, f(new.b)); END;
                    CREATE TRIGGER changed AFTER UPDATE ON g BEGIN UPDATE t SET b = f(new.b); END;
                    BEGIN; INSERT INTO o VALUES (1, 1); SAVEPOINT outermost; INSERT INTO t VALUES (50, 50); SAVEPOINT one; SAVEPOINT two; """ + before)
                try:
                    result = db.execute(statement).fetchall()
                except sqlite3.Error as error:
                    result = str(error)
                calls = [0, 0, 0]
                for end in ("INSERT INTO o VALUES (2, 2)", "RELEASE one", "COMMIT"):
                    try:
                        db.execute(end)
                    except sqlite3.Error as error:
                        said.append(str(error))
                print(before, nested, call, statement, result, said, [db.execute("SELECT * FROM " + table).fetchall() for table in "tgon"],
                      db.execute("PRAGMA integrity_check").fetchall())
                db.close()
