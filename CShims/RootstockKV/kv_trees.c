/*
** kv_trees.c - kv_trees(path): what an LMDB file holds, a row a tree.
**
** In SQL:
**     SELECT name, entries, flags, depth, pages FROM kv_trees('/var/lib/app/index');
**
** The unnamed tree comes first, with a NULL name; its entries include LMDB's records of the named ones. Flags are those
** words of mdb_dbi_open that hold, with blanks between. As kv, the function is DIRECTONLY. Invariant: the file is open
** only while it is listed, read-only if nobody has it open, and a store's file is listed like any other.
*/
#include "common/eponymous.h"
#include "kv.h"

#include <stdlib.h>
#include <string.h>

typedef struct listed_tree {
    char *name;
    uint32_t flags;
    rootstock_tree_statistics statistics;
} listed_tree;

typedef struct list_cursor {
    rst_counted_cursor shown; /* must be first */
    listed_tree *trees;
    sqlite3_int64 room;
} list_cursor;

enum { COLUMN_NAME, COLUMN_ENTRIES, COLUMN_FLAGS, COLUMN_DEPTH, COLUMN_PAGES, COLUMN_PATH };

static int list_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    static const rst_eponymous_kind kind = {.config = SQLITE_VTAB_DIRECTONLY,
                                            .cursor = sizeof(list_cursor),
                                            .first = COLUMN_PATH,
                                            .count = 1,
                                            .cost = 100,
                                            .rows = 10};
    UNUSED(context);
    UNUSED(count);
    UNUSED(arguments);
    UNUSED(message);
    return rst_eponymous_connect(
        db, NULL, "name TEXT, entries INTEGER, flags TEXT, depth INTEGER, pages INTEGER, path TEXT HIDDEN", &kind, out);
}

static int list_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    const int code = rst_eponymous_best(base, info);
    if (code != SQLITE_OK || info->idxNum != 0) return code;
    rst_set_message(&base->zErrMsg, "kv_trees lists a file: kv_trees('path')");
    return SQLITE_ERROR;
}

static void list_forget(list_cursor *cursor) {
    for (sqlite3_int64 i = 0; i < cursor->shown.count; i++) sqlite3_free(cursor->trees[i].name);
    sqlite3_free(cursor->trees);
    cursor->trees = NULL;
    cursor->shown.row = cursor->shown.count = cursor->room = 0;
}

static int list_close(sqlite3_vtab_cursor *base) {
    list_forget((list_cursor *)base);
    return rst_eponymous_close(base);
}

static int list_add(void *context, const char *name, const rootstock_kv_tree *tree,
                    const rootstock_tree_statistics *statistics) {
    list_cursor *cursor = context;
    listed_tree *listed;
    if (cursor->shown.count == cursor->room) {
        const sqlite3_int64 room = cursor->room * 2 + 16;
        listed_tree *trees = sqlite3_realloc64(cursor->trees, (sqlite3_uint64)room * sizeof *trees);
        if (trees == NULL) return ROOTSTOCK_NO_MEMORY;
        cursor->trees = trees;
        cursor->room = room;
    }
    listed = &cursor->trees[cursor->shown.count];
    listed->name = name == NULL ? NULL : sqlite3_mprintf("%s", name);
    if (name != NULL && listed->name == NULL) return ROOTSTOCK_NO_MEMORY;
    listed->flags = tree->flags;
    listed->statistics = *statistics;
    cursor->shown.count++;
    return ROOTSTOCK_OK;
}

/* Read-only first: it needs no right to write, and is allowed beside any other opening. */
static int list_file(list_cursor *cursor, const char *path, char **message) {
    const rootstock_engine *engine = &rootstock_engine_lmdb;
    rootstock_options options;
    rootstock_shared *shared = NULL;
    rootstock_transaction *transaction;
    char *file, *text = NULL;
    int code = rootstock_kv_file(path, &file, &text);
    memset(&options, 0, sizeof options);
    options.read_only = 1;
    if (code == ROOTSTOCK_OK) code = rootstock_environment_acquire(engine, file, &options, &shared, &text);
    free(file);
    if (code != ROOTSTOCK_OK) {
        rst_set_message(message, "%s", text != NULL ? text : rootstock_code_name(code));
        free(text);
        return rst_map_code(NULL, code);
    }
    engine = shared->engine;
    code = engine->begin(shared->environment, 0, NULL, NULL, &transaction);
    if (code == ROOTSTOCK_OK) {
        code = rootstock_kv_trees(transaction, list_add, cursor);
        engine->abort(transaction);
    }
    if (code != ROOTSTOCK_OK) rst_set_message(message, "%s: %s", path, engine->describe(shared->environment, code));
    rootstock_environment_release(shared);
    return rst_map_code(NULL, code);
}

static int list_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    list_cursor *cursor = (list_cursor *)base;
    const char *path = (const char *)sqlite3_value_text(values[0]);
    char *message = NULL;
    int code;
    UNUSED(number);
    UNUSED(text);
    UNUSED(count);
    list_forget(cursor);
    if (path == NULL) return SQLITE_OK;
    code = list_file(cursor, path, &message);
    return rst_take_message(base->pVtab, code, message);
}

static void show_flags(sqlite3_context *context, uint32_t flags) {
    static const struct {
        uint32_t flag;
        const char *name;
    } names[] = {
        {ROOTSTOCK_KV_REVERSE_KEYS, "reversekey"},
        {ROOTSTOCK_KV_INTEGER_KEYS, "integerkey"},
        {ROOTSTOCK_KV_DUPLICATES, "dupsort"},
        {ROOTSTOCK_KV_FIXED_DUPLICATES, "dupfixed"},
        {ROOTSTOCK_KV_INTEGER_DUPLICATES, "integerdup"},
        {ROOTSTOCK_KV_REVERSE_DUPLICATES, "reversedup"},
    };
    char text[80] = "";
    size_t length = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((flags & names[i].flag) == 0) continue;
        sqlite3_snprintf((int)(sizeof text - length), text + length, "%s%s", length > 0 ? " " : "", names[i].name);
        length = strlen(text);
    }
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static int list_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    list_cursor *cursor = (list_cursor *)base;
    const listed_tree *tree = &cursor->trees[cursor->shown.row];
    switch (column) {
    case COLUMN_NAME:
        if (tree->name != NULL) sqlite3_result_text(context, tree->name, -1, SQLITE_TRANSIENT);
        break;
    case COLUMN_ENTRIES: sqlite3_result_int64(context, (sqlite3_int64)tree->statistics.entries); break;
    case COLUMN_FLAGS: show_flags(context, tree->flags); break;
    case COLUMN_DEPTH: sqlite3_result_int64(context, tree->statistics.depth); break;
    case COLUMN_PAGES: sqlite3_result_int64(context, (sqlite3_int64)tree->statistics.pages); break;
    default: break; /* the path is known to who asked */
    }
    return SQLITE_OK;
}

const sqlite3_module kv_trees_module = {
    .xConnect = list_connect,
    .xBestIndex = list_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = list_close,
    .xFilter = list_filter,
    .xNext = rst_counted_next,
    .xEof = rst_counted_eof,
    .xColumn = list_column,
    .xRowid = rst_counted_rowid,
};
