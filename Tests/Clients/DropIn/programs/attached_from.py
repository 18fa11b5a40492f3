"""Attached stores: UPDATE FROM that reads another database and fails inside a transaction, last_insert_rowid(), PRAGMAs that set numbers."""
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
    print(statement, result, db.in_transaction, db.total_changes, db.execute("SELECT last_insert_rowid()").fetchone()[0],
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
for statement in ("INSERT INTO other(a) VALUES (7)", "INSERT INTO x.w SELECT b, a FROM other WHERE b > 30", "PRAGMA x.integrity_check",
                  "BEGIN", "PRAGMA x.user_version=4", "PRAGMA x.application_id=5", "ROLLBACK", "PRAGMA x.user_version", "PRAGMA x.application_id",
                  "SAVEPOINT s", "PRAGMA x.user_version=6", "ROLLBACK TO s", "RELEASE s", "PRAGMA x.user_version", "PRAGMA x.user_version=7", "PRAGMA x.user_version"):
    run(statement)


def again(main):
    """A kept change means a temp table again that a ROLLBACK has brought back, or no table of the attached store."""
    print("==", "again")
    connection = sqlite3.connect(main, uri=True, isolation_level=None)
    for sql in ("ATTACH 'other_of_%s' AS o" % main[5:].split("?")[0], "CREATE TABLE o.again(a)",
                "CREATE TABLE two(a UNIQUE ON CONFLICT ROLLBACK)"):
        connection.execute(sql)

    def use(tell=True):
        for sql in ("INSERT INTO again VALUES (1)", "UPDATE again SET a = a + 1"):
            try:
                connection.execute(sql)
            except sqlite3.Error as error:
                if tell:
                    print(error)
        print(connection.execute("SELECT * FROM o.again").fetchall(), connection.execute("SELECT * FROM again").fetchall() if tell else None)

    if "native" in main:
        use()
        connection.execute("CREATE TEMP TABLE again(b, a)")
        use(False)  # natively temp's rows: at least none of the store's
        connection.execute("DROP TABLE temp.again")
        use()
        return
    connection.execute("CREATE TEMP TABLE again(a)")
    for begin, end in (("BEGIN", "ROLLBACK"), ("BEGIN", "ROLLBACK TO s"), ("BEGIN", "INSERT INTO two VALUES (1), (1)"), ("SAVEPOINT r", "ROLLBACK TO r")):
        connection.execute(begin)
        connection.execute("SAVEPOINT s")
        connection.execute("DROP TABLE temp.again")
        use()
        try:
            connection.execute(end)
        except sqlite3.Error as error:
            print(error)
        use()
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        use()
    connection.close()


again("file:again.db")
again("file:again_native.db?engine=sqlite")
