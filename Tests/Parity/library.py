#!/usr/bin/python3
"""library.py EXTENSION LIBRARY ENGINE [SCRIPT.sql ...] - the parity scripts on an engine from a shared library and on plain SQLite.

Each statement has to give the same rows, columns, error and state of the transaction. Engines of the command itself are compared by
ParityTests, which knows more. Needs a Python whose sqlite3 loads extensions."""
import glob, json, os, sqlite3, sys, tempfile

# Functions of the Swift harness; parameters that Python cannot leave unbound.
SWIFT_ONLY = {"application_functions", "create_table_as"}


def steps(text):
    """SQL statements, and None where the script opens its database anew."""
    pending = ""
    for line in text.split("\n"):
        if line.startswith("-- @reopen"):
            yield None
            continue
        for i, part in enumerate(line.split(";")):
            if i:
                pending += ";"
                if sqlite3.complete_statement(pending):
                    code = [l for l in pending.split("\n") if l.strip(" ;") and not l.strip().startswith("--")]
                    if code:
                        yield pending.strip()
                    pending = ""
            pending += part
        pending += "\n"


class Native:
    def __init__(self, folder):
        self.path = os.path.join(folder, "native.db")
        self.open()

    def open(self):
        self.c = sqlite3.connect(self.path, isolation_level=None)
        self.c.text_factory = bytes
        self.c.execute("PRAGMA synchronous = OFF")

    def text(self, sql):
        return sql

    def run(self, sql):
        try:
            cursor = self.c.execute(self.text(sql))
            rows = cursor.fetchall()
            outcome = ("rows", [d[0] for d in cursor.description or []], rows)
        except sqlite3.Error as error:
            outcome = ("error", str(error), getattr(error, "sqlite_errorname", None))
        return outcome, self.c.in_transaction


class Store(Native):
    extension = library = engine = None

    def __init__(self, folder):
        self.path = os.path.join(folder, "store")
        self.open()

    def open(self):
        self.c = sqlite3.connect(":memory:", isolation_level=None)
        self.c.text_factory = bytes
        self.c.enable_load_extension(True)
        self.c.load_extension(self.extension)
        self.c.execute("SELECT rootstock_load_engine(?)", (self.library,)).fetchall()
        options = json.dumps({"durability": "off"})
        self.c.execute("SELECT rootstock_open(?, ?, ?)", (self.path, self.engine, options)).fetchall()

    def text(self, sql):
        return self.c.execute("SELECT rootstock_rewrite(?)", (sql,)).fetchone()[0].decode()


def same(sql, native, store):
    if native[0][0] != "rows" or store[0][0] != "rows":
        return native == store
    words = sql.upper()
    sides = [native[0][2], store[0][2]]
    if "ORDER BY" not in words:
        sides = [sorted(rows, key=repr) for rows in sides]
    # A statement without rows may have columns or not; ALTER TABLE shows those of a check inside SQLite.
    shown = bool(native[0][1]) and "ALTER TABLE" not in words
    return native[1] == store[1] and (not shown or (sides[0] == sides[1] and native[0][1] == store[0][1]))


def main():
    Store.extension, Store.library = (os.path.abspath(path) for path in sys.argv[1:3])
    Store.engine = sys.argv[3]
    here = os.path.dirname(os.path.abspath(__file__))
    scripts = sys.argv[4:] or sorted(glob.glob(os.path.join(here, "Scripts", "*.sql")))
    differences = statements = 0
    for path in scripts:
        name = os.path.basename(path)[:-4]
        if name in SWIFT_ONLY:
            continue
        with tempfile.TemporaryDirectory() as folder, open(path) as script:
            sides = (Native(folder), Store(folder))
            for sql in steps(script.read()):
                if sql is None:
                    for side in sides:
                        side.c.close()
                        side.open()
                    continue
                native, store = (side.run(sql) for side in sides)
                statements += 1
                if not same(sql, native, store):
                    differences += 1
                    print(f"{name}: {sql}\n    SQLite  {native}\n    {Store.engine}  {store}", file=sys.stderr)
            for side in sides:
                side.c.close()
    assert statements > 0, "no statement was run"
    print(f"parity: {differences} of {statements} statements differ on {Store.engine}")
    sys.exit(bool(differences))


main()
