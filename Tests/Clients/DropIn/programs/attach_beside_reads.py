# ATTACH beside statements that read: two of them keep the read lock with which SQLite has looked at the new file.
import sqlite3


def run(db, *statements):
    for sql in statements:
        try:
            print(sql, db.execute(sql).fetchall())
        except sqlite3.Error as error:
            print(sql, type(error).__name__, error)


def blobs(db):
    return [db.blobopen("t", "b", 1, readonly=True) for _ in range(2)]


def queries(db):
    opened = [db.execute("SELECT id FROM t") for _ in range(3)]
    for cursor in opened:
        cursor.fetchone()
    return opened


def of_temp(db):
    opened = [db.execute("SELECT n FROM temp.numbers") for _ in range(2)]
    for cursor in opened:
        cursor.fetchone()
    return opened


other = sqlite3.connect("other.db", isolation_level=None)
run(other, "PRAGMA journal_mode=WAL", "CREATE TABLE x(a)", "INSERT INTO x VALUES (5)",
    "CREATE VIEW v AS SELECT a+1 AS a FROM x")
db = sqlite3.connect("main.db", isolation_level=None)
run(db, "PRAGMA journal_mode=WAL", "CREATE TABLE t(id INTEGER PRIMARY KEY, b)",
    "INSERT INTO t VALUES (1, x'0102'), (2, x'03'), (3, x'04')", "CREATE TEMP TABLE numbers(n)",
    "INSERT INTO numbers VALUES (1), (2), (3)")
for reading in blobs, queries, of_temp:
    print(reading.__name__)
    opened = reading(db)
    run(db, "ATTACH 'other.db' AS o", "SELECT * FROM o.x", "SELECT * FROM o.v", "INSERT INTO o.x VALUES (6)",
        "CREATE TABLE o.y AS SELECT * FROM x", "SELECT * FROM o.y", "SELECT id FROM t", "DETACH o",
        "ATTACH 'other.db' AS o", "ATTACH 'nowhere/other.db' AS p", "ATTACH 'other.db' AS p",
        "SELECT count(*) FROM p.x")
    run(other, "INSERT INTO x VALUES (7)", "SELECT count(*) FROM x")
    for one in opened:
        one.close()
    run(other, "INSERT INTO x VALUES (8)")
    run(db, "SELECT * FROM o.x", "SELECT * FROM p.x", "DROP TABLE o.y", "DELETE FROM p.x WHERE a>5", "DETACH o",
        "DETACH p", "SELECT count(*) FROM o.x", "SELECT id FROM t")
    # Inside a transaction, which is rolled back.
    opened = reading(db)
    run(db, "BEGIN", "ATTACH 'other.db' AS o", "INSERT INTO o.x VALUES (9)", "INSERT INTO t VALUES (4, NULL)")
    run(db, "ROLLBACK", "SELECT * FROM o.x")
    for one in opened:
        one.close()
    run(db, "SELECT id FROM t", "SELECT * FROM o.x", "DETACH o")
run(other, "BEGIN IMMEDIATE", "INSERT INTO x VALUES (10)", "COMMIT", "SELECT * FROM x")
