"""A kept INSERT goes on after a clause ON CONFLICT ROLLBACK of the table has refused a row. Python keeps statements by their text.

Usage: kept_insert.py [EXTENSION]    on a store, or natively without one; prints the same
"""
import sqlite3
import sys
import tempfile

SCHEMA = """CREATE TABLE t (a, b INT DEFAULT 5 NOT NULL ON CONFLICT REPLACE, c AS (a + b) NOT NULL ON CONFLICT ROLLBACK,
    d AS (a) STORED NOT NULL ON CONFLICT IGNORE, e AS (b) CHECK (e < 90))"""


def run(db, rewritten):
    def execute(sql, *arguments):
        try:
            return db.execute(rewritten(sql), *arguments).fetchall()
        except sqlite3.Error as error:
            return str(error)

    print(execute(SCHEMA))
    for values in [(1, 1), (None, 2), (None, 2), (3, None), (4, 95), (5, 6), (7, 7)]:
        print(values, execute("INSERT INTO t (a, b) VALUES (?, ?)", values))
        print(execute("SELECT a, b FROM t ORDER BY a"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(":memory:", isolation_level=None)
        if len(sys.argv) == 1:
            return run(db, lambda sql: sql)
        db.enable_load_extension(True)
        db.load_extension(sys.argv[1])
        db.execute("SELECT rootstock_open(?)", (folder + "/store",))
        run(db, lambda sql: db.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0] if sql.startswith("CREATE") else sql)


if __name__ == "__main__":
    main()
