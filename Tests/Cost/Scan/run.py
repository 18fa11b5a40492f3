#!/usr/bin/python3
"""Scans a table of MEGABYTES on each engine with at most LIMIT megabytes of memory of the process's own.

    run.py [--megabytes 200] [--limit 200] [--scans 3] [--folder FOLDER] EXTENSION [ENGINE | LIBRARY.so=ENGINE] ...

The limit is RLIMIT_DATA: the kernel refuses more private memory (heap, stacks, private maps). Pages of a file that an engine maps are
shared with the page cache, which takes them back when it needs room; they do not count. --scans 2 leaves out the scan in the order of
an index, which reads the table's pages at random. A table is made without the limit, then each
scan runs in a process of its own. Fails where a scan fails, or gives another sum than the rows that were put.
"""
import os, resource, shutil, sqlite3, subprocess, sys, tempfile, time

ROW = 1000  # bytes of a body
BLOCK = os.urandom(1 << 20).hex()
SCANS = {
    "table": ("SELECT count(*), sum(length(body)), sum(id) FROM page", None),
    "in a write transaction": ("SELECT count(*), sum(length(body)), sum(id) FROM page", "UPDATE page SET mix = mix WHERE id = 1"),
    "index, each row looked up": ("SELECT count(*), sum(length(body)), sum(id) FROM (SELECT id, body FROM page ORDER BY mix)", None),
}


def connect(extension, library, engine, path, options):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(extension)
    if library:
        connection.execute("SELECT rootstock_load_engine(?)", [library])
    connection.execute("SELECT rootstock_open(?, ?, ?)", [path, engine, options]).fetchall()
    return connection


def make(connection, rows):
    execute = lambda sql, *values: connection.execute(connection.execute("SELECT rootstock_rewrite(?)", [sql]).fetchone()[0] or sql, values)
    execute("CREATE TABLE page (id INTEGER PRIMARY KEY, mix INT, body TEXT)")
    for start in range(0, rows, 20000):
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO page VALUES (?, ?, ?)",
            ((i + 1, i * 2654435761 % (1 << 32), BLOCK[i * 7919 % (len(BLOCK) - ROW):][:ROW]) for i in range(start, min(start + 20000, rows))))
        connection.execute("COMMIT")
    execute("CREATE INDEX by_mix ON page (mix)")


def memory():
    fields = dict(line.split(":", 1) for line in open("/proc/self/status") if line.startswith(("RssAnon", "VmHWM", "VmData")))
    return {name: int(text.split()[0]) >> 10 for name, text in fields.items()}


def scan(connection, name, rows):
    """Returns the greatest anonymous memory that was seen while it ran, in megabytes."""
    sql, first = SCANS[name]
    greatest = [0]

    def look():
        greatest[0] = max(greatest[0], memory()["RssAnon"])
        return 0

    if first:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(first)
    connection.set_progress_handler(look, 100000)
    found = connection.execute(sql).fetchone()
    look()
    if first:
        connection.execute("ROLLBACK")
    assert found == (rows, rows * ROW, rows * (rows + 1) // 2), f"other rows: {found}"
    return greatest[0]


def main():
    words, megabytes, limit, scans, folder = sys.argv[1:], 200, 200, len(SCANS), None
    while words and words[0].startswith("--"):
        option, value = words.pop(0), words.pop(0)
        if option == "--megabytes": megabytes = int(value)
        elif option == "--limit": limit = int(value)
        elif option == "--scans": scans = int(value)
        elif option == "--folder": folder = value
        else: sys.exit(f"scan: no option {option}")
    if not words:
        sys.exit(__doc__)
    extension, engines = os.path.abspath(words[0]), words[1:] or ["lmdb", "sqlite-btree"]
    rows = (megabytes << 20) // ROW
    if os.environ.get("ROOTSTOCK_SCAN"):  # a process of the ones below
        name, library, engine, path = os.environ["ROOTSTOCK_SCAN"].split("\t")
        connection = connect(extension, library or None, engine, path, '{"durability":"off"}' if name == "make" else "{}")
        if name == "make":
            make(connection, rows)
        else:
            resource.setrlimit(resource.RLIMIT_DATA, (limit << 20, limit << 20))
            began = time.monotonic()
            anonymous = scan(connection, name, rows)
            print(f"{anonymous}\t{memory()['VmHWM']}\t{time.monotonic() - began:.1f}")
        connection.close()
        return 0
    failed = 0
    print(f"{rows:,} rows of {ROW} bytes, {megabytes} MB; at most {limit} MB of private memory; MB at most while it ran:", flush=True)
    print(f"{'engine':<16}{'scan':<28}{'anonymous':>10}{'resident':>10}{'seconds':>9}", flush=True)
    for word in engines:
        library, _, engine = word.rpartition("=")
        work = tempfile.mkdtemp(dir=folder, prefix="rootstock-scan-")
        try:
            for name in ["make"] + list(SCANS)[:scans]:
                state = "\t".join([name, os.path.abspath(library) if library else "", engine, os.path.join(work, "store")])
                run = subprocess.run([sys.executable, __file__, "--megabytes", str(megabytes), "--limit", str(limit), extension, word],
                                     env={**os.environ, "ROOTSTOCK_SCAN": state}, capture_output=True, text=True)
                if run.returncode != 0:
                    failed += 1
                    print(f"{engine:<16}{name:<28}failed: {run.stderr.strip().splitlines()[-1] if run.stderr else run.returncode}", flush=True)
                    if name == "make": break
                elif name != "make":
                    anonymous, resident, seconds = run.stdout.strip().split("\t")
                    print(f"{engine:<16}{name:<28}{anonymous:>10}{resident:>10}{seconds:>9}", flush=True)
        finally:
            shutil.rmtree(work)
    return 1 if failed else 0


sys.exit(main())
