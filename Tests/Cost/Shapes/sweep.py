#!/usr/bin/python3
"""sweep.py - generated shapes of queries, timed on SQLite's own tables and on a store.

Usage: Tests/Cost/Shapes/sweep.py INTERPOSER [SECONDS [SEED [ENGINE]]]
       Tests/Cost/Shapes/sweep.py INTERPOSER --case SEED/NUMBER [ENGINE]

A round draws a schema of five tables (empty, small, thousands of rows), fills both databases alike, and asks both the
same queries. The best of three counts, in processor time: a loaded machine makes no finding. A query that takes the store over 20 times as long as SQLite and over
50 ms is a finding; so is one whose rows differ. Each finding is printed with both plans, and the number that asks for
it again by --case. Slow shapes that a store has for now are told in Vendor-notes/sqlite.md ("Slow shapes"), so the
status is 1 only where rows differ, or where over one query in fifty is slow. A query that takes SQLite itself longer
than 100 ms is left out.

INTERPOSER is build/librootstock_interpose.so: `make interpose`.
"""
import os
import random
import re
import sqlite3
import sys
import tempfile
import time

TIMES, LEAST, NATIVE_MOST, STORE_MOST = 20, 0.050, 0.100, 4.0
QUERIES = 60  # of one schema


class TooLong(Exception):
    pass


class Schema:
    """Tables and their rows. Columns a, b, c, d hold few values, many, texts of numbers, and mixed ones."""

    def __init__(self, chance):
        self.script, self.tables = [], {}
        for number in range(5):
            name = f"t{number}"
            types = [chance.choice(["INT", "INT", "TEXT", "REAL", ""]) for _ in range(4)]
            size = chance.choice([0, 3, 200, 1000, 1000, 4000])
            key, options = chance.choice([("", ""), ("", ""), ("id INTEGER PRIMARY KEY, ", ""), ("", " WITHOUT ROWID")])
            columns = [f"{column} {type_}".strip() for column, type_ in zip("abcd", types)]
            if options:
                key, columns = "", ["a " + types[0]] + columns[1:] + ["PRIMARY KEY (" + chance.choice(["b", "b, a"]) + ")"]
            self.script.append(f"CREATE TABLE {name} ({key}{', '.join(columns)}){options}")
            few, step = chance.choice([2, 10, 50]), chance.choice([1, 3, 7])
            mixed = chance.choice(["NULL", "i", "'x' || i", f"CASE i % 3 WHEN 0 THEN i WHEN 1 THEN 'y' || i END", "i * 0.5"])
            if size:
                self.script.append(
                    f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {size}) "
                    f"INSERT INTO {name} (a, b, c, d) SELECT i % {few}, i * {step}, '' || (i * {step} % 997), {mixed} FROM n")
            self.tables[name] = types
            for index in range(chance.choice([0, 1, 1, 2, 3])):
                parts = chance.sample("abcd", chance.choice([1, 1, 2, 2, 3]))
                parts = [part + chance.choice(["", "", "", " DESC", " COLLATE NOCASE"]) for part in parts]
                where = chance.choice([""] * 5 + [" WHERE a > 1", " WHERE d IS NOT NULL"])
                self.script.append(f"CREATE INDEX i{number}{index} ON {name} ({', '.join(parts)}){where}")
        if chance.random() < 0.5:
            self.script.append("ANALYZE")


class Query:
    """One query of a random shape. `total`: its rows are the same whichever of equal ones come first."""

    def __init__(self, schema, chance):
        self.chance, self.schema, self.values = chance, schema, []
        self.text = self.statement()
        del self.values[max([0] + [int(number) for number in re.findall(r"\?(\d+)", self.text)]):]

    def pick(self, *items):
        return self.chance.choice(items)

    def literal(self):
        value = self.pick(0, 1, 5, 42, 500, 777, 2.5, "1", "42", "500", "x7", "y10", "", None)
        if self.chance.random() < 0.3:
            self.values.append(value)
            return f"?{len(self.values)}"
        if value is None:
            return "NULL"
        return repr(value) if not isinstance(value, str) else "'" + value + "'"

    def column(self, aliases):
        return f"{self.pick(*aliases)}.{self.pick(*'abcd')}"

    def operand(self, aliases):
        kind = self.chance.random()
        if kind < 0.5:
            return self.literal()
        if kind < 0.85:
            return self.column(aliases)
        return self.pick("{} + 0", "{} || ''", "+{}", "abs({})", "-{}", "CAST({} AS TEXT)", "CAST({} AS INT)",
                         "coalesce({}, 1)").format(self.column(aliases))

    def inner(self, outer, columns):
        """A subquery's text behind SELECT and its columns, correlated or not."""
        alias = f"s{self.chance.randrange(1000)}"
        listed = ", ".join(f"{alias}.{self.pick(*'abcd')}" for _ in range(columns))
        text = f"SELECT {listed} FROM {self.pick(*self.schema.tables)} {alias}"
        if self.chance.random() < 0.6:
            text += f" WHERE {self.term([alias] + (outer if self.chance.random() < 0.6 else []), 0)}"
        return text

    def term(self, aliases, depth=1):
        kind = self.chance.random()
        if kind < 0.45:
            left = self.column(aliases) if self.chance.random() < 0.9 else self.operand(aliases)
            return f"{left} {self.pick('=', '=', '=', '==', '<', '<=', '>', '>=', '<>', 'IS', 'IS NOT')} {self.operand(aliases)}"
        if kind < 0.52:
            return f"{self.column(aliases)} BETWEEN {self.operand(aliases)} AND {self.operand(aliases)}"
        if kind < 0.60:
            return f"{self.column(aliases)} {self.pick('', 'NOT ')}IN ({', '.join(self.operand(aliases) for _ in range(3))})"
        if kind < 0.65:
            return f"{self.column(aliases)} {self.pick('IS NULL', 'IS NOT NULL', '', 'IS TRUE', 'COLLATE NOCASE = ' + self.literal())}"
        if kind < 0.70:
            pattern = self.pick("'1%'", "'x%'", "'%9'", "'4_'")
            return f"{self.column(aliases)} {self.pick('LIKE ' + pattern, 'GLOB ' + pattern.replace('%', '*'))}"
        if kind < 0.76:
            columns = f"({self.column(aliases)}, {self.column(aliases)})"
            right = f"({self.operand(aliases)}, {self.operand(aliases)})"
            return f"{columns} {self.pick('=', '<', '>', '<=', '>=')} {right}"
        if depth == 0:
            return f"{self.column(aliases)} = {self.operand(aliases)}"
        if kind < 0.82:
            return f"{self.column(aliases)} {self.pick('', '', 'NOT ')}IN ({self.inner(aliases, 1)})"
        if kind < 0.85:
            return f"({self.column(aliases)}, {self.column(aliases)}) IN ({self.inner(aliases, 2)})"
        if kind < 0.90:
            return f"{self.pick('', '', 'NOT ')}EXISTS ({self.inner(aliases, 1)})"
        if kind < 0.94:
            return f"{self.column(aliases)} = ({self.inner(aliases, 1)} ORDER BY 1 LIMIT 1)"
        return f"({self.term(aliases, 0)} {self.pick('OR', 'OR', 'AND')} {self.term(aliases, 0)})"

    def terms(self, aliases, most):
        return " AND ".join(self.term(aliases) for _ in range(self.chance.randint(1, most)))

    def source(self):
        kind, table = self.chance.random(), self.pick(*self.schema.tables)
        if kind < 0.88:
            return table
        if kind < 0.93:
            return f"(SELECT * FROM {table} WHERE {self.pick('a = 1', 'b > 100', 'd IS NULL', 'c = 5')})"
        if kind < 0.97:
            return f"(SELECT a, max(b) AS b, min(c) AS c, count(d) AS d FROM {table} GROUP BY a)"
        return f"(SELECT a, b, c, d FROM {table} UNION ALL SELECT b, a, d, c FROM {self.pick(*self.schema.tables)})"

    def sources(self):
        aliases, text = [], ""
        for number in range(self.pick(1, 1, 2, 2, 2, 3, 3, 4)):
            alias, source = f"x{number}", self.source()
            if not aliases:
                text = f"{source} {alias}"
            else:
                join = self.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " CROSS JOIN ", ", ", " NATURAL JOIN ",
                                 " NATURAL LEFT JOIN ")
                text += f"{join}{source} {alias}"
                if join in (" JOIN ", " LEFT JOIN ", " CROSS JOIN ") and self.chance.random() < 0.85:
                    if self.chance.random() < 0.15:
                        text += f" USING ({self.pick('a', 'b', 'c', 'd', 'a, b', 'b, c')})"
                    else:
                        column = f"{alias}.{self.pick(*'abcd')}"
                        text += f" ON {column} {self.pick('=', '=', '=', '=', 'IS', '<', '>')} {self.column(aliases)}"
                        if self.chance.random() < 0.25:
                            text += f" AND {self.term(aliases + [alias], 0)}"
            aliases.append(alias)
        return aliases, text

    def statement(self):
        chance = self.chance
        aliases, sources = self.sources()
        where = f" WHERE {self.terms(aliases, 3)}" if chance.random() < 0.75 else ""
        kind = chance.random()
        self.total = True
        if kind < 0.35:
            result = self.pick("count(*)", f"count({self.column(aliases)})", f"max({self.column(aliases)})",
                               f"min({self.column(aliases)})", f"count(DISTINCT {self.column(aliases)})",
                               f"sum({self.column(aliases)}), count(*)")
            return f"SELECT {result} FROM {sources}{where}"
        if kind < 0.45:
            column = self.column(aliases)
            having = self.pick("", "", " HAVING count(*) > 1")
            return f"SELECT {column}, count(*), max({self.column(aliases)}) FROM {sources}{where} GROUP BY {column}{having}"
        if kind < 0.52:
            return f"SELECT DISTINCT {self.column(aliases)}, {self.column(aliases)} FROM {sources}{where}"
        if kind < 0.58:
            return (f"SELECT {self.column(aliases)}, ({self.inner(aliases, 1)} ORDER BY 1 LIMIT 1) IS NULL, "
                    f"(SELECT {self.pick('max', 'min', 'count')}({self.pick(*'abcd')}) FROM {self.pick(*self.schema.tables)} w "
                    f"WHERE {self.term(['w'] + aliases, 0)}) FROM {sources}{where}")
        columns = [self.column(aliases) for _ in range(self.pick(1, 2, 3))]
        text = f"SELECT {', '.join(columns)} FROM {sources}{where}"
        if kind < 0.62:
            return f"{text} {self.pick('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT')} {text}"
        orders = [self.column(aliases) + self.pick("", "", " DESC") for _ in range(self.pick(1, 1, 2))]
        if kind < 0.85:
            # All columns of the result behind it: rows that are equal by ORDER BY are equal.
            text += " ORDER BY " + ", ".join(orders)
            if chance.random() < 0.6:
                text += f", {', '.join(columns)} LIMIT {self.pick(1, 1, 10, 50)}" + self.pick("", "", " OFFSET 5")
            elif chance.random() < 0.4:
                self.total = False
                text += f" LIMIT {self.pick(1, 10)}"
        return text


def connect(folder, engine):
    if engine is None:
        return sqlite3.connect(":memory:", isolation_level=None)
    path = os.path.join(folder, "store.db")
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    return sqlite3.connect(f"file:{path}?engine={engine}&durability=off", uri=True, isolation_level=None)


def timed(db, query, most):
    """The best of three times and the rows; most when it takes longer."""
    best, rows = None, None
    for _ in range(3):
        start = time.process_time()
        db.set_progress_handler(lambda: time.process_time() - start > most, 1000)
        try:
            rows = db.execute(query.text, query.values).fetchall()
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                return most, None
            return 0, str(error)
        finally:
            db.set_progress_handler(None, 0)
        taken = time.process_time() - start
        best = taken if best is None else min(best, taken)
        if taken > LEAST:
            break
    return best, rows


def plan(db, query):
    try:
        return [row[3] for row in db.execute("EXPLAIN QUERY PLAN " + query.text, query.values)]
    except sqlite3.Error as error:
        return [str(error)]


class Sweep:
    def __init__(self, engine, folder):
        self.engine, self.folder, self.asked, self.left, self.slow, self.other = engine, folder, 0, 0, 0, 0
        self.worst = 0

    def round(self, seed, only=None, until=None):
        schema = Schema(random.Random(seed))
        native, store = connect(None, None), connect(self.folder, self.engine)
        for statement in schema.script:
            for db in (native, store):
                db.execute(statement)
        for number in range(QUERIES):
            if until is not None and time.monotonic() > until:
                break
            if only is None or only == number:
                query = Query(schema, random.Random(f"{seed}/{number}"))
                self.ask(f"{seed}/{number}", schema, native, store, query)
        native.close()
        store.close()

    def ask(self, name, schema, native, store, query):
        native_time, native_rows = timed(native, query, NATIVE_MOST)
        if native_rows is None or isinstance(native_rows, str):
            self.left += 1
            return
        limit = min(max(TIMES * native_time, LEAST) * 1.5, STORE_MOST)
        store_time, store_rows = timed(store, query, limit)
        self.asked += 1
        alike = store_rows is None or len(store_rows) == len(native_rows)
        if alike and store_rows is not None and query.total:
            alike = sorted(map(repr, store_rows)) == sorted(map(repr, native_rows))
        if isinstance(store_rows, str):
            alike = False
        slow = store_time > TIMES * native_time and store_time > LEAST
        if not slow:
            self.worst = max(self.worst, store_time / native_time if store_time > LEAST else 0)
        if alike and not slow:
            return
        plans = plan(native, query), plan(store, query)
        if alike:
            self.slow += 1
        else:
            self.other += 1
        what = "OTHER ROWS" if not alike else f"{native_time * 1e3:.2f} ms / {store_time * 1e3:.0f} ms{'+' if store_rows is None else ''}"
        print(f"\n{name}: {what}\n  {query.text}  {query.values or ''}")
        if isinstance(store_rows, str):
            print("  the store:", store_rows)
        used = sorted({table for table in schema.tables if re.search(rf"\b{table}\b", query.text)})
        for statement in schema.script:
            if statement == "ANALYZE" or any(re.search(rf"\b{table}\b", statement) for table in used):
                print("   ", statement)
        for side, lines in zip(("native", "store"), plans):
            print(f"  {side}: " + " | ".join(lines))
        sys.stdout.flush()


def main():
    arguments = sys.argv[1:]
    if not arguments:
        sys.exit(__doc__)
    interposer = os.path.abspath(arguments.pop(0))
    if not os.path.exists(interposer):
        sys.exit(f"sweep: there is no {interposer}: without it both sides are native")
    if os.environ.get("LD_PRELOAD") != interposer:
        os.environ["LD_PRELOAD"] = interposer
        os.execv("/usr/bin/python3", ["/usr/bin/python3", os.path.abspath(__file__), interposer] + arguments)
    only = None
    if arguments and arguments[0] == "--case":
        seed, only = arguments[1].split("/")
        seconds, seed, engine = None, int(seed), arguments[2] if len(arguments) > 2 else "lmdb"
    else:
        seconds = float(arguments[0]) if arguments else 60
        seed = int(arguments[1]) if len(arguments) > 1 and arguments[1] else int(time.time())
        engine = arguments[2] if len(arguments) > 2 else "lmdb"
    with tempfile.TemporaryDirectory(prefix="rootstock-sweep-") as folder:
        sweep = Sweep(engine, folder)
        if only is not None:
            sweep.round(seed, int(only))
        else:
            first, until = seed, time.monotonic() + seconds
            while time.monotonic() < until:
                sweep.round(seed, None, until)
                seed += 1
            print(f"\nsweep: seeds {first} to {seed - 1} on {engine}: {sweep.asked} queries timed, {sweep.left} left out "
                  f"(an error, or over {NATIVE_MOST * 1e3:.0f} ms natively)")
        print(f"sweep: {sweep.other} with other rows, {sweep.slow} slow; the slowest of the rest took {sweep.worst:.1f} "
              f"times native")
        sys.exit(1 if sweep.other or sweep.slow * 50 > sweep.asked else 0)


if __name__ == "__main__":
    main()
