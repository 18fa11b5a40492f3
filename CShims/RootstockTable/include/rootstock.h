/*
** rootstock.h - SQL over a storage engine you choose: the public C interface.
**
** A connection (sqlite3*) is given the module with rootstock_register. Then either
**   - rootstock_open(db, "data.store", ...) makes a store the content of a `:memory:` connection: its tables, indexes,
**     views and triggers are declared from the store's own catalog, and every SQL statement that goes through
**     rootstock_rewrite means on the store what it means on a native database; or
**   - CREATE VIRTUAL TABLE t USING lmdb(...) in a native database file keeps t's rows in the sidecar `<database>-lmdb`.
**     REFERENCES to a native table is enforced through the native foreign-key table table `t_foreign<n>`; native tables
**     refer to t through `t_keys`, which the argument native_keys(column, ...) makes. Without the front door a
**     statement is judged row by row: a foreign key between two tables of the sidecar is checked with each row instead
**     of at the statement's end, and if it is deferred and violated, COMMIT rolls back.
**
** Beside stores, the registered connection reads and writes LMDB files of other programs as they are:
**   - CREATE VIRTUAL TABLE k USING kv('path', 'tree', key=blob|text|int, value=blob|text|json) makes a tree that exists
**     a table with columns key and value: '' is the unnamed tree; one with several values a key (MDB_DUPSORT) is
**     several rows a key; with integer keys (MDB_INTEGERKEY) key=int. Further arguments: engine=lmdb, readonly=yes,
**     mapsize=BYTES, width=4|8. Its writes belong to the connection's transaction; a commit over several files is
**     atomic in each, not over all. DROP TABLE leaves the tree alone.
**   - SELECT * FROM kv_trees('path') lists a file's trees: name, entries, flags, depth, pages.
**   A table of kv that is found in a native file's schema is opened only if the application has named its path on this
**   connection:
**   by running its CREATE, or SELECT rootstock_allow('path').
**   Neither can be used from a view or trigger (SQLITE_VTAB_DIRECTONLY), and a store's own trees are refused by kv.
**
** Functions and collations that the application registers on db with SQLite's own calls, before or after it opens the
** store, serve CHECKs, generated columns, index expressions and WHERE clauses of partial indexes too. They run as
** SELECTs on db, so they must be allowed there. A key or index under an application's collation is refused.
**
** CONVENTIONS
**  1. Results are SQLite codes (extended ones where SQLite has them). Out-parameters named `message` get text from
**     sqlite3_malloc that the caller frees with sqlite3_free; they may be null.
**  2. Threads: a connection and all that belongs to it is used by one thread at a time, as SQLite's multi-thread mode
**     asks. A write transaction on engine `lmdb` is finished by the thread that began it; another thread gets
**     SQLITE_MISUSE.
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

/* The engine whose file the first page at path says it is: "lmdb", "sqlite-btree", or "sqlite" for a database
** of SQLite's own; "postgres", which has to be loaded, for a file that names a server and for a URI (postgresql://). ""
** where there is no file yet, or an empty one; null for anything else, a file that cannot be read included. From any
** thread. */
const char *rootstock_recognize(const char *path);

/* Registers the modules (one per registered engine, by its name) and the SQL functions rootstock_open and
** rootstock_rewrite on the connection. Idempotent. SQLITE_OK, SQLITE_NOMEM. */
int rootstock_register(sqlite3 *db);

/* Makes the store at path the content of db, which must be a `:memory:` connection without tables of its own, outside a
** transaction. Registers first if need be. engine: null or "" for "lmdb". options: null, or a JSON object with the keys
** checksum (true/false: true makes a new store keep a checksum with every entry, verified at every read,
** SQLITE_CORRUPT_VTAB naming table and row where it does not match; an existing store must have been made so,
** SQLITE_ERROR, and is treated as it was made where true is not asked for), durability ("off", "normal", "full"),
** mapSize (bytes), maxReaders, readOnly (true/false), writeMap (true/false; where it is not named: true for durability
** "off" on engine lmdb), readAhead (true/false; where it is not named: false on engine lmdb for a store of more than
** half of the memory that the process may use), pageAccess ("none": engine lmdb calls liblmdb's public functions only;
** "read": it reads pages by itself; "write": it edits them, too, which is the default), commit ("plain": as liblmdb
** commits; "sealed": by fewer flushes, the default), readerWarning (commits; 0 for never, 1000 unless asked): when a
** commit of this connection finds a snapshot, of whatever process, that many commits behind, SQLite's error log gets
** one SQLITE_WARNING of it. An unknown key is SQLITE_ERROR. *tables, if not null, gets the number of tables. Errors:
** SQLITE_CANTOPEN, SQLITE_NOTADB, SQLITE_READONLY, SQLITE_BUSY, SQLITE_ERROR ..., with a message that names the path.
** The store is closed with the connection. */
int rootstock_open(sqlite3 *db, const char *path, const char *engine, const char *options, int *tables, char **message);

/* Turns the first statement of sql into what does the same on the store of db. *rewritten gets text from
** sqlite3_malloc, or null where nothing has to change; *tail, if not null, points behind the statement in sql (behind
** its semicolon). What comes back, run as it is on the same connection, does what the statement means, its parameters
** bound in the same order and under the same names. A statement that cannot be had is refused here: the code and
** message are those that SQLite gives for the same fault on a native database where it has one. On a connection without
** a store nothing changes. bytes: length of sql, or -1 up to its NUL. */
int rootstock_rewrite(sqlite3 *db, const char *sql, int bytes, char **rewritten, const char **tail, char **message);

/* Brings the declared schema up to the store's, if another connection changed it. rootstock_rewrite does it by itself.
** SQLITE_OK, or SQLITE_LOCKED while statements of this connection run. A statement that only reads and is stepped
** without it is prepared anew by SQLite, under the new schema. One that writes fails with SQLITE_SCHEMA, and goes on
** failing: SQLite rolls back with it what would be declared meanwhile, and what the front door made of its text may not
** be right any more (rootstock_schema_state tells). So may one after a ROLLBACK that took back a change of the schema.
** Call this before a kept statement that writes is stepped again, or after SQLITE_SCHEMA. */
int rootstock_refresh(sqlite3 *db);

/* Writes a compact copy of the store's last commit to a new file at path, synced. Writers and readers go on meanwhile;
** the copy is a snapshot, which keeps free pages from being used while it is written. A file that exists is not
** touched: SQLITE_ERROR, "output file already exists". May be called inside a transaction, whose own changes are not in
** the copy. On failure the file is gone again. SQLITE_INTERRUPT after sqlite3_interrupt; SQLITE_CANTOPEN, SQLITE_FULL,
** SQLITE_IOERR ...; SQLITE_ERROR on an engine without files; SQLITE_MISUSE without a store. */
int rootstock_backup(sqlite3 *db, const char *path, char **message);

/* The same, and *state gets a number that is another one whenever the store's schema or the connection's triggers on it
** are others: what rootstock_rewrite made of a text of queries and changes (SELECT, INSERT, UPDATE, DELETE, REPLACE,
** VALUES, WITH), and that it made nothing of one, holds while the number stays and no temp or attached table takes a
** table's name. Where nothing was committed since the last call it costs about a hundred instructions on engine lmdb. 0
** on a connection without a store. */
int rootstock_schema_state(sqlite3 *db, unsigned long long *state);

/* Tells of each row of a store's table that is inserted, updated or deleted through db, as sqlite3_update_hook does of
** native tables: after the row's change and before its AFTER triggers and COMMIT; of tables with rowids, and not of
** rows that REPLACE removes. operation: SQLITE_INSERT, SQLITE_UPDATE or SQLITE_DELETE; before: the rowid that the row
** had. A DELETE of all rows that nothing hangs on is told once, with operation 0, or row by row where each_cleared is
** not 0. The observer must not use db. A null observer ends it. SQLITE_OK, SQLITE_NOMEM. */
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

/* Tells of each row before it is inserted, updated or deleted through db: of tables with and without rowids, of rows
** that REPLACE removes, and of each row of a DELETE of all rows. The observer may query db, and change nothing. A null
** observer ends it. SQLITE_OK, SQLITE_NOMEM. */
typedef void (*rootstock_change_observer)(void *context, const rootstock_row_change *change);
int rootstock_observe_changes(sqlite3 *db, rootstock_change_observer observer, void *context);

/* Binds a value of the old row (is_new 0) or the new one to the statement's parameter; the bytes are the row's, and
** stay until the observer returns. column counts as in sqlite3_preupdate_old: columns that are not stored are left out.
** SQLITE_RANGE: there is no such column; SQLITE_MISUSE: the change has no such row; SQLITE_NOMEM. */
int rootstock_change_bind(const rootstock_row_change *change, int is_new, int column, sqlite3_stmt *statement,
                          int parameter);

/* Asks before a transaction that wrote to the store is committed: what is not 0 makes it a ROLLBACK, and the COMMIT
** fails with SQLITE_CONSTRAINT_COMMITHOOK. SQLite asks its own sqlite3_commit_hook when the store is committed already.
** A null hook ends it. */
int rootstock_commit_hook(sqlite3 *db, int (*hook)(void *), void *context);

/* Puts other bytes into a text or blob of a row, as sqlite3_blob_write does: no trigger, no constraint and no observer
** hears of it. The column is part of no index and no foreign key, which the caller has made sure of. SQLITE_NOTFOUND:
** there is no such row. */
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

/* The token at or behind *position; blanks and comments are passed over. *text and *size are its bytes in the caller's
** text, and *position moves behind it. ROOTSTOCK_TOKEN_END at `end`, or at a NUL. Reads no byte outside of
** [*position, end). From any thread, without a connection. */
rootstock_token rootstock_token_next(const char **position, const char *end, const char **text, size_t *size);

/* Extended code that the last statement run through the front door ended with, where SQLite's own code of the outer
** statement is coarser; 0 if none. Asking clears it. A change of the schema that sqlite3_interrupt() has ended, and
** whose transaction could not be rolled back as long as its statement lasted, is rolled back by this call, or by the
** next rootstock_rewrite. */
int rootstock_last_error(sqlite3 *db);

/* Whether the connection's transaction has the store's write lock. One that was refused it has not, though
** sqlite3_txn_state, which sees the database in memory, says SQLITE_TXN_WRITE. */
int rootstock_writes(sqlite3 *db);
/* Whether a deferred foreign key is violated now: its COMMIT would be refused. */
int rootstock_violates(sqlite3 *db);

/* What SQLite's functions of these names say of the statement that the application wrote, for the one that was prepared
** from what rootstock_rewrite made of it. To SQLite a statement that the store runs itself (UPSERT, RETURNING,
** triggers, foreign keys, CREATE ...) is a SELECT: it reads only, has one column "1", and the columns of its RETURNING
** have no declared type and are another table's. Of any other statement, and on any other connection, they answer as SQLite's do, and they take
** what these take. */
int rootstock_stmt_readonly(sqlite3_stmt *statement);
int rootstock_stmt_isexplain(sqlite3_stmt *statement);
int rootstock_column_count(sqlite3_stmt *statement);
const char *rootstock_column_decltype(sqlite3_stmt *statement, int column);
/* What sqlite3_column_decltype, _database_name, _table_name and _origin_name say, in UTF-8 or in UTF-16. */
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
/* Of a store's table SQLite's function knows neither the primary key nor AUTOINCREMENT; all else is its answer. */
int rootstock_table_column_metadata(sqlite3 *db, const char *schema, const char *table, const char *column,
                                    const char **type, const char **collation, int *not_null, int *primary_key,
                                    int *autoincrement);

#ifdef __cplusplus
}
#endif
#endif
