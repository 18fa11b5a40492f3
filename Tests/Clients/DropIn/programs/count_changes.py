"""PRAGMA count_changes switched beside statements that the program keeps: Python's sqlite3 caches each text."""
import sqlite3

connection = sqlite3.connect("data.db", isolation_level=None)
connection.executescript("CREATE TABLE t(a UNIQUE, b); CREATE TABLE fired(a); CREATE TRIGGER tr AFTER UPDATE ON t BEGIN INSERT INTO fired VALUES(1),(2); END;")
STATEMENTS = "INSERT INTO t VALUES(?1, 1)", "INSERT OR IGNORE INTO t SELECT a, 2 FROM t", "UPDATE t SET b = b + 1", "DELETE FROM t WHERE a > ?1 + 5"
for turn, setting in enumerate(("off", "on", "on", "off", "1", "0")):
    connection.execute("PRAGMA count_changes = " + setting)
    for sql in STATEMENTS:
        cursor = connection.execute(sql, (turn,) if "?1" in sql else ())
        print(setting, sql, cursor.fetchall(), [column[0] for column in cursor.description or []], cursor.rowcount)
