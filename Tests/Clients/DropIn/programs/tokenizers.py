"""Full-text tables made in a transaction, tokenizers that a connection registers after it was opened, and fts3tokenize."""
import sqlite3


def opened():
    return sqlite3.connect("data.db", isolation_level=None)


def run(db, sql):
    try:
        print(sql, db.execute(sql).fetchall())
    except sqlite3.Error as error:
        print(sql, "is refused:", type(error).__name__)


db = opened()
for module in ["fts3", "fts4", "fts5"]:
    db.execute("BEGIN")
    db.execute(f"CREATE VIRTUAL TABLE {module}_table USING {module}(title, body)")
    for number in range(5):
        db.execute(f"INSERT INTO {module}_table VALUES (?, ?)", (f"title {number}", f"word common{number % 2}"))
    db.execute("COMMIT")
    run(db, f"SELECT title FROM {module}_table WHERE {module}_table MATCH 'common1'")

run(db, "CREATE VIRTUAL TABLE tokens USING fts3tokenize(porter)")
run(db, "SELECT token, position FROM tokens WHERE input='running quickly'")
run(db, "SELECT name FROM sqlite_master WHERE name LIKE 'tokens%'")

register = "SELECT fts3_tokenizer('mine', fts3_tokenizer('simple')) IS NULL"
run(db, register)
run(db, "CREATE VIRTUAL TABLE documents USING fts4(body, tokenize=mine)")
run(db, "INSERT INTO documents VALUES ('foo bar')")
run(db, "CREATE TABLE other(a)")
db.close()

db = opened()
for sql in ["SELECT * FROM other", "INSERT INTO other VALUES (1)", "SELECT * FROM documents", "INSERT INTO documents VALUES ('x')",
            "SELECT count(*) FROM sqlite_master", register, "SELECT * FROM documents WHERE documents MATCH 'foo'",
            "INSERT INTO documents VALUES ('foo again')", "PRAGMA table_info(documents)"]:
    run(db, sql)
second = opened()
run(second, "CREATE TABLE more(a)")
run(second, "SELECT * FROM documents")
run(second, register)
run(second, "SELECT * FROM documents WHERE documents MATCH 'foo'")
run(second, "DROP TABLE documents")
run(db, "SELECT name FROM sqlite_master WHERE name LIKE 'documents%'")
run(db, "SELECT * FROM more")
db.close()
second.close()
run(opened(), "SELECT * FROM tokens WHERE input='a'")
