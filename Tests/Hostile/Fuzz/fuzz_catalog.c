/*
** fuzz_catalog.c - libFuzzer target for whole stores: any bytes as the entries of a store's trees, its catalog
** included.
**
** The input is a list of entries (tree, key, value), which an engine of the target's own serves, read-only. Invariant
** tested: opening such a store, reading every row of every table in several ways and checking it all end without a
** crash; what is malformed is an error, and what a query gives decodes. An entry of the input: 1 byte tree (0: the
** catalog, n: tree t<n>, modulo 8), 1 byte key size, key, 2 bytes value size, value.
*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rootstock.h>
#include <rootstock_engine.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TREES = 8 };

typedef struct entry {
    const uint8_t *key, *value; /* copies of their own, so that a read one byte off is seen */
    size_t key_size, value_size;
} entry;

typedef struct tree {
    entry *entries;
    size_t count;
} tree;

struct rootstock_environment {
    int unused;
};
struct rootstock_transaction {
    rootstock_environment *environment;
};
struct rootstock_cursor {
    rootstock_tree tree;
    size_t at; /* index of the entry; SIZE_MAX: unpositioned */
};

static tree trees[TREES];

static int order(const void *left, size_t left_size, const void *right, size_t right_size) {
    size_t common = left_size < right_size ? left_size : right_size;
    int result = common == 0 ? 0 : memcmp(left, right, common);
    return result != 0 ? result : left_size < right_size ? -1 : left_size > right_size;
}

/* The first entry with a key >= this one. */
static size_t seek(const tree *t, const rootstock_slice *key) {
    size_t i = 0;
    while (i < t->count && order(t->entries[i].key, t->entries[i].key_size, key->data, key->size) < 0) i++;
    return i;
}

static int give(const tree *t, size_t i, rootstock_slice *key, rootstock_slice *value) {
    if (i >= t->count) return ROOTSTOCK_NOT_FOUND;
    if (key != NULL) *key = (rootstock_slice){t->entries[i].key_size, t->entries[i].key};
    *value = (rootstock_slice){t->entries[i].value_size, t->entries[i].value};
    return ROOTSTOCK_OK;
}

static int fuzz_open(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                     rootstock_environment **environment, char **message) {
    (void)engine, (void)path, (void)options, (void)message;
    *environment = calloc(1, sizeof **environment);
    return *environment == NULL ? ROOTSTOCK_NO_MEMORY : ROOTSTOCK_OK;
}
static void fuzz_close(rootstock_environment *environment) {
    free(environment);
}
static int fuzz_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *context,
                      rootstock_transaction **transaction) {
    (void)busy, (void)context;
    if (flags & ROOTSTOCK_BEGIN_WRITE) return ROOTSTOCK_READ_ONLY;
    *transaction = calloc(1, sizeof **transaction);
    if (*transaction == NULL) return ROOTSTOCK_NO_MEMORY;
    (*transaction)->environment = environment;
    return ROOTSTOCK_OK;
}
static int fuzz_commit(rootstock_transaction *transaction) {
    free(transaction);
    return ROOTSTOCK_OK;
}
static void fuzz_abort(rootstock_transaction *transaction) {
    free(transaction);
}
static void fuzz_reset(rootstock_transaction *transaction) {
    (void)transaction;
}
static int fuzz_renew(rootstock_transaction *transaction) {
    (void)transaction;
    return ROOTSTOCK_OK;
}
static uint64_t fuzz_identifier(rootstock_transaction *transaction) {
    (void)transaction;
    return 1;
}
static int fuzz_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree) {
    (void)transaction, (void)flags;
    for (uint32_t i = 0; i < TREES; i++) {
        char known[16];
        snprintf(known, sizeof known, i == 0 ? "rootstock" : "t%u", i);
        if (strcmp(name, known) != 0) continue;
        if (trees[i].count == 0 && i == 0) return ROOTSTOCK_NOT_FOUND;
        *tree = i;
        return ROOTSTOCK_OK;
    }
    return ROOTSTOCK_NOT_FOUND;
}
static int fuzz_tree_clear(rootstock_transaction *transaction, rootstock_tree tree) {
    (void)transaction, (void)tree;
    return ROOTSTOCK_READ_ONLY;
}
static int fuzz_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                                rootstock_tree_statistics *statistics) {
    (void)transaction;
    memset(statistics, 0, sizeof *statistics);
    statistics->entries = trees[tree].count;
    return ROOTSTOCK_OK;
}
static int fuzz_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                    rootstock_slice *value) {
    (void)transaction;
    size_t i = seek(&trees[tree], key);
    if (i >= trees[tree].count ||
        order(trees[tree].entries[i].key, trees[tree].entries[i].key_size, key->data, key->size) != 0)
        return ROOTSTOCK_NOT_FOUND;
    return give(&trees[tree], i, NULL, value);
}
static int fuzz_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                    rootstock_slice *value, uint32_t flags) {
    (void)transaction, (void)tree, (void)key, (void)value, (void)flags;
    return ROOTSTOCK_READ_ONLY;
}
static int fuzz_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key) {
    (void)transaction, (void)tree, (void)key;
    return ROOTSTOCK_READ_ONLY;
}
static int fuzz_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **cursor) {
    (void)transaction;
    *cursor = calloc(1, sizeof **cursor);
    if (*cursor == NULL) return ROOTSTOCK_NO_MEMORY;
    (*cursor)->tree = tree;
    (*cursor)->at = SIZE_MAX;
    return ROOTSTOCK_OK;
}
static void fuzz_cursor_close(rootstock_cursor *cursor) {
    free(cursor);
}
static int fuzz_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key,
                            rootstock_slice *value) {
    const tree *t = &trees[cursor->tree];
    size_t at = cursor->at;
    switch (move) {
    case ROOTSTOCK_FIRST: at = 0; break;
    case ROOTSTOCK_LAST: at = t->count - 1; break; /* SIZE_MAX of none: unpositioned */
    case ROOTSTOCK_NEXT: at = at == SIZE_MAX ? 0 : at + 1; break;
    case ROOTSTOCK_PREVIOUS: at = at == SIZE_MAX ? t->count - 1 : at - 1; break;
    case ROOTSTOCK_SEEK: at = seek(t, key); break;
    case ROOTSTOCK_EXACT:
        at = seek(t, key);
        if (at < t->count && order(t->entries[at].key, t->entries[at].key_size, key->data, key->size) != 0)
            at = t->count;
        break;
    }
    int code = give(t, at, key, value);
    cursor->at = code == ROOTSTOCK_OK ? at : SIZE_MAX;
    return code;
}
static size_t fuzz_maximum_key_size(rootstock_environment *environment) {
    (void)environment;
    return 64; /* short, so that long keys come up */
}
static int fuzz_sync(rootstock_environment *environment) {
    (void)environment;
    return ROOTSTOCK_OK;
}
static int fuzz_environment_statistics(rootstock_environment *environment,
                                       rootstock_environment_statistics *statistics) {
    (void)environment;
    memset(statistics, 0, sizeof *statistics);
    return ROOTSTOCK_OK;
}
static const char *fuzz_describe(rootstock_environment *environment, int code) {
    (void)environment;
    return rootstock_code_name(code);
}

static const rootstock_engine fuzz_engine = {
    .abi_version = ROOTSTOCK_ENGINE_ABI,
    .name = "fuzz",
    .version = "0",
    .open = fuzz_open,
    .close = fuzz_close,
    .begin = fuzz_begin,
    .commit = fuzz_commit,
    .abort = fuzz_abort,
    .reset = fuzz_reset,
    .renew = fuzz_renew,
    .transaction_identifier = fuzz_identifier,
    .tree_open = fuzz_tree_open,
    .tree_clear = fuzz_tree_clear,
    .tree_statistics = fuzz_tree_statistics,
    .get = fuzz_get,
    .put = fuzz_put,
    .remove = fuzz_remove,
    .cursor_open = fuzz_cursor_open,
    .cursor_close = fuzz_cursor_close,
    .cursor_move = fuzz_cursor_move,
    .maximum_key_size = fuzz_maximum_key_size,
    .sync = fuzz_sync,
    .environment_statistics = fuzz_environment_statistics,
    .describe = fuzz_describe,
};

static uint8_t *copy_of(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (copy == NULL) abort();
    if (size > 0) memcpy(copy, bytes, size);
    return copy;
}

static void add(tree *t, const uint8_t *key, size_t key_size, const uint8_t *value, size_t value_size) {
    rootstock_slice slice = {key_size, key};
    size_t at = seek(t, &slice);
    if (at < t->count && order(t->entries[at].key, t->entries[at].key_size, key, key_size) == 0) return;
    t->entries = realloc(t->entries, (t->count + 1) * sizeof *t->entries);
    if (t->entries == NULL) abort();
    memmove(t->entries + at + 1, t->entries + at, (t->count - at) * sizeof *t->entries);
    t->entries[at] = (entry){copy_of(key, key_size), copy_of(value, value_size), key_size, value_size};
    t->count++;
}

static void load(const uint8_t *data, size_t size) {
    const uint8_t *end = data + size;
    while (end - data >= 2) {
        uint8_t number = data[0] % TREES;
        size_t key_size = data[1], value_size;
        data += 2;
        if (key_size == 0 || (size_t)(end - data) < key_size + 2) return;
        const uint8_t *key = data;
        data += key_size;
        value_size = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2;
        if ((size_t)(end - data) < value_size) value_size = (size_t)(end - data);
        if (key_size <= 64) add(&trees[number], key, key_size, data, value_size);
        data += value_size;
    }
}

static void unload(void) {
    for (size_t i = 0; i < TREES; i++) {
        for (size_t k = 0; k < trees[i].count; k++) {
            free((void *)trees[i].entries[k].key);
            free((void *)trees[i].entries[k].value);
        }
        free(trees[i].entries);
        trees[i] = (tree){NULL, 0};
    }
}

/* Enough work for any schema of a few hundred bytes; the text may ask for more (a recursive view). */
static int give_up(void *context) {
    (void)context;
    return 1;
}

static void run(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *rewritten = NULL;
    if (rootstock_rewrite(db, sql, -1, &rewritten, NULL, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, rewritten == NULL ? sql : rewritten, -1, &statement, NULL) == SQLITE_OK) {
        volatile unsigned total = 0;
        for (int rows = 0; rows < 1000 && sqlite3_step(statement) == SQLITE_ROW; rows++) {
            for (int i = 0; i < sqlite3_column_count(statement); i++) {
                const unsigned char *bytes = sqlite3_column_blob(statement, i);
                int size = sqlite3_column_bytes(statement, i);
                for (int k = 0; k < size; k++) total += bytes[k];
            }
        }
    }
    sqlite3_finalize(statement);
    sqlite3_free(rewritten);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int registered;
    sqlite3 *db;
    if (!registered) registered = rootstock_engine_register(&fuzz_engine) == ROOTSTOCK_OK;
    if (!registered) abort();
    load(data, size);
    if (sqlite3_open(":memory:", &db) == SQLITE_OK) {
        sqlite3_progress_handler(db, 100000, give_up, NULL);
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1000000);
        if (rootstock_open(db, "fuzz", "fuzz", NULL, NULL, NULL) == SQLITE_OK) {
            sqlite3_stmt *list = NULL;
            run(db, "PRAGMA integrity_check");
            run(db, "PRAGMA foreign_key_check");
            if (sqlite3_prepare_v2(db, "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view')", -1, &list,
                                   NULL) == SQLITE_OK) {
                for (int n = 0; n < 20 && sqlite3_step(list) == SQLITE_ROW; n++) {
                    static const char *const forms[] = {
                        "SELECT * FROM \"%w\"",
                        "SELECT * FROM \"%w\" ORDER BY 1 DESC, 2",
                        "SELECT count(*) FROM \"%w\"",
                        "SELECT * FROM \"%w\" WHERE a > 1 AND b IS NOT NULL",
                        "SELECT a FROM \"%w\" WHERE b = 'x' ORDER BY a",
                        "SELECT rowid, * FROM \"%w\" WHERE a IN (1, 'x', NULL, 2.5)",
                        "INSERT INTO \"%w\"(a) VALUES (1)",
                        "UPDATE \"%w\" SET a = 2 WHERE b > 0",
                    };
                    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
                        char *sql = sqlite3_mprintf(forms[i], sqlite3_column_text(list, 0));
                        if (sql != NULL) run(db, sql);
                        sqlite3_free(sql);
                    }
                }
            }
            sqlite3_finalize(list);
        }
        sqlite3_close(db);
    }
    unload();
    return 0;
}
