"""UPDATE FROM on a table of an attached store that reads another database: whole, where a row of it fails inside a transaction."""
import sqlite3
db = sqlite3.connect('o.db')
db.executescript("CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE, c CHECK(c < 100)); CREATE TABLE log(x); CREATE TABLE w(k PRIMARY KEY, v UNIQUE) WITHOUT ROWID;"
                 "CREATE TRIGGER g AFTER UPDATE ON t BEGIN INSERT INTO log VALUES(old.a || new.b); END; INSERT INTO w VALUES(1, 1), (2, 2), (3, 3);"
                 "INSERT INTO t VALUES(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)")
db.close()
db = sqlite3.connect('m.db', isolation_level=None)
db.executescript("CREATE TABLE other(a, b); INSERT INTO other VALUES(1, 11), (2, 12), (3, 4), (4, 40); ATTACH 'o.db' AS x")


def run(statement):
    try:
        result = db.execute(statement).fetchall()
    except sqlite3.Error as error:
        result = str(error)
    print(statement, result, db.in_transaction, db.total_changes,
          [db.execute("SELECT * FROM x." + table).fetchall() for table in ('t', 'log', 'w')])


for begin in (None, "BEGIN", "SAVEPOINT q"):
    for change in ("UPDATE {} x.t SET b = other.b FROM other WHERE other.a = t.a", "UPDATE {} x.w SET v = other.b FROM other WHERE other.a = w.k",
                   "UPDATE {} x.t SET a = a + 10, b = other.b, c = other.b * 3 FROM other WHERE other.a = t.a"):
        for conflict in ("", "OR IGNORE", "OR FAIL", "OR REPLACE", "OR ROLLBACK"):
            statement = change.format(conflict)
            for step in (begin, "UPDATE x.t SET c = c + 1", statement, "UPDATE x.t SET b = b + 100 WHERE a = 1", "SAVEPOINT r", statement,
                         "UPDATE x.t SET c = c + 1 WHERE a = 2", "ROLLBACK TO r", statement, "RELEASE r", statement):
                if step is not None:
                    run(step)
            if db.in_transaction:
                run("ROLLBACK")
run("PRAGMA x.integrity_check")
