"""SQLite's functions asked for by their names, as Python's ctypes does. Natively the same program answers the same."""
import ctypes
import ctypes.util
import sqlite3

ROW, DONE, UTF8, TRANSIENT = 100, 101, 1, ctypes.c_void_p(-1)
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p))
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p))
HOOK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64)


@CALLBACK
def told(_, count, values, names):
    print("  row", [(names[i], values[i]) for i in range(count)])
    return 0


def session(name, library, file):
    print(name)
    for function in ("sqlite3_errmsg", "sqlite3_column_text", "sqlite3_column_name", "sqlite3_db_filename", "sqlite3_sql"):
        getattr(library, function).restype = ctypes.c_char_p
    library.sqlite3_value_int64.restype = library.sqlite3_last_insert_rowid.restype = ctypes.c_int64
    db, statement, message = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_char_p()

    def run(sql):
        code = library.sqlite3_exec(db, sql.encode(), told, None, ctypes.byref(message))
        print(sql, "->", code, message.value if code else None, library.sqlite3_errcode(db))
        if code:
            library.sqlite3_free(message)

    @FUNCTION
    def twice(context, _, values):
        library.sqlite3_result_int64(ctypes.c_void_p(context), ctypes.c_int64(2 * library.sqlite3_value_int64(ctypes.c_void_p(values[0]))))

    @HOOK
    def changed(_, operation, database, table, row):
        print("  changed", operation, database, table, row)

    print("open", library.sqlite3_open_v2(file.encode(), ctypes.byref(db), 6, None))
    library.sqlite3_update_hook(db, changed, None)
    print("function", library.sqlite3_create_function_v2(db, b"twice", 1, UTF8, None, twice, None, None, None))
    run("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT UNIQUE)")
    run("INSERT INTO t VALUES (1, 'one'), (2, 'two')")
    run("SELECT twice(a) AS c, b FROM t ORDER BY b")
    run("INSERT INTO t VALUES (3, 'two')")
    run("SELECT nope FROM t")
    print("prepare", library.sqlite3_prepare_v2(db, b"INSERT INTO t (b) VALUES (?1) RETURNING a, b; SELECT 1", -1, ctypes.byref(statement), None))
    for text in (b"three", b"four"):
        print("bind", library.sqlite3_bind_text(statement, 1, text, -1, TRANSIENT), library.sqlite3_bind_parameter_count(statement))
        while library.sqlite3_step(statement) == ROW:
            print("  ", library.sqlite3_column_int(statement, 0), library.sqlite3_column_text(statement, 1), library.sqlite3_column_name(statement, 1))
        print("reset", library.sqlite3_reset(statement), library.sqlite3_changes(db), library.sqlite3_last_insert_rowid(db))
    print(library.sqlite3_sql(statement), "finalize", library.sqlite3_finalize(statement))
    run("BEGIN; DELETE FROM t WHERE a > 2")
    print("autocommit", library.sqlite3_get_autocommit(db), library.sqlite3_total_changes(db))
    run("ROLLBACK")
    run("PRAGMA integrity_check")
    print("close", library.sqlite3_close(db))


session("by its file's name", ctypes.CDLL("libsqlite3.so.0"), "named.db")
session("as ctypes finds it", ctypes.CDLL(ctypes.util.find_library("sqlite3")), "found.db")
session("of the process", ctypes.CDLL(None), "process.db")

# What one wrote the other reads: both are of one kind.
print(sqlite3.connect("named.db").execute("SELECT * FROM t ORDER BY a").fetchall())

# Names that there are not, and those of other libraries.
library = ctypes.CDLL("libsqlite3.so.0")
for name in ("sqlite3_no_such_function", "sqlite", "sq", "s", ""):
    try:
        print(name, getattr(library, name) is not None)
    except AttributeError as error:
        print(name, str(error).rsplit("/", 1)[-1])
print(ctypes.CDLL("libm.so.6").floor is not None, ctypes.CDLL(None).getpid() > 0)
