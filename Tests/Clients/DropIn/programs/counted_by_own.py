"""count() and changes() that the program has made itself are called by its statements, as natively."""
import sqlite3


class Counted:
    def __init__(self):
        self.rows = 0

    def step(self, *values):
        self.rows += 100

    def finalize(self):
        return self.rows


STATEMENTS = (
    "SELECT count(*) FROM t",
    "SELECT count(*) AS number FROM t",
    "SELECT count(*) FROM (SELECT a FROM t)",
    "UPDATE t SET b = changes()",
    "UPDATE t SET b = b + 1 RETURNING b, changes()",
    "INSERT INTO t VALUES (9, changes())",
    "DELETE FROM t WHERE a = 9 AND b = changes()",
    "SELECT * FROM t",
)
for number, (count, changes) in enumerate(((0, 0), (-1, -1), (1, 1), (None, None))):
    connection = sqlite3.connect("counted%d.db" % number, isolation_level=None)
    connection.execute("CREATE TABLE t (a INT, b INT)")
    connection.execute("CREATE TABLE log (x)")
    connection.execute("INSERT INTO t VALUES (1, 0), (2, 0)")
    if count is not None:
        connection.create_aggregate("count", count, Counted)
        connection.create_function("changes", changes, lambda *values: 77)
    connection.execute("CREATE TRIGGER told AFTER UPDATE ON t BEGIN INSERT INTO log SELECT changes(); INSERT INTO log SELECT count(*) FROM t; END")
    for statement in STATEMENTS:
        cursor = connection.execute(statement)
        print(number, statement, cursor.description and cursor.description[0][0], cursor.fetchall())
    print(number, connection.execute("SELECT * FROM log").fetchall())
    connection.close()
