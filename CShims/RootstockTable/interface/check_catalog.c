/*
** check_catalog.c - the catalog's part of an integrity check: every object has its tree, every tree its object.
**
** A tree that was ever given out is an object's or free, never both, never neither. A free one is empty. The catalog
** lists what SQLite made of its texts (the schema database), object for object.
*/
#include "interface/interface.h"
#include "catalog/describe.h"
#include "catalog/hosted.h"
#include "interface/check.h"

#include <string.h>

/* Entries in tree `number`; false (and a fault) if it cannot be opened. */
static bool count_entries(rst_check *check, int64_t number, const char *what, uint64_t *entries) {
    const rootstock_engine *engine = store_of(check->connection)->engine;
    rootstock_tree_statistics statistics;
    rootstock_tree handle;
    char name[24];
    int code;
    sqlite3_snprintf(sizeof name, name, "t%lld", (long long)number);
    code = engine->tree_open(check->transaction, name, 0, &handle);
    if (code == ROOTSTOCK_OK) code = engine->tree_statistics(check->transaction, handle, &statistics);
    if (code == ROOTSTOCK_NOT_FOUND)
        rst_check_fault(check, "tree %s of %s does not exist", name, what);
    else if (code != ROOTSTOCK_OK)
        rst_check_fault(check, "tree %s of %s: %s", name, what, rst_check_words(check, code));
    if (code != ROOTSTOCK_OK) return false;
    *entries = statistics.entries;
    return true;
}

static void check_free_tree(rst_check *check, int64_t number, const rst_catalog *catalog, const char **owners) {
    uint64_t entries;
    if (number < 1 || number >= catalog->next_tree) {
        rst_check_fault(check, "catalog: free tree t%lld was never given out", (long long)number);
        return;
    }
    if (owners[number] != NULL) {
        rst_check_fault(check, "catalog: tree t%lld is free and belongs to %s", (long long)number, owners[number]);
        return;
    }
    owners[number] = "the free list";
    if (count_entries(check, number, owners[number], &entries) && entries > 0) {
        rst_check_fault(check, "free tree t%lld holds %llu entries", (long long)number, (unsigned long long)entries);
    }
}

/* The meta row ends in the text that marks a store. */
static bool is_meta(const rootstock_slice *value) {
    static const char magic[] = "Rootstock store";
    rootstock_row row;
    rootstock_value text;
    return rootstock_row_open(&row, value->data, value->size) == SQLITE_OK && row.count >= 7 && row.count <= 8 &&
           rootstock_row_column(&row, 6, &text, NULL) == SQLITE_OK && text.type == VALUE_TEXT &&
           text.size == sizeof magic - 1 && memcmp(text.as.data, magic, text.size) == 0;
}

/* Every entry of the catalog's tree is of a known kind; the free ones name trees. */
static void check_entries(rst_check *check, const rst_catalog *catalog, const char **owners) {
    rst_connection *c = check->connection;
    rst_store *store = store_of(c);
    rootstock_cursor *cursor;
    rootstock_slice key, value;
    int code;
    if (!store->catalog.open) return; /* nothing was ever created */
    code = store->engine->cursor_open(check->transaction, store->catalog.handle, &cursor);
    if (code != ROOTSTOCK_OK) {
        rst_check_fault(check, "catalog: %s", rst_check_words(check, code));
        return;
    }
    for (code = store->engine->cursor_move(cursor, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
         code = store->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value)) {
        const unsigned char *bytes = key.data;
        if (!rst_check_goes_on(check)) break;
        if (rst_checked(c, &store->catalog, code, &key, &value) != ROOTSTOCK_OK) {
            rst_check_fault(check, "%s", rst_check_words(check, ROOTSTOCK_CORRUPT));
            rst_damage_tell(c, SQLITE_OK, NULL);
            continue;
        }
        if (!((bytes[0] == 'M' && key.size == 1) ||
              ((bytes[0] == 'O' || bytes[0] == 'F' || bytes[0] == 'R') && key.size == 9))) {
            rst_check_fault(check, "catalog: an entry of unknown kind %d", bytes[0]);
            continue;
        }
        if (rootstock_row_verify(value.data, value.size) != SQLITE_OK) {
            rst_check_fault(check, "catalog: malformed entry of kind '%c'", bytes[0]);
        }
        if (bytes[0] == 'M' && !is_meta(&value)) rst_check_fault(check, "catalog: malformed meta row");
        if (bytes[0] == 'F') {
            uint64_t number = 0;
            for (int i = 1; i < 9; i++) number = number << 8 | bytes[i];
            check_free_tree(check, (int64_t)number, catalog, owners);
        }
    }
    store->engine->cursor_close(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND)
        rst_check_fault(check, "catalog: %s", rst_check_words(check, code));
}

static void check_object(rst_check *check, const rst_catalog *catalog, const rst_object *object, const char **owners) {
    bool is_table = strcmp(object->type, "table") == 0, is_index = strcmp(object->type, "index") == 0;
    uint64_t entries;
    if (object->identifier < 1 || object->identifier >= catalog->next_object) {
        rst_check_fault(check, "catalog: %s %s has number %lld, which was never given out", object->type, object->name,
                        (long long)object->identifier);
    }
    if (!is_table && !is_index) {
        if (strcmp(object->type, "view") != 0 && strcmp(object->type, "trigger") != 0) {
            rst_check_fault(check, "catalog: %s is of unknown type %s", object->name, object->type);
        }
        if (object->tree != 0) rst_check_fault(check, "catalog: %s %s has a tree", object->type, object->name);
        return;
    }
    if (rst_object_is_virtual(object)) {
        if (object->tree != 0) rst_check_fault(check, "catalog: virtual table %s has a tree", object->name);
        return;
    }
    if (is_index && rst_catalog_find(catalog, "table", object->table_name) == NULL) {
        rst_check_fault(check, "catalog: index %s is on table %s, which does not exist", object->name,
                        object->table_name);
    }
    if (object->tree < 1 || object->tree >= catalog->next_tree) {
        rst_check_fault(check, "catalog: %s %s names tree t%d, which was never given out", object->type, object->name,
                        object->tree);
        return;
    }
    if (owners[object->tree] != NULL) {
        rst_check_fault(check, "catalog: tree t%d belongs to %s and to %s", object->tree, owners[object->tree],
                        object->name);
        return;
    }
    owners[object->tree] = object->name;
    (void)count_entries(check, object->tree, object->name, &entries);
}

/* What the catalog lists against what SQLite made of it. */
static void check_schema_db(rst_check *check, const rst_catalog *catalog) {
    rst_connection *c = check->connection;
    sqlite3_stmt *statement;
    int listed = 0, code;
    code = sqlite3_prepare_v2(schema_of(c)->schema_db, "SELECT type, name, tbl_name, sql FROM sqlite_master", -1,
                              &statement, NULL);
    if (code != SQLITE_OK) {
        check->code = code;
        return;
    }
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(statement, 0);
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        const rst_object *object = type == NULL || name == NULL ? NULL : rst_catalog_find(catalog, type, name);
        if (object == NULL) {
            rst_check_fault(check, "catalog: %s %s is missing", type, name);
            continue;
        }
        listed++;
        if (!rst_same_text(object->name, name) ||
            !rst_same_text(object->table_name, (const char *)sqlite3_column_text(statement, 2)) ||
            !rst_same_text(object->sql, (const char *)sqlite3_column_text(statement, 3))) {
            rst_check_fault(check, "catalog: %s %s is not what its text makes", type, name);
        }
    }
    code = sqlite3_finalize(statement);
    if (code != SQLITE_OK)
        check->code = code;
    else if (listed < catalog->count) {
        rst_check_fault(check, "catalog: %d objects more than its texts make", catalog->count - listed);
    }
}

void rst_check_catalog(rst_check *check) {
    rst_connection *c = check->connection;
    rst_catalog catalog;
    char *message = NULL;
    const char **owners;
    int code = rst_catalog_read(c, check->transaction, &catalog, &message);
    if (code != SQLITE_OK) {
        if (code == SQLITE_NOMEM)
            check->code = code;
        else
            rst_check_fault(check, "catalog: %s", message == NULL ? sqlite3_errstr(code) : message);
        sqlite3_free(message);
        rst_catalog_free(&catalog);
        return;
    }
    if (catalog.next_tree < 1 || catalog.next_tree > (1 << 24) || catalog.next_object < 1) {
        rst_check_fault(check, "catalog: malformed meta row");
        rst_catalog_free(&catalog);
        return;
    }
    owners = sqlite3_malloc64((sqlite3_uint64)catalog.next_tree * sizeof *owners);
    if (owners == NULL) {
        check->code = SQLITE_NOMEM;
        rst_catalog_free(&catalog);
        return;
    }
    memset(owners, 0, (size_t)catalog.next_tree * sizeof *owners);
    for (int i = 0; i < catalog.count; i++) check_object(check, &catalog, &catalog.objects[i], owners);
    check_entries(check, &catalog, owners);
    for (int64_t number = 1; number < catalog.next_tree && rst_check_goes_on(check); number++) {
        if (owners[number] == NULL) rst_check_fault(check, "catalog: tree t%lld belongs to nothing", (long long)number);
    }
    check_schema_db(check, &catalog);
    sqlite3_free(owners);
    rst_catalog_free(&catalog);
}
