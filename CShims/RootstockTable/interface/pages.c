/*
** pages.c - PRAGMA page_count and freelist_count: the pages of the store's file, and those of them that are free.
**
** An engine tells of the last commit. Within a write transaction the pages of the trees are counted as the transaction
** sees them: the file is taken to grow once they fill what was free. What the engine keeps beside the trees is left out
** then, which is a few pages.
*/
#include "interface/check.h"
#include "interface/interface.h"
#include "catalog/describe.h"

typedef struct page_count {
    uint64_t all, free;
} page_count;

enum { HEADER_PAGES = 2 };

static int add_tree(rst_connection *c, rst_tree *tree, uint64_t *pages, char **message) {
    rst_store *store = store_of(c);
    rootstock_tree_statistics statistics;
    int result, code = rst_tree_ready(c, store->writer, tree, false);
    if (code != SQLITE_OK) return code;
    result = store->engine->tree_statistics(store->writer, tree->handle, &statistics);
    if (result != ROOTSTOCK_OK) return rst_map_error(c, result, message);
    *pages += statistics.pages;
    return SQLITE_OK;
}

static int count_written(rst_connection *c, page_count *count, char **message) {
    rst_schema *schema = schema_of(c);
    uint64_t used = HEADER_PAGES;
    int code = rst_tables_complete(c, message);
    if (code == SQLITE_OK) code = add_tree(c, &store_of(c)->catalog, &used, message);
    for (int t = 0; t < schema->table_count && code == SQLITE_OK; t++) {
        rst_table *table = schema->tables[t];
        code = add_tree(c, &table->tree, &used, message);
        for (int i = 0; i < table->index_count && code == SQLITE_OK; i++)
            code = add_tree(c, &table->indexes[i].tree, &used, message);
    }
    /* An engine that knows no pages of a tree has told of its last commit, which stays. */
    if (code != SQLITE_OK || used == HEADER_PAGES) return code;
    if (used > count->all) count->all = used;
    count->free = count->all - used;
    return SQLITE_OK;
}

static int count_pages(rst_connection *c, page_count *count, char **message) {
    rst_store *store = store_of(c);
    rootstock_environment_statistics statistics;
    int result, code;
    if (store->shared == NULL) return SQLITE_MISUSE;
    code = rst_store_now(c, message);
    if (code != SQLITE_OK) return code;
    result = store->engine->environment_statistics(store->shared->environment, &statistics);
    if (result != ROOTSTOCK_OK) return rst_map_error(c, result, message);
    count->free = statistics.free_pages;
    count->all = statistics.used_pages + statistics.free_pages;
    return store->writer != NULL && store->wrote ? count_written(c, count, message) : SQLITE_OK;
}

/* rootstock_pages(free): all, or those that are free. */
static void pages_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    page_count pages = {0, 0};
    char *message = NULL;
    int code = count_pages(c, &pages, &message);
    UNUSED(count);
    if (code == SQLITE_OK) code = rst_snapshot_take(c, rst_read_begin_renewing, &message);
    if (code != SQLITE_OK)
        rst_function_fail(context, c, code, message);
    else
        sqlite3_result_int64(context, (sqlite3_int64)(sqlite3_value_int(values[0]) != 0 ? pages.free : pages.all));
}

int rst_pages_register(rst_connection *c) {
    return rst_function(c, "rootstock_pages", 1, SQLITE_DIRECTONLY, pages_function);
}
