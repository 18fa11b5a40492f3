/*
** info.c - SELECT rootstock_info(): a store's figures as one JSON object.
**
** Members, all of one snapshot. NULL where no store is open.
**   path, engine, engineVersion, format, generation
**   fileBytes, pageBytes (0 where the engine has no pages), usedPages, freePages
**   lastTransaction
**   readers                         live snapshots, without this statement's
**   maximumReaders
**   oldestReaderLag                 commits since the oldest snapshot
**   undoneCommit, undoneSeconds     the commit that was undone last after a power loss, and when since 1970; or missing
**   roundTrips                      answers of a server that this process has waited for; missing without a server
**   tables                          an array of {name, withoutRowid, rows, pages, bytes, depth,
**                                   indexes: an array of {name, unique, rows, pages, bytes, depth}}
*/
#include "interface/interface.h"
#include "catalog/describe.h"
#include "interface/check.h"

#include <string.h>

static void append_text(sqlite3_str *out, const char *text) {
    sqlite3_str_appendchar(out, 1, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            sqlite3_str_appendf(out, "\\%c", *p);
        else if (*p < 0x20)
            sqlite3_str_appendf(out, "\\u%04x", *p);
        else
            sqlite3_str_appendchar(out, 1, (char)*p);
    }
    sqlite3_str_appendchar(out, 1, '"');
}

static void append_number(sqlite3_str *out, const char *name, uint64_t number) {
    sqlite3_str_appendf(out, ",\"%s\":%llu", name, (unsigned long long)number);
}

static int append_tree(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, sqlite3_str *out,
                       char **message) {
    rootstock_tree_statistics statistics;
    int code = rst_tree_ready(c, transaction, tree, false);
    if (code != SQLITE_OK) {
        rst_set_message(message, "%s: tree t%d cannot be opened", store_of(c)->shared->path, tree->number);
        return code;
    }
    code = store_of(c)->engine->tree_statistics(transaction, tree->handle, &statistics);
    if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
    append_number(out, "rows", statistics.entries);
    append_number(out, "pages", statistics.pages);
    append_number(out, "bytes", statistics.bytes);
    append_number(out, "depth", statistics.depth);
    return SQLITE_OK;
}

static int append_table(rst_connection *c, rootstock_transaction *transaction, rst_table *table, sqlite3_str *out,
                        char **message) {
    int code;
    sqlite3_str_appendall(out, "{\"name\":");
    append_text(out, table->name);
    sqlite3_str_appendf(out, ",\"withoutRowid\":%s", table->without_rowid ? "true" : "false");
    code = append_tree(c, transaction, &table->tree, out, message);
    sqlite3_str_appendall(out, ",\"indexes\":[");
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) {
        sqlite3_str_appendall(out, i > 0 ? ",{\"name\":" : "{\"name\":");
        append_text(out, table->indexes[i].name);
        sqlite3_str_appendf(out, ",\"unique\":%s", table->indexes[i].unique ? "true" : "false");
        code = append_tree(c, transaction, &table->indexes[i].tree, out, message);
        sqlite3_str_appendall(out, "}");
    }
    sqlite3_str_appendall(out, "]}");
    return code;
}

static int append_store(rst_connection *c, sqlite3_str *out, char **message) {
    rst_store *store = store_of(c);
    rootstock_environment_statistics statistics;
    rootstock_transaction *transaction = NULL;
    rst_catalog meta;
    bool is_writer = false;
    /* Before our own snapshot, which is not to be counted; but in the file that is the store by now. */
    int code = rst_store_now(c, message);
    if (code != SQLITE_OK) return code;
    code = store->engine->environment_statistics(store->shared->environment, &statistics);
    if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
    code = rst_read_begin_renewing(c, &transaction, &is_writer, message);
    if (code != SQLITE_OK) return code;
    code = rst_catalog_read_meta(c, transaction, &meta, message);
    sqlite3_str_appendall(out, "{\"path\":");
    append_text(out, store->shared->path);
    sqlite3_str_appendall(out, ",\"engine\":");
    append_text(out, store->engine->name);
    sqlite3_str_appendall(out, ",\"engineVersion\":");
    append_text(out, store->engine->version);
    if (store->engine->form != NULL) {
        sqlite3_str_appendall(out, ",\"form\":");
        append_text(out, store->engine->form);
    }
    if (store->shared->notice != NULL) {
        sqlite3_str_appendall(out, ",\"notice\":");
        append_text(out, store->shared->notice);
    }
    append_number(out, "format", (uint64_t)meta.format);
    sqlite3_str_appendf(out, ",\"checksum\":%s", meta.features & CATALOG_CHECKSUMS ? "true" : "false");
    append_number(out, "verified", store->verified);
    append_number(out, "generation", (uint64_t)meta.generation);
    append_number(out, "fileBytes", statistics.file_bytes);
    append_number(out, "pageBytes", statistics.page_bytes);
    append_number(out, "usedPages", statistics.used_pages);
    append_number(out, "freePages", statistics.free_pages);
    append_number(out, "lastTransaction", statistics.last_transaction);
    append_number(out, "readers", statistics.readers);
    append_number(out, "maximumReaders", statistics.maximum_readers);
    append_number(out, "oldestReaderLag", statistics.oldest_reader_lag);
    if (statistics.undone_commit != 0) {
        append_number(out, "undoneCommit", statistics.undone_commit);
        append_number(out, "undoneSeconds", statistics.undone_seconds);
    }
    if (statistics.round_trips != 0) append_number(out, "roundTrips", statistics.round_trips);
    sqlite3_str_appendall(out, ",\"tables\":[");
    code = rst_tables_complete(c, message);
    for (int t = 0; t < schema_of(c)->table_count && code == SQLITE_OK; t++) {
        if (t > 0) sqlite3_str_appendall(out, ",");
        code = append_table(c, transaction, schema_of(c)->tables[t], out, message);
    }
    sqlite3_str_appendall(out, "]}");
    rst_read_end(c, is_writer);
    return code;
}

void rst_info_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    sqlite3_str *out;
    char *message = NULL, *text;
    int code;
    UNUSED(count);
    UNUSED(values);
    if (store_of(c)->shared == NULL) return;
    out = sqlite3_str_new(NULL);
    code = append_store(c, out, &message);
    text = sqlite3_str_finish(out);
    if (code == SQLITE_OK && text == NULL) code = SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        sqlite3_free(text);
        rst_function_fail(context, c, code, message);
        return;
    }
    sqlite3_free(message);
    sqlite3_result_text(context, text, -1, sqlite3_free);
}
