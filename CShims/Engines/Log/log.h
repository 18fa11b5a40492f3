/*
** log.h - a log-structured engine from nothing: a file that only grows, and ordered trees in memory that point into it.
**
** tree.c has the trees, file.c the log, engine.c the plug's table. The article "Writing an engine" builds it step by
** step. It needs rootstock_engine.h and POSIX, and nothing else.
**
** THE FILE. A mark of 16 bytes, then a record for each commit:
**
** | bytes | what                                                              |
** |-------|-------------------------------------------------------------------|
** | 8     | size of the body                                                  |
** | 8     | checksum of the body (FNV-1a)                                     |
** | 8     | the commit's number; the body begins here                         |
** | ...   | operations: one byte of kind, then what the kind has              |
**
** | kind  | then                                                              |
** |-------|-------------------------------------------------------------------|
** | 'T'   | 4 bytes of size, a name: the next tree's                          |
** | 'P'   | 4 bytes of tree, 4 and 4 of sizes, the key, the value             |
** | 'D'   | 4 bytes of tree, 4 of size, the key                               |
** | 'C'   | 4 bytes of tree: it is emptied                                    |
**
** Numbers are in the machine's order. Opening replays the records. A last one that is not whole is a commit that was
** under way when the machine stopped: nobody was told that it had happened, and it is cut off.
**
** THE TREES. A treap for each (Seidel and Aragon 1996): a binary search tree by key, and a heap by a priority. The
** priority is a hash of the key, which keeps the tree balanced. Nodes are shared between commits and counted. A node
** that one owner alone holds is changed in place; any other is copied first, so a snapshot costs a reference.
**
** Invariants
**  1. A node that a commit or a snapshot can reach is never changed.
**  2. The file is mapped once, larger than any log, and never moved: a value that was handed out stays where it is.
**
** LIMITS. One process. Keys and the trees are in memory; values are not. The log never gets shorter: copy writes a
** short one.
*/
#ifndef LOG_H
#define LOG_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "rootstock_engine.h"

/* ---- tree.c ---- */

typedef struct node {
    atomic_uint references;
    uint32_t priority;
    struct node *left, *right;
    uint64_t count;  /* nodes from here down */
    uint64_t offset; /* of the value in the log */
    uint32_t value_size;
    uint32_t key_size;
    unsigned char key[];
} node;

node *node_retain(node *n);
void node_release(node *n);
/* The node with the key, or null. */
node *tree_find(node *root, const rootstock_slice *key);
/* The node with the lowest key above the one given, or also the one given; the one with the highest key below it. A
** null key stands before, or behind, all. Null: there is none. */
node *tree_above(node *root, const rootstock_slice *key, bool or_equal);
node *tree_below(node *root, const rootstock_slice *key);
/* Puts the key with its value's place. False: no memory, and the transaction is good for abort only. */
bool tree_put(node **root, const rootstock_slice *key, uint64_t offset, uint32_t value_size);
/* Removes the key, which is there. False: as tree_put. */
bool tree_remove(node **root, const rootstock_slice *key);
int key_order(const rootstock_slice *a, const void *data, size_t size);

/* ---- file.c ---- */

/* What one commit made of the store. Counted; who holds one holds its trees. Guarded by the environment's mutex. */
typedef struct version {
    unsigned references;
    uint64_t identifier;
    uint32_t tree_count;
    node *trees[];
} version;

/* Bytes on their way into the log. */
typedef struct buffer {
    unsigned char *bytes;
    size_t size, capacity;
} buffer;

struct rootstock_environment {
    char *path;
    rootstock_options options;
    pid_t process;
    int file;
    const unsigned char *map;
    uint64_t map_size;
    pthread_mutex_t mutex; /* guards what follows */
    version *current;
    char **names; /* of the trees; tree t's is names[t - 1] */
    uint32_t name_count;
    rootstock_transaction *readers; /* live ones */
    uint32_t reader_count;
    uint64_t end; /* of the last commit in the file; the writer's alone, but for statistics */
    bool broken;  /* a commit could not be taken back from the file: to be reopened */
};

/* Sets what describe says, and returns the code. */
int log_say(int code, const char *words);
/* What describe says. */
const char *log_words(void);
/* The code for errno, with what describe says. */
int log_failure(void);
version *version_new(uint32_t tree_count);
/* With the mutex held, or where nobody else knows the version. */
void version_release(version *v);
bool buffer_append(buffer *b, const void *bytes, size_t size);
/* One operation behind the others. False: no memory. */
bool record_tree(buffer *b, const char *name);
bool record_put(buffer *b, rootstock_tree tree, const rootstock_slice *key, const rootstock_slice *value);
bool record_remove(buffer *b, rootstock_tree tree, const rootstock_slice *key);
bool record_clear(buffer *b, rootstock_tree tree);
/* Begins a record in an empty buffer, and ends it. */
bool record_begin(buffer *b, uint64_t identifier);
void record_end(buffer *b);
/* Writes the record behind the last commit, durable as the options ask. After a failure nothing of it is left. */
int log_append(rootstock_environment *environment, const buffer *record);
/* Opens the file, takes its lock, and replays it. */
int log_open(rootstock_environment *environment, const char **words);
/* A short log with the version's entries, in a new file. */
int log_copy(rootstock_environment *environment, const version *v, const char *path, rootstock_stop stop,
             void *stop_context);

#endif
