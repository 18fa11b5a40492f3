/*
** rootstock.h - SQL over a storage engine you choose: the public C interface.
**
** rootstock_register gives a connection (sqlite3*) the module. Then there are two ways to keep rows in a store:
**   - rootstock_open(db, "data.store", ...) makes a store the content of a `:memory:` connection. Its tables, indexes,
**     views and triggers are declared from the store's catalog. Every SQL statement that goes through
**     rootstock_rewrite means on the store what it means on a native database.
**   - CREATE VIRTUAL TABLE t USING lmdb(...) in a native database file keeps t's rows in the sidecar `<database>-lmdb`.
**     REFERENCES to a native table is enforced through the native table `t_foreign<n>`. Native tables refer to t
**     through `t_keys`, which the argument native_keys(column, ...) makes. Without the front door a statement is judged
**     row by row: a foreign key between two tables of the sidecar is checked with each row, not at the statement's end.
**     If it is deferred and violated, COMMIT rolls back.
**
** A registered connection also reads and writes LMDB files of other programs:
**   - CREATE VIRTUAL TABLE k USING kv('path', 'tree', key=blob|text|int, value=blob|text|json) makes an existing tree a
**     table with columns key and value. '' is the unnamed tree. A tree with several values a key (MDB_DUPSORT) has
**     several rows a key. A tree with integer keys (MDB_INTEGERKEY) needs key=int. Further arguments: engine=lmdb,
**     readonly=yes, mapsize=BYTES, width=4|8. Writes belong to the connection's transaction. A commit over several
**     files is atomic in each, not over all. DROP TABLE leaves the tree alone.
**   - SELECT * FROM kv_trees('path') lists a file's trees: name, entries, flags, depth, pages.
**   - A table of kv in a native file's schema is opened only if the application has named its path on this connection:
**     by running its CREATE, or SELECT rootstock_allow('path').
**   - Neither can be used from a view or trigger (SQLITE_VTAB_DIRECTONLY). kv refuses a store's own trees.
**
** The application registers functions and collations on db with SQLite's own calls, before or after it opens the store.
** They serve CHECKs, generated columns, index expressions and WHERE clauses of partial indexes. They run as SELECTs on
** db, so they must be allowed there. Keys and indexes may be under its collations, but for an engine on which several
** write at once (ROOTSTOCK_CAPABILITY_MANY_WRITERS). Where a collation has changed, REINDEX sorts the indexes again.
**
** CONVENTIONS
**  1. Results are SQLite codes (extended ones where SQLite has them). Out-parameters named `message` get text from
**     sqlite3_malloc that the caller frees with sqlite3_free; they may be null.
**  2. Threads: one thread at a time uses a connection and all that belongs to it, as SQLite's multi-thread mode asks.
**     The thread that began a write transaction on engine `lmdb` ends it. Another thread gets SQLITE_MISUSE.
**  3. After fork, a child must not use the connection: SQLITE_MISUSE.
**  4. Blobs and text that a SELECT returns outside a write transaction point into the engine's memory and follow
**     SQLite's rule: valid until the next step, reset or finalize.
*/
#ifndef ROOTSTOCK_H
#define ROOTSTOCK_H

#include <stddef.h>

#ifdef ROOTSTOCK_LOADABLE
#include <sqlite3ext.h>
#else
#include <sqlite3.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of Rootstock, "major.minor.patch". */
const char *rootstock_version(void);

/* Registers the built-in engines, "lmdb" and "sqlite-btree", with the plug (rootstock_engine.h). rootstock_register
** does so first. Idempotent, from any thread. SQLITE_OK; SQLITE_INTERNAL where another engine took one of their
** names. */
int rootstock_register_engines(void);

/* The engine of the file at path, by its first page: "lmdb", "sqlite-btree", or "sqlite" for a database of SQLite's
** own. "postgres", which has to be loaded, for a file that names a server and for a URI (postgresql://). "" where there
** is no file yet, or an empty one. Null for anything else, and for a file that cannot be read. From any thread. */
const char *rootstock_recognize(const char *path);

/* Registers the modules (one per registered engine, by its name) and the SQL functions rootstock_open and
** rootstock_rewrite on the connection. Idempotent. SQLITE_OK, SQLITE_NOMEM. */
int rootstock_register(sqlite3 *db);

/* Makes the store at path the content of db, which must be a `:memory:` connection without tables of its own, outside a
** transaction. Registers first if need be. engine: null or "" for "lmdb". *tables, if not null, gets the number of
** tables. The store is closed with the connection. options: null, or a JSON object. An unknown key is SQLITE_ERROR:
**
**     durability     "off", "normal" or "full"
**     readOnly       true or false, or "connection": others of the process may write. A file that may not be written is
**                    opened as with true
**     checksum       true: a new store keeps a checksum with every entry, verified at every read. A mismatch is
**                    SQLITE_CORRUPT_VTAB, naming table and row. An existing store without checksums: SQLITE_ERROR.
**                    An existing store with checksums keeps them whatever is asked for
**     mapSize        bytes
**     maxReaders     reader slots
**     writeMap       true or false. Engine lmdb: true for durability "off" unless named
**     readAhead      true or false. Engine lmdb: false unless named, for a store of more than half of the memory that
**                    the process may use
**     pageAccess     "none": engine lmdb calls liblmdb's public functions only. "read": it reads pages by itself.
**                    "write" (the default): it edits them, too
**     commit         "plain": as liblmdb commits. "sealed" (the default): by fewer flushes
**     engineOptions  options that an engine has by itself, "name=value,name=value". An unknown one is SQLITE_ERROR
**     removeLock     true: engine lmdb's lock file goes with the last who has the store open; else it stays
**     readerWarning  commits, 1000 unless named, 0 for never. A commit that finds a snapshot of any process that many
**                    commits behind writes one SQLITE_WARNING to SQLite's error log
**
** Errors: SQLITE_CANTOPEN, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_BUSY, SQLITE_ERROR ..., with a message that names the
** path. */
int rootstock_open(sqlite3 *db, const char *path, const char *engine, const char *options, int *tables, char **message);

/* Turns the first statement of sql into a text that does the same on the store of db. Run that text as it is on the
** same connection, with the parameters bound in the same order and under the same names. *rewritten gets text from
** sqlite3_malloc, or null where nothing has to change. *tail, if not null, points behind the statement in sql (behind
** its semicolon). bytes: length of sql, or -1 up to its NUL. A statement that a store does not support is refused here,
** with SQLite's code and message where SQLite has the same fault. On a connection without a store nothing changes. */
int rootstock_rewrite(sqlite3 *db, const char *sql, int bytes, char **rewritten, const char **tail, char **message);

/* Brings the declared schema up to the store's, if another connection changed it. rootstock_rewrite does so by itself.
** SQLITE_OK, or SQLITE_LOCKED while statements of this connection run. Call this before a kept statement that writes is
** stepped again, and after SQLITE_SCHEMA.
**   - A statement that only reads needs no call: SQLite prepares it again under the new schema.
**   - One that writes fails with SQLITE_SCHEMA until this is called. SQLite would roll back the new declarations with
**     it, and its rewritten text may not fit the new schema (rootstock_schema_state tells).
**   - So may one after a ROLLBACK that took back a change of the schema. */
int rootstock_refresh(sqlite3 *db);

/* Writes a compact copy of the store's last commit to a new file at path, synced. Writers and readers go on meanwhile.
** The copy reads a snapshot, so free pages are not used again until it is done. Inside a transaction its own changes
** are not in the copy. On failure the file is gone again. SQLITE_ERROR, "output file already exists": such a file is
** not touched. SQLITE_INTERRUPT after sqlite3_interrupt. SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR ... SQLITE_ERROR on
** an engine without files. SQLITE_MISUSE without a store. */
int rootstock_backup(sqlite3 *db, const char *path, char **message);

/* As rootstock_refresh, and *state gets a number that changes with the store's schema and with the connection's
** triggers on the store. A result of rootstock_rewrite for a query or change (SELECT, INSERT, UPDATE, DELETE, REPLACE,
** VALUES, WITH) may be used again while the number stays, null included. It ends when a temp or attached table takes a
** table's name. A call with nothing committed since the last one costs about a hundred instructions on engine lmdb.
** *state is 0 on a connection without a store. */
int rootstock_schema_state(sqlite3 *db, unsigned long long *state);

/* Tells of each row of a store's table that is inserted, updated or deleted through db, as sqlite3_update_hook does of
** native tables. It tells after the row's change, before its AFTER triggers and COMMIT. It tells of tables with rowids,
** and not of rows that REPLACE removes. operation: SQLITE_INSERT, SQLITE_UPDATE or SQLITE_DELETE. before: the rowid
** that the row had. A DELETE of all rows that needs no look at each is told once, with operation 0, unless each_cleared
** is not 0. The observer must not use db. A null observer ends it. SQLITE_OK, SQLITE_NOMEM. */
typedef void (*rootstock_row_observer)(void *context, int operation, const char *table, sqlite3_int64 rowid,
                                       sqlite3_int64 before);
int rootstock_observe_rows(sqlite3 *db, rootstock_row_observer observer, void *context, int each_cleared);

/* A row of a store's table that is about to be changed: what sqlite3_preupdate_hook tells of native tables. */
typedef struct rootstock_row_change {
    int operation;               /* SQLITE_INSERT, SQLITE_UPDATE or SQLITE_DELETE */
    const char *table;           /* its name */
    sqlite3_int64 before, after; /* its rowid; 0 in a WITHOUT ROWID table */
    int depth;                   /* 0: a statement of the application; 1: of its triggers and foreign keys; and so on */
    int columns;                 /* of the table */
    int blob_column;             /* which value a blob handle writes to: a SQLITE_DELETE of the old row; or -1 */
    const void *described, *old_row, *new_row; /* rootstock_change_bind reads them */
} rootstock_row_change;

/* Tells of each row before it is inserted, updated or deleted through db. It tells of tables with and without rowids,
** of rows that REPLACE removes, and of each row of a DELETE of all rows. The observer may query db, and change nothing.
** A null observer ends it. SQLITE_OK, SQLITE_NOMEM. */
typedef void (*rootstock_change_observer)(void *context, const rootstock_row_change *change);
int rootstock_observe_changes(sqlite3 *db, rootstock_change_observer observer, void *context);

/* Binds a value of the old row (is_new 0) or the new one to the statement's parameter. The bytes are the row's, and
** stay until the observer returns. column counts as in sqlite3_preupdate_old: columns that are not stored are left out.
** SQLITE_RANGE: there is no such column. SQLITE_MISUSE: the change has no such row. SQLITE_NOMEM. */
int rootstock_change_bind(const rootstock_row_change *change, int is_new, int column, sqlite3_stmt *statement,
                          int parameter);

/* Asks before a transaction that wrote to the store is committed. If the hook gives another value than 0, the
** transaction is rolled back, and COMMIT fails with SQLITE_CONSTRAINT_COMMITHOOK. (SQLite asks its own
** sqlite3_commit_hook when the store is committed already.) A null hook ends it. */
int rootstock_commit_hook(sqlite3 *db, int (*hook)(void *), void *context);
/* Within a commit hook: what SQLite commits. Not the program's change are the schema, declared to SQLite as another
** connection has left it, and what a change of the schema that failed has left, which is nothing. */
enum { ROOTSTOCK_COMMIT_OF_CHANGE, ROOTSTOCK_COMMIT_OF_READING, ROOTSTOCK_COMMIT_OF_NOTHING };
int rootstock_commit_of(sqlite3 *db);

/* Puts other bytes into a text or blob of a row, as sqlite3_blob_write does: no trigger, constraint or observer hears
** of it. The caller makes sure that the column is part of no index and no foreign key. SQLITE_NOTFOUND: there is no
** such row. */
int rootstock_put_value(sqlite3 *db, const char *table, const char *column, sqlite3_int64 rowid, int type,
                        const void *bytes, sqlite3_uint64 size);

/* What a piece of SQL text is, by SQLite's lexical rules. */
typedef enum rootstock_token {
    ROOTSTOCK_TOKEN_END = 0,
    ROOTSTOCK_TOKEN_WORD,        /* a keyword, or a name without quotes */
    ROOTSTOCK_TOKEN_NAME,        /* "quoted", [quoted] or `quoted` */
    ROOTSTOCK_TOKEN_STRING,      /* 'string' */
    ROOTSTOCK_TOKEN_NUMBER,      /* 1, 1.5e3, 0x1F */
    ROOTSTOCK_TOKEN_BLOB,        /* x'00' */
    ROOTSTOCK_TOKEN_PARAMETER,   /* ?, ?1, :a, @a, $a */
    ROOTSTOCK_TOKEN_PUNCTUATION, /* one operator, parenthesis, comma or semicolon */
    ROOTSTOCK_TOKEN_ILLEGAL      /* quotes that are not closed, or a byte that is no token */
} rootstock_token;

/* The token at or behind *position. Blanks and comments are skipped. *text and *size are the token's bytes in the
** caller's text, and *position moves behind it. ROOTSTOCK_TOKEN_END at `end`, or at a NUL. Reads no byte outside of
** [*position, end). From any thread, without a connection. */
rootstock_token rootstock_token_next(const char **position, const char *end, const char **text, size_t *size);

/* Extended code of the last statement run through the front door, where SQLite's code of the outer statement is
** coarser; 0 if none. Asking clears it. sqlite3_interrupt() may have ended a change of the schema whose transaction
** could not be rolled back at once. This call, or the next rootstock_rewrite, rolls it back. */
int rootstock_last_error(sqlite3 *db);

/* sqlite3_total_changes64 without the rows of changes that a foreign key refused at their end: SQLite has counted them
** by then. */
long long rootstock_total_changes(sqlite3 *db);
/* SQLITE_TXN_WRITE: the connection's transaction has the store's write lock; SQLITE_TXN_READ: it has a snapshot.
** sqlite3_txn_state sees the database in memory. A statement that was refused the lock has begun to write to that one,
** and a count(*) that the engine answers does not read it. */
int rootstock_txn_state(sqlite3 *db);
/* Called behind the first step of a query: SQLite's has a snapshot from there on, even if no row of a table was needed
** yet. So has the store's, for as long as SQLite's read transaction lasts. goes_on: the query gave a row. A failure
** is met again by what reads next. */
void rootstock_hold_snapshot(sqlite3 *db, int goes_on);
/* How many cursors read in the snapshot: a query whose first step adds one needs no other hold. Lives as long as the
** connection. Null: no store is open on it. */
const int *rootstock_open_cursors(sqlite3 *db);
/* Whether a deferred foreign key is violated now, so that COMMIT would be refused. */
int rootstock_violates(sqlite3 *db);

/* The answers of SQLite's functions of these names for the statement as the application wrote it. They take a statement
** that was prepared from the result of rootstock_rewrite. A statement that the store runs itself (UPSERT, RETURNING,
** triggers, foreign keys, CREATE ...) is a SELECT to SQLite. SQLite's functions say that it only reads and has one
** column "1". They say of RETURNING's columns that they have no declared type and are another table's. For any other
** statement or connection these answer as SQLite's. */
int rootstock_stmt_readonly(sqlite3_stmt *statement);
int rootstock_stmt_isexplain(sqlite3_stmt *statement);
int rootstock_column_count(sqlite3_stmt *statement);
const char *rootstock_column_decltype(sqlite3_stmt *statement, int column);
/* The answers of sqlite3_column_decltype, _database_name, _table_name and _origin_name, in UTF-8 or in UTF-16. */
typedef enum rootstock_column_fact {
    ROOTSTOCK_DECLTYPE,
    ROOTSTOCK_DATABASE_NAME,
    ROOTSTOCK_TABLE_NAME,
    ROOTSTOCK_ORIGIN_NAME,
    ROOTSTOCK_DECLTYPE16,
    ROOTSTOCK_DATABASE_NAME16,
    ROOTSTOCK_TABLE_NAME16,
    ROOTSTOCK_ORIGIN_NAME16
} rootstock_column_fact;
const void *rootstock_column_fact_of(sqlite3_stmt *statement, int column, rootstock_column_fact fact);
/* As sqlite3_table_column_metadata, which knows neither the primary key nor AUTOINCREMENT of a store's table. */
int rootstock_table_column_metadata(sqlite3 *db, const char *schema, const char *table, const char *column,
                                    const char **type, const char **collation, int *not_null, int *primary_key,
                                    int *autoincrement);

#ifdef __cplusplus
}
#endif
#endif
