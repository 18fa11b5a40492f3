"""PRAGMAs that only set have no columns: JDBC's executeUpdate refuses a statement that has some. Those that tell what they set
do so of an attached database, too."""
import sqlite3

connection = sqlite3.connect("data.db", isolation_level=None)
connection.execute("CREATE TABLE t(a)")
connection.execute("ATTACH 'other.db' AS x")
connection.execute("CREATE TABLE x.t(a)")
for text in (
    "auto_vacuum = 1", "auto_vacuum = full", "main.auto_vacuum = 0", "auto_vacuum", "incremental_vacuum", "incremental_vacuum(3)",
    "incremental_vacuum = 3", "main.incremental_vacuum", "count_changes = 0", "count_changes = on", "count_changes", "count_changes = off",
    "user_version = 3", "application_id = 4", "ignore_check_constraints = 0", "foreign_keys = 1", "synchronous = 1", "cache_size = 5", "page_size = 4096",
    "schema_version = 9", "recursive_triggers = 1", "legacy_alter_table = 0", "read_uncommitted = 0", "wal_autocheckpoint = 10", "mmap_size = 0",
    "locking_mode = normal", "journal_mode = wal", "secure_delete = 0", "busy_timeout = 5", "temp_store = 2", "query_only = 0",
    "x.auto_vacuum = 1", "x.incremental_vacuum", "x.user_version = 3", "x.journal_mode = wal", "x.synchronous = 1", "x.locking_mode", "x.locking_mode = normal",
    "x.mmap_size = 65536", "x.mmap_size", "x.mmap_size = 0", "x.secure_delete = 0", "temp.incremental_vacuum", "temp.locking_mode",
):
    cursor = connection.execute("PRAGMA " + text)
    print(text, cursor.description, cursor.fetchall())
