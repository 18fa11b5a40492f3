/*
** foreign_check.c - SELECT * FROM rootstock_foreign_key_check: every row of a child table without its parent.
**
** What PRAGMA foreign_key_check becomes on a store. Columns: "table", rowid (NULL for WITHOUT ROWID tables), parent,
** fkid (the id that PRAGMA foreign_key_list gives). SQLite is asked, on the schema database, whether the keys are
** declared soundly at all. Rows and order are SQLite's: table by table, row by row, key by key.
*/
#include "catalog/describe.h"
#include "executor/foreign_statements.h"
#include "interface/interface.h"
#include "interface/check.h"
#include "executor/foreign.h"

#include <string.h>

/* Where the parents of one foreign key's children are looked for. */
typedef struct parent_key {
    rst_table *parent;  /* null: the store has no such table */
    const int *columns; /* of the key in it */
} parent_key;

/* SQLITE_ROW: the row's parent is there, or the row asks for none. SQLITE_DONE: it is not. */
static int find_parent(rst_connection *c, rootstock_transaction *transaction, const rst_foreign_key *foreign,
                       const parent_key *key, const rst_row_slot *hand) {
    bool exists = false;
    int code;
    for (int k = 0; k < foreign->column_count; k++) {
        if (hand->values[foreign->child_columns[k]].type == VALUE_NULL) return SQLITE_ROW;
    }
    if (key->parent == NULL) return SQLITE_DONE;
    code = rst_foreign_parent_exists(c, transaction, foreign, key->parent, key->columns, hand->values, &exists);
    if (code != SQLITE_OK) return code;
    return exists ? SQLITE_ROW : SQLITE_DONE;
}

static int walk_child(rst_connection *c, rootstock_transaction *transaction, rst_table *table, parent_key *parents,
                      rst_listing *listing, char **message) {
    rst_walker walker;
    rst_row_slot hand;
    rootstock_slice key, value;
    uint64_t columns = 0;
    int result = SQLITE_OK, code = rst_row_slot_begin(table, &hand);
    if (code != SQLITE_OK) return code;
    code = rst_walker_open(c, transaction, &table->tree, &walker);
    if (code != SQLITE_OK) {
        rst_row_slot_end(table, &hand);
        return code;
    }
    for (int i = 0; i < table->foreign_key_count; i++) columns |= rst_foreign_child_set(&table->foreign_keys[i]);
    for (code = rst_walker_move(&walker, ROOTSTOCK_FIRST, &key, &value); code == ROOTSTOCK_OK;
         code = rst_walker_move(&walker, ROOTSTOCK_NEXT, &key, &value)) {
        result = rst_row_slot_read(table, &key, &value, columns, &hand);
        if (result == SQLITE_CORRUPT_VTAB)
            rst_set_message(message, "%s: table %s: malformed row", store_of(c)->shared->path, table->name);
        for (int i = 0; i < table->foreign_key_count && result == SQLITE_OK; i++) {
            result = find_parent(c, transaction, &table->foreign_keys[i], &parents[i], &hand);
            if (result == SQLITE_DONE) {
                const char *parent = table->foreign_keys[i].parent;
                if (table->without_rowid)
                    result = rst_listing_add(listing, "snsi", table->name, parent, (sqlite3_int64)i);
                else
                    result = rst_listing_add(listing, "sisi", table->name, (sqlite3_int64)hand.rowid, parent,
                                             (sqlite3_int64)i);
            } else if (result == SQLITE_ROW) {
                result = SQLITE_OK;
            }
        }
        if (result != SQLITE_OK) break;
    }
    rst_walker_close(&walker);
    rst_row_slot_end(table, &hand);
    if (result != SQLITE_OK) return result;
    return code == ROOTSTOCK_NOT_FOUND ? SQLITE_OK : rst_map_error(c, code, message);
}

static int check_child(rst_connection *c, rootstock_transaction *transaction, rst_table *table, rst_listing *listing,
                       char **message) {
    sqlite3_uint64 size = (sqlite3_uint64)table->foreign_key_count * sizeof(parent_key);
    parent_key *parents = sqlite3_malloc64(size);
    int code = SQLITE_OK;
    if (parents == NULL) return SQLITE_NOMEM;
    memset(parents, 0, (size_t)size);
    for (int i = 0; i < table->foreign_key_count && code == SQLITE_OK; i++) {
        const rst_foreign_key *foreign = &table->foreign_keys[i];
        parents[i].parent = rst_table_find(c, foreign->parent);
        if (parents[i].parent != NULL)
            code = rst_foreign_parent_columns(table, foreign, parents[i].parent, &parents[i].columns, message);
    }
    if (code == SQLITE_OK) code = walk_child(c, transaction, table, parents, listing, message);
    sqlite3_free(parents);
    return code;
}

/* Prepares a PRAGMA of SQLite's own on the empty schema database, of the table of that name or of all. */
static int ask(rst_connection *c, const char *pragma, const char *name, sqlite3_stmt **statement, char **message) {
    sqlite3 *schema_db = schema_of(c)->schema_db;
    int code = rst_prepare(schema_db, statement, name == NULL ? "PRAGMA %s" : "PRAGMA %s(%Q)", pragma, name);
    if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(schema_db));
    return code;
}

/* SQLite's own verdict on the declarations. */
static int check_declarations(rst_connection *c, const char *name, char **message) {
    sqlite3_stmt *verdict = NULL;
    int code = ask(c, "foreign_key_check", name, &verdict, message);
    if (code != SQLITE_OK) return code;
    while (sqlite3_step(verdict) == SQLITE_ROW) continue;
    code = sqlite3_finalize(verdict);
    if (code != SQLITE_OK) rst_set_message(message, "%s", sqlite3_errmsg(schema_of(c)->schema_db));
    return code;
}

/* The tables of that name, or all, that have foreign keys and whose declarations SQLite finds sound. They stand in the
** order of SQLite's own list, which is the schema database's. *list is from sqlite3_malloc. */
static int list_children(rst_connection *c, const char *name, rst_table ***list, int *count, char **message) {
    sqlite3_stmt *tables = NULL;
    int code = check_declarations(c, name, message);
    *count = 0;
    *list = code == SQLITE_OK ? sqlite3_malloc64(((sqlite3_uint64)schema_of(c)->table_count + 1) * sizeof(rst_table *))
                              : NULL;
    if (code == SQLITE_OK && *list == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) code = ask(c, "main.table_list", name, &tables, message);
    while (code == SQLITE_OK && sqlite3_step(tables) == SQLITE_ROW) {
        rst_table *table = rst_table_listed(c, (const char *)sqlite3_column_text(tables, 1));
        if (table == NULL || !rst_same_text((const char *)sqlite3_column_text(tables, 2), "table")) continue;
        if (table->parents != NULL) code = rst_table_complete(table, message); /* else it has none, or they are known */
        if (table->foreign_key_count > 0 && *count < schema_of(c)->table_count) (*list)[(*count)++] = table;
    }
    code = rst_finish(tables, code);
    if (code == SQLITE_OK) return code;
    sqlite3_free(*list);
    *list = NULL;
    return code;
}

static int check_all(rst_connection *c, rootstock_transaction *transaction, rst_listing *listing, char **message) {
    rst_table_names *names = &schema_of(c)->names;
    int code = SQLITE_OK;
    if (names->sound == NULL) code = list_children(c, NULL, &names->sound, &names->sound_count, message);
    for (int i = 0; transaction != NULL && i < names->sound_count && code == SQLITE_OK; i++)
        code = check_child(c, transaction, names->sound[i], listing, message);
    return code == SQLITE_OK && transaction == NULL && names->sound_count > 0 ? SQLITE_ROW : code;
}

static int check_named(rst_connection *c, rootstock_transaction *transaction, const char *name, rst_listing *listing,
                       char **message) {
    rst_table **list;
    int count, code = list_children(c, name, &list, &count, message);
    for (int i = 0; transaction != NULL && i < count && code == SQLITE_OK; i++)
        code = check_child(c, transaction, list[i], listing, message);
    sqlite3_free(list);
    return code == SQLITE_OK && transaction == NULL && count > 0 ? SQLITE_ROW : code;
}

/* transaction: null: SQLITE_ROW if a table has foreign keys to check. */
static int check(rst_connection *c, rootstock_transaction *transaction, const char *name, rst_listing *listing,
                 char **message) {
    return name == NULL ? check_all(c, transaction, listing, message)
                        : check_named(c, transaction, name, listing, message);
}

static int fill(rst_connection *c, sqlite3_value **values, rst_listing *listing, char **message) {
    const char *name = values[0] == NULL ? NULL : (const char *)sqlite3_value_text(values[0]);
    rootstock_transaction *transaction = NULL;
    bool is_writer = false;
    int code;
    if (store_of(c)->shared == NULL) {
        rst_set_message(message, "no store is open on this connection");
        return SQLITE_ERROR;
    }
    if (values[0] != NULL && name == NULL) return SQLITE_OK; /* "table" = NULL is never true */
    /* Without foreign keys SQLite reads nothing, and takes no snapshot. */
    if (store_of(c)->writer != NULL || rst_newest_is_checked(c)) {
        code = check(c, NULL, name, listing, message);
        if (code != SQLITE_ROW) return code;
    }
    code = rst_read_begin_renewing(c, &transaction, &is_writer, message);
    if (code != SQLITE_OK) return code;
    code = check(c, transaction, name, listing, message);
    rst_read_end(c, is_writer);
    return code;
}

const rst_listing_definition rst_foreign_listing = {
    .name = "rootstock_foreign_key_check",
    .columns = "\"table\" TEXT, rowid INT, parent TEXT, fkid INT",
    .column_count = 4,
    .argument = 0,
    .arguments = 1,
    .fill = fill,
};
