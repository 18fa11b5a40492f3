"""Behind a column of few values, of which ANALYZE tells, a text that spells a number is looked up: few rows are met."""
import sqlite3

connection = sqlite3.connect("few.db", isolation_level=None)
connection.executescript("""
    CREATE TABLE t (id INTEGER PRIMARY KEY, k INT, v);
    CREATE INDEX t_kv ON t (k, v);
    INSERT INTO t WITH RECURSIVE i (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 3000)
      SELECT x, x % 3, CASE WHEN x % 2 THEN x ELSE '' || x END FROM i;
    ANALYZE""")
met = []
connection.create_function("met", 1, lambda value: met.append(value) or 1)
for value in ("778", "777", 777, 778, "text", b"778", None):
    met.clear()
    rows = connection.execute("SELECT id, v FROM t INDEXED BY t_kv WHERE met(id) AND v = ? ORDER BY k, v", (value,)).fetchall()
    # A number may be equal to any of the texts.
    print(repr(value), rows, len(met) < 50 or isinstance(value, int))
