"""ATTACH through Python's sqlite3: of a store to a store, of a store to a native database and of a native file to a store. Every answer is
printed; natively the same program answers the same."""
import os
import sqlite3
import subprocess
import sys
import threading


class Session:
    def __init__(self, name, **options):
        self.name = name
        self.connection = sqlite3.connect(name, isolation_level=None, uri=True, **options)

    def __call__(self, sql, *values):
        try:
            cursor = self.connection.execute(sql, values)
            rows = cursor.fetchall()
            names = [column[0] for column in cursor.description or []] if rows else []
            print(self.name.split("?")[0], "|", sql, values or "", "->", names, rows, self.connection.in_transaction)
        except sqlite3.Error as error:
            print(self.name.split("?")[0], "|", sql, values or "", "->", error.sqlite_errorname, error)


def story(main, other):
    sql = Session(main)
    sql("CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    sql("INSERT INTO person VALUES (1,'ann'),(2,'ben'),(3,'cyd')")
    sql("ATTACH ? AS ?", other, "x")
    sql("CREATE TABLE x.city(id INTEGER PRIMARY KEY, name TEXT UNIQUE COLLATE NOCASE, person INT, size REAL DEFAULT 1.5, twice AS (size*2))")
    sql("CREATE TABLE x.pair(a TEXT, b INT, c DEFAULT 'c', PRIMARY KEY(a, b)) WITHOUT ROWID")
    sql("INSERT INTO x.city(name, person) VALUES ('Aa', 1), ('Bb', 2), ('Cc', 2)")
    sql("INSERT INTO x.city VALUES (10, 'Dd', 9, 4)")
    sql("INSERT INTO x.city DEFAULT VALUES")
    sql("INSERT INTO x.pair(b, a) SELECT id, name FROM person WHERE id < 3")
    sql("SELECT *, rowid AS r FROM x.city ORDER BY id")
    sql("SELECT * FROM x.pair ORDER BY a")
    # joins across both, either as the outer table
    sql("SELECT p.name, c.name FROM person p JOIN x.city c ON c.person = p.id ORDER BY c.id")
    sql("SELECT p.name, count(c.id) FROM person p LEFT JOIN x.city c ON c.person = p.id GROUP BY p.id ORDER BY 1")
    sql("SELECT name FROM x.city WHERE person IN (SELECT id FROM person) AND name > 'a' ORDER BY name DESC LIMIT 2")
    sql("SELECT count(*) FROM city, pair")
    sql("SELECT name FROM x.city WHERE name = 'bb'")
    sql("SELECT name FROM x.city WHERE name = 'bb' COLLATE BINARY")
    sql("SELECT name FROM x.city WHERE name LIKE 'a%' OR size = '4'")
    sql("SELECT max(id), min(name), total(size) FROM x.city")
    # changes
    sql("UPDATE x.city SET person = person + 1, name = name || '!' WHERE person = 2")
    sql("SELECT changes(), total_changes() > 0")
    sql("UPDATE x.city SET size = (SELECT count(*) FROM person) WHERE id IN (SELECT id FROM person)")
    sql("UPDATE x.city SET id = 100 WHERE id = 10")
    sql("UPDATE x.pair SET b = b + 5 WHERE a = 'ann'")
    sql("DELETE FROM x.pair WHERE b = 2")
    sql("SELECT changes(), last_insert_rowid()")
    sql("SELECT * FROM x.city ORDER BY id")
    sql("SELECT * FROM x.pair")
    # names of the schema's own tables, and subqueries that read none
    sql("SELECT sqlite_master.type, x.sqlite_master.name FROM x.sqlite_master WHERE x.sqlite_master.type = 'table' ORDER BY 2")
    sql("SELECT a.name FROM x.sqlite_schema a CROSS JOIN \"x\".sqlite_master b ON b.name = a.tbl_name AND b.type = 'table' ORDER BY 1")
    sql("SELECT 'city' IN (SELECT name FROM x.sqlite_master) AS a, 'index' IN (SELECT type FROM x.sqlite_schema UNION SELECT 'x') AS b")
    sql("INSERT INTO x.pair SELECT 'ann', 1 + (SELECT 4), 'd' WHERE 1 ON CONFLICT DO UPDATE SET c = (SELECT excluded.c || c)")
    sql("UPDATE x.pair SET c = c || '!' WHERE a IN (SELECT 'ann') RETURNING a, b, c")
    # constraints and conflict modes
    sql("INSERT INTO x.city(name) VALUES ('AA')")
    sql("INSERT OR IGNORE INTO x.city(name) VALUES ('aa'), ('Ee')")
    sql("SELECT changes()")
    sql("REPLACE INTO x.city(id, name) VALUES (1, 'Zz')")
    sql("INSERT OR FAIL INTO x.city(name) VALUES ('Ff'), ('zz'), ('Gg')")
    sql("UPDATE OR IGNORE x.city SET name = 'zz' WHERE id IN (2, 3)")
    sql("INSERT INTO x.city(name, size) VALUES ('ee', 7) ON CONFLICT(name) DO UPDATE SET size = excluded.size RETURNING name, twice")
    sql("SELECT changes()")
    sql("UPDATE x.city SET size = 0 WHERE id = 1 RETURNING id, person")
    sql("DELETE FROM x.city WHERE id = ? RETURNING name", 2)
    sql("SELECT name, size FROM x.city ORDER BY id")
    # transactions
    sql("BEGIN")
    sql("INSERT INTO person VALUES (4, 'dan')")
    sql("INSERT INTO x.city(name, person) SELECT name, id FROM person")
    sql("SELECT count(*) FROM x.city")
    sql("ROLLBACK")
    sql("SELECT (SELECT count(*) FROM person), (SELECT count(*) FROM x.city)")
    sql("BEGIN")
    sql("DELETE FROM x.pair")
    sql("SAVEPOINT one")
    sql("INSERT INTO x.pair(a, b) VALUES ('p', 1)")
    sql("SAVEPOINT two")
    sql("INSERT INTO x.pair(a, b) VALUES ('q', 2)")
    sql("INSERT INTO person VALUES (5, 'eve')")
    sql("ROLLBACK TO two")
    sql("RELEASE one")
    sql("INSERT INTO x.pair(a, b) VALUES ('p', 1)")
    sql("COMMIT")
    sql("SELECT * FROM x.pair")
    sql("SELECT count(*) FROM person")
    # the first write to x lies behind one savepoint or several, which may be the transaction itself
    for begin in "BEGIN", "SAVEPOINT one", "SAVEPOINT one; SAVEPOINT two", "BEGIN; INSERT INTO person VALUES (6, 'fay'); SAVEPOINT one":
        for statement in begin.split("; "):
            sql(statement)
        sql("SAVEPOINT three")
        sql("INSERT INTO x.pair(a, b) VALUES ('r', 1), ('s', 2)")
        sql("ROLLBACK TO three")
        sql("SELECT a FROM x.pair")
        sql("INSERT INTO x.pair(a, b) VALUES ('t', 1)")
        sql("CREATE TABLE x.gone(a)")
        sql("ROLLBACK TO one")
        sql("SELECT a FROM x.pair")
        sql("SELECT * FROM x.gone")
        sql("ROLLBACK")
    sql("SAVEPOINT one")
    sql("DELETE FROM x.pair")
    sql("ROLLBACK TO one")
    sql("INSERT INTO x.pair(a, b) VALUES ('u', 1)")
    sql("RELEASE one")
    sql("SELECT a FROM x.pair")
    # the schema
    sql("CREATE INDEX x.sized ON city(size)")
    sql("ALTER TABLE x.city ADD COLUMN note TEXT DEFAULT 'n'")
    sql("CREATE VIEW x.big AS SELECT name, size FROM city WHERE size > 1")
    sql("CREATE TRIGGER x.noted AFTER INSERT ON pair BEGIN UPDATE city SET note = new.a WHERE id = 1; END")
    sql("INSERT INTO x.pair(a, b) VALUES ('trigger', 1)")
    sql("SELECT id, note FROM x.city WHERE id < 4")
    sql("SELECT * FROM x.big ORDER BY name")
    sql("SELECT type, name, tbl_name, sql FROM x.sqlite_master ORDER BY name")
    sql("PRAGMA x.table_info(city)")
    sql("PRAGMA x.index_list('city')")
    sql("PRAGMA x.table_list(city)")
    sql("PRAGMA table_list(pair)")
    sql("PRAGMA table_list('person')")
    sql("PRAGMA X.table_list(person)")
    if "plain" not in main:  # a native main has SQLite's own functions
        for function in "table_info('city')", "table_xinfo('city', 'x')", "index_list('city')", "index_info('sized')", "index_xinfo('sized', 'x')":
            sql("SELECT * FROM pragma_" + function)
        sql("SELECT * FROM pragma_foreign_key_list('pair', 'x')")
    sql("BEGIN")
    sql("CREATE TABLE x.passing(a)")
    sql("INSERT INTO x.passing VALUES (1)")
    sql("SELECT * FROM passing")
    sql("ROLLBACK")
    sql("SELECT * FROM x.passing")
    sql("DROP VIEW x.big")
    sql("DROP TRIGGER x.noted")
    sql("ALTER TABLE x.pair RENAME TO couple")
    sql("SELECT * FROM couple ORDER BY a")
    sql("DROP TABLE couple")
    sql("SELECT * FROM x.couple")
    sql("SELECT name, file FROM pragma_database_list WHERE name<>'temp'")
    # who else is there
    sql("ATTACH ? AS x", other)
    sql("BEGIN")
    sql("SELECT count(*) FROM x.city")
    sql("DETACH x")
    sql("COMMIT")
    sql("DETACH x")
    sql("SELECT * FROM x.city")
    sql("DETACH x")
    sql("ATTACH ? AS again", other)
    sql("SELECT count(*) FROM again.city")
    sql.connection.close()


def types(main, other):
    """Comparisons between columns of every affinity: what the other side is decides which one is meant."""
    sql = Session(main)
    sql("ATTACH ? AS y", other)
    columns = "n INTEGER PRIMARY KEY, i INT, r REAL, m NUMERIC, t TEXT, c TEXT COLLATE NOCASE, b BLOB, u"
    sql(f"CREATE TABLE y.v({columns})")
    sql("CREATE INDEX y.vt ON v(t)")
    sql("CREATE INDEX y.vu ON v(u)")
    sql("CREATE INDEX y.vc ON v(c)")
    sql(f"CREATE TABLE w({columns})")
    values = [1, 1.0, "1", "1.0", "01", " 1", "a", "A", "a ", b"1", b"a", None, 2**53 + 1, float(2**53), -5, "-5", "", "9", 10]
    for value in values:
        sql.connection.execute("INSERT INTO y.v(i, r, m, t, c, b, u) VALUES (?1, ?1, ?1, ?1, ?1, ?1, ?1)", (value,))
        sql.connection.execute("INSERT INTO w(i, r, m, t, c, b, u) VALUES (?1, ?1, ?1, ?1, ?1, ?1, ?1)", (value,))
    for operator in ("=", "<", ">=", "IS", "<>"):
        for left in "irmtcbu":
            for right in "nirmtcbu":
                sql(f"SELECT group_concat(v.n || '.' || w.n) FROM (SELECT * FROM w ORDER BY n) w CROSS JOIN y.v WHERE v.{left} {operator} w.{right}")
            for literal in ("1", "'1'", "'a'", "x'31'", "1.0", "CAST('1' AS INT)", "CAST(1 AS TEXT)", "NULL", "+1", "'A' COLLATE NOCASE"):
                sql(f"SELECT group_concat(n) FROM (SELECT n FROM y.v WHERE {left} {operator} {literal} ORDER BY n)")
            sql(f"SELECT count(*) FROM y.v WHERE {left} {operator} ?", 1)
            sql(f"SELECT count(*) FROM y.v WHERE {left} {operator} ?", "1")
    for column in "irmtcbu":
        sql(f"SELECT group_concat(n) FROM (SELECT n FROM y.v ORDER BY {column}, n DESC)")
        sql(f"SELECT group_concat(n) FROM (SELECT n FROM y.v WHERE {column} IN (1, '1', 'a', NULL) ORDER BY n)")
        sql(f"SELECT group_concat(n) FROM (SELECT n FROM y.v WHERE {column} BETWEEN '' AND 'b' ORDER BY n)")
        sql(f"SELECT group_concat(n) FROM (SELECT n FROM y.v WHERE {column} LIKE 'A%' ORDER BY n)")
    sql.connection.close()


def many(main, kind):
    sql = Session(main)
    sql("CREATE TABLE IF NOT EXISTS here(a)")
    for i in range(10):
        sql(f"ATTACH 'file:many{i}.db{kind}' AS d{i}")
        sql(f"CREATE TABLE d{i}.t(a INTEGER PRIMARY KEY, b)")
        sql(f"INSERT INTO d{i}.t(b) VALUES ({i}), ({i * i})")
    sql("SELECT " + "+".join(f"(SELECT sum(b) FROM d{i}.t)" for i in range(10)))
    sql("SELECT count(*) FROM " + " JOIN ".join(f"d{i}.t AS t{i}" + (f" ON t{i}.a = t0.a" if i else "") for i in range(10)))
    sql("BEGIN")
    for i in range(10):
        sql(f"UPDATE d{i}.t SET b = b + 1")
    sql("ROLLBACK")
    sql("ATTACH 'file:one_more.db' AS d10")
    sql("SELECT " + "+".join(f"(SELECT sum(b) FROM d{i}.t)" for i in range(10)))
    for i in range(10):
        sql(f"DETACH d{i}")
    sql.connection.close()


def processes(main, other):
    """The child writes while the parent reads, and the other way round."""
    sql = Session(main, timeout=10)
    sql("ATTACH ? AS z", other)
    sql("CREATE TABLE z.log(id INTEGER PRIMARY KEY, who TEXT)")
    child = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None, uri=True, timeout=10); "
    run = lambda code, path: subprocess.run([sys.executable, "-c", child + code, path], check=True)
    run("c.execute(\"INSERT INTO log(who) VALUES ('child')\")", other)
    sql("SELECT * FROM z.log")
    sql("INSERT INTO z.log(who) VALUES ('parent')")
    run("c.execute('ALTER TABLE log ADD COLUMN more DEFAULT 5'); c.execute('CREATE TABLE second(a)')", other)
    sql("SELECT * FROM z.log")
    sql("INSERT INTO z.second VALUES (1)")
    sql("SELECT * FROM second")
    writers = [subprocess.Popen([sys.executable, "-c", child + "c.execute(\"ATTACH '" + other + "' AS z\");"
                                 "[c.execute(\"INSERT INTO z.log(who) VALUES ('busy')\") for _ in range(50)]", f"file:own{i}.db"]) for i in range(2)]
    print([writer.wait() for writer in writers])
    sql("SELECT who, count(*) FROM z.log GROUP BY 1 ORDER BY 1")
    sql.connection.close()


def rules(main, other):
    """A change of the attached tables alone keeps its own rules: conflict clauses, triggers, what is counted, deferred foreign keys."""
    sql = Session(main)
    counted = lambda: sql("SELECT changes(), total_changes(), last_insert_rowid()")
    sql("ATTACH ? AS x", other)
    sql("PRAGMA foreign_keys = ON")
    sql("CREATE TABLE x.u(a INTEGER PRIMARY KEY, b UNIQUE ON CONFLICT IGNORE, c UNIQUE ON CONFLICT FAIL, d UNIQUE ON CONFLICT REPLACE)")
    sql("CREATE TABLE x.log(what)")
    sql("CREATE TRIGGER x.tr AFTER INSERT ON u BEGIN INSERT INTO log VALUES (new.a), (new.b); END")
    sql("INSERT INTO x.u VALUES (1, 1, 1, 1), (2, 1, 2, 2), (3, 3, 3, 1)")
    counted()
    for verb in ("INSERT", "INSERT OR ABORT", "INSERT OR FAIL", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR ROLLBACK"):
        for values in ("(7, 3, 7, 7)", "(8, 8, 3, 8)", "(9, 9, 9, 3), (10, 9, 9, 1)"):
            for ending in ("", " RETURNING a, b", " ON CONFLICT(b) DO NOTHING"):
                sql("BEGIN")
                sql("INSERT INTO x.u VALUES (20, 20, 20, 20)")
                sql(f"{verb} INTO x.u VALUES {values}{ending}")
                sql("SELECT * FROM x.u ORDER BY a")
                sql("ROLLBACK")
                sql(f"{verb} INTO x.u VALUES {values}{ending}")
                sql("SELECT count(*), sum(a), (SELECT count(*) FROM x.log) FROM x.u")
    for statement in (
        "UPDATE x.u SET b = b + 1, c = c - 1",
        "UPDATE OR FAIL x.u SET c = c + 1 WHERE a > 1",
        "DELETE FROM x.u AS x WHERE x.a IN (SELECT what FROM log AS x WHERE x.what > 8)",
        "INSERT INTO x.u(b) SELECT w + 50 FROM (SELECT what AS w FROM x.log WHERE what < 4) ON CONFLICT DO UPDATE SET d = excluded.b",
        "WITH few AS (SELECT a FROM x.u LIMIT 2) UPDATE x.u SET d = 'few' || a WHERE a IN (SELECT a FROM few) RETURNING a, d",
        "DELETE FROM x.log RETURNING count(*)",
        "DELETE FROM x.log",
        "UPDATE x.absent SET a = 1",
        "INSERT INTO x.absent VALUES (1)",
        "INSERT INTO x.u(absent) VALUES (1)",
    ):
        sql(statement)
        counted()
        sql("SELECT * FROM x.u ORDER BY a")
    for statement in ("UPDATE x.u SET b = b", "ANALYZE x.u", "REINDEX x.u", "ANALYZE x", "SELECT tbl FROM x.sqlite_stat1 ORDER BY 1", "CREATE INDEX x.ub ON u(b)"):
        sql(statement)
        sql("SELECT total_changes()")
    sql("CREATE INDEX x.i ON absent(a)")
    sql("DROP TABLE x.absent")
    sql("CREATE TEMP TABLE here(a, b)")
    sql("INSERT INTO here VALUES (1, 5), (2, 6), (3, 7)")
    sql("CREATE TABLE x.made(a INTEGER PRIMARY KEY, b, c AS (b * 2) STORED, d AS (a + b))")
    sql("INSERT INTO x.made(a, b) SELECT a, b + 1 FROM here")
    sql("UPDATE x.made SET b = here.b FROM here WHERE here.a = made.a AND here.a > 1")
    sql("UPDATE x.made SET b = (SELECT max(b) FROM here) WHERE a = 1")
    sql("UPDATE x.made SET c = (SELECT max(b) FROM here)")
    sql("SELECT * FROM x.made ORDER BY a")
    sql("CREATE TABLE x.p(a INTEGER PRIMARY KEY)")
    sql("CREATE TABLE x.k(a REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
    for begin, end in (("BEGIN", "COMMIT"), ("BEGIN IMMEDIATE", "END"), ("SAVEPOINT s", "RELEASE s")):
        for statement in (begin, "INSERT INTO x.k VALUES (5)", end, end, "INSERT INTO x.p VALUES (5)", end, "DELETE FROM x.k", "DELETE FROM x.p"):
            sql(statement)
    sql("CREATE TRIGGER x.named AFTER DELETE ON x.k BEGIN INSERT INTO log VALUES (old.a - 100); END")
    sql("INSERT INTO x.k VALUES (5)")
    sql("DELETE FROM x.k")
    sql("PRAGMA recursive_triggers = ON")
    sql("CREATE TRIGGER x.again AFTER INSERT ON log WHEN new.what > 0 BEGIN INSERT INTO log VALUES (new.what - 1); END")
    sql("INSERT INTO x.log VALUES (3)")
    sql("SELECT * FROM x.log")
    sql.connection.create_function("own", 1, lambda value: value + 1)
    sql("INSERT INTO x.log VALUES (own(-7))")
    sql("UPDATE x.log SET what = own(what)")
    sql.connection.create_function("upper", 1, lambda value: f"<{value}>")
    sql("UPDATE x.log SET what = upper(what) WHERE what < 0")
    sql("INSERT INTO x.log SELECT upper(a) FROM x.p UNION ALL VALUES (absent(1))")
    sql("SELECT * FROM x.log ORDER BY 1")
    sql.connection.close()


def stopped(main, other):
    """A long change is interrupted, as natively."""
    connection = sqlite3.connect(main, isolation_level=None, uri=True, check_same_thread=False)
    connection.execute("ATTACH ? AS x", (other,))
    connection.execute("CREATE TABLE x.t(a)")
    connection.execute("INSERT INTO x.t VALUES (1), (2), (3), (4), (5), (6), (7), (8)")
    timer = threading.Timer(0.3, connection.interrupt)
    timer.start()
    try:
        connection.execute("INSERT INTO x.t SELECT 1 FROM x.t a, x.t b, x.t c, x.t d, x.t e, x.t f, x.t g, x.t h WHERE a.a + b.a + c.a + d.a + e.a < 0")
        print("not stopped")
    except sqlite3.OperationalError as error:
        print(error, connection.in_transaction, connection.execute("SELECT count(*) FROM x.t").fetchall())
    timer.join()
    connection.close()


def shapes(main, other):
    """What has no result columns natively has none: drivers tell a query from a change by them."""
    connection = sqlite3.connect(main, isolation_level=None, uri=True)
    for statement in (
        f"ATTACH '{other}' AS x",
        "CREATE TABLE x.t(a INTEGER PRIMARY KEY, b)",
        "INSERT INTO x.t VALUES (1, 2), (2, 3)",
        "INSERT INTO x.t VALUES (1, 2) ON CONFLICT DO UPDATE SET b = 5",
        "UPDATE x.t SET b = 6 WHERE a = 2 RETURNING b",
        "CREATE INDEX x.i ON t(b)",
        "CREATE TABLE x.s AS SELECT a, max(b) AS b FROM x.t JOIN t AS u USING (a, b) GROUP BY a",
        "SELECT * FROM s ORDER BY a",
        "SELECT a FROM x.t",
        "DROP TABLE x.t",
        "DETACH x",
    ):
        cursor = connection.execute(statement)
        print(main.split("?")[0], statement, [column[0] for column in cursor.description or []], cursor.fetchall())
    connection.close()


def refusals():
    """What does not work with an attached store is refused by name, and leaves it as it was. Natively all of it works: nothing is printed."""
    if not os.environ.get("ROOTSTOCK_ENGINE"):
        return
    for main in ("refusing.db", "file:refusing_native.db?engine=sqlite"):
        connection = sqlite3.connect(main, isolation_level=None, uri=True)
        connection.execute("ATTACH 'refused.db' AS r")
        connection.execute("CREATE TABLE IF NOT EXISTS r.t(a INTEGER PRIMARY KEY, b)")
        connection.execute("CREATE TEMP TABLE m AS SELECT 3 AS a")
        connection.execute("CREATE TEMP TRIGGER fires AFTER INSERT ON m BEGIN INSERT INTO t VALUES (new.a, 1) ON CONFLICT DO UPDATE SET b = new.a; END")
        connection.execute("CREATE TEMP TABLE n AS SELECT 3 AS a")
        connection.execute("CREATE TEMP TRIGGER reads AFTER INSERT ON n BEGIN INSERT INTO t VALUES (new.a, 1) ON CONFLICT DO UPDATE SET b = (SELECT max(a) FROM n); END")
        connection.execute("DROP TABLE IF EXISTS r.dated")
        connection.execute("CREATE TABLE r.dated(a, at DEFAULT CURRENT_DATE, n DEFAULT NULL)")
        connection.execute("CREATE TEMP TRIGGER leaves AFTER DELETE ON m BEGIN INSERT INTO dated(a) VALUES (old.a); END")
        connection.execute("CREATE TEMP TRIGGER gives AFTER UPDATE ON m BEGIN INSERT INTO dated(at) VALUES ('today'); END")
        connection.execute("UPDATE m SET a = 4")
        assert connection.execute("SELECT count(*) FROM dated WHERE at = 'today'").fetchone() == (1,)
        assert open("refused.db", "rb").read(15) != b"SQLite format 3", "the attached file is no store"
        for expected, run in (
            ("ON CONFLICT on a table of attached store r cannot read other tables", "INSERT INTO r.t SELECT 1, 2 FROM m WHERE 1 ON CONFLICT DO NOTHING"),
            ("RETURNING on a table of attached store r cannot read other tables", "DELETE FROM r.t WHERE a IN (SELECT 1 FROM m) RETURNING a"),
            ("cannot create triggers on virtual tables", "CREATE TEMP TRIGGER hangs AFTER INSERT ON r.t BEGIN SELECT 1; END"),
            ('UPSERT not implemented for virtual table "t"', "INSERT INTO m VALUES (1)"),
            ('UPSERT not implemented for virtual table "t"', "INSERT INTO n VALUES (1)"),
            *([("INSERT into dated of attached store r has to give column at a value", "DELETE FROM m")] if "native" in main else []),
            ("table sqlite_master may not be modified", "DELETE FROM r.sqlite_master"),
            ("sqlite3_backup_init does not reach attached store r", lambda: connection.backup(sqlite3.connect("copy.db"), name="r")),
            ("sqlite3_backup_init does not reach attached store r", lambda: sqlite3.connect("copy.db").backup(connection, name="r")),
            ("sqlite3_serialize", lambda: connection.serialize(name="r")),
            ("sqlite3_deserialize", lambda: connection.deserialize(b"x" * 512, name="r")),
            ("cannot open virtual table: t", lambda: connection.blobopen("t", "b", 1, name="r")),
        ):
            try:
                connection.execute(run) if isinstance(run, str) else run()
                print("not refused:", run)
            except sqlite3.Error as error:
                if expected not in str(error) and not expected.startswith("sqlite3_"):
                    print("refused otherwise:", run, error)
            except Exception as error:
                if not expected.startswith("sqlite3_"):
                    print("failed:", run, error)
        assert connection.execute("SELECT count(*) FROM r.t").fetchone() == (0,)
        connection.close()


def waits(main, attached):
    """A second writer gives up when its time is over."""
    pair = [sqlite3.connect(main, isolation_level=None, uri=True, timeout=0.2) for _ in range(2)]
    for connection in pair:
        connection.execute("ATTACH ? AS z", (attached,))
    pair[0].execute("CREATE TABLE z.t(a)")
    pair[1].execute("BEGIN")
    pair[1].execute("INSERT INTO z.t VALUES (1)")
    for run in ("INSERT INTO z.t VALUES (2)", "CREATE TABLE z.u AS SELECT 1", "BEGIN IMMEDIATE"):
        try:
            pair[0].execute(run)
            print("not refused:", run)
        except sqlite3.OperationalError as error:
            print(run, error)
    pair[1].execute("COMMIT")
    pair[0].execute("INSERT INTO z.t VALUES (2)")
    print(pair[1].execute("SELECT * FROM z.t").fetchall())
    for connection in pair:
        connection.close()


def kept(main, other):
    """A statement that Python keeps prepared is what its text means when it runs."""
    sql = Session(main, cached_statements=100)
    show = lambda text: print(text, "->", (cursor := sql.connection.execute(text)).description, cursor.fetchall())
    texts = ("INSERT INTO o.t(a) VALUES (7) RETURNING *", "UPDATE o.t SET a = a + 1 WHERE a = 1 RETURNING *", "DROP INDEX IF EXISTS o.i",
             "UPDATE o.t SET a = a + 1 WHERE a = 1", "PRAGMA o.table_info(t)", "DELETE FROM t WHERE a = -1")
    sql("ATTACH ? AS o", other)
    sql("CREATE TABLE o.t(a, b)")
    for change in ("INSERT INTO o.t VALUES (1, 2)", "ALTER TABLE o.t ADD COLUMN c DEFAULT 5", "ALTER TABLE o.t RENAME COLUMN b TO d",
                   "CREATE INDEX o.i ON t(a)", "ALTER TABLE o.t DROP COLUMN c", "DETACH o", "PRAGMA o.user_version", "SELECT * FROM o.t",
                   ("ATTACH ? AS o", other), "ALTER TABLE o.t RENAME TO u", "ALTER TABLE o.u RENAME TO t"):
        sql(*(change if isinstance(change, tuple) else (change,)))
        for text in texts:
            try:
                show(text)
            except sqlite3.Error as error:
                print(text, "->", error.sqlite_errorname, error)
    for pragma in ("journal_mode", "journal_mode = wal", "journal_mode", "locking_mode"):
        sql("PRAGMA o." + pragma)
    sql("SELECT type, name FROM o.sqlite_master")
    sql.connection.close()


story("main.db", "other.db")
story("file:plain.db?engine=sqlite", "attached.db")
story("file:main2.db", "file:native.db?engine=sqlite")
types("file:types.db?engine=sqlite", "types_attached.db")
many("file:many.db?engine=sqlite", "")
processes("processes.db", "processes_attached.db")
processes("file:processes2.db?engine=sqlite", "file:processes2_attached.db")
rules("rules.db", "rules_attached.db")
rules("file:rules2.db?engine=sqlite", "rules2_attached.db")
waits("waits.db", "waits_attached.db")
waits("file:waits2.db?engine=sqlite", "waits2_attached.db")
stopped("stopped.db", "stopped_attached.db")
stopped("file:stopped2.db?engine=sqlite", "stopped2_attached.db")
shapes("shapes.db", "shapes_attached.db")
shapes("file:shapes2.db?engine=sqlite", "shapes2_attached.db")
kept("kept.db", "kept_attached.db")
kept("file:kept2.db?engine=sqlite", "kept2_attached.db")
refusals()
