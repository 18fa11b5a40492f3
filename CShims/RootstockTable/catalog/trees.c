/*
** trees.c - what storage asks of the tables' trees: their handles, their ends, their names.
*/
#include "catalog/catalog.h"

#include <string.h>

void rst_tables_forget_handles(rst_connection *c) {
    for (int t = 0; t < schema_of(c)->table_count; t++) {
        rst_table *table = schema_of(c)->tables[t];
        table->tree.open = false;
        for (int i = 0; i < table->index_count; i++) table->indexes[i].tree.open = false;
    }
}

/* After a conflict: the tables into which the refused transaction has inserted are contended. What keeps being refused
** may have met a row of somebody's own choice in its block of rowids, and takes another block. */
static void learn_contended(rst_connection *c, rst_table *table) {
    const rst_store *store = store_of(c);
    bool inserted = (table->last_rowid_known && table->last_rowid_transaction == store->writer_identifier) ||
                    (table->last_key_transaction != 0 && table->last_key_transaction == store->writer_identifier);
    if (inserted) table->contended = true;
    if (store->conflicts > 3) table->reserved = table->reserved_end;
}

void rst_tables_forget_positions(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    for (int i = 0; i < schema->table_count; i++) {
        if (store_of(c)->conflicted) learn_contended(c, schema->tables[i]);
        schema->tables[i]->last_rowid_known = false;
        schema->tables[i]->last_key_transaction = 0;
    }
}

void rst_tables_name_tree(const rst_connection *c, int number, sqlite3_str *out, bool *rows) {
    for (int t = 0; t < schema_of(c)->table_count; t++) {
        const rst_table *table = schema_of(c)->tables[t];
        if (table->tree.number == number) {
            *rows = !table->without_rowid;
            sqlite3_str_appendf(out, "table %s", table->name);
            return;
        }
        for (int i = 0; i < table->index_count; i++) {
            if (table->indexes[i].tree.number != number) continue;
            sqlite3_str_appendf(out, "index %s of table %s", table->indexes[i].name, table->name);
            return;
        }
    }
    for (int i = 0; i < schema_of(c)->loaded.count; i++) { /* of a table that is not described yet */
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        if (object->tree != number || strcmp(object->type, "index") != 0) continue;
        sqlite3_str_appendf(out, "index %s of table %s", object->name, object->table_name);
        return;
    }
    sqlite3_str_appendf(out, "tree t%d", number);
}

int rst_clear_rows(rst_table *table) {
    rst_connection *c = table->connection;
    int code = rst_clear(c, &table->tree);
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) code = rst_clear(c, &table->indexes[i].tree);
    if (code != SQLITE_OK) store_of(c)->writer_broken = true;
    table->last_rowid_known = false;
    table->last_key_transaction = 0;
    return code;
}

void rst_retired_vtabs_free(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    while (schema->retired_vtabs != NULL) {
        rst_vtab *vtab = schema->retired_vtabs;
        schema->retired_vtabs = vtab->next;
        sqlite3_free(vtab->txn.base.zErrMsg);
        sqlite3_free(vtab);
    }
}
