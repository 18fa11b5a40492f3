# An INSERT of as many SELECTs as SQLite takes, which are gathered for RETURNING, and of one more.
import sqlite3

db = sqlite3.connect("data.db", isolation_level=None)
db.execute("CREATE TABLE t(a, b DEFAULT 7)")
db.execute("CREATE TABLE r(x REAL)")
db.execute("INSERT INTO r VALUES (0.5)")
for count in 499, 500, 501:
    for first in "1", "x + 1", "x", "DISTINCT x AS y":
        sql = f"INSERT INTO t(a) SELECT {first} FROM r" + " UNION ALL SELECT 2" * (count - 1) + " RETURNING typeof(a)"
        try:
            print(count, first, db.execute(sql).fetchall()[-1])
        except sqlite3.Error as error:
            print(count, first, error)
print(db.execute("SELECT typeof(a), typeof(b), count(*), sum(a) FROM t GROUP BY 1, 2 ORDER BY 1, 2").fetchall())
