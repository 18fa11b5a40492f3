"""In a deferred transaction the first statement that reads the database takes the snapshot: what another connection commits later is not seen."""
import sqlite3

reader = sqlite3.connect("data.db", isolation_level=None)
writer = sqlite3.connect("data.db", isolation_level=None)
writer.execute("PRAGMA journal_mode=wal")
writer.execute("CREATE TABLE t(a)")
writer.execute("CREATE INDEX i ON t(a)")
for first in ["SELECT 1", "SELECT * FROM sqlite_master", "PRAGMA schema_version", "PRAGMA user_version", "PRAGMA application_id",
              "PRAGMA data_version", "PRAGMA table_info(t)", "PRAGMA table_xinfo(t)", "PRAGMA index_list(t)", "PRAGMA index_info(i)",
              "PRAGMA table_list", "SELECT * FROM pragma_table_info('t')", "PRAGMA integrity_check", "PRAGMA database_list",
              "PRAGMA main . database_list"]:
    writer.execute("DELETE FROM t")
    reader.execute("BEGIN")
    reader.execute(first).fetchall()
    writer.execute("INSERT INTO t VALUES(1)")
    print(first, reader.execute("SELECT count(*) FROM t").fetchall())
    reader.execute("COMMIT")
# The number of the schema is that of the snapshot, too.
before = reader.execute("PRAGMA schema_version").fetchone()
reader.execute("BEGIN")
reader.execute("SELECT * FROM t").fetchall()
writer.execute("CREATE TABLE later(a)")
print(reader.execute("PRAGMA schema_version").fetchone() == before, reader.execute("SELECT name FROM sqlite_master ORDER BY 1").fetchall())
reader.execute("COMMIT")
print(reader.execute("PRAGMA schema_version").fetchone() == before, reader.execute("SELECT name FROM sqlite_master ORDER BY 1").fetchall())
