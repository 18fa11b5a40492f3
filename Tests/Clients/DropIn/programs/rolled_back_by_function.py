"""A function of the program's that ends the transaction of the statement that calls it."""
import sqlite3
STATEMENTS = ["UPDATE t SET b = f(b)", "UPDATE t SET b = f(b) WHERE a = 1", "UPDATE t SET a = f(a) + 20", "DELETE FROM t WHERE f(a)",
              "DELETE FROM t WHERE a = f(1)", "INSERT INTO t VALUES (9, f(1))", "INSERT INTO t VALUES (9, f(1)), (10, f(2))",
              "UPDATE t SET b = f(b) RETURNING a", "INSERT INTO w VALUES (f(1), 2)", "UPDATE w SET y = f(y)", "DELETE FROM w WHERE f(y) > 4",
              "INSERT OR REPLACE INTO t VALUES (2, f(5)) ON CONFLICT DO NOTHING", "SELECT f(a) FROM t"]
SCHEMA = ["CREATE TABLE k AS SELECT f(a) FROM t", "CREATE INDEX i ON t(f(b))", "CREATE UNIQUE INDEX i ON t(b) WHERE f(b)",
          "ALTER TABLE t ADD COLUMN z CHECK(f(a))", "ALTER TABLE t ADD COLUMN z AS (f(a)) NOT NULL"]
for end, then in (("ROLLBACK", None), ("COMMIT", None), ("ROLLBACK", "ANALYZE")):
    for statement in SCHEMA if then else STATEMENTS + SCHEMA:
        db = sqlite3.connect('data.db', isolation_level=None)
        db.executescript("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS w; DROP TABLE IF EXISTS k; CREATE TABLE t(a INTEGER PRIMARY KEY, b);"
                         "CREATE TABLE w(x PRIMARY KEY, y) WITHOUT ROWID; INSERT INTO t VALUES (1, 1), (2, 2), (3, 3); INSERT INTO w VALUES (3, 4), (5, 6)")
        said = []

        def f(value):
            if db.in_transaction:
                try:
                    db.execute(end)
                except sqlite3.Error as error:
                    said.append(str(error))
                try:
                    if then:
                        db.execute(then)
                except sqlite3.Error:
                    pass
            return value
        db.create_function('f', 1, f, deterministic=True)
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES (7, 7)")
        try:
            result = db.execute(statement).fetchall()
        except sqlite3.Error as error:
            result = str(error) if statement not in SCHEMA else "failed"
        print(end, statement, result, said[:1], db.in_transaction)
        if db.in_transaction:
            db.execute("COMMIT")
        print(db.execute("SELECT * FROM t").fetchall(), db.execute("SELECT * FROM w").fetchall(), db.execute("PRAGMA integrity_check").fetchall(),
              db.execute("SELECT sql FROM sqlite_master").fetchall())
        db.close()

# ROLLBACK TO the savepoint that is the transaction, by a function that a trigger calls.
for statement in ("UPDATE t SET b = b + 1", "UPDATE t SET b = b + 1 RETURNING a"):
    db = sqlite3.connect('data.db', isolation_level=None)
    db.create_function('f', 1, lambda value: db.execute("ROLLBACK TO s") and value)
    db.executescript("DROP TABLE IF EXISTS t; CREATE TABLE t(a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 1), (2, 2);"
                     "CREATE TRIGGER g AFTER UPDATE ON t BEGIN SELECT f(new.b); END; SAVEPOINT s; INSERT INTO t VALUES (7, 7)")
    try:
        result = db.execute(statement).fetchall()
    except sqlite3.Error:
        result = "failed"
    if db.in_transaction:
        db.execute("COMMIT")
    print(statement, result, db.execute("SELECT * FROM t").fetchall(), db.execute("PRAGMA integrity_check").fetchall())
    db.close()

# ROLLBACK by a function that a change in a trigger's body calls: the message is that of a ROLLBACK.
for statement in ("UPDATE t SET b = b + 1", "UPDATE t SET b = b + 1 WHERE a = 2", "INSERT INTO t VALUES (1, 5) ON CONFLICT (a) DO UPDATE SET b = 6"):
    db = sqlite3.connect('data.db', isolation_level=None)
    db.create_function('f', 1, lambda value: db.execute("ROLLBACK") and value)
    db.executescript("DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS w; CREATE TABLE t(a INTEGER PRIMARY KEY, b); CREATE TABLE w(x);"
                     "INSERT INTO t VALUES (1, 1), (2, 2); CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO w VALUES (f(new.b)); END;"
                     "BEGIN; INSERT INTO t VALUES (7, 7)")
    try:
        result = db.execute(statement).fetchall()
    except sqlite3.Error as error:
        result = (str(error), error.sqlite_errorname)
    print(statement, result, db.in_transaction, db.execute("SELECT * FROM t").fetchall(), db.execute("PRAGMA integrity_check").fetchall())
    db.close()
