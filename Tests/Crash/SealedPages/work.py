"""work.py EXTENSION SECONDS SEED - a store changed in every way, in small transactions, which are sealed: rows and long
values that come, grow, shrink and go, at random and in order, tables and indexes that are made and dropped, readers that
hold pages, savepoints. Classes full and normal take turns. The end is an integrity check."""
import json
import os
import random
import sqlite3
import sys
import tempfile
import time


def connect(path, durability):
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.enable_load_extension(True)
    db.load_extension(os.path.abspath(sys.argv[1]))
    db.execute("SELECT rootstock_open(?, 'lmdb', ?)", (path, json.dumps({"durability": durability}))).fetchall()

    def run(sql, *values):
        text = db.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0]
        return db.execute(text.decode() if isinstance(text, bytes) else text, values).fetchall()

    return db, run


def change(run, chance):
    key = chance.choice([chance.randrange(2000), chance.randrange(30)])
    kind = chance.randrange(13)
    size = chance.choice([5, 40, 300, 1500, 2100, 5000, 20000])
    if kind < 5:
        run("INSERT INTO t VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET n = n + 1, b = excluded.b",
            key, chance.randrange(100), chance.randbytes(size))
    elif kind < 7:
        run("DELETE FROM t WHERE id BETWEEN ? AND ?", key, key + chance.choice([0, 3, 40]))
    elif kind == 7:
        run("UPDATE t SET n = n + 1 WHERE n = ?", chance.randrange(100))
    elif kind == 8:
        run("INSERT INTO w VALUES (?, ?) ON CONFLICT DO NOTHING", f"key {key} " * chance.choice([1, 8, 80]), key)
    elif kind == 9:
        run("DELETE FROM w WHERE v % 7 = ?", chance.randrange(7))
    elif kind == 10:
        run("DELETE FROM a")  # a tree that is emptied at once
    elif kind == 11:
        run("INSERT INTO a(x) VALUES (?)", "x" * chance.randrange(200))
    else:
        name = f"i{chance.randrange(3)}"
        if run("SELECT 1 FROM sqlite_master WHERE name = ?", name):
            run(f"DROP INDEX {name}")
        else:
            run(f"CREATE INDEX {name} ON t(n, id)")


def main():
    chance, seconds = random.Random(int(sys.argv[3])), float(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        for durability in ("full", "normal"):
            path, until = os.path.join(folder, durability), time.monotonic() + seconds / 2
            db, run = connect(path, durability)
            reader, read = connect(path, durability)
            for sql in ("CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, b BLOB)", "CREATE INDEX tn ON t(n)",
                        "CREATE TABLE w(k TEXT PRIMARY KEY, v INT) WITHOUT ROWID", "CREATE TABLE a(x)"):
                run(sql)
            while time.monotonic() < until:
                run("BEGIN")
                for _ in range(chance.choice([1, 1, 1, 2, 5, 20])):
                    change(run, chance)
                    if chance.random() < 0.1:
                        run("SAVEPOINT s")
                        change(run, chance)
                        run("ROLLBACK TO s" if chance.random() < 0.5 else "RELEASE s")
                run("ROLLBACK" if chance.random() < 0.05 else "COMMIT")
                if chance.random() < 0.05:
                    read("COMMIT" if reader.in_transaction else "BEGIN")
                    if reader.in_transaction:
                        read("SELECT count(*) FROM t")
            if reader.in_transaction:
                read("COMMIT")
            assert run("PRAGMA integrity_check") == [("ok",)]
            reader.close()
            db.close()


main()
