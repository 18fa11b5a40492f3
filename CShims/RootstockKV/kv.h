/*
** kv.h - what the files of module kv share.
**
**   kv.c              the module and its tables
**   kv_arguments.c    what stands between the parentheses of USING kv
**   kv_plan.c         plans
**   kv_cursor.c       reading
**   kv_list.c         the keys of an IN list
**   kv_update.c       writing
**   kv_file.c         files and snapshots
**   kv_transaction.c  writes
**   kv_values.c       bytes <-> SQL values
**   kv_trees.c        the list of a file's trees
**
** Ownership: a kv_connection is the module's context and lives as long as the SQLite connection. It has a kv_file for
** each key-value file in use, counted by the tables that use it. Tables of one file share its transaction.
**
** Circle: kv.c kv_cursor.c kv_file.c kv_plan.c kv_transaction.c kv_update.c
**   (a table, its file and its transaction know each other).
*/
#ifndef ROOTSTOCK_TABLE_KV_H
#define ROOTSTOCK_TABLE_KV_H

#include "storage/storage.h"

#include "rootstock_kv.h"
#include "rootstock_kv_module.h"
#include "rootstock_lmdb.h"

typedef struct kv_connection kv_connection;
typedef struct kv_file kv_file;
typedef struct kv_cursor kv_cursor;

/* What a column's bytes are. */
typedef enum kv_type { KV_BLOB, KV_TEXT, KV_INTEGER, KV_JSON } kv_type;

/* The file that SQLite locks when a transaction begins and ends, see kv_file.c. */
typedef struct kv_notice {
    sqlite3_io_methods methods; /* must be first */
    const sqlite3_io_methods *original;
    sqlite3_file *file; /* null: not attached */
    int level;
    kv_connection *connection;
    kv_file *wants_writer;
} kv_notice;

struct kv_connection {
    rst_connection *connection;
    sqlite3 *db;
    kv_file *files;
    int modules; /* of SQLite's that hold this */
    int tables;  /* declared tables: statements of our own live only beside one */
    kv_notice notice;
    sqlite3_stmt *notice_read;
    sqlite3_stmt *json_valid;
};

/* A read snapshot, counted by its cursors. */
typedef struct kv_reader {
    rootstock_transaction *transaction;
    uint64_t identifier;
    int cursors;
    bool live;
    bool retired; /* this connection has committed since: no new cursor comes to it */
} kv_reader;

struct kv_file {
    kv_connection *kv;
    kv_file *next;
    int references;
    rootstock_shared *shared;
    const rootstock_engine *engine;
    bool read_only;
    kv_reader *reader;
    bool pinned;        /* an explicit transaction holds the reader's snapshot */
    kv_cursor *cursors; /* all that are open */
    rootstock_transaction *writer;
    uint64_t writer_identifier;
    unsigned long writer_thread;
    bool broken; /* the write transaction can only be rolled back */
    bool wrote;
    rootstock_buffer undo;
    size_t *marks; /* sizes of undo, by SQLite's savepoint number */
    int mark_count;
    int mark_capacity;
};

typedef struct kv_table {
    sqlite3_vtab base; /* must be first */
    kv_connection *kv;
    kv_file *file; /* null until first used */
    char *name;    /* in SQL */
    char *path;
    char *tree_name; /* null: the unnamed tree */
    kv_type key_type;
    kv_type value_type;
    bool read_only;
    uint64_t map_size;
    size_t width; /* bytes of an integer key as declared; 0: as the tree has them */
    rootstock_kv_tree tree;
} kv_table;

/* An entry's place and bytes while a cursor stands on it. */
struct kv_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    kv_table *table;
    kv_file *file;
    kv_cursor *next, **link; /* in the file's list */
    rootstock_kv_cursor *cursor;
    rootstock_transaction *transaction; /* that cursor is on; null: none */
    kv_reader *reader;                  /* whose transaction it is; null: the writer's */
    bool at_entry;
    bool descending;
    bool single;      /* the entry is the only one, and a copy */
    int upper, lower; /* 0, or the constraint operator of the bound */
    bool one_key;     /* the bounds are one key: equality */
    rootstock_buffer lower_bytes, upper_bytes;
    rootstock_slice key, value;
    rootstock_buffer copy; /* of key and value, where the engine's memory may change under them */
    size_t width;          /* of the tree's integer keys */
    /* Keys of an IN in rising order, their bytes in list_bytes; how many have been sought. */
    rootstock_buffer list_bytes;
    rootstock_slice *list;
    size_t listed, list_next;
};

/* ---- kv_file.c ---- */
/* The file at path, opened or shared; counted. */
int kv_file_open(kv_connection *kv, const char *path, bool read_only, uint64_t map_size, kv_file **file,
                 char **message);
void kv_file_release(kv_file *file);
int kv_file_error(kv_file *file, int code, char **message);
/* The transaction that a cursor reads in: the writer (*reader null) or a snapshot. */
int kv_read_begin(kv_file *file, rootstock_transaction **transaction, kv_reader **reader, char **message);
/* The same for a look while preparing: pins nothing. */
int kv_look_begin(kv_file *file, rootstock_transaction **transaction, kv_reader **reader, char **message);
void kv_read_end(kv_file *file, kv_reader *reader);
/* The explicit transaction is over: its snapshot goes with the last cursor. */
void kv_reader_unpin(kv_file *file);
/* What is read from now on is what was just committed, whatever older cursors still see. */
void kv_reader_retire(kv_file *file);
int kv_check_thread(kv_file *file, char **message);
/* SQLITE_ERROR, with a message, if the file is a store. */
int kv_refuse_store(kv_file *file, rootstock_transaction *transaction, char **message);

/* ---- kv_transaction.c ---- */
int kv_notice_attach(kv_connection *kv, char **message);
/* Takes a read lock on the notice's file, which lasts as long as the SQLite transaction does. */
int kv_notice_touch(kv_connection *kv);
void kv_statements_finalize(kv_connection *kv);
/* Begins the write transaction, or joins the live one. */
int kv_write_begin(kv_file *file, char **message);
int kv_write_commit(kv_file *file, char **message);
void kv_write_rollback(kv_file *file);
int kv_savepoint(kv_file *file, int number);
void kv_savepoint_release(kv_file *file, int number);
int kv_savepoint_rollback(kv_file *file, int number, char **message);
/* Logged writes. old: what stands at key in a tree without duplicates, or null. */
int kv_put(kv_file *file, const rootstock_kv_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
           const rootstock_slice *old, char **message);
int kv_remove(kv_file *file, const rootstock_kv_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
              char **message);

/* ---- kv_arguments.c ---- */
/* Fills the table's description from the module's arguments, of which the first three are SQLite's own. SQLITE_OK,
** SQLITE_NOMEM or SQLITE_ERROR with *message. */
int kv_parse_arguments(kv_table *table, int count, const char *const *arguments, char **message);

/* ---- kv.c ---- */
/* Opens the table's file if need be, and looks at the tree; statistics may be null. */
int kv_use_file(kv_table *table, rootstock_tree_statistics *statistics, char **message);
/* The tree as the transaction has it: another program may have dropped it, or made it anew with other flags. */
int kv_find_tree(kv_table *table, rootstock_transaction *transaction, char **message);
/* Bytes of the tree's integer keys: those of its first one. */
int kv_find_width(kv_table *table, rootstock_transaction *transaction, size_t *width, char **message);

/* ---- kv_plan.c ---- */
/*
** idxNum: the sum of these. Values come in the order of the bits.
**   1  key = ?
**   2  value = ? beside it, in a tree with several values a key
**   4  key > ?      8  key >= ?
**  16  key < ?     32  key <= ?
**  64  backwards
** 128  the upper bound is a constant
** 256  the key's value is a list (IN)
*/
enum {
    BY_KEY = 1,
    BY_PAIR = 2,
    BY_GT = 4,
    BY_GE = 8,
    BY_LT = 16,
    BY_LE = 32,
    BACKWARDS = 64,
    PLAIN_UPPER = 128,
    LISTED_KEYS = 256
};
int kv_best_index(sqlite3_vtab *base, sqlite3_index_info *info);

/* ---- kv_list.c ---- */
/* The texts of an IN as the cursor's list. *all: one is no text, so that rows of any key may match. SQLITE_OK,
** SQLITE_NOMEM. */
int kv_list_read(kv_cursor *cursor, sqlite3_value *values, bool *all);

/* ---- kv_cursor.c ---- */
int kv_cursor_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out);
int kv_cursor_close(sqlite3_vtab_cursor *base);
int kv_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values);
int kv_cursor_next(sqlite3_vtab_cursor *base);
int kv_cursor_eof(sqlite3_vtab_cursor *base);
int kv_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int kv_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);
/* Cursors on a transaction that ends keep a copy of their entry, and seek it in another when they move on. */
void kv_cursors_detach(kv_file *file, const rootstock_transaction *transaction);

/* ---- kv_update.c ---- */
int kv_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid);

/* ---- kv_values.c ---- */
/* Bytes of a value to be stored, appended to bytes; as a STRICT table's column would take it or refuse it. */
int kv_store_key(kv_table *table, size_t width, sqlite3_value *value, rootstock_buffer *bytes, char **message);
int kv_store_value(kv_table *table, sqlite3_value *value, rootstock_buffer *bytes, char **message);
int kv_show_key(kv_cursor *cursor, sqlite3_context *context);
int kv_show_value(kv_cursor *cursor, sqlite3_context *context);
/* What `column <op> value` means for the bytes in the tree. */
typedef enum kv_reach { KV_REACH_NONE, KV_REACH_ALL, KV_REACH_BOUND } kv_reach;
/* *operator (SQLITE_INDEX_CONSTRAINT_...) may be weakened; a KV_REACH_BOUND's bytes are appended. Negative: no
** memory. */
int kv_bound(const kv_table *table, kv_type type, size_t width, int *operation, sqlite3_value *value,
             rootstock_buffer *bytes);

/* ---- kv_trees.c ---- */
extern const sqlite3_module kv_trees_module;

/* Gives a connection the modules kv and kv_trees. */

#endif
