"""A trigger whose UPDATE sets a generated column: SQLite refuses what fires it, and so does a store. Rows were changed."""
import sqlite3

connection = sqlite3.connect("data.db", isolation_level=None)
connection.executescript(
    """
    CREATE TABLE made(a INTEGER PRIMARY KEY, b, c AS (b + 1) UNIQUE, d AS (a * 2) STORED);
    INSERT INTO made(a, b) VALUES(1, 2), (3, 4);
    CREATE TABLE fired(a);
    INSERT INTO fired VALUES(1);
    CREATE TRIGGER sets_one AFTER UPDATE ON fired BEGIN UPDATE made SET c = 1, b = -4 WHERE a = 1; END;
    CREATE TRIGGER sets_all AFTER DELETE ON fired BEGIN UPDATE made SET b = b + old.a, d = old.a; END;
    CREATE VIEW over AS SELECT * FROM fired;
    CREATE TRIGGER sets_over INSTEAD OF DELETE ON over BEGIN UPDATE made SET (b, c) = (-5, 1); END;
    CREATE TEMP TABLE beside(a);
    CREATE TEMP TRIGGER sets_beside AFTER INSERT ON beside BEGIN UPDATE made SET c = fired.a FROM fired; END;
    """
)
for statement in ("UPDATE fired SET a = 2", "DELETE FROM fired", "DELETE FROM over", "INSERT INTO beside VALUES(1)"):
    try:
        connection.execute(statement)
        print(statement, "passes")
    except sqlite3.Error as error:
        print(statement, error)
for table in ("made", "fired", "beside"):
    print(table, connection.execute(f"SELECT * FROM {table}").fetchall())
