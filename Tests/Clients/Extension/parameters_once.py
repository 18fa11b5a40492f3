"""Subqueries and common tables that a change runs once may have parameters: they are asked for once all the same.

Usage: parameters_once.py [EXTENSION]    on a store, or natively without one; prints the same
"""
import sqlite3
import sys
import tempfile

SCHEMA = [
    "CREATE TABLE t (id INTEGER PRIMARY KEY, v)",
    "CREATE TABLE u (id INTEGER PRIMARY KEY, w)",
    "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
    "INSERT INTO u VALUES (1, 100), (2, 200)",
    "CREATE TRIGGER up AFTER UPDATE ON t BEGIN UPDATE u SET w = w + 1; END",
    "CREATE TRIGGER ins AFTER INSERT ON t BEGIN UPDATE u SET w = w + 1; END",
]
CHANGES = [
    ("UPDATE t SET v = (SELECT max(w) FROM u WHERE id < ?)", (9,)),
    ("UPDATE t SET v = ? RETURNING *, (SELECT max(w) + ? FROM u WHERE id < ?)", (7, 8, 9)),
    ("WITH c AS (SELECT max(w) + ?1 AS s FROM u) UPDATE t SET v = ?2 RETURNING *, (SELECT s FROM c)", (7, 8)),
    ("WITH c AS (SELECT w + ?2 AS s FROM u) UPDATE t SET v = ?1 WHERE id < ?4 RETURNING *, (SELECT max(s) + ?3 FROM c WHERE s > t.id)",
     (7, 8, 9, 10)),
    ("INSERT INTO t VALUES (?, ?), (?, ?) ON CONFLICT (id) DO UPDATE SET v = (SELECT max(w) + ? FROM u)"
     " RETURNING *, EXISTS (SELECT 1 FROM u WHERE w = ?)", (1, 2, 3, 4, 5, 6)),
    ("INSERT INTO t VALUES (?, ?), (?, ?) ON CONFLICT (id) DO UPDATE SET (v, id) = (SELECT max(w) + ?, ? FROM u) RETURNING *",
     (1, 2, 31, 4, 5, 60)),
]


def run(db, rewritten):
    for sql in SCHEMA:
        db.execute(rewritten(sql))
    for sql, values in CHANGES:
        try:
            print(sorted(db.execute(rewritten(sql), values).fetchall()))
        except sqlite3.Error as error:
            print(error)
        print(db.execute(rewritten("SELECT * FROM t ORDER BY id")).fetchall())


def main():
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(":memory:", isolation_level=None)
        if len(sys.argv) == 1:
            return run(db, lambda sql: sql)
        db.enable_load_extension(True)
        db.load_extension(sys.argv[1])
        db.execute("SELECT rootstock_open(?)", (folder + "/store",))
        run(db, lambda sql: db.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0])


if __name__ == "__main__":
    main()
