"""FTS5, FTS4 and R-Tree in an attached store: beside a store, and beside a native database. Every answer is printed;
natively the same program answers the same."""
import os
import random
import sqlite3

FTS5 = """
CREATE TABLE local(k, v)
INSERT INTO local VALUES (1,'world'),(10,'hello')
CREATE TABLE x.t(id INTEGER PRIMARY KEY, body TEXT)
CREATE VIRTUAL TABLE main.f USING fts5(a)
INSERT INTO main.f VALUES ('main main'),('hello main')
CREATE VIRTUAL TABLE x.f USING fts5(body, content='t', content_rowid='id', tokenize='porter unicode61')
CREATE TRIGGER x.ti AFTER INSERT ON t BEGIN INSERT INTO f(rowid,body) VALUES (new.id,new.body); END
CREATE TRIGGER x.td AFTER DELETE ON t BEGIN INSERT INTO f(f,rowid,body) VALUES ('delete',old.id,old.body); END
CREATE TRIGGER x.tu AFTER UPDATE ON t BEGIN INSERT INTO f(f,rowid,body) VALUES ('delete',old.id,old.body); INSERT INTO f(rowid,body) VALUES (new.id,new.body); END
INSERT INTO x.t(body) VALUES ('hello worlds'),('running dogs'),('a dog ran')
SELECT changes(), last_insert_rowid()
SELECT rowid, body FROM x.f WHERE x.f MATCH 'dog' ORDER BY rank
SELECT rowid, body FROM x.f WHERE f MATCH 'dog' ORDER BY rank
SELECT rowid FROM f WHERE f MATCH 'main'
SELECT rowid, highlight(f,0,'[',']') FROM main.f WHERE f MATCH 'main' ORDER BY rank
SELECT x.f.rowid, l.v FROM x.f JOIN local l ON l.k=x.f.rowid WHERE x.f.body MATCH 'hello'
SELECT l.v, x.f.rowid FROM local l JOIN x.f ON x.f.f MATCH l.v
SELECT l.v, z.rowid FROM local l, x.f(l.v) z
SELECT m.rowid, y.rowid FROM main.f m JOIN x.f y ON y.rowid=m.rowid WHERE y.f MATCH 'dog'
UPDATE x.t SET body='big cats' WHERE id=2
SELECT rowid, body, rank FROM x.f('cat OR dog') ORDER BY rank
DELETE FROM x.t WHERE id=3
SELECT count(*) FROM x.f('dog')
SELECT count(*) FROM x.f
BEGIN
INSERT INTO x.t(body) VALUES ('savepoint one')
SAVEPOINT a
INSERT INTO x.t(body) VALUES ('savepoint two')
SELECT rowid FROM x.f('savepoint')
ROLLBACK TO a
SELECT rowid FROM x.f('savepoint')
RELEASE a
ROLLBACK
SELECT rowid FROM x.f('savepoint')
BEGIN
INSERT INTO x.t(body) VALUES ('savepoint one')
SAVEPOINT a
INSERT INTO x.t(body) VALUES ('savepoint two')
ROLLBACK TO a
COMMIT
SELECT rowid FROM x.f('savepoint')
INSERT INTO x.f(f) VALUES ('integrity-check')
INSERT INTO x.f(f) VALUES ('rebuild')
INSERT INTO x.f(f) VALUES ('optimize')
INSERT INTO x.f(f) VALUES ('integrity-check')
INSERT INTO x.f(f,rank) VALUES ('merge',16)
INSERT INTO x.f(f,rank) VALUES ('rank','bm25(2.0)')
SELECT rowid, rank FROM x.f('savepoint') ORDER BY rank
ALTER TABLE x.f RENAME TO h
SELECT rowid FROM x.h('savepoint')
SELECT rowid, highlight(h,0,'[',']') FROM x.h WHERE h MATCH 'savepoint'
SELECT name FROM x.sqlite_master ORDER BY name
DROP TRIGGER x.ti
DROP TRIGGER x.td
DROP TRIGGER x.tu
DROP TABLE x.h
SELECT name FROM x.sqlite_master ORDER BY name
CREATE VIRTUAL TABLE x.f USING fts5(a, prefix='2', detail=column)
CREATE VIRTUAL TABLE x.v USING fts5vocab('f','row')
INSERT INTO x.f SELECT v FROM local
INSERT INTO x.f SELECT 'x'||a FROM main.f
SELECT * FROM x.v
SELECT rowid,* FROM x.f WHERE f = 'hel*'
SELECT rowid,* FROM x.f WHERE f IN ('hello','world')
SELECT rowid,* FROM x.f WHERE rowid=2
SELECT rowid,* FROM x.f WHERE a LIKE '%o%'
UPDATE x.f SET a='zebra' WHERE rowid=1
DELETE FROM x.f WHERE rowid=2
SELECT rowid,* FROM x.f ORDER BY rowid DESC
DELETE FROM x.f WHERE f MATCH 'zebra'
UPDATE x.f SET a=a||(SELECT v FROM local WHERE k=1) WHERE rowid IN (SELECT k+2 FROM local)
SELECT * FROM x.v
INSERT INTO x.f(rowid,a) VALUES (3,'dup')
REPLACE INTO x.f(rowid,a) VALUES (3,'dup')
INSERT OR IGNORE INTO x.f(rowid,a) VALUES (3,'dup2')
SELECT rowid,* FROM x.f
SELECT rowid FROM x.f WHERE f MATCH 'bad syntax AND'
SELECT rowid FROM x.f WHERE f MATCH 'nosuch:x'
SELECT bm25(f) FROM x.f
SELECT nosuch(f) FROM x.f
SELECT count(*) FROM x.f WHERE f MATCH 'dup' OR rowid=4
DELETE FROM x.f
SELECT count(*) FROM x.f_docsize
CREATE VIEW x.w AS SELECT rowid r, a FROM f WHERE f MATCH 'alpha'
INSERT INTO x.f VALUES ('alpha beta')
SELECT * FROM x.w
CREATE TABLE x.o AS SELECT rowid r, snippet(f,0,'<','>','',2) s FROM f WHERE f MATCH 'beta'
INSERT INTO x.o SELECT rowid, bm25(f) FROM x.f('beta')
SELECT * FROM x.o
PRAGMA x.integrity_check
VACUUM x
SELECT rowid, a FROM x.f('alpha')
VACUUM x INTO 'copy.db'
ATTACH 'copy.db' AS c
SELECT rowid, a FROM c.f('alpha')
DETACH c
ANALYZE x
DETACH x
SELECT * FROM f
ATTACH 'x.db' AS x
SELECT * FROM x.f('alpha')
INSERT INTO x.f VALUES ('alpha beta')
SELECT * FROM x.w
DROP TABLE x.f
DROP TABLE x.v
SELECT name FROM x.sqlite_master ORDER BY name
"""

OTHERS = """
CREATE TABLE l(a,b)
INSERT INTO l VALUES (1,3),(2,100)
CREATE VIRTUAL TABLE x.r USING rtree(id,x0,x1,y0,y1,+note)
INSERT INTO x.r VALUES (1,0,1,0,1,'one'),(2,5,6,5,6,'two'),(3,0,10,0,10,'three')
INSERT INTO x.r SELECT b,b,b+1,b,b+1,'n'||a FROM l WHERE b>50
SELECT * FROM x.r WHERE x0>2 AND y1<50
SELECT * FROM x.r WHERE id=3
SELECT * FROM x.r, l WHERE id=b
SELECT * FROM l, x.r WHERE x0<=b AND x1>=b
UPDATE x.r SET x1=7, note='changed' WHERE id=2
DELETE FROM x.r WHERE x0=0 AND x1=1
SELECT * FROM x.r ORDER BY id
INSERT INTO x.r VALUES (2,5,6,5,6,'two')
INSERT INTO x.r VALUES (9,7,6,5,6,'bad')
SELECT rtreecheck('x','r')
BEGIN
INSERT INTO x.r VALUES (20,1,2,3,4,'')
ROLLBACK
SELECT count(*) FROM x.r
ALTER TABLE x.r RENAME TO q
SELECT count(*) FROM x.q
SELECT name FROM x.sqlite_master
CREATE VIRTUAL TABLE x.i USING rtree_i32(id,a,b)
INSERT INTO x.i VALUES (1,'3',4.7)
SELECT * FROM x.i WHERE a='3'
SELECT typeof(a) FROM x.i WHERE a<=3.5
CREATE VIRTUAL TABLE x.g USING fts4(a,b,tokenize=porter)
INSERT INTO x.g(docid,a,b) VALUES (5,'red blue','x'),(6,'blue','running')
INSERT INTO x.g(a) SELECT 'red '||a FROM l
SELECT docid,a,snippet(g),hex(matchinfo(g)),offsets(g) FROM x.g WHERE g MATCH 'blue'
SELECT docid FROM x.g WHERE b MATCH 'run'
SELECT docid FROM x.g WHERE docid=6
SELECT docid FROM x.g, l WHERE docid=a+4
CREATE VIRTUAL TABLE x.ga USING fts4aux(g)
SELECT term,col,documents FROM x.ga
INSERT INTO x.g(g) VALUES ('optimize')
INSERT INTO x.g(g) VALUES ('integrity-check')
INSERT INTO x.g(g) VALUES ('rebuild')
SELECT count(*) FROM x.g('red')
UPDATE x.g SET a='green' WHERE docid=5
DELETE FROM x.g WHERE docid=6
SELECT docid,* FROM x.g
SELECT g1.docid,g2.docid FROM x.g g1, x.g g2 WHERE g1.docid=g2.docid AND g1.g MATCH 'red'
SELECT optimize(g) FROM x.g LIMIT 1
DROP TABLE x.g
DROP TABLE x.q
SELECT name FROM x.sqlite_master
"""


def run(db, sql):
    try:
        print(sql, "->", db.execute(sql).fetchall(), db.in_transaction)
    except sqlite3.Error as error:
        print(sql, "->", error.sqlite_errorname, error)


def tell(main, statements):
    db = sqlite3.connect(main, isolation_level=None, uri=True)
    run(db, "ATTACH 'x.db' AS x")
    for sql in statements.strip().split("\n"):
        run(db, sql)
    for path in ["copy.db", "copy.db-lock"]:
        if os.path.exists(path):
            os.remove(path)
    for name, in db.execute("SELECT name FROM x.sqlite_master WHERE type IN ('table','view') AND name NOT LIKE 'sqlite_%' ORDER BY name").fetchall():
        run(db, f"DROP {'VIEW' if name == 'w' else 'TABLE'} IF EXISTS x.{name}")
    run(db, "DETACH x")
    files = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{number}")]
    print("open:", [os.path.basename(name) for name in files if "x.db" in name])
    db.close()


WORDS = ["ab", "abc", "bcd", "cat", "dog", "eel"]


def text(choose):
    return " ".join(choose.choice(WORDS) for _ in range(choose.randint(0, 6)))


def change(choose):
    row, words = choose.randint(1, 12), text(choose)
    return choose.choice([
        f"INSERT INTO x.{{t}}(rowid,a,b) VALUES ({row},'{words}','{text(choose)}')",
        f"INSERT OR REPLACE INTO x.{{t}}(rowid,a,b) VALUES ({row},'{words}','{text(choose)}')",
        f"INSERT INTO x.{{t}}(a) VALUES ('{words}'),('{text(choose)}')",
        f"INSERT INTO x.{{t}}(a,b) SELECT a, '{words}' FROM m WHERE id<{row}",
        f"INSERT INTO x.{{t}}(a,b) SELECT b, a FROM x.{{t}} WHERE rowid>{row}",
        f"UPDATE x.{{t}} SET a='{words}' WHERE rowid={row}",
        f"UPDATE x.{{t}} SET b=a WHERE rowid IN (SELECT id FROM m WHERE id>{row})",
        f"DELETE FROM x.{{t}} WHERE rowid>{row + 4}",
        f"DELETE FROM x.{{t}} WHERE rowid={row}",
        f"INSERT INTO m VALUES ({row},'{words}')",
        "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s",
    ])


def check(db, kind):
    run(db, "SELECT rowid,a,b FROM x.f")
    for query in [WORDS[0], "cat OR dog", "a:eel", "ab*", '"ab abc"']:
        run(db, f"SELECT rowid, a FROM x.f WHERE f MATCH '{query}' ORDER BY {'rank, ' if kind == 'fts5' else ''}rowid")
    for function in ["highlight(f,0,'[',']')", "bm25(f)", "snippet(f)"] if kind == "fts5" else ["snippet(f)", "hex(matchinfo(f))", "offsets(f)"]:
        for order in ["b, rowid", "a DESC, rowid", "rowid DESC", "rowid LIMIT 2"] + (["rank, a, rowid"] if kind == "fts5" else ["docid"]):
            run(db, f"SELECT rowid, {function} FROM x.f WHERE f MATCH 'ab OR cat' ORDER BY {order}")
    run(db, "SELECT m.id, f.rowid FROM m JOIN x.f AS f ON f.f MATCH 'cat' AND f.rowid=m.id ORDER BY 1")


def play(main, kind, seed):
    choose = random.Random(seed)
    db = sqlite3.connect(main, isolation_level=None, uri=True)
    for sql in ["ATTACH 'x.db' AS x", "CREATE TABLE IF NOT EXISTS m(id INTEGER PRIMARY KEY, a)", "DELETE FROM m",
                "DROP TABLE IF EXISTS x.f", "DROP TABLE IF EXISTS x.t"]:
        run(db, sql)
    external = kind == "fts5" and seed % 2 == 1
    run(db, f"CREATE VIRTUAL TABLE x.f USING {kind}(a, b{', content=t, content_rowid=id' if external else ''})")
    if external:
        run(db, "CREATE TABLE x.t(id INTEGER PRIMARY KEY, a, b)")
        new, old = "INSERT INTO f(rowid,a,b) VALUES (new.id,new.a,new.b);", "INSERT INTO f(f,rowid,a,b) VALUES ('delete',old.id,old.a,old.b);"
        run(db, "PRAGMA recursive_triggers=ON")
        for event, body in [("INSERT", new), ("DELETE", old), ("UPDATE", old + new)]:
            run(db, f"CREATE TRIGGER x.t{event} AFTER {event} ON t BEGIN {body} END")
    for number in range(60):
        run(db, change(choose).format(t="t" if external else "f"))
        check(db, kind)
        if number % 20 == 19:
            run(db, "INSERT INTO x.f(f) VALUES ('integrity-check')")
        if number == 40:
            db.close()
            db = sqlite3.connect(main, isolation_level=None, uri=True)
            run(db, "PRAGMA recursive_triggers=ON")
            run(db, "ATTACH 'x.db' AS x")
            check(db, kind)
    run(db, "DROP TABLE x.f")
    run(db, "DROP TABLE IF EXISTS x.t")
    db.close()


for main in ["file:main.db", "file:native.db?engine=sqlite"]:
    tell(main, FTS5)
    tell(main, OTHERS)
    for seed in range(4):
        play(main, "fts5", seed)
        play(main, "fts4", seed)
