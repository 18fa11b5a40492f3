/*
** postgres.h - the engine "postgres": a store is a schema of a PostgreSQL server, by libpq.
**
** address.c finds the server and the schema that a path names, connection.c talks to the server. environment.c opens
** and closes stores, transactions.c begins and ends, commit.c sends what changed. overlay.c keeps what the write
** transaction has changed, entries.c reads and writes, windows.c remembers what lies near, cursors.c moves. `make` in
** this folder builds the shared library for --load-engine.
**
** HOW A STORE LIES IN THE SCHEMA. `entry (tree int, key bytea, value bytea, primary key (tree, key))` has the entries.
** `counted (tree int, part int, entries bigint, primary key (tree, part))` has how many each tree has: the sum of its
** parts. Tree 0 of entry has the records of the store's own. Numbers have their most significant byte first:
**
** | key                            | value                                   |
** |--------------------------------|-----------------------------------------|
** | 'S'                            | the mark of a store                     |
** | 'X'                            | the next tree's number, 8 bytes         |
** | 'N', a tree's name             | its number, 8 bytes                     |
**
** A read transaction is one at repeatable read, held. A write transaction is serializable, and as many of them go on at
** once as there are clients. Its changes are in memory (the overlay), and go to the server in one pipeline with its
** COMMIT; reads of the transaction merge them with the server's rows. PostgreSQL refuses a transaction that could not
** have been alone: ROOTSTOCK_CONFLICT.
**
** WHAT WRITERS SHARE would make each of them refuse the others. So no commit writes a number of commits: a snapshot's
** identifier is how many of the server's transactions have ended, by its own list of those that have not. Each
** connection that writes counts entries in a part of its own, which an advisory lock of its session gives it. And
** counted is read in a write transaction only where somebody asks for a tree's entries.
**
** ROUND TRIPS. postgres_receive alone waits for the server, and counts that. What nobody waits for (the end of a
** snapshot) is sent, and its answer is read before the next one. What transactions ask for first again and again (the
** schema's generation) is asked with their begin.
**
** Invariant: a connection in the pool has no transaction open on the server once its unread answers are read.
*/
#ifndef POSTGRES_H
#define POSTGRES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

/* Debian has libpq's headers in a folder of their own, which pg_config and pkg-config name. */
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#include <pg_config.h>
#else
#include <postgresql/libpq-fe.h>
#include <postgresql/pg_config.h>
#endif

#include "rootstock_engine.h"

/* PostgreSQL's index takes 2,704 bytes a row. */
enum { LONGEST_KEY = 2500 };

/* Prepared in every connection, under the name of their number. */
typedef enum statement {
    STATEMENT_GET,
    STATEMENT_SEVERAL,
    STATEMENT_FROM,
    STATEMENT_AFTER,
    STATEMENT_BEFORE,
    STATEMENT_LAST,
    STATEMENT_WRITE,
    STATEMENT_ADD,
    STATEMENT_REMOVE,
    STATEMENT_CLEAR,
    STATEMENT_SET,
    STATEMENT_COUNT,
    STATEMENT_SNAPSHOT,
    STATEMENT_CLAIM,
    STATEMENTS
} statement;

/* The number of the snapshot of a transaction: 0 on a server in recovery. */
#define POSTGRES_SNAPSHOT                                                                                              \
    "(SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE pg_snapshot_xmax(s)::text::bigint - "                           \
    "(SELECT count(*) FROM pg_snapshot_xip(s)) END FROM pg_current_snapshot() AS s)"

/* Where a store is: what libpq connects to, and the schema. */
typedef struct address {
    char *server;
    char *schema;
} address;

typedef struct connection {
    PGconn *link;
    int unread;           /* marks sent whose answers are not read */
    int nobodys;          /* of these: those from the start on whose answers nobody waits for */
    uint64_t round_trips; /* since it was made, or in the pool */
    int part;             /* of the counts: its own; 0 none yet */
    struct connection *next;
} connection;

typedef struct tree_name {
    struct tree_name *next;
    rootstock_tree tree;
    uint64_t since; /* a commit in which it was seen */
    char name[];
} tree_name;

/* A key that transactions begin by asking for. */
typedef struct first_key {
    rootstock_tree tree;
    size_t size;
    unsigned char key[16];
    int times; /* in a row */
} first_key;

struct rootstock_environment {
    char *path;
    address address;
    char *table, *counted; /* "schema".entry, "schema".counted */
    rootstock_options options;
    pid_t process;
    int oid; /* the table's: number of the advisory locks */
    _Atomic uint64_t round_trips;
    pthread_mutex_t mutex; /* guards what follows */
    connection *pool;
    rootstock_transaction *readers;
    tree_name *names;
    first_key first;
    uint64_t unnumbered; /* snapshots of a server in recovery, which has no numbers */
};

/* What the write transaction knows of an entry: changed by it, or read from the server. */
typedef struct node {
    rootstock_tree tree;
    bool there;   /* the entry is; else it is not */
    bool changed; /* the server does not know yet */
    bool added;   /* and it has no such entry, or the transaction is refused */
    size_t size;
    rootstock_slice value; /* malloc'd */
    unsigned char *key;
    struct node *next[]; /* one for each level */
} node;

enum { LEVELS = 20 };

typedef struct overlay {
    node *first[LEVELS];
    int levels;
    uint64_t random;
    size_t bytes, count, changed;
} overlay;

/* The server's rows of a tree from a key on, all of them up to the last. What a write transaction asks about next lies
** near, mostly, and then costs nothing. So removing the entries of an index, and looking whether keys are taken, goes
** by windows. */
typedef struct window {
    rootstock_tree tree; /* 0: none */
    PGresult *rows;
    bool at_end;
    int wanted, hits;
    uint64_t server_changes;
    size_t start_size;
    unsigned char start[LONGEST_KEY];
} window;

enum { WINDOWS = 8 };

struct rootstock_transaction {
    rootstock_environment *environment;
    connection *connection; /* null: no snapshot */
    bool write;
    bool asked; /* some get was */
    bool saved; /* the server has a savepoint before the first change that it knows of */
    int broken; /* by a failure of that code */
    uint64_t identifier;
    first_key first;    /* asked for with begin */
    PGresult *foretold; /* and its answer, in a read transaction; or null */
    overlay overlay;
    uint64_t changes;        /* changed something */
    uint64_t server_changes; /* the server's rows changed: batches of cursors are old */
    window *windows;         /* WINDOWS of them, or null */
    int next_window;
    PGresult **results; /* what was returned lies in them */
    size_t result_count, result_room;
    rootstock_tree highest_tree; /* the tree whose highest key is known */
    int highest_known;           /* 1: this key; 2: the tree is empty */
    size_t highest_size;
    unsigned char highest[LONGEST_KEY];
    rootstock_cursor *cursors;
    rootstock_transaction *next_reader;
};

struct rootstock_cursor {
    rootstock_transaction *transaction;
    rootstock_tree tree;
    bool positioned;
    size_t last_size; /* the key that it stands at */
    unsigned char last[LONGEST_KEY];
    PGresult *batch; /* rows of the server from some key on, in one direction; the transaction's */
    int row, rows;
    bool forward, at_end; /* of the batch: its direction; there is nothing behind it */
    bool from_start;      /* nothing before it, in that direction */
    bool start_at;        /* a row at its start is in it, too */
    size_t start_size;    /* its start, where from_start is not so */
    unsigned char start[LONGEST_KEY];
    int wanted; /* rows to ask for next */
    uint64_t server_changes;
    rootstock_cursor *next;
};

/* address.c: what the path names. A file that is not there is made, unless read_only. */
int postgres_address_find(const char *path, bool read_only, address *found);
void postgres_address_free(address *found);
/* A new store's address at a path: CANNOT_OPEN where there is something. */
int postgres_address_new(const char *path, address *made);

/* connection.c */
int postgres_say(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *postgres_words(void);
/* The plug's code for an answer, told by describe; OK for what is no failure. */
int postgres_answer(const connection *c, const PGresult *result);
int postgres_connect(rootstock_environment *environment, connection **result);
void postgres_disconnect(connection *c);
int postgres_take(rootstock_environment *environment, connection **result);
/* Back into the pool, or closed where it is lost. */
void postgres_give(rootstock_environment *environment, connection *c);

typedef struct parameter {
    const void *data;
    size_t size;
} parameter;
/* A number as the server takes it, in a buffer that the call names. */
parameter postgres_integer(unsigned char *buffer, int size, uint64_t number);
#define INTEGER(n) postgres_integer((unsigned char[8]){0}, 4, (uint64_t)(n))
#define LONG(n) postgres_integer((unsigned char[8]){0}, 8, (uint64_t)(n))
uint64_t postgres_number(const void *data, size_t size);

/* Each sends and does not wait; a failure is told by the receive that follows. */
void postgres_send(connection *c, statement number, int count, const parameter *parameters);
void postgres_send_text(connection *c, const char *sql);
/* Ends a group: what fails in it keeps what follows in the group from being done. */
void postgres_mark(connection *c);
/* What was sent up to here is read and forgotten by the next receive. */
void postgres_leave(connection *c);
/* Waits for the answers to what was sent since the last leave: exactly `count`. The first failure among them is the
** code, and then no answer is given. */
int postgres_receive(rootstock_environment *environment, connection *c, PGresult **results, int count);
/* Sends one statement and waits. */
int postgres_ask(rootstock_transaction *t, statement number, int count, const parameter *parameters, PGresult **result);

/* environment.c */
/* Closes the connections that nobody uses. */
void postgres_empty_pool(rootstock_environment *environment);

/* overlay.c */
int postgres_compare(const void *a, size_t a_size, const void *b, size_t b_size);
/* The node of the key, or null. */
node *postgres_overlay_get(const overlay *o, rootstock_tree tree, const void *key, size_t size);
/* The first node of the tree above the key, or at it; the last one below it or at it. A null key: the tree's end. */
node *postgres_overlay_above(const overlay *o, rootstock_tree tree, const void *key, size_t size, bool at);
node *postgres_overlay_below(const overlay *o, rootstock_tree tree, const void *key, size_t size, bool at);
/* Sets the key's node; data null: the entry is not there. False: no memory. */
bool postgres_overlay_set(overlay *o, rootstock_tree tree, const rootstock_slice *key, const rootstock_slice *value,
                          bool changed);
/* Forgets the nodes of a tree, or with 0 all. */
void postgres_overlay_forget(overlay *o, rootstock_tree tree);

/* transactions.c */
/* Keeps a result until what lies in it may go; false: no memory, and it is freed. */
bool postgres_keep(rootstock_transaction *t, PGresult *result);
void postgres_forget_results(rootstock_transaction *t);
/* Notes what a transaction asks for first. */
void postgres_note_first(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key);
int postgres_check(rootstock_transaction *t, bool write);
bool postgres_is_child(const rootstock_environment *environment);
int postgres_refuse_child(void);

/* commit.c */
/* Sends what the overlay has changed, with commit also COMMIT, and waits. */
int postgres_flush(rootstock_transaction *t, bool commit);

/* Sends a savepoint, unless there is one: 1 if it did. */
int postgres_save(rootstock_transaction *t);

/* windows.c: what the server has for a key, in a write transaction. */
/* The window that says what the server has for the key; asked for, if need be. */
int postgres_window_of(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, const window **found);
int postgres_window_find(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                         rootstock_slice *value);
void postgres_windows_free(rootstock_transaction *t);

/* entries.c */
int postgres_find(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value);
/* cursors.c */
void postgres_cursor_forget(rootstock_cursor *cursor);

#include "postgres_table.h"
#endif
