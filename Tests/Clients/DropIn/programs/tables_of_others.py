# What another connection adds to the schema while a transaction is open, and has read nothing: its tables are changed in there.
import sqlite3

one, other = (sqlite3.connect("data.db", isolation_level=None, timeout=0, cached_statements=0) for _ in range(2))
other.execute("PRAGMA journal_mode=WAL").fetchall()
other.execute("CREATE TABLE t(a, b)")
other.execute("INSERT INTO t VALUES (1, 2)")


def run(sql):
    try:
        print(sql, "->", one.execute(sql).fetchall(), one.in_transaction)
    except sqlite3.Error as error:
        print(sql, "->", error, one.in_transaction)


changes = [
    "INSERT INTO {} VALUES (5, 6)",
    "INSERT INTO {}(b) SELECT a FROM t",
    "UPDATE {} SET b = b + 1 WHERE a = 1",
    "UPDATE {} SET a = a + 1",
    "DELETE FROM {} WHERE a = 1",
    "DELETE FROM {}",
    "REPLACE INTO {} VALUES (1, 7), (1, 8) RETURNING *",
    "INSERT INTO {} VALUES (1, 9) ON CONFLICT DO UPDATE SET b = 10",
]
run("SELECT * FROM t")
for number, change in enumerate(changes):
    for begin, end in (("BEGIN", "COMMIT"), ("BEGIN", "ROLLBACK"), ("SAVEPOINT s", "RELEASE s")):
        name = f"n{number}_{end.split()[0].lower()}"
        run(begin)
        other.execute(f"CREATE TABLE {name}(a UNIQUE, b DEFAULT 7)")
        other.execute(f"INSERT INTO {name} VALUES (1, 2), (2, 3)")
        run(change.format(name))
        run("SAVEPOINT inner")
        run(change.format(name))
        run("ROLLBACK TO inner")
        run(f"SELECT * FROM {name} ORDER BY a, b")
        run(end)
        run(f"SELECT * FROM {name} ORDER BY a, b")
        print(other.execute(f"SELECT * FROM {name} ORDER BY a, b").fetchall())
print(one.execute("PRAGMA integrity_check").fetchall())
