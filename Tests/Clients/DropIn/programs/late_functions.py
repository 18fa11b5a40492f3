"""ALTER TABLE in a schema that names functions and collations which the program registers on each connection, early or late."""
import sqlite3


def run(connection, sql):
    try:
        print(sql, "->", connection.execute(sql).fetchall())
    except sqlite3.Error as error:
        print(sql, "->", error.sqlite_errorname, error)


def register(connection):
    connection.create_function("positive", 1, lambda value: value is None or value > 0, deterministic=True)
    connection.create_collation("reverse", lambda a, b: (a < b) - (a > b))


connection = sqlite3.connect("late.db", isolation_level=None)
run(connection, "CREATE TABLE plain(a)")
run(connection, "INSERT INTO plain VALUES (1)")
run(connection, "ALTER TABLE plain ADD COLUMN before CHECK(positive(before))")
register(connection)
run(connection, "ALTER TABLE plain ADD COLUMN before CHECK(positive(before))")
run(connection, "INSERT INTO plain VALUES (1, 2)")
run(connection, "CREATE TABLE checked(a CHECK(positive(a)), b TEXT COLLATE reverse, c AS (positive(a)))")
run(connection, "INSERT INTO checked VALUES (1, 'x'), (2, 'y')")
run(connection, "ALTER TABLE plain ADD COLUMN next DEFAULT 5")
run(connection, "ALTER TABLE checked ADD COLUMN d")
connection.close()
for when in "early", "late":
    connection = sqlite3.connect("late.db", isolation_level=None)
    if when == "late":
        run(connection, "SELECT a FROM plain")
    register(connection)
    run(connection, f"ALTER TABLE plain ADD COLUMN one_{when}")
    run(connection, f"ALTER TABLE checked ADD COLUMN two_{when} VARCHAR(10) DEFAULT 'x'")
    run(connection, f"ALTER TABLE checked ADD COLUMN three_{when} TEXT COLLATE reverse REFERENCES plain(a)")
    run(connection, f"ALTER TABLE plain ADD COLUMN four_{when} CHECK(absent(four_{when}))")
    run(connection, f"ALTER TABLE plain ADD COLUMN five_{when} AS (positive(a))")
    run(connection, "INSERT INTO checked(a, b) VALUES (0, 'z')")
    run(connection, "INSERT INTO plain(a, before) VALUES (1, -1)")
    run(connection, "SELECT * FROM checked ORDER BY b")
    run(connection, "SELECT * FROM plain")
    run(connection, f"ALTER TABLE plain RENAME COLUMN one_{when} TO first_{when}")
    run(connection, "SELECT sql FROM sqlite_schema ORDER BY name")
    connection.close()

connection = sqlite3.connect("late.db", isolation_level=None)
register(connection)
for number, statement in enumerate((
        "CREATE INDEX by_{0} ON plain({0}(1))", "CREATE INDEX by_{0} ON plain(a) WHERE {0}(2) > a",
        "CREATE INDEX by_{0} ON plain((a LIKE 'x'))", "CREATE INDEX by_{0} ON plain(a) WHERE a REGEXP 'x'",
        "CREATE TABLE of_{0}(a VARCHAR(10), b AS ({0}(3)))", "CREATE TABLE of_{0} AS SELECT {0}(4) AS a",
        "CREATE VIEW of_{0} AS SELECT {0}(a) AS a, {0}(5) FROM plain",
        "CREATE TRIGGER of_{0} AFTER INSERT ON plain WHEN {0}(new.a) BEGIN UPDATE plain SET next = {0}(6); END",
        "CREATE TABLE of_{0}(a VARCHAR(10), CHECK(a < {0}(7)))", "ALTER TABLE plain ADD COLUMN by_{0} CHECK({0}(8))")):
    name = "fresh%d" % number
    for function, arguments in (name, 1), ("like", 2), ("regexp", 2):
        connection.create_function(function, arguments, lambda *values: number, deterministic=True)
    run(connection, statement.format(name))
    run(connection, "PRAGMA table_info(of_%s)" % name)
    run(connection, "INSERT INTO plain(a) VALUES (%d)" % number)
run(connection, "SELECT a, next FROM plain ORDER BY a, next")
run(connection, "ALTER TABLE plain RENAME COLUMN next TO following")
run(connection, "SELECT name, sql FROM sqlite_schema ORDER BY name")
run(connection, "CREATE VIEW named AS SELECT positive(a) AS a FROM plain")
run(connection, "CREATE VIEW outer AS SELECT a, 1 AS b FROM named")
connection.close()
connection = sqlite3.connect("late.db", isolation_level=None)
for when in "before", "behind":
    for pragma in "table_info(outer)", "table_xinfo(named)", "table_list(outer)", "table_info(plain)", "index_list(outer)":
        run(connection, f"PRAGMA {pragma}")
    run(connection, "SELECT m.name, p.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS p WHERE m.name = 'named'")
    register(connection)
