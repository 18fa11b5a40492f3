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

# Numbers of another table are looked up among texts once, not once for each: SQLite sees the rows that are equal.
connection.executescript("""
    CREATE TABLE u (n INT);
    INSERT INTO u WITH RECURSIVE i (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i WHERE x < 40) SELECT x * 37 FROM i""")
for order in ("t.id", "t.k, t.id", "t.k DESC, t.id DESC"):
    steps = []
    connection.set_progress_handler(lambda: steps.append(0), 1000)
    rows = connection.execute("SELECT t.id, t.v, u.n FROM u JOIN t ON t.v = u.n ORDER BY " + order).fetchall()
    connection.set_progress_handler(None, 0)
    print(rows, len(steps) < 100)

# A page begins where the one before it ended, though many rows share its first column's value.
connection.executescript("""
    CREATE TABLE w (k INT, s TEXT, n INT, PRIMARY KEY (k, s, n)) WITHOUT ROWID;
    INSERT INTO w SELECT k, 'text', id FROM t""")
for table, columns, values in (("t", "k,v", (1, "778")), ("w", "k,s,n", (1, "text", 1500))):
    for sign, direction in ((">", ""), ("<", " DESC")):
        met.clear()
        order = ",".join(column + direction for column in columns.split(","))
        rows = connection.execute(f"SELECT {columns} FROM {table} WHERE met(1) AND ({columns}) {sign} ({','.join('?' * len(values))}) ORDER BY {order} LIMIT 3", values).fetchall()
        print(columns, sign, rows, len(met) < 50)
