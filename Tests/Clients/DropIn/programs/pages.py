"""PRAGMA page_count and freelist_count within a transaction: of what it has written, and seen by its own connection alone."""
import sqlite3

one = sqlite3.connect("data.db", isolation_level=None)
two = sqlite3.connect("data.db", isolation_level=None)
one.execute("PRAGMA journal_mode=WAL").fetchall()
one.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
one.execute("CREATE INDEX i ON t(b)")


def ask(connection):
    return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count")]


def fill(connection, table):
    connection.execute(f"INSERT INTO {table}(b) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<200) SELECT randomblob(2000) FROM c")


before = ask(one)
one.execute("BEGIN")
print("begun", ask(one) == before)
sizes = [before[0]]
for _ in range(4):
    fill(one, "t")
    pages, free = ask(one)
    # 200 rows of half a page, the values once more in the index.
    print("grows by", 150 < pages - sizes[-1] < 300, free == 0, one.execute("SELECT page_count FROM pragma_page_count").fetchone()[0] == pages)
    sizes.append(pages)
print("another", ask(two) == before)
one.execute("COMMIT")
written = ask(one)
print("committed", written[0] >= sizes[-1] - 10, ask(two) == written)
one.execute("BEGIN")
one.execute("DELETE FROM t")
pages, free = ask(one)
print("deleted", pages >= written[0], free > 600, ask(two) == written)
one.execute("CREATE TABLE u(b)")
fill(one, "u")
print("taken again", ask(one)[0] < pages + 300, ask(one)[1] < free)
one.execute("ROLLBACK")
print("rolled back", ask(one) == written)

# As functions, with an empty list of arguments, too.
one.execute("PRAGMA user_version=5")
for query in ["SELECT * FROM pragma_user_version()", "SELECT x.user_version FROM pragma_user_version ( ) x, pragma_application_id()",
              "SELECT user_version FROM main.pragma_user_version()", "SELECT pragma_user_version.user_version FROM pragma_user_version()",
              "SELECT page_count - freelist_count > 100 FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()",
              "SELECT name FROM pragma_database_list()", "SELECT * FROM pragma_integrity_check()", "SELECT schema_version > 1 FROM pragma_schema_version",
              "SELECT schema_version > 1 FROM pragma_schema_version()"]:
    print(query, one.execute(query).fetchall())

# An engine that knows no pages of a tree: none of its file's become free by what is written.
plain = sqlite3.connect("file:plain.db?engine=sqlite-btree", uri=True, isolation_level=None)
plain.execute("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
plain.execute("BEGIN")
fill(plain, "t")
print("without pages", ask(plain)[1])
plain.execute("COMMIT")
print("without pages", ask(plain)[0] > 100)
