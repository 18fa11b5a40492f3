"""Ten databases attached to one connection through Python's sqlite3: stores, native files and both, in several orders. Every answer is printed;
natively the same program answers the same."""
import os
import random
import sqlite3
import subprocess
import sys


HOLDER = """import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None, uri=True)
c.execute("BEGIN IMMEDIATE")
print(flush=True)
time.sleep(0.2)
c.execute("ROLLBACK")
"""


class Session:
    def __init__(self, name, timeout=5.0):
        self.connection = sqlite3.connect(name, isolation_level=None, uri=True, timeout=timeout)

    def __call__(self, sql, *values):
        try:
            answer = self.connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            answer = (error.sqlite_errorname, str(error))
        print(sql, values or "", "->", answer, self.connection.in_transaction)
        return answer

    def databases(self):
        rows = self.connection.execute("PRAGMA database_list").fetchall()
        print([(row[0], row[1], os.path.basename(row[2])) for row in rows])


def name_of(folder, kind, number):
    return f"file:{folder}/{number}.db" + ("?engine=sqlite" if kind == "n" else "")


def attached(folder, kinds, **options):
    """A connection with a file of each kind attached: s is a store, n a native file."""
    os.makedirs(folder, exist_ok=True)
    sql = Session(f"file:{folder}/main.db", **options)
    sql.connection.execute("PRAGMA journal_mode = WAL")
    for number, kind in enumerate(kinds):
        sql("ATTACH ? AS ?", name_of(folder, kind, number), f"d{number}")
        sql.connection.execute(f"PRAGMA d{number}.journal_mode = WAL").fetchall()
    return sql


def elsewhere(folder, text, *arguments):
    """What another process sees."""
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0.02, uri=True)\n" + text
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    print("elsewhere:", ran.stdout.strip(), ran.stderr.strip().splitlines()[-1:])


def all_ten(folder, kinds):
    print("==", kinds)
    sql = attached(folder, kinds)
    every = range(len(kinds))
    sql.databases()
    sql("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
    for number in every:
        sql(f"CREATE TABLE d{number}.t{number}(a INTEGER PRIMARY KEY, b TEXT UNIQUE)")
    # an eleventh
    for name in (f"{folder}/eleventh.db", name_of(folder, "n", "native"), f"{folder}/absent/x.db", ":memory:", ""):
        sql("ATTACH ? AS eleventh", name)
    sql(f"ATTACH 'file:{folder}/literal.db?engine=sqlite' AS eleventh")
    print(sorted(os.listdir(folder)).count("eleventh.db"))
    sql("ATTACH ':memory:' AS rootstock")
    sql("ATTACH ? AS rootstock", ":memory:")
    # one transaction, kept and given up
    for end in "ROLLBACK", "COMMIT":
        sql("BEGIN")
        sql("INSERT INTO t(b) VALUES ('main'), ('two')")
        for number in every:
            sql(f"INSERT INTO d{number}.t{number}(b) VALUES ('one'), (?)", f"of {number}")
        sql("SAVEPOINT s")
        for number in every:
            sql(f"DELETE FROM t{number}")
        sql("DELETE FROM t")
        sql("ROLLBACK TO s")
        for name, table in ("main.db", "t"), ("0.db", "t0"), ("9.db", "t9"):
            elsewhere(folder, "print(c.execute('SELECT count(*) FROM ' + sys.argv[2]).fetchall())", f"{folder}/{name}", table)
        sql(end)
        sql("SELECT " + ", ".join(f"(SELECT group_concat(b) FROM t{number})" for number in every) + ", (SELECT count(*) FROM t)")
        elsewhere(folder, "print(c.execute('SELECT * FROM t').fetchall())", f"{folder}/main.db")
    sql("SELECT count(*), max(t9.b) FROM t JOIN " + " JOIN ".join(f"t{number} ON t{number}.a = t.a" for number in every))
    sql("SELECT t.a, t0.b, t9.b FROM t9 JOIN t USING (a) LEFT JOIN t0 ON t0.a = t.a + 1 ORDER BY 1")
    sql("INSERT INTO t(b) SELECT b FROM d0.t0 UNION ALL SELECT b FROM d9.t9")
    sql("UPDATE t SET b = (SELECT d0.t0.b || t.b FROM d0.t0 WHERE d0.t0.a = t.a) WHERE a < 3")
    sql("INSERT INTO d0.t0(b) SELECT b || a FROM t")
    sql("SELECT * FROM t0")
    sql("SELECT * FROM t")
    # what is read stays as it is in a transaction, and is seen behind it
    for begin in "BEGIN", "BEGIN; SELECT count(*) FROM t0", "SAVEPOINT s":
        for statement in begin.split("; "):
            sql(statement)
        sql("SELECT count(*) FROM t")
        elsewhere(folder, "c.execute('INSERT INTO t(b) VALUES (1)'); print(c.total_changes)", f"{folder}/main.db")
        elsewhere(folder, "c.execute('INSERT INTO t0(b) VALUES (random())'); print(c.total_changes)", f"{folder}/0.db")
        sql("SELECT count(*) FROM t")
        sql("INSERT INTO t(b) VALUES (2)")
        sql("COMMIT")
        sql("SELECT count(*) FROM t, t0")
    # a statement that reads goes on behind a commit
    cursor = sql.connection.execute("SELECT a FROM d0.t0 ORDER BY a")
    print(cursor.fetchone())
    sql("BEGIN IMMEDIATE")
    sql("INSERT INTO t(b) VALUES (3)")
    sql("COMMIT")
    sql("INSERT INTO t(a) VALUES (1)")
    elsewhere(folder, "c.execute('INSERT INTO t(b) VALUES (4)'); print(c.total_changes)", f"{folder}/main.db")
    print(cursor.fetchone())
    cursor.close()
    sql("SELECT count(*) FROM t")
    # DETACH and ATTACH, where each may be the one that tells of transactions
    for order in ([0, 9], [9, 0, 1], [3], list(every), [5, 5]):
        for number in order:
            sql(f"DETACH d{number}")
            sql("BEGIN IMMEDIATE")
            elsewhere(folder, "c.execute('INSERT INTO t(b) VALUES (5)'); print(c.total_changes)", f"{folder}/main.db")
            sql("ROLLBACK")
        sql.databases()
        for number in order:
            sql("ATTACH ? AS ?", name_of(folder, kinds[number], number), f"d{number}")
        sql.databases()
        sql(f"ATTACH '{folder}/eleventh.db' AS eleventh")
        sql("BEGIN")
        sql("SELECT count(*) FROM t")
        elsewhere(folder, "c.execute('INSERT INTO t(b) VALUES (6)'); print(c.total_changes)", f"{folder}/main.db")
        sql("SELECT count(*) FROM t")
        sql("ROLLBACK")
        sql("SELECT count(*) FROM t")
    sql("DETACH ?", "d4")
    sql("DETACH ?", "nothing")
    sql("DETACH d4")
    sql("DETACH main")
    sql("DETACH NULL")
    sql("DETACH (NULL)")
    # the tenth in a transaction, and failing
    sql(f"ATTACH '{folder}/absent/x.db' AS d4")
    sql("ATTACH ? AS d3", name_of(folder, kinds[4], 4))
    for end in "COMMIT", "ROLLBACK":
        sql("BEGIN")
        sql("INSERT INTO d0.t0(b) VALUES (random())")
        sql("ATTACH ? AS d4", name_of(folder, kinds[4], 4))
        sql("INSERT INTO d4.t4(b) VALUES (random())")
        sql("INSERT INTO t(b) VALUES (7)")
        sql("DETACH d4")
        sql(end)
        sql("DETACH d4")
        sql("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM d0.t0)")
    sql.databases()
    sql.connection.close()


def locked(folder, kinds):
    """Another connection's lock, on main or on an attached file, and ten attached."""
    print("== locked", kinds)
    sql = attached(folder, kinds, timeout=0.1)
    sql("CREATE TABLE t(a)")
    for number in range(10):
        sql(f"CREATE TABLE d{number}.t{number}(a)")
    for name, table in (f"file:{folder}/main.db", "t"), (name_of(folder, kinds[0], 0), "t0"), (name_of(folder, kinds[9], 9), "t9"):
        other = Session(name)
        other.connection.execute("BEGIN IMMEDIATE")
        for statement in ("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "INSERT INTO t VALUES (1)", "INSERT INTO t0 VALUES (1)", "INSERT INTO t9 VALUES (1)",
                          "INSERT INTO t SELECT a FROM t0", "INSERT INTO t0 SELECT a FROM t", "DELETE FROM t9", "SELECT count(*) FROM t, t0"):
            sql(statement)
            if sql.connection.in_transaction:
                sql("ROLLBACK")
        # a transaction that is refused its first change goes on
        sql("BEGIN")
        sql(f"INSERT INTO {table} VALUES (2)")
        sql("INSERT INTO t5 VALUES (2)")
        sql("INSERT INTO t0 VALUES (2)")
        sql("SELECT count(*) FROM t")
        sql("COMMIT")
        other.connection.close()
        # and one that waits gets it
        sql.connection.execute("PRAGMA busy_timeout = 5000")
        for statement in ("BEGIN IMMEDIATE", f"INSERT INTO {table} VALUES (3)", f"INSERT INTO {table} SELECT a FROM t0", f"INSERT INTO {table} SELECT a FROM t9"):
            holder = subprocess.Popen([sys.executable, "-c", HOLDER, name], stdout=subprocess.PIPE)
            holder.stdout.readline()
            sql(statement)
            holder.wait()
            sql("SELECT count(*) FROM " + table)
            if sql.connection.in_transaction:
                sql("COMMIT")
        sql.connection.execute("PRAGMA busy_timeout = 100")
    # whose lock it is: a change of an attached file is none of main
    sql("BEGIN")
    sql("INSERT INTO d0.t0 VALUES (9)")
    elsewhere(folder, "c.execute('INSERT INTO t VALUES (4)'); print(c.total_changes)", f"{folder}/main.db")
    elsewhere(folder, "c.execute('INSERT INTO t0 VALUES (4)'); print(c.total_changes)", f"{folder}/0.db")
    sql("COMMIT")
    sql("BEGIN IMMEDIATE")
    for name, table in ("main.db", "t"), ("0.db", "t0"), ("9.db", "t9"):
        elsewhere(folder, f"c.execute('INSERT INTO {table} VALUES (4)'); print(c.total_changes)", f"{folder}/{name}")
    sql("COMMIT")
    elsewhere(folder, "c.execute('INSERT INTO t VALUES (4)'); print(c.total_changes)", f"{folder}/main.db")
    sql.connection.close()


def refused(folder):
    """Natively all of it works: nothing is printed."""
    os.makedirs(folder)
    if not os.environ.get("ROOTSTOCK_ENGINE"):
        return
    connection = sqlite3.connect(f"{folder}/main.db", isolation_level=None, uri=True)

    def fails(sql, message):
        try:
            connection.execute(sql)
            print("not refused:", sql)
        except sqlite3.Error as error:
            if str(error) != message:
                print("refused otherwise:", sql, error)

    connection.execute("CREATE TABLE t(a)")
    for number in range(9):
        connection.execute(f"ATTACH 'file:{folder}/native{number}.db?engine=sqlite' AS n{number}")
    fails("ATTACH ':memory:' AS tenth", "too many attached databases - max 10")
    for begin in "BEGIN IMMEDIATE", "BEGIN; SELECT * FROM t":
        for statement in begin.split("; "):
            connection.execute(statement).fetchall()
        fails(f"ATTACH '{folder}/x.db' AS x", "too many attached databases - max 10")
        connection.execute("COMMIT")
    connection.execute(f"ATTACH '{folder}/x.db' AS x")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t VALUES (1)")
    fails("DETACH x", "database x is locked")
    connection.execute("DETACH n3")
    connection.execute("COMMIT")
    connection.execute("DETACH x")
    assert connection.execute("SELECT * FROM t").fetchall() == [(1,)]
    connection.close()


class Walk:
    """Random attaching, detaching and transactions over twelve files, of which five are native: of ten, some are stores."""

    def __init__(self, folder, seed):
        os.makedirs(folder)
        self.random = random.Random(seed)
        self.folder = folder
        self.sql = Session(f"file:{folder}/main.db")
        self.sql("CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
        self.files = {}  # schema name to number
        self.main_is_used = False

    def attach(self):
        number, name = self.random.randrange(12), f"d{self.random.randrange(12)}"
        # A transaction that has used main holds what tells of its end: the tenth is refused then.
        if number in self.files.values() or self.main_is_used:
            return
        kind = "n" if number % 12 in (1, 4, 6, 7, 11) else "s"
        file = name_of(self.folder, kind, number)
        answer = self.sql("ATTACH ? AS ?", file, name) if self.random.random() < 0.5 else self.sql(f"ATTACH '{file}' AS {name}")
        if answer == []:
            self.files[name] = number
            self.sql(f"CREATE TABLE IF NOT EXISTS {name}.t{number}(a INTEGER PRIMARY KEY, b)")

    def detach(self):
        name = f"d{self.random.randrange(12)}"
        if self.main_is_used:
            return
        answer = self.sql("DETACH ?", name) if self.random.random() < 0.3 else self.sql(f"DETACH {name}")
        if answer == []:
            del self.files[name]

    def table(self):
        if not self.files or self.random.random() < 0.3:
            self.main_is_used = self.sql.connection.in_transaction
            return "main.t"
        name = self.random.choice(sorted(self.files))
        return f"{name}.t{self.files[name]}"

    def step(self):
        draw = self.random.random()
        inside = self.sql.connection.in_transaction
        if draw < 0.22:
            self.attach()
        elif draw < 0.3:
            self.detach()
        elif draw < 0.4:
            begin = self.random.choice(["BEGIN", "BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT s"])
            self.sql(begin)
            self.main_is_used |= begin == "BEGIN IMMEDIATE"
        elif draw < 0.52 and inside:
            self.sql(self.random.choice(["COMMIT", "COMMIT", "ROLLBACK", "ROLLBACK TO s", "RELEASE s"]))
        elif draw < 0.75:
            self.sql(f"INSERT INTO {self.table()}(b) VALUES (?), (?)", self.random.randrange(99), "x")
        elif draw < 0.8:
            self.sql(f"DELETE FROM {self.table()} WHERE a % 7 = ?", self.random.randrange(7))
        elif draw < 0.85:
            self.sql(f"UPDATE {self.table()} SET b = b || '.' WHERE a % 5 = ?", self.random.randrange(5))
        elif draw < 0.9:
            self.sql(f"INSERT INTO {self.table()}(b) SELECT b FROM {self.table()} WHERE a % 9 = ?", self.random.randrange(9))
        elif draw < 0.95:
            self.sql(f"SELECT count(*), max(x.b) FROM {self.table()} x JOIN {self.table()} y ON x.a = y.a")
        else:
            self.sql.databases()
        if not self.sql.connection.in_transaction:
            self.main_is_used = False

    def run(self, steps):
        for _ in range(steps):
            self.step()
        if self.sql.connection.in_transaction:
            self.sql("COMMIT")
        for name in sorted(self.files):
            self.sql(f"SELECT count(*), sum(a), max(b) FROM {name}.t{self.files[name]}")
        self.sql("SELECT count(*), sum(a), max(b) FROM main.t")
        self.sql.connection.close()


if len(sys.argv) > 1:
    Walk("walk", int(sys.argv[1])).run(int(sys.argv[2]))
    sys.exit()
for place, kinds in enumerate(("ssssssssss", "nnnnnnnnns", "sssssssssn")):
    all_ten(f"ten{place}", kinds)
for place, kinds in enumerate(("ssssssssss", "nnnnnnnnns")):
    locked(f"locked{place}", kinds)
refused("refused")
Walk("walk", 1).run(1000)
