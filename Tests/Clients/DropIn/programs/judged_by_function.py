"""A function that a CHECK or an index calls, and that rolls back the transaction or tries to change the schema: what it leaves, and no crash."""
import sqlite3
for inner in ("ROLLBACK", "COMMIT", "REINDEX", "DROP TABLE u", "ALTER TABLE t ADD COLUMN z", "CREATE INDEX i ON u(x)"):
    for declared in ("CREATE TABLE t(a INTEGER PRIMARY KEY, b CHECK (f(b) > 0))", "CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE INDEX tf ON t(f(b))"):
        for statement in ("INSERT INTO t VALUES (9, 9)", "INSERT INTO t VALUES (9, 9), (10, 10)", "UPDATE t SET b = b + 1", "UPDATE t SET b = 5 WHERE a = 2",
                          "UPDATE t SET b = b + 1 RETURNING a", "INSERT INTO t VALUES (1, 3) ON CONFLICT DO UPDATE SET b = 7", "REPLACE INTO t VALUES (1, 4)"):
            db = sqlite3.connect('data.db', isolation_level=None)
            called = []

            def f(value):
                if armed and db.in_transaction and not called:
                    called.append(value)
                    try:
                        db.execute(inner)
                    except sqlite3.Error:
                        pass
                return value
            armed = False
            db.create_function('f', 1, f, deterministic=True)
            db.executescript("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u; CREATE TABLE u(x);" + declared + "; INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
            armed = True
            db.execute("BEGIN")
            db.execute("INSERT INTO u VALUES (1)")
            try:
                db.execute(statement).fetchall()
            except sqlite3.Error:
                pass
            armed = False
            if db.in_transaction:
                db.execute("COMMIT")
            if inner in ("ROLLBACK", "COMMIT"):
                print(inner, declared, statement, db.execute("SELECT * FROM t").fetchall())
            db.close()
            db = sqlite3.connect('data.db')
            db.create_function('f', 1, f, deterministic=True)
            if inner in ("ROLLBACK", "COMMIT"):
                print(db.execute("PRAGMA integrity_check").fetchall(), db.execute("SELECT count(*) FROM u").fetchall())
            db.close()
