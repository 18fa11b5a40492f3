"""CREATE TABLE ... AS SELECT: beside a reader, over several databases, its parameters, what it counts, and how it fails."""
import sqlite3


def run(connection, statement, *values):
    try:
        print(statement, connection.execute(statement, *values).fetchall())
    except sqlite3.Error as error:
        print(statement, error)


def counters(connection):
    print(connection.total_changes, connection.execute("SELECT last_insert_rowid()").fetchall())


def tables(connection):
    for schema in "main", "temp", "x", "n":
        for name, text in connection.execute(f"SELECT name, sql FROM {schema}.sqlite_master WHERE type='table'"):
            print(schema, name, text, connection.execute(f'SELECT *, typeof(1) FROM {schema}."{name}"').fetchall())


def session(main):
    connection = sqlite3.connect(main, isolation_level=None, uri=True)
    connection.execute("ATTACH 'x.db' AS x")
    connection.execute("ATTACH 'file:n.db?engine=sqlite' AS n")
    connection.executescript(
        "CREATE TABLE m(a INTEGER PRIMARY KEY, b VARCHAR(9), c NUMERIC, d DOUBLE, e BLOB, f);"
        "INSERT INTO m VALUES (1, 'x', '2', 3, x'00', 'y'), (7, 8, 9.5, '10', 11, NULL);"
        "CREATE TABLE x.s(k INT, v TEXT); INSERT INTO x.s VALUES (1, 'one'), (7, 'seven');"
        "CREATE TABLE n.o(z REAL); INSERT INTO n.o VALUES (1), (7);"
        "CREATE TEMP TABLE q(w); INSERT INTO q VALUES ('1'), (7)"
    )
    counters(connection)
    reader = connection.execute("SELECT a FROM m")
    print(reader.fetchone())
    for target in "main.u", "x.u", "n.u", "temp.u":
        for statement in (
            "CREATE TABLE {} AS SELECT m.*, v, z, w, a + 1 AS \"a b\", CAST(c AS TEXT) AS t, 'CREATE TABLE u(x)' FROM m, s, o, q WHERE a = k AND k = z AND z = w ORDER BY a DESC",
            "CREATE TABLE {} AS SELECT 1",
            "CREATE TABLE IF NOT EXISTS {} AS SELECT * FROM m, s",
        ):
            run(connection, statement.format(target))
            counters(connection)
    print(reader.fetchall())
    tables(connection)
    for target in "main.", "x.", "n.":
        run(connection, f"CREATE TABLE {target}p AS SELECT ? AS a, :b, k, w, m.rowid FROM s, q, m WHERE k = ?1", {"1": 7, "b": "B"})
        run(connection, f"CREATE TABLE {target}p AS SELECT ? AS a, ?, k, w, m.rowid FROM s, q, m WHERE k = ?1", (7, "B"))
        run(connection, f"CREATE TABLE {target}l AS SELECT name, sql FROM x.sqlite_master, q WHERE name < 't' AND w = 7")
        run(connection, f"CREATE TABLE {target}f AS SELECT abs(w - 7 - 9223372036854775807 - 1) FROM q, s, m")
        run(connection, f"CREATE TABLE {target}g AS SELECT nothing FROM q, s, m")
        run(connection, f"CREATE TABLE {target}h AS SELECT * FROM nothing, q, s")
        run(connection, f"CREATE INDEX {target}i ON u(a)")
        run(connection, f"CREATE TABLE {target}i AS SELECT * FROM q, m, s")
        run(connection, f"CREATE TABLE {target}sqlite_x AS SELECT * FROM q, m, s")
        connection.execute("BEGIN")
        run(connection, f"CREATE TABLE {target}r AS SELECT * FROM q, m, s")
        run(connection, f"CREATE TABLE {target}f AS SELECT abs(w - 7 - 9223372036854775807 - 1) FROM q, s, m")
        connection.execute("SAVEPOINT one")
        run(connection, f"CREATE TABLE {target}r2 AS SELECT * FROM r, q, s")
        connection.execute("ROLLBACK TO one")
        run(connection, f"CREATE TABLE {target}r3 AS SELECT count(*) AS n FROM {target}r, q, s, m")
        run(connection, f"SELECT * FROM {target}r3")
        counters(connection)
        connection.execute("ROLLBACK")
        run(connection, f"SELECT * FROM {target}r3")
    tables(connection)
    connection.close()
    for path in "x.db", "file:n.db?engine=sqlite":
        connection = sqlite3.connect(path, uri=True)
        print(connection.execute("SELECT name, sql FROM sqlite_master").fetchall(), connection.execute("PRAGMA integrity_check").fetchall())
        print(connection.execute("SELECT rowid, * FROM u").fetchall())
        for table in "u", "p", "l", "s", "o":
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.commit()
        connection.close()


session("file:main.db")
session("file:native.db?engine=sqlite")
