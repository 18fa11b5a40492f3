"""PRAGMA trusted_schema, switched while statements of a table are kept: a function of the program that is not innocuous is called by the
schema while it is on, and by nothing while it is off."""
import sqlite3

calls = 0


def keep(value):
    global calls
    calls += 1
    return value


connection = sqlite3.connect("data.db", isolation_level=None)
connection.create_function("keep", 1, keep, deterministic=True)


def run(sql):
    global calls
    calls = 0
    try:
        answer = connection.execute(sql).fetchall()
    except sqlite3.Error as error:
        answer = "%s %s" % (error.sqlite_errorname, error)
    print(sql, "->", answer, "called" if calls > 0 else "")


TABLES = {"checked": "(a CHECK (keep(a) > 0))", "stored": "(a, b AS (keep(a)) STORED)", "ordered": "(a)", "partial": "(a)"}
for name, columns in TABLES.items():
    run("CREATE TABLE %s%s" % (name, columns))
run("CREATE INDEX by_keep ON ordered(keep(a))")
run("CREATE INDEX some ON partial(a) WHERE keep(a) > 1")
run("CREATE TABLE fired(a)")
run("CREATE TRIGGER fire AFTER INSERT ON fired WHEN abs(new.a) > 0 BEGIN UPDATE fired SET a = a + 1 WHERE Upper(a) = KEEP(new.a); END")
TABLES["fired"] = ""
for setting in "on", "off", "on", "off":
    run("PRAGMA trusted_schema = " + setting)
    for name in TABLES:
        run("INSERT INTO %s(a) VALUES (1), (2)" % name)
        run("INSERT OR REPLACE INTO %s(a) SELECT 3" % name)
        run("UPDATE %s SET a = a + 10" % name)
        run("SELECT count(*), sum(a) FROM " + name)
