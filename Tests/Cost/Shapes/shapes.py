#!/usr/bin/python3
"""shapes.py - shapes of queries on small tables, timed on SQLite's own tables and on a store.

Usage: Tests/Cost/Shapes/shapes.py INTERPOSER [ENGINE]

Prints a row a shape: ms natively, ms on the store, how many times that is; the processor time of the best of three. Ends with status 1 if rows
differ. The table in Vendor-notes/performance.md is this one. INTERPOSER is build/librootstock_interpose.so.
"""
import os
import sqlite3
import sys
import tempfile
import time


def numbers(last):
    return f"WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {last}) "


SETUP = [
    "CREATE TABLE t (k TEXT PRIMARY KEY, i INT, v)",
    numbers(19999) + "INSERT INTO t SELECT 'k' || i, i, i * 7 % 1000 FROM n",
    "INSERT INTO t VALUES ('77777', 1, 1)",
    "CREATE TABLE o (i INT, f REAL, n)",
    numbers(999) + "INSERT INTO o SELECT i * 20, i * 1.5, i FROM n",
    "CREATE TABLE u (k, i)",
    "CREATE INDEX uk ON u (k)",
    "INSERT INTO u SELECT k, i FROM t",
    "CREATE TABLE r (a INT, b INT)",
    "CREATE INDEX rab ON r (a, b)",
    numbers(1999) + "INSERT INTO r SELECT i % 50, i FROM n",
    "CREATE TABLE x (b, e)",
    "CREATE INDEX xb ON x (b, e)",
    numbers(1999) + "INSERT INTO x SELECT i, i % 37 FROM n",
    "CREATE TABLE p (id INTEGER PRIMARY KEY, k INT, v INT)",
    "CREATE INDEX pk ON p (k DESC, v)",
    numbers(49999) + "INSERT INTO p (k, v) SELECT i % 1000, i FROM n",
    "CREATE TABLE t2 (b INT, g INT)",
    numbers(999) + "INSERT INTO t2 SELECT i, NULL FROM n",
    "CREATE TABLE e0 (a, b, c)",
    "CREATE TABLE n1 (a INT, b INT)",
    "CREATE TABLE n2 (b INT, c INT)",
    "CREATE TABLE n3 (c INT, d INT)",
    "CREATE TABLE n4 (d INT, a INT)",
    numbers(799) + "INSERT INTO n1 SELECT i, i % 10 FROM n",
    "INSERT INTO n2 SELECT a, b FROM n1",
    "INSERT INTO n3 SELECT a, b FROM n1",
    "CREATE TABLE ev (id INTEGER PRIMARY KEY, who TEXT, made TEXT, n INT, gone TEXT, kind TEXT)",
    "CREATE INDEX evm ON ev (made)",
    "CREATE INDEX evw ON ev (who, made)",
    "CREATE INDEX evn ON ev (n)",
    "CREATE INDEX evg ON ev (gone)",
    "CREATE INDEX evk ON ev (kind)",
    numbers(29999) + "INSERT INTO ev SELECT i, 'u' || (i % 20), datetime('2020-01-01', (i * 37 % 30000) || ' minutes'), "
    "CASE WHEN i % 3 THEN i * 7 % 1000 END, CASE WHEN i % 50 = 0 THEN 'gone' END, 'k' || i % 3 FROM n",
    "ANALYZE",  # what follows has no statistics
    "CREATE TABLE post (id INTEGER PRIMARY KEY, status TEXT, x INT)",
    "CREATE INDEX post_status ON post (status)",
    "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
    "CREATE TABLE tagged (id INTEGER PRIMARY KEY, post INT, tag INT, UNIQUE (post, tag))",
    "CREATE INDEX tagged_post ON tagged (post)",
    "CREATE INDEX tagged_tag ON tagged (tag)",
    numbers(19999) + "INSERT INTO post SELECT i, 's' || i % 3, i * 7919 % 20011 FROM n",
    numbers(499) + "INSERT INTO tag SELECT i, 'tag' || i FROM n",
    numbers(39999) + "INSERT INTO tagged SELECT i, i % 20000, (i * 7919 / 100) % 500 + i / 20000 FROM n",
]

SHAPES = [
    ("text key = integer", "SELECT * FROM t WHERE k = 77777", ()),
    ("the same, parameter", "SELECT * FROM t WHERE k = ?", (77777,)),
    ("text key, join with INT", "SELECT count(*) FROM o, t WHERE t.k = o.i", ()),
    ("text key < integer", "SELECT count(*) FROM t WHERE k < 5", ()),
    ("text key BETWEEN integers", "SELECT count(*) FROM t WHERE k BETWEEN 70000 AND 80000", ()),
    ("text key IN integers", "SELECT count(*) FROM t WHERE k IN (1, 2, 3, 77777)", ()),
    ("untyped key = integer", "SELECT * FROM u WHERE k = 77777", ()),
    ("the same, parameter", "SELECT * FROM u WHERE k = ?", (77777,)),
    ("untyped key, join with INT", "SELECT count(*) FROM o JOIN u ON u.k = o.i", ()),
    ("max below an expression", "SELECT (SELECT max(k) FROM t WHERE k < o.i + 0) FROM o", ()),
    ("integer key, join with REAL", "SELECT count(*) FROM o JOIN p ON p.k = o.f", ()),
    ("integer key = text", "SELECT count(*) FROM p WHERE id = '500'", ()),
    ("row IN", "SELECT count(*) FROM x WHERE (x.b, x.e) IN (SELECT b, a FROM r)", ()),
    ("row IN, IS TRUE", "SELECT count(*) FROM x WHERE ((x.b, x.e) IN (SELECT b, a FROM r)) IS TRUE", ()),
    ("page by rows, ascending", "SELECT * FROM p WHERE (k, v) > (?, ?) ORDER BY k, v LIMIT 1", (500, 100)),
    ("page by rows, descending", "SELECT * FROM p WHERE (k, v) < (?, ?) ORDER BY k DESC, v DESC LIMIT 1", (500, 100)),
    ("LEFT JOIN, then none", "SELECT count(*) FROM r x LEFT JOIN t2 y ON x.b IS y.g JOIN t2 z ON z.g", ()),
    ("LEFT JOIN, comparison", "SELECT count(*) FROM p LEFT JOIN t ON t.i < p.v WHERE t.v = 5 AND t.i = p.id AND t.k = 'k715'", ()),
    ("LEFT JOIN before a join", "SELECT count(*), count(y.v) FROM r x LEFT JOIN p y ON y.id = x.b JOIN t z ON z.i = x.a WHERE z.k = 'k7'", ()),
    ("LEFT JOIN of a subquery", "SELECT l.id, x.a FROM (SELECT p.id, r.b FROM p LEFT JOIN r ON r.a = p.v) l JOIN r x ON x.b = l.id WHERE x.a = 7 ORDER BY l.id, x.a", ()),
    ("least key of a join", "SELECT min(x.id) FROM p x JOIN o y ON y.i = x.k", ()),
    ("sort by two tables, LIMIT", "SELECT p.id, t.v FROM p JOIN t ON t.k = 'k' || p.v ORDER BY p.k, t.v, p.id LIMIT 20", ()),
    ("the same, parameters", "SELECT p.id, t.v FROM p JOIN t ON t.k = ? || p.v ORDER BY p.k, t.v, p.id LIMIT ? OFFSET ?", ("k", 20, 100)),
    ("empty subquery in FROM", "SELECT count(*) FROM t, (SELECT a FROM e0) JOIN u", ()),
    ("NATURAL LEFT JOIN of four", "SELECT count(*) FROM n1 NATURAL LEFT JOIN n2 NATURAL LEFT JOIN n3 NATURAL LEFT JOIN n4", ()),
    ("texts below a parameter", "SELECT * FROM ev WHERE made < ? ORDER BY made DESC LIMIT 20", ("2020-01-05 00:00:00",)),
    ("texts between literals", "SELECT count(*) FROM ev WHERE made BETWEEN '2020-01-05' AND '2020-01-06'", ()),
    ("page of one's own", "SELECT * FROM ev WHERE who = ? AND (made, id) < (?, ?) ORDER BY made DESC, id DESC LIMIT 20", ("u5", "2020-01-05", 5)),
    ("page by rowid of one's own", "SELECT * FROM ev WHERE kind = ? AND id < ? ORDER BY id DESC LIMIT 20", ("k1", 10000)),
    ("sort of one table, LIMIT", "SELECT * FROM ev ORDER BY made DESC, who LIMIT 20", ()),
    ("compound, LIMIT", "SELECT id, made, who FROM ev UNION SELECT v, k, id FROM p ORDER BY made DESC LIMIT 20", ()),
    ("compound by two columns, LIMIT", "SELECT id, made FROM ev UNION ALL SELECT id, k FROM p ORDER BY made DESC, id LIMIT 20", ()),
    ("IN list, sort, LIMIT", "SELECT * FROM ev WHERE who IN ('u1', 'u2', 'u3') ORDER BY made DESC LIMIT 20", ()),
    ("NULLS LAST, LIMIT", "SELECT * FROM ev ORDER BY n NULLS LAST LIMIT 20", ()),
    ("NULLS FIRST of one's own, LIMIT", "SELECT * FROM ev WHERE who = ? ORDER BY made DESC NULLS FIRST, id LIMIT 20", ("u5",)),
    ("least of a column with NULLs", "SELECT min(n) FROM ev", ()),
    ("the same of a join", "SELECT min(ev.n) FROM ev JOIN p ON p.id = ev.id", ()),
    ("IS NOT NULL, counted", "SELECT count(*) FROM ev WHERE gone IS NOT NULL", ()),
    ("count(*) under a name", 'SELECT count(*) AS "__count" FROM ev', ()),
    ("DISTINCT of few values", "SELECT DISTINCT kind FROM ev", ()),
    ("DISTINCT of few, counted", "SELECT count(*) FROM (SELECT DISTINCT kind FROM ev)", ()),
    ("bound of a joined key", "SELECT sum(post.x), sum(tagged.id) FROM tagged JOIN post ON post.id = tagged.post JOIN tag ON tag.id = tagged.tag "
     "WHERE tag.id < ?", (8,)),
]


def best(db, text, values):
    least = None
    for _ in range(3):
        start = time.process_time()
        rows = db.execute(text, values).fetchall()
        taken = time.process_time() - start
        least = taken if least is None else min(least, taken)
        if taken > 1:
            break
    return least * 1e3, rows


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    interposer = os.path.abspath(sys.argv[1])
    if os.environ.get("LD_PRELOAD") != interposer:
        os.environ["LD_PRELOAD"] = interposer
        os.execv("/usr/bin/python3", ["/usr/bin/python3", os.path.abspath(__file__), interposer] + sys.argv[2:])
    engine, differ = sys.argv[2] if len(sys.argv) > 2 else "lmdb", 0
    with tempfile.TemporaryDirectory(prefix="rootstock-shapes-") as folder:
        native = sqlite3.connect(":memory:", isolation_level=None)
        store = sqlite3.connect(f"file:{folder}/store.db?engine={engine}&durability=off", uri=True, isolation_level=None)
        for statement in SETUP:
            native.execute(statement)
            store.execute(statement)
        with open(f"{folder}/store.db", "rb") as file:
            if file.read(15) == b"SQLite format 3":
                sys.exit(f"shapes: {interposer} is not loaded, both sides are native")
        print("| shape | native ms | store ms | times |\n|---|---|---|---|")
        for name, text, values in SHAPES:
            (one, rows), (other, found) = best(native, text, values), best(store, text, values)
            alike = rows == found
            differ += not alike
            print(f"| {name} | {one:.3f} | {other:.3f} | {other / one:.1f} |{'' if alike else ' OTHER ROWS'}")
        native.close()
        store.close()
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
