/*
** refresh.c - the schema follows what other connections, and a ROLLBACK, made of it.
**
** Invariant: a statement finds the schema of its own snapshot, loaded and declared.
*/
#include "ddl/declare.h"

#include "catalog/describe.h"
#include "ddl/temporary.h"
#include "executor/trigger.h"

#include <string.h>

static int read_generation(rst_connection *c, int64_t *generation, uint64_t *identifier, char **message) {
    rst_store *store = store_of(c);
    rootstock_transaction *transaction = store->writer != NULL ? store->writer
                                         : store->reader_live  ? store->reader
                                                               : NULL;
    rst_catalog meta;
    int code;
    if (transaction == NULL) {
        /* A look through the pooled read transaction: a fresh one costs a hundred times as much. */
        code = rst_reader_begin(c, message);
        if (code != SQLITE_OK) return code;
        *identifier = store->engine->transaction_identifier(store->reader);
        if (*identifier == store->checked_transaction)
            *generation = (int64_t)store->generation;
        else {
            code = rst_catalog_read_meta(c, store->reader, &meta, message);
            *generation = meta.generation;
        }
        store->engine->reset(store->reader);
        return code;
    }
    *identifier = store->writer != NULL ? 0 : store->engine->transaction_identifier(transaction);
    code = rst_catalog_read_meta(c, transaction, &meta, message);
    *generation = meta.generation;
    return code;
}

/* Tables that were declared without a collation which the application has registered by now are declared anew. */
static void declare_collated(rst_connection *c) {
    rst_definitions *definitions = definitions_of(c);
    for (int i = 0; i < schema_of(c)->table_count; i++) {
        const rst_table *table = schema_of(c)->tables[i];
        if (table->missing_collation == NULL || !rst_collation_known(c, table->missing_collation)) continue;
        for (int n = 0; n < definitions->declared_count; n++) {
            if (sqlite3_stricmp(definitions->declared[n].name, table->declared_name) == 0)
                definitions->declared[n].identifier = -1;
        }
        store_of(c)->schema_stale = true;
    }
}

int rst_schema_refresh(rst_connection *c, char **message) {
    rst_definitions *definitions = definitions_of(c);
    rst_schema *schema = schema_of(c);
    rst_store *store = store_of(c);
    int64_t generation = 0;
    uint64_t identifier = 0;
    int code;
    if (store->shared == NULL || definitions->declares) return SQLITE_OK;
    if (store->interrupted) rst_interrupted_rollback(c, NULL);
    if (store->writer_broken) return SQLITE_OK; /* nothing can be read until its ROLLBACK, which must get through */
    if (store->collations_missing && sqlite3_get_autocommit(c->db)) declare_collated(c);
    if (store->tables_missing && sqlite3_get_autocommit(c->db)) store->schema_stale = true; /* it may be by now */
    if (store->declared_in_transaction) {
        /* Has a ROLLBACK taken away what was declared since? */
        if (rst_declared_version(c) != definitions->declared_version) store->schema_stale = true;
        if (sqlite3_get_autocommit(c->db)) store->declared_in_transaction = false;
    }
    /* The row validators' transaction lasts for good; out of memory ends it, and with it the row validators. */
    if (schema->schema_db != NULL && sqlite3_get_autocommit(schema->schema_db)) store->schema_stale = true;
    /* The row that is judged, and the triggers that fire, are of the schema as it is. */
    if (rst_check_schema_free(c, NULL) != SQLITE_OK)
        return store->schema_stale ? rst_check_schema_free(c, message) : SQLITE_OK;
    if (!store->schema_stale && rst_temporary_hidden_changed(c)) {
        code = rst_schema_declare(c, message);
        if (!sqlite3_get_autocommit(c->db)) { /* what a ROLLBACK takes away again */
            store->declared_in_transaction = true;
            definitions->declared_version = rst_declared_version(c);
        }
        if (code != SQLITE_OK) {
            store->schema_stale = true;
            return code;
        }
    }
    if (!store->schema_stale) {
        /* this transaction's snapshot was compared */
        if (store->writer != NULL || store->reader_pinned) return SQLITE_OK;
        code = rst_check_usable(c, message);
        if (code != SQLITE_OK) return code;
        if (rst_schema_is_current(c)) return SQLITE_OK;
        code = read_generation(c, &generation, &identifier, message);
        if (code != SQLITE_OK) return code;
        if ((uint64_t)generation == store->generation) {
            if (identifier != 0) store->checked_transaction = identifier;
            if (schema->triggers_epoch == store->epoch) return SQLITE_OK;
            definitions->reads++;
            code = rst_triggers_load(c, message);
            definitions->reads--;
            return code;
        }
        store->schema_stale = true;
    }
    rst_retired_vtabs_free(c); /* of the time before: those of now may still be in SQLite's hands */
    code = rst_temporary_triggers_read(c);
    if (code == SQLITE_OK) code = rst_schema_load(c, message);
    if (code == SQLITE_OK) code = rst_declared_relearn(c);
    if (code == SQLITE_OK) {
        executor_of(c)->refreshing = true;
        store->collations_missing = store->tables_missing = false;
        for (int i = 0; i < schema->table_count; i++)
            store->collations_missing |= schema->tables[i]->missing_collation != NULL;
        code = rst_schema_declare(c, message);
        executor_of(c)->refreshing = false;
    }
    if (code != SQLITE_OK) store->schema_stale = true;
    if (!sqlite3_get_autocommit(c->db)) {
        store->declared_in_transaction = true;
        definitions->declared_version = rst_declared_version(c);
    }
    return code;
}
