#!/usr/bin/python3
"""writers.py EXTENSION LIBRARY [SECONDS [SEED]] [--table] - several clients that write at once on engine postgres: within server.sh.

Four processes, a connection each, first run random transactions for SECONDS: transfers, rows with unique keys and foreign
keys, AUTOINCREMENT, changes of the schema, and what only a lock or a serializable order keeps from write skew. A transaction
that is refused is begun again. In the end sums and constraints hold. Then they append to lists and read them
(Tests/Concurrency/ListAppend): an order of the transactions explains what each has read. Then one client and four do the same
work behind a proxy that adds 1 ms to a round trip: four have to get more done. --table prints how much."""
import json, os, random, re, sqlite3, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [here, os.path.join(here, "..", "..", "Concurrency", "ListAppend")]
from proxy import Proxy
import run as list_append

CLIENTS, ACCOUNTS, BUSY_SNAPSHOT = 4, 40, 517
extension, library = (os.path.abspath(path) for path in sys.argv[1:3])


class Client:
    def __init__(self, uri):
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.enable_load_extension(True)
        self.db.load_extension(extension)
        self.db.execute("SELECT rootstock_load_engine(?)", (library,)).fetchall()
        self.db.execute("SELECT rootstock_open(?, 'postgres')", (uri,)).fetchall()
        self.db.execute("PRAGMA foreign_keys = ON")
        self.texts, self.tries, self.refused = {}, 0, 0

    def run(self, sql, *values):
        if sql not in self.texts:
            self.texts[sql] = self.db.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0]
        return self.db.execute(self.texts[sql], values).fetchall()

    def rewritten(self, sql):
        """Of a statement that names what another client may have changed."""
        return self.db.execute(self.db.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0]).fetchall()

    def write(self, body):
        """The body in a transaction, again as often as another writer is in the way."""
        pause = 0.001
        while True:
            self.tries += 1
            try:
                self.run("BEGIN IMMEDIATE")
                body()
                self.run("COMMIT")
                return
            except sqlite3.Error as error:
                if self.db.in_transaction:
                    self.run("ROLLBACK")
                if error.sqlite_errorcode != BUSY_SNAPSHOT:
                    raise
                self.refused += 1
                time.sleep(random.random() * pause)
                pause = min(pause * 2, 0.1)


def address(schema, socket_folder=None):
    uri = os.environ["ROOTSTOCK_POSTGRES"] + "&rootstock_schema=" + schema
    return uri if socket_folder is None else re.sub(r"host=[^&]*", "host=" + socket_folder, uri)


def together(clients, work):
    """work(number) in as many processes, and what each printed as JSON. A fault ends the test."""
    pipes = []
    for number in range(clients):
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            status = 1
            try:
                os.close(read)
                os.write(write, json.dumps(work(number)).encode())
                status = 0
            except BaseException as error:
                import traceback
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(write)
        pipes.append((process, read))
    told = []
    for process, read in pipes:
        text = b""
        while part := os.read(read, 1 << 16):
            text += part
        os.close(read)
        if os.waitpid(process, 0)[1] != 0:
            sys.exit("writers: a client failed")
        told.append(json.loads(text))
    return told


# RANDOM TRANSACTIONS

def prepare(uri):
    c = Client(uri)
    c.run("CREATE TABLE account (id INTEGER PRIMARY KEY, owner TEXT UNIQUE, balance INT CHECK (balance >= 0))")
    c.run("CREATE TABLE transfer (id INTEGER PRIMARY KEY AUTOINCREMENT, source INT NOT NULL REFERENCES account, target INT NOT NULL REFERENCES account, amount INT)")
    c.run("CREATE INDEX transfer_source ON transfer (source)")
    c.run("CREATE INDEX transfer_target ON transfer (target)")
    c.run("CREATE TABLE note (account INT REFERENCES account ON DELETE CASCADE, words TEXT)")
    c.run("CREATE INDEX note_account ON note (account)")
    c.run("CREATE TABLE doctor (name TEXT PRIMARY KEY, on_call INT) WITHOUT ROWID")
    c.run("CREATE TABLE claim (client INT, what TEXT COLLATE NOCASE, UNIQUE (what))")
    for i in range(1, ACCOUNTS + 1):
        c.run("INSERT INTO account VALUES (?, ?, 1000)", i, f"owner {i}")
    for name in "abcd":
        c.run("INSERT INTO doctor VALUES (?, 1)", name)


def random_work(uri, number, seconds, seed):
    chance = random.Random(seed * 100 + number)
    c = Client(uri)
    done, constraints, columns = 0, 0, 0
    until = time.monotonic() + seconds

    def transfer():
        accounts = [row[0] for row in c.run("SELECT id FROM account WHERE id >= ? ORDER BY id LIMIT 4", chance.randint(1, ACCOUNTS))]
        if len(accounts) < 2:
            return
        source, target = chance.sample(accounts, 2)
        amount = chance.randint(1, 50)
        c.run("UPDATE account SET balance = balance - ? WHERE id = ?", amount, source)
        c.run("UPDATE account SET balance = balance + ? WHERE id = ?", amount, target)
        c.run("INSERT INTO transfer (source, target, amount) VALUES (?, ?, ?)", source, target, amount)

    def open_account():
        c.run("INSERT INTO account (owner, balance) VALUES (?, 0)", f"owner {chance.randint(1, 2 * ACCOUNTS)}")

    def close_account():
        # What nobody has paid from or to, and has nothing: its notes go with it.
        rows = c.run("SELECT id FROM account WHERE balance = 0 LIMIT 1")
        for row in rows:
            c.run("DELETE FROM account WHERE id = ?", *row)

    def note():
        row = c.run("SELECT max(id) FROM account")[0]
        c.run("INSERT INTO note (account, words) VALUES (?, ?)", *row, f"client {number}")

    def go_home():
        # One has to stay: no single row says so.
        if c.run("SELECT count(*) FROM doctor WHERE on_call")[0][0] > 1:
            c.run("UPDATE doctor SET on_call = 0 WHERE name = ?", chance.choice("abcd"))

    def come_back():
        c.run("UPDATE doctor SET on_call = 1 WHERE name = ?", chance.choice("abcd"))

    def claim():
        c.run("INSERT INTO claim VALUES (?, ?)", number, chance.choice(["x", "X"]) + str(chance.randint(1, 2000)))

    bodies = [transfer] * 6 + [open_account, open_account, close_account, note, note, go_home, go_home, come_back, claim, claim]
    while time.monotonic() < until:
        try:
            if number == 0 and chance.random() < 0.02:
                columns += 1
                c.rewritten(f"ALTER TABLE note ADD COLUMN c{columns} DEFAULT {columns}")
            elif number == 1 and chance.random() < 0.02:
                c.rewritten("DROP INDEX IF EXISTS claim_client")
                c.rewritten("CREATE INDEX claim_client ON claim (client)")
            else:
                body = chance.choice(bodies)
                c.write(body)
            done += 1
        except sqlite3.IntegrityError:
            constraints += 1
        except sqlite3.OperationalError as error:
            # A change of the schema without BEGIN is refused like any; a statement that it has made old is asked for again.
            if error.sqlite_errorcode not in (BUSY_SNAPSHOT, 17) and "no such" not in str(error) and "schema" not in str(error):
                raise
            c.texts = {}
    return done, constraints, c.refused, c.tries


def check_rows(uri):
    c = Client(uri)
    faults = []

    def holds(sql, wanted):
        rows = c.run(sql)
        if rows != wanted:
            faults.append(f"{sql}: {rows}, not {wanted}")

    holds("SELECT sum(balance) FROM account", [(1000 * ACCOUNTS,)])
    holds("SELECT count(*) FROM account WHERE balance < 0", [(0,)])
    holds("SELECT owner FROM account GROUP BY owner HAVING count(*) > 1", [])
    holds("SELECT lower(what) FROM claim GROUP BY lower(what) HAVING count(*) > 1", [])
    holds("SELECT count(*) > 0 FROM doctor WHERE on_call", [(1,)])
    holds("SELECT id FROM account WHERE balance != 1000 * (id <= %d) - (SELECT total(amount) FROM transfer WHERE source = account.id)"
          " + (SELECT total(amount) FROM transfer WHERE target = account.id)" % ACCOUNTS, [])
    holds("SELECT id FROM transfer WHERE id > (SELECT seq FROM sqlite_sequence WHERE name = 'transfer')", [])
    holds("SELECT count(*) - count(DISTINCT rowid) FROM note", [(0,)])
    holds("PRAGMA foreign_key_check", [])
    holds("PRAGMA integrity_check", [("ok",)])
    return faults


def check_savepoint(uri):
    """The savepoint that is the transaction: rolled back to, it is in its snapshot still, whoever commits meanwhile."""
    c, other, faults = Client(uri), Client(uri), []
    c.run("CREATE TABLE kept (a INT)")
    c.run("INSERT INTO kept VALUES (1), (2)")
    for change in ("DELETE FROM kept", "INSERT INTO kept VALUES (3)", "UPDATE kept SET a = 9 WHERE a = 1"):
        c.run("SAVEPOINT outermost")
        before = c.run("SELECT a FROM kept ORDER BY a")
        c.run(change)
        c.run("SELECT count(*) FROM kept")
        other.write(lambda: other.run("INSERT INTO claim (client) VALUES (9)"))
        c.run("ROLLBACK TO outermost")
        after = c.run("SELECT a FROM kept ORDER BY a")
        if after != before or c.run("SELECT count(*) FROM kept") != [(2,)]:
            faults.append(f"{change}, rolled back to the outermost savepoint: {after}, not {before}")
        c.run("RELEASE outermost")
    return faults


# THROUGHPUT

def busy_work(schema, number, seconds, accounts=2000):
    with tempfile.TemporaryDirectory() as folder:
        proxy = Proxy(folder, os.environ["ROOTSTOCK_POSTGRES_SOCKET"])
        c = Client(address(schema, folder))
        chance = random.Random(number)
        proxy.latency = 0.001

        def body():
            source, target = chance.sample(range(1, accounts + 1), 2)
            c.run("UPDATE account SET balance = balance - 1 WHERE id = ?", source)
            c.run("UPDATE account SET balance = balance + 1 WHERE id = ?", target)
            c.run("INSERT INTO ledger (source, target) VALUES (?, ?)", source, target)

        for _ in range(5):
            c.write(body)
        began, done, refused = time.monotonic(), 0, c.refused
        while time.monotonic() < began + seconds:
            c.write(body)
            done += 1
        return done + 5, done / (time.monotonic() - began), c.refused - refused


def throughput(seconds, shows):
    accounts, rates, faults = 2000, {}, []
    if shows:
        print("| clients | transactions a second | refused and begun again |\n|---:|---:|---:|")
    for clients in (1, 2, 4):
        schema = f"busy_{clients}"
        c = Client(address(schema))
        c.run("CREATE TABLE account (id INTEGER PRIMARY KEY, balance INT)")
        c.run("CREATE TABLE ledger (id INTEGER PRIMARY KEY, source INT, target INT)")
        c.run(f"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT {accounts}) INSERT INTO account SELECT i, 100 FROM n")
        told = together(clients, lambda number: busy_work(schema, number, seconds, accounts))
        done, rates[clients] = sum(one[0] for one in told), sum(one[1] for one in told)
        if shows:
            print(f"| {clients} | {rates[clients]:.0f} | {sum(one[2] for one in told) / max(done, 1):.0%} |")
        rows = c.run("SELECT sum(balance), (SELECT count(*) FROM ledger) FROM account")
        if rows != [(100 * accounts, done)]:
            faults.append(f"{clients} clients committed {done} transactions; the rows are {rows}")
        wrong = c.run("SELECT id FROM account WHERE balance != 100 - (SELECT count(*) FROM ledger WHERE source = account.id) "
                      "+ (SELECT count(*) FROM ledger WHERE target = account.id) LIMIT 3")
        if wrong:
            faults.append(f"{clients} clients: a lost update of accounts {wrong}")
    if rates[4] < 1.5 * rates[1]:
        faults.append(f"four clients do {rates[4]:.0f} transactions a second, and one does {rates[1]:.0f}")
    return faults, rates


def main():
    numbers = [word for word in sys.argv[3:] if not word.startswith("--")]
    seconds = float(numbers[0]) if numbers else 4
    seed = int(numbers[1]) if numbers[1:] else int(time.time())
    uri = address("writers")
    prepare(uri)
    told = together(CLIENTS, lambda number: random_work(uri, number, seconds, seed))
    faults = check_rows(uri) + check_savepoint(uri)
    done, constraints, refused, tries = (sum(one[i] for one in told) for i in range(4))
    list_append.EXTENSION, list_append.LIBRARY = extension, library
    list_append.ENGINE, list_append.IN_ORDER, list_append.OPENERS = "postgres", False, 1
    with tempfile.TemporaryDirectory() as folder:
        history, kills, found = list_append.run(folder, "off", seconds, seed)
    committed = sum(one["result"] == "ok" for one in history)
    faults += found
    slow, rates = throughput(seconds / 2, "--table" in sys.argv)
    faults += slow
    for fault in faults[:20]:
        print(f"writers: {fault} (seed {seed})", file=sys.stderr)
    if not faults:
        print(f"writers: {done} random transactions of {CLIENTS} clients, {constraints} refused by constraints, {refused} of {tries} "
              f"begun again; {committed} of {len(history)} on lists have an order; four clients do {rates[4] / rates[1]:.1f} times what one does")
    sys.exit(bool(faults))


main()
