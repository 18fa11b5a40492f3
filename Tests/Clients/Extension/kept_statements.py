#!/usr/bin/python3
"""Statements that a program keeps, beside changes of the schema and their ROLLBACK: natively and on a store.

Python's sqlite3 keeps what it has prepared, by its text. Here such statements run as they are, without the front door; what
changes the schema goes through it. Usage: kept_statements.py [EXTENSION]; without one on plain SQLite.
"""
import os
import sqlite3
import sys
import tempfile

KEPT = ("UPDATE t SET c = c + 1 WHERE b = 20", "SELECT a, c FROM t WHERE b = 20", "DELETE FROM t WHERE b = 99")
# Each is run one behind the other; `?` runs the kept statements.
SCRIPTS = (
    "BEGIN; CREATE INDEX tb ON t(b); ?; ROLLBACK; ?",
    "BEGIN; SAVEPOINT s; CREATE INDEX tb ON t(b); ?; ROLLBACK TO s; ?; COMMIT; ?",
    "CREATE INDEX tb ON t(b); ?; DROP INDEX tb; ?",
    "BEGIN; INSERT INTO t VALUES(9, 90, 900); CREATE INDEX tb ON t(b); ?; ROLLBACK; ?",
    "BEGIN; CREATE TABLE v(a); CREATE INDEX tb ON t(b); ?; ROLLBACK; ?",
    "BEGIN; CREATE TABLE v(a); SAVEPOINT s; CREATE INDEX tb ON t(b); ?; ROLLBACK TO s; ?; CREATE INDEX tb ON t(b); ?; "
    "ROLLBACK TO s; ?; ROLLBACK; ?",
    "SAVEPOINT q; CREATE INDEX tb ON t(b); DROP INDEX tb; CREATE INDEX tc ON t(c); ?; ROLLBACK TO q; ?; "
    "CREATE INDEX tb ON t(b); ?; ROLLBACK TO q; RELEASE q; ?",
    "BEGIN; DROP TABLE u; CREATE TABLE u(z, y); INSERT INTO u VALUES(1, 2); ?; ROLLBACK; ?; SELECT * FROM u",
    "BEGIN; CREATE TABLE v(a); ALTER TABLE t ADD COLUMN d; ?; SELECT * FROM t; ROLLBACK; ?; SELECT * FROM t",
    "CREATE UNIQUE INDEX tu ON t(b - b); ?",
    "CREATE TRIGGER tr AFTER UPDATE ON t BEGIN INSERT INTO u VALUES(new.c); END; SELECT changes(); SELECT count(*) FROM u",
    "BEGIN; DROP TRIGGER tr; CREATE INDEX tb ON t(b); ROLLBACK; SELECT changes(), total_changes(); SELECT count(*) FROM u",
    "INSERT INTO u VALUES(7), (8); CREATE INDEX ua ON u(a); SELECT changes(); DROP INDEX ua; SELECT changes()",
)


def statements(script):
    parts = script.replace("; END", "\0 END").split("; ")
    return [part.replace("\0", ";") for part in parts]


def run(extension, path):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if extension:
        connection.enable_load_extension(True)
        connection.load_extension(extension)
        connection.execute("SELECT rootstock_open(?)", (path,)).fetchall()

    def execute(sql):
        if extension:
            sql = connection.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0] or sql
        rows = connection.execute(sql).fetchall()
        return rows if rows and len(rows[0]) and sql.startswith("SELECT") and "rootstock_ddl" not in sql else []

    def outcome(action):
        try:
            return action()
        except sqlite3.Error as error:
            return str(error)

    for sql in ("CREATE TABLE t(a INTEGER PRIMARY KEY, b, c)", "CREATE TABLE u(a)"):
        execute(sql)
    execute("INSERT INTO t VALUES(1, 10, 100), (2, 20, 200), (3, 30, 300)")
    seen = []
    for script in SCRIPTS:
        for sql in statements(script):
            if sql == "?":
                for kept in KEPT:
                    seen.append((script, kept, outcome(lambda: connection.execute(kept).fetchall())))
            else:
                seen.append((script, sql, outcome(lambda: execute(sql))))
    return seen


with tempfile.TemporaryDirectory() as folder:
    for script, sql, rows in run(sys.argv[1] if len(sys.argv) > 1 else None, os.path.join(folder, "data.store")):
        print(f"{script}\n  {sql}: {rows}")
