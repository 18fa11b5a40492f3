"""Changes of the schema, and statements that a store runs by statements of its own, where the program has replaced functions of SQLite's by such
as fail. The program's own statements do without them."""
import sqlite3

STATEMENTS = (
    "CREATE TABLE t(a, b, c)",
    "CREATE TABLE log(x)",
    "CREATE TRIGGER kept AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END",
    "CREATE TEMP TRIGGER passing AFTER INSERT ON t BEGIN INSERT INTO log VALUES (-new.a); END",
    "INSERT INTO t VALUES (1, 2, 3)",
    "ALTER TABLE t RENAME TO u",
    "INSERT INTO u VALUES (4, 5, 6)",
    "ALTER TABLE u ADD COLUMN d DEFAULT 3",
    "ALTER TABLE u RENAME COLUMN b TO bb",
    "CREATE VIEW v AS SELECT * FROM u",
    "CREATE TABLE p(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE)",
    "INSERT INTO p(b) VALUES (1), (3)",
    "UPDATE p SET b = b + 1 WHERE b > 0",
    "INSERT INTO p(b) SELECT 2 UNION ALL SELECT 9 ON CONFLICT DO NOTHING",
    "ANALYZE",
    "REINDEX",
    "VACUUM",
    "PRAGMA integrity_check",
    "PRAGMA foreign_key_check",
    "DROP TRIGGER kept",
    "DROP VIEW v",
    "DROP TABLE u",
    "CREATE TABLE q AS SELECT * FROM p",
    "SELECT * FROM q",
    "SELECT * FROM log",
)


def fail(*values):
    raise ValueError("replaced")


for number, (name, count) in enumerate((("substr", -1), ("length", 1), ("like", 2), ("glob", 2), ("max", -1), ("count", -1), ("lower", 1),
                                        ("coalesce", -1), ("quote", 1), ("instr", 2), ("printf", -1), ("hex", 1), ("typeof", 1))):
    connection = sqlite3.connect("replaced%d.db" % number, isolation_level=None)
    connection.create_function(name, count, fail)
    for statement in STATEMENTS:
        try:
            print(name, statement, "->", connection.execute(statement).fetchall())
        except sqlite3.Error as error:
            print(name, statement, "->", error.sqlite_errorname, error)
    connection.close()
