# A query left open that has not looked at a table yet: its connection reads and writes in its snapshot, as in WAL mode.
import sqlite3


def connect():
    connection = sqlite3.connect("data.db", isolation_level=None, timeout=0)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    return connection


def tell(connection, sql):
    try:
        print(sql, connection.execute(sql).fetchall(), connection.in_transaction)
    except sqlite3.Error as error:
        print(sql, error.sqlite_errorcode, connection.in_transaction)


COUNT = "SELECT count(*), sum(a) FROM t"
one, two = connect(), connect()
for sql in ["CREATE TABLE t(a, b)", "CREATE TABLE u(a)", "INSERT INTO t VALUES (1, 1), (2, 2)"]:
    one.execute(sql)

for query in [
    "SELECT name FROM sqlite_master ORDER BY name",
    "PRAGMA table_info(t)",
    "SELECT name FROM pragma_table_info('t')",
    "PRAGMA table_list",
    "PRAGMA user_version",
    "PRAGMA application_id",
    "PRAGMA schema_version",
    "PRAGMA main.data_version",
    "PRAGMA page_count",
    "PRAGMA freelist_count",
    "SELECT * FROM pragma_user_version",
    "SELECT * FROM pragma_page_count",
    "PRAGMA integrity_check",
    "SELECT a FROM t WHERE 0 UNION ALL SELECT 5",
    "SELECT count(*) FROM t WHERE 0",
    "SELECT 5, CASE WHEN 0 THEN (SELECT a FROM t) END",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<9) SELECT x FROM c WHERE x<3 OR EXISTS(SELECT 1 FROM t)",
    "SELECT value FROM json_each('[1,2,3]') WHERE value < 2 OR value < (SELECT count(*) FROM t)",
]:
    print("--", query)
    # Rows and codes beside another's commit.
    read = one.execute(query)
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "INSERT INTO t VALUES (100, 0)")
    tell(one, "BEGIN")
    tell(one, "INSERT INTO t VALUES (100, 0)")
    tell(one, COUNT)
    tell(one, "ROLLBACK")
    tell(one, COUNT)
    read.close()
    tell(one, COUNT)
    tell(one, "INSERT INTO t VALUES (1000, 0)")
    # Its own commit, then another's.
    read = one.execute(query)
    tell(one, "INSERT INTO t VALUES (1000, 0)")
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "INSERT INTO t VALUES (100, 0)")
    read.close()
    tell(one, COUNT)
    # Begun in a transaction, and open behind its end.
    for begin, end in [("BEGIN", "COMMIT"), ("BEGIN IMMEDIATE", "COMMIT"), ("BEGIN IMMEDIATE", "ROLLBACK")]:
        tell(one, begin)
        read = one.execute(query)
        tell(one, COUNT)
        if begin != "BEGIN":
            tell(one, "UPDATE t SET b = b + 1")
        tell(one, end)
        tell(two, "INSERT INTO t VALUES (10, 0)")
        tell(one, COUNT)
        tell(one, "DELETE FROM t WHERE a = 10")
        read.close()
        tell(one, COUNT)
    # Nothing is held behind a statement that was read to its end.
    one.execute(query).fetchall()
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "DELETE FROM t WHERE a = 10")

# In a transaction such a query is the first read, even if it gives no row.
for query in ["SELECT a FROM t WHERE 0", "SELECT a FROM t LIMIT 0", "SELECT count(*) FROM t WHERE 0", "SELECT 1"]:
    tell(one, "BEGIN")
    tell(one, query)
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "DELETE FROM t WHERE a = 10")
    tell(one, "COMMIT")

# A PRAGMA that finds no table, index or key reads nothing, so that another's commit stands in no one's way.
for pragma in ["table_info(none)", "index_list(none)", "index_list(u)", "index_info(none)", "index_xinfo(none)", "foreign_key_list(t)",
               "foreign_key_list(none)", "foreign_key_check", "foreign_key_check(t)"]:
    tell(one, "BEGIN")
    tell(one, f"PRAGMA {pragma}")
    tell(two, "INSERT INTO t VALUES (10, 0)")
    tell(one, COUNT)
    tell(one, "DELETE FROM t WHERE a = 10")
    tell(one, "COMMIT")

# Beside an older query, which looks at a table and is closed before the query.
for query in ["SELECT 5 UNION ALL SELECT a FROM t", "WITH c AS (SELECT 5) SELECT * FROM c UNION ALL SELECT a FROM t", "SELECT a FROM t"]:
    for before in ["SELECT 1", "SELECT a FROM t WHERE 0", "INSERT INTO u VALUES (1)"]:
        older = one.execute("SELECT a FROM t")
        tell(one, before)
        read = one.execute(query)
        older.close()
        tell(two, "INSERT INTO t VALUES (10, 0)")
        tell(one, COUNT)
        tell(one, "DELETE FROM t WHERE a = 10")
        print(read.fetchall())
        read.close()
        tell(one, COUNT)
        tell(one, "DELETE FROM t WHERE a = 10")
