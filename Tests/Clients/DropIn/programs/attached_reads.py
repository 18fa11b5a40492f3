"""A query of main is left open: what its connection reads of an attached database behind its own commit stands still, and no write lock stays."""
import sqlite3


def connect():
    connection = sqlite3.connect("data.db", isolation_level=None, timeout=0)
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("ATTACH 'other.db' AS b")
    connection.execute("PRAGMA b.journal_mode=WAL").fetchall()
    connection.execute("SELECT * FROM b.sqlite_master").fetchall()
    return connection


def tell(name, connection, sql):
    try:
        print(name, sql, connection.execute(sql).fetchall(), connection.in_transaction)
    except sqlite3.Error as error:
        print(name, sql, error.sqlite_errorcode, connection.in_transaction)


setup = connect()
for sql in ["CREATE TABLE t(a)", "INSERT INTO t VALUES (1), (2), (3)", "CREATE TABLE b.u(k TEXT PRIMARY KEY, v)", "INSERT INTO u VALUES ('a', 1), ('b', 2)",
            "CREATE TABLE b.parent(a PRIMARY KEY)", "CREATE TABLE b.child(a REFERENCES parent DEFERRABLE INITIALLY DEFERRED)"]:
    setup.execute(sql)
setup.close()
for own in [["UPDATE u SET v = v + 10"], ["BEGIN IMMEDIATE", "COMMIT"], ["BEGIN IMMEDIATE", "ROLLBACK"], ["BEGIN", "UPDATE u SET v = v + 10", "COMMIT"],
            ["BEGIN", "DELETE FROM u", "ROLLBACK"], ["BEGIN IMMEDIATE", "INSERT INTO t VALUES (4)", "COMMIT"],
            ["SAVEPOINT s", "INSERT INTO u VALUES ('c', 3)", "ROLLBACK TO s", "RELEASE s"],
            ["PRAGMA foreign_keys=1", "INSERT INTO child VALUES (7)"], ["BEGIN", "INSERT INTO child VALUES (7)", "COMMIT", "ROLLBACK"], ["INSERT INTO u VALUES ('a', 1)"]]:
    one, two = connect(), connect()
    query = one.execute("SELECT a FROM t WHERE a < 4")
    for sql in own:
        tell("one", one, sql)
    tell("two", two, "UPDATE u SET v = v + 100")
    tell("one", one, "SELECT sum(v) FROM u")
    print(len(query.fetchall()))
    query.close()
    tell("one", one, "SELECT sum(v) FROM u")
    tell("one", one, "UPDATE u SET v = v + 1000")
    tell("two", two, "SELECT sum(v) FROM u")
    one.close()
    two.close()
