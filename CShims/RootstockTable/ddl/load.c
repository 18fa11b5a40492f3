/*
** load.c - loading the schema into memory.
**
** The catalog is the truth; the tables and the schema database are made from it. Invariant: a table whose rows of the
** catalog did not change keeps what was found out about it.
*/
#include "ddl/declare.h"

#include "catalog/describe.h"
#include "catalog/hosted.h"
#include "catalog/partial_predicate.h"
#include "executor/foreign.h"
#include "executor/trigger.h"
#include "planner/plan_migrate.h"
#include "rewriter/trigger_list.h"

#include <string.h>

/* changed: null, or all other tables stay as they are, and the schema database is the one that they were described
** by. */
static int describe_tables(rst_connection *c, const rst_catalog *catalog, const rst_changed_tables *changed,
                           rst_table **tables, int *count, char **message) {
    rst_schema *schema = schema_of(c);
    const bool carry = changed != NULL;
    int known = 0, code = SQLITE_OK;
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        rst_table *same;
        if (object->type[0] != 't') continue; /* no table, as most are */
        /* Both are in the order of the catalog. */
        while (carry && known < schema->table_count && schema->tables[known]->identifier < object->identifier) known++;
        same = carry && known < schema->table_count && schema->tables[known]->identifier == object->identifier &&
                       !rst_changed_tables_has(changed, object->name)
                   ? schema->tables[known]
                   : NULL;
        if (same != NULL && rst_table_is_unused(same)) {
            same->references++;
            tables[*count] = same;
        } else if (rst_object_is(object, "table") && !rst_object_is_virtual(object)) {
            code = rst_table_note(c, object, &tables[*count], message);
            if (code == SQLITE_OK && same != NULL) code = rst_table_complete(tables[*count], message);
        } else {
            continue;
        }
        if (code == SQLITE_OK) ++*count;
    }
    return code;
}

/* Tables with indexes of which the others have to know are described now; of those that stay this was asked before. */
static int complete_indexed(const rst_catalog *catalog, const rst_changed_tables *changed, const rst_table_names *names,
                            char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        const rst_named_table *named;
        if (object->type[0] != 'i') continue; /* no index */
        if (changed != NULL && !rst_changed_tables_has(changed, object->table_name)) continue;
        named = rst_table_names_find(names, object->table_name);
        if (named != NULL && !named->table->described && !rst_index_is_plain(object))
            code = rst_table_complete(named->table, message);
    }
    return code;
}

static int load_tables(rst_connection *c, const rst_catalog *catalog, const rst_changed_tables *changed,
                       char **message) {
    rst_rewriter *rewriter = rewriter_of(c);
    rst_schema *schema = schema_of(c);
    rst_table **tables = NULL;
    rst_table_names names = {0};
    int count = 0, code;
    rst_index_lists_free(c);
    tables = sqlite3_malloc64(((sqlite3_uint64)catalog->count + 1) * sizeof *tables);
    if (tables == NULL) return SQLITE_NOMEM;
    code = describe_tables(c, catalog, changed, tables, &count, message);
    if (code == SQLITE_OK) {
        code = rst_table_names_make(tables, count, &names);
        if (code == SQLITE_OK) code = complete_indexed(catalog, changed, &names, message);
        if (code == SQLITE_OK) code = rst_table_names_refer(tables, count, &names);
        if (code == SQLITE_OK) code = rst_statistics_load(c, tables, count, &names);
    }
    if (code != SQLITE_OK) {
        rst_table_names_free(&names);
        for (int i = 0; i < count; i++) rst_table_release(tables[i]);
        sqlite3_free(tables);
        return code;
    }
    for (int i = 0; i < schema->table_count; i++) {
        rst_table *old = schema->tables[i];
        rst_triggers_free(old);
        if (!old->described) continue;
        rst_cursors_drop_spare(old);
        rst_validator_finalize(old);
    }
    {
        rst_table **old_tables = schema->tables;
        int old_count = schema->table_count;
        schema->tables = tables;
        schema->table_count = count;
        rst_table_names_free(&schema->names);
        schema->names = names;
        rst_plans_note_running(c);
        /* Declared virtual tables whose text is unchanged go on with the new description. */
        for (rst_vtab *vtab = schema->vtabs; vtab != NULL; vtab = vtab->next) {
            rst_table *fresh = rst_table_find(c, vtab->table->declared_name);
            if (fresh == NULL || fresh == vtab->table) continue;
            if (strcmp(fresh->sql, vtab->table->sql) != 0 || fresh->identifier != vtab->table->identifier) continue;
            if (vtab->table->missing_collation != NULL) {
                for (int i = 0; i < fresh->column_count; i++) {
                    if (sqlite3_stricmp(fresh->columns[i].collation_name, vtab->table->missing_collation) == 0)
                        fresh->missing_collation = fresh->columns[i].collation_name;
                }
            }
            if (code == SQLITE_OK) code = rst_plans_carry(vtab->table, fresh);
            fresh->references++;
            rst_table_release(vtab->table);
            vtab->table = fresh;
        }
        for (int i = 0; i < old_count; i++) rst_table_release(old_tables[i]);
        sqlite3_free(old_tables);
    }
    rewriter->has_expressions = rewriter->has_conditions = rewriter->has_exclusions = false;
    for (int i = 0; i < schema->table_count; i++) {
        for (int k = 0; k < schema->tables[i]->index_count; k++) {
            const rst_index *index = &schema->tables[i]->indexes[k];
            rewriter->has_conditions |= index->where != NULL;
            rewriter->has_exclusions |= rst_partial_predicate_excludes(index->predicate);
            for (int p = 0; p < index->part_count; p++) rewriter->has_expressions |= index->parts[p].column == -2;
        }
    }
    rewriter->view_joins = VIEWS_UNKNOWN;
    store_of(c)->epoch++;
    planner_of(c)->schema_state++;
    return code;
}

int rst_schema_load(rst_connection *c, char **message) {
    rst_store *store = store_of(c);
    rootstock_transaction *transaction = store->writer, *own = NULL;
    rst_catalog catalog;
    int code;
    store->catalog.open = false;
    if (transaction == NULL && store->reader_live) transaction = store->reader;
    if (transaction == NULL) {
        /* A VACUUM of another connection may put a new file in the place of the one that was followed just now. */
        for (int follows = 0;; follows++) {
            code = rst_store_now(c, message);
            if (code != SQLITE_OK) return code;
            code = store->engine->begin(store->shared->environment, 0, NULL, NULL, &own);
            if (code == ROOTSTOCK_OK) break;
            if (code != ROOTSTOCK_MOVED || follows >= FOLLOWS_LIMIT) return rst_map_error(c, code, message);
        }
        transaction = own;
    }
    code = rst_catalog_read(c, transaction, &catalog, message);
    if (code == SQLITE_OK) code = rst_schema_db_build(c, &catalog, message);
    if (code == SQLITE_OK) {
        /* Tables are described by it, some of them later. */
        rst_catalog before = schema_of(c)->loaded;
        schema_of(c)->loaded = catalog;
        definitions_of(c)->loading = transaction;
        code = load_tables(c, &schema_of(c)->loaded, NULL, message);
        definitions_of(c)->loading = NULL;
        catalog = before;
        if (code != SQLITE_OK) {
            catalog = schema_of(c)->loaded;
            schema_of(c)->loaded = before;
        }
    }
    if (code == SQLITE_OK) {
        store->generation = (uint64_t)schema_of(c)->loaded.generation;
        store->schema_stale = false;
        if (transaction == store->writer) store->writer_unseen = false;
    }
    rst_trigger_doubt_all(c);
    rst_catalog_free(&catalog);
    if (own != NULL) store->engine->abort(own);
    return code;
}

int rst_schema_follow(rst_connection *c, const rst_changed_tables *changed, char **message) {
    rst_store *store = store_of(c);
    int code;
    store->catalog.open = false;
    definitions_of(c)->loading = store->writer;
    code = load_tables(c, &schema_of(c)->loaded, changed, message);
    definitions_of(c)->loading = NULL;
    if (code != SQLITE_OK) return code;
    store->generation = (uint64_t)schema_of(c)->loaded.generation;
    store->schema_stale = false;
    store->writer_unseen = false;
    return SQLITE_OK;
}
