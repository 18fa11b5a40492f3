#!/usr/bin/python3
"""run.py - transactions of several processes that append to lists and read them, while others open, close and are killed.

Usage: Tests/Concurrency/ListAppend/run.py EXTENSION SECONDS [SEED]

Four processes work on one store. A transaction appends to some of a few lists, or reads them; each list stands twice, as
a row's text and as rows of a table with an index, and both must be alike. Openers open the store, read and close, and are
killed at any moment of that; workers are killed as well. Run by root on engine lmdb, a fifth process reads that may not
write the store, nor LMDB's lock file. In the end check.py says whether there is an order of the
transactions that explains what each has read. Durability classes take turns, and begins of all three kinds. Ends with
status 1, and leaves the folder, when there is none.
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import check  # noqa: E402

WORKERS, OPENERS, LISTS, WINDOW = 4, 2, 6, 0.4
# Of engines on which several write at once (Tests/Clients/Postgres/writers.py): the library, where rowids are in the order
# of commits, and where what only reads has a place in it.
ENGINE, LIBRARY, IN_ORDER = "lmdb", None, True
BUSY = {5, 6, 261, 517, 773}  # SQLITE_BUSY and its kin, SQLITE_LOCKED


class Store:
    def __init__(self, path, durability):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.enable_load_extension(True)
        self.db.load_extension(EXTENSION)
        self.texts = {}
        if LIBRARY:
            self.db.execute("SELECT rootstock_load_engine(?)", (LIBRARY,)).fetchall()
        self.db.execute("SELECT rootstock_open(?, ?, ?)", (path, ENGINE, json.dumps({"durability": durability}))).fetchall()
        self.db.execute("PRAGMA busy_timeout = 2000")

    def run(self, sql, *values):
        if sql not in self.texts:
            text = self.db.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0]
            self.texts[sql] = text.decode() if isinstance(text, bytes) else text
        return self.db.execute(self.texts[sql], values).fetchall()

    def read(self, key):
        text = self.run("SELECT items FROM list WHERE key = ?", key)
        rows = self.run("SELECT value FROM item WHERE key = ? ORDER BY id", key)
        values = [int(part) for part in text[0][0].split(",")] if text else []
        if not IN_ORDER:
            rows.sort(key=lambda row: values.index(row[0]) if row[0] in values else -1)
        if values != [row[0] for row in rows]:
            raise AssertionError(f"list {key} is {values} in its row and {[row[0] for row in rows]} in its rows")
        return values

    def append(self, key, value):
        self.run("INSERT INTO list VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET items = items || ',' || excluded.items",
                 key, str(value))
        self.run("INSERT INTO item (key, value) VALUES (?, ?)", key, value)


NOBODY = 65534
# What one is told who may only read, of a commit whose writer was killed: nobody has put that in order yet.
UNFINISHED = "its last commit is not whole"


def work(path, durability, log, worker, seed, start, until, only_reads=False):
    """A worker's life: what it does stands in the log before it asks for the commit, and the answer behind it."""
    chance = random.Random(seed)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    if only_reads:
        loaded = sqlite3.connect(":memory:")  # whose file may not be reached afterwards
        loaded.enable_load_extension(True)
        loaded.load_extension(EXTENSION)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    store, count = None, 0
    while time.monotonic() < until:
        if store is None or chance.random() < 0.003:
            if store is not None:
                store.db.close()
            try:
                store = Store(path, durability)
            except sqlite3.OperationalError as error:
                store = None
                if only_reads and (getattr(error, "sqlite_errorcode", 5) in BUSY or UNFINISHED in str(error)
                                   or "broke its last commit" in str(error)):
                    continue
                raise
        window = int((time.monotonic() - start) / WINDOW)
        ops, reads_only = [], only_reads or chance.random() < 0.4
        begin = "BEGIN" if reads_only else chance.choice(["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
        begun, result = time.monotonic(), "failed"
        try:
            store.run(begin)
            for _ in range(chance.randint(1, 5)):
                key = window * LISTS + chance.randrange(LISTS)
                if reads_only or chance.random() < 0.5:
                    ops.append(["r", key, store.read(key)])
                else:
                    count += 1
                    value = worker * 1000000 + count
                    ops.append(["a", key, value])
                    store.append(key, value)
                if chance.random() < 0.1:
                    time.sleep(chance.random() * 0.003)
            one = {"ops": ops, "begun": begun}
            if chance.random() < 0.05:
                store.run("ROLLBACK")
            else:
                os.write(out, (json.dumps({"asks": one}) + "\n").encode())
                store.run("COMMIT")
                result = "ok"
        except sqlite3.OperationalError as error:
            known = "locked" in str(error) or (only_reads and UNFINISHED in str(error))
            if getattr(error, "sqlite_errorcode", 5) not in BUSY and not known:
                os.write(out, (json.dumps({"fault": f"{type(error).__name__}: {error}"}) + "\n").encode())
                os._exit(1)
            if store.db.in_transaction:
                store.run("ROLLBACK")
        except (AssertionError, sqlite3.Error) as error:
            os.write(out, (json.dumps({"fault": f"{type(error).__name__}: {error}"}) + "\n").encode())
            os._exit(1)
        one = {"ops": ops, "begun": begun, "ended": time.monotonic(), "result": result}
        os.write(out, (json.dumps({"done": one}) + "\n").encode())
    os._exit(0)


def open_and_close(path, durability, seed):
    chance = random.Random(seed)
    while True:
        store = Store(path, durability)
        if chance.random() < 0.7:
            store.run("SELECT count(*), max(id) FROM item")
        store.db.close()


def start(function, *arguments):
    process = os.fork()
    if process == 0:
        try:
            function(*arguments)
        finally:
            os._exit(3)
    return process


def history_of(logs):
    history, faults = [], []
    for log in logs:
        asked = None
        for line in open(log, "rb") if os.path.exists(log) else []:
            if not line.endswith(b"\n"):
                continue
            line = json.loads(line)
            if "fault" in line:
                faults.append(f"{os.path.basename(log)}: {line['fault']}")
            elif "asks" in line:
                asked = line["asks"]
            else:
                history.append(line["done"])
                asked = None
        if asked is not None:
            history.append({**asked, "ended": float("inf"), "result": "unknown"})
    return history, faults


def run(folder, durability, seconds, seed):
    """One store for so long. Its transactions, the kills, and the faults."""
    chance = random.Random(seed)
    path = os.path.join(folder, "store")
    store = Store(path, durability)
    store.run("CREATE TABLE list (key INTEGER PRIMARY KEY, items TEXT NOT NULL)")
    store.run("CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, key INT NOT NULL, value INT NOT NULL)")
    store.run("CREATE INDEX item_key ON item (key)")
    store.db.close()
    begun = time.monotonic()
    until = begun + seconds
    logs, workers, openers, kills = [], [], [], [0, 0]
    onlooker = onlooking = None

    def start_worker(only_reads=False):
        logs.append(os.path.join(folder, f"log{len(logs)}"))
        workers.append(start(work, path, durability, logs[-1], len(logs), seed * 1000 + len(logs), begun, until, only_reads))

    def kill(processes, which):
        process = processes.pop(chance.randrange(len(processes)))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        kills[which] += 1

    for _ in range(WORKERS):
        start_worker()
    if os.geteuid() == 0 and ENGINE == "lmdb":
        os.chmod(folder, 0o755)
        start_worker(only_reads=True)
        onlooker, onlooking = workers.pop(), logs[-1]
    while time.monotonic() < until - 0.3:
        while len(openers) < OPENERS:
            openers.append(start(open_and_close, path, durability, chance.random()))
        time.sleep(chance.random() * 0.06)
        kill(openers, 0)
        if chance.random() < 0.1:
            kill(workers, 1)
            start_worker()
    while openers:
        kill(openers, 0)
    faults = []
    for process in workers + ([onlooker] if onlooker else []):
        _, status = os.waitpid(process, 0)
        if status != 0:
            faults.append(f"a worker ended with status {status}")
    history, told = history_of(logs)
    if onlooker and not any(one["result"] == "ok" for one in history_of([onlooking])[0]):
        faults.append("who may only read has read nothing")
    store = Store(path, durability)
    final = {key: store.read(key) for (key,) in store.run("SELECT key FROM list")}
    integrity = store.run("PRAGMA integrity_check")
    if integrity != [("ok",)]:
        faults.append(f"integrity_check: {integrity}")
    store.db.close()
    return history, kills, faults + told + check.faults(history, final, readers=IN_ORDER)


def main():
    global EXTENSION
    planted = check.self_test()
    EXTENSION, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
    classes = ["full", "normal", "off"]
    each = max(2.0, min(30.0, seconds / len(classes)))
    end, turn, transactions, opened, worked = time.monotonic() + seconds, 0, 0, 0, 0
    while turn == 0 or time.monotonic() + each / 2 < end:
        folder = tempfile.mkdtemp()
        history, kills, faults = run(folder, classes[turn % len(classes)], each, seed + turn)
        transactions += sum(one["result"] == "ok" for one in history)
        opened, worked = opened + kills[0], worked + kills[1]
        if faults:
            print(f"list-append: seed {seed + turn}, class {classes[turn % len(classes)]}, in {folder}:")
            print("\n".join(faults[:20]))
            return 1
        shutil.rmtree(folder)
        turn += 1
    print(f"list-append: {transactions} transactions in {turn} stores, {opened} openers and {worked} workers killed: "
          f"each has an order (the checker sees {planted} planted faults; seed {seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
