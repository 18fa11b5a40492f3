"""min() of a column with an index, where the program has made a min() of its own, before or after SQLite's was called. SQLite hands it the one
row that its index begins with."""
import sqlite3


class Listed:
    def __init__(self):
        self.values = []

    def step(self, value):
        self.values.append(value)

    def finalize(self):
        return repr(self.values)


for early in (True, False):
    connection = sqlite3.connect("least%d.db" % early, isolation_level=None)
    connection.execute("CREATE TABLE t (a INT, b TEXT)")
    connection.execute("CREATE INDEX ta ON t (a)")
    connection.execute("INSERT INTO t VALUES (3, 'x'), (NULL, 'y'), (2, 'z')")
    if not early:
        print(connection.execute("SELECT min(a) FROM t").fetchall())
    connection.create_aggregate("min", 1, Listed)
    for text in ("SELECT min(a) FROM t", "SELECT min(a) AS least FROM t WHERE a > 2", "SELECT min(a) FROM t WHERE a > 5"):
        cursor = connection.execute(text)
        print(cursor.description[0][0], cursor.fetchall())
    connection.close()
