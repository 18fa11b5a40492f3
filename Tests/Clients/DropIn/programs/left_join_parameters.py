# Parameters of a LEFT JOIN that stands before an inner join: each keeps its number, whatever order the joins get.
import sqlite3

db = sqlite3.connect("data.db", isolation_level=None)
for table in "abc":
    db.execute(f"CREATE TABLE {table}(id INTEGER PRIMARY KEY, x, y)")
    db.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", [(1, 1, 1), (2, 1, 2), (3, 2, 1)])
for left, inner in ("?", "?"), ("?", "?2"), ("?2", "?"), (":p", ":q"), ("?", ":q"), (":q", "?"), ("@p", "$q"), ("?1", "?2"):
    sql = f"SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON b.x = a.id AND b.y = {left} JOIN c ON c.x = a.x AND c.y = {inner}"
    for values in (1, 2), (2, 1), (7, 1, 2):
        try:
            print(left, inner, values, sorted(db.execute(sql, values), key=repr))
        except sqlite3.Error as error:
            print(left, inner, values, error)
