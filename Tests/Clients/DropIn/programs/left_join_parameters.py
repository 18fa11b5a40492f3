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

# A subquery with a LEFT JOIN changes places with tables behind it, but for their ON.
for first, second, third in ("?", "?", "?"), ("?3", "?1", "?2"), ("?", "?3", "?"), (":p", ":q", ":r"):
    sql = f"""SELECT l.id, b.id, d.id FROM (SELECT a.id, c.y FROM a LEFT JOIN c ON c.x = a.y) l JOIN b ON b.id < {first}
        JOIN (SELECT * FROM c WHERE y < {second}) d ON d.y = b.y AND l.id < {third}"""
    for values in (4, 2, 3), (2, 4, 3), (3, 3, 2):
        print(first, second, third, values, sorted(db.execute(sql, values), key=repr))
