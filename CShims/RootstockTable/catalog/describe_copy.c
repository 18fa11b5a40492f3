/*
** describe_copy.c - after a change of the schema, the tables that it does not concern are described by a copy.
**
** To describe a table is to read its text and those of its indexes. That takes microseconds, and a change of the
** schema describes all tables. What is said of a table hangs on its own row of the catalog and on those
** of its indexes, so where these are the same, its description is. One that was not used yet is as good as its copy,
** and stays. Invariant: a copy is what rst_table_complete would make: what belongs to the table's use (cursors, plans,
** statistics, the open tree) is not copied.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"
#include "catalog/partial_predicate.h"
#include "catalog/expression_column.h"

#include <string.h>

/* ---- what has changed ---- */

int rst_changed_tables_note(rst_changed_tables *changed, const char *type, const char *name, const char *table_name) {
    const char **names;
    const bool is_table = strcmp(type, "table") == 0;
    if (!is_table && strcmp(type, "index") != 0) return SQLITE_OK;
    if (is_table) table_name = name;
    if (rst_changed_tables_has(changed, table_name)) return SQLITE_OK;
    names = rst_array_grown((void *)changed->names, changed->count, sizeof *names);
    if (names == NULL) return SQLITE_NOMEM;
    changed->names = names;
    names[changed->count++] = table_name;
    return SQLITE_OK;
}

void rst_changed_tables_free(rst_changed_tables *changed) {
    sqlite3_free((void *)changed->names);
    memset(changed, 0, sizeof *changed);
}

/* ---- the same ---- */

static bool is_tree_unused(const rst_tree *tree) {
    return !tree->open && tree->writes == 0;
}

bool rst_table_is_unused(const rst_table *table) {
    if (!table->described) return true;
    if (!is_tree_unused(&table->tree) || table->plan_count > 0 || table->open_cursors > 0 ||
        table->spare_cursors != NULL || table->automatics != NULL || table->shadows_known || table->shadow_count > 0 ||
        table->table_rows != 0 || table->pinned != 0 || table->last_rowid_known || table->last_key.data != NULL ||
        table->shown_count > 0 || table->images[0] != NULL || table->images[1] != NULL)
        return false;
    for (int i = 0; i < 2; i++) {
        const rst_validator *twin = &table->twins[i];
        if (twin->insert != NULL || twin->insert_old != NULL || twin->row != NULL || twin->select != NULL ||
            twin->remove != NULL)
            return false;
    }
    for (int i = 0; i < table->column_count; i++) {
        if (table->columns[i].default_judged != 0) return false;
    }
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (!is_tree_unused(&index->tree) || index->rows_per_prefix != NULL || index->table_rows != 0) return false;
    }
    return true;
}

/* ---- the copy ---- */

/* False: no memory. */
static bool copy_text(char **to, const char *from) {
    *to = rst_text_duplicate(from);
    return *to != NULL || from == NULL;
}

static bool copy_column(rst_column *to, const rst_column *from) {
    *to = *from;
    to->name = to->type = to->default_text = to->collation_name = NULL;
    to->default_judged = 0;
    memset(&to->missing_bytes, 0, sizeof to->missing_bytes);
    if (from->missing.type == VALUE_TEXT || from->missing.type == VALUE_BLOB) {
        to->missing.as.data = "";
        if (from->missing.size > 0) {
            if (rootstock_buffer_append(&to->missing_bytes, from->missing.as.data, from->missing.size) != SQLITE_OK)
                return false;
            to->missing.as.data = to->missing_bytes.data;
        }
    }
    return copy_text(&to->name, from->name) && copy_text(&to->type, from->type) &&
           copy_text(&to->default_text, from->default_text) && copy_text(&to->collation_name, from->collation_name);
}

static bool copy_parts(rst_part **to, int *to_count, const rst_part *from, int count) {
    rst_part *parts;
    if (from == NULL) return true;
    *to = parts = rst_array_new(count, sizeof *parts);
    if (parts == NULL) return false;
    for (*to_count = 0; *to_count < count; ++*to_count) {
        rst_part *part = &parts[*to_count];
        *part = from[*to_count];
        part->collation_name = part->expression = NULL;
        if (!copy_text(&part->collation_name, from[*to_count].collation_name) ||
            !copy_text(&part->expression, from[*to_count].expression)) {
            ++*to_count; /* what it has got is freed with it */
            return false;
        }
    }
    return true;
}

static bool copy_index(const rst_table *table, rst_index *to, const rst_index *from) {
    *to = *from;
    memset(&to->tree, 0, sizeof to->tree);
    to->tree.number = from->tree.number;
    to->name = to->where = NULL;
    to->parts = NULL;
    to->part_count = 0;
    to->predicate = NULL;
    to->rows_per_prefix = NULL;
    to->table_rows = 0;
    return copy_text(&to->name, from->name) && copy_parts(&to->parts, &to->part_count, from->parts, from->part_count) &&
           copy_text(&to->where, from->where) &&
           (to->where == NULL || rst_partial_predicate_parse(table, to->where, &to->predicate) == SQLITE_OK);
}

static bool copy_foreign_key(rst_foreign_key *to, const rst_foreign_key *from) {
    *to = *from;
    to->parent = NULL;
    if (!rst_foreign_key_room(to, from->column_count)) return false;
    for (int k = 0; k < from->column_count; k++) {
        to->child_columns[k] = from->child_columns[k];
        if (!copy_text(&to->parent_columns[k], from->parent_columns[k])) return false;
    }
    return copy_text(&to->parent, from->parent);
}

static bool copy_all(rst_table *to, const rst_table *from) {
    to->references = 1;
    to->connection = from->connection;
    to->described = from->described;
    to->hash = from->hash;
    to->identifier = from->identifier;
    to->tree.number = from->tree.number;
    to->without_rowid = from->without_rowid;
    to->strict = from->strict;
    to->autoincrement = from->autoincrement;
    to->internal = from->internal;
    to->needs_mirror = from->needs_mirror;
    to->has_evaluated_index = from->has_evaluated_index;
    to->has_generated = from->has_generated;
    to->has_check = from->has_check;
    to->has_defaults = from->has_defaults;
    to->has_conflict_clauses = from->has_conflict_clauses;
    to->has_rowid_name = from->has_rowid_name;
    to->rowid_column = from->rowid_column;
    to->rowid_on_conflict = from->rowid_on_conflict;
    to->slot_count = from->slot_count;
    to->key_turn = from->key_turn;
    to->columns = rst_array_new(from->column_count, sizeof *to->columns);
    to->slot = rst_array_new(from->column_count, sizeof *to->slot);
    to->indexes = from->index_count > 0 ? rst_array_new(from->index_count, sizeof *to->indexes) : NULL;
    to->foreign_keys =
        from->foreign_key_count > 0 ? rst_array_new(from->foreign_key_count, sizeof *to->foreign_keys) : NULL;
    if (to->columns == NULL || to->slot == NULL || (to->indexes == NULL && from->index_count > 0) ||
        (to->foreign_keys == NULL && from->foreign_key_count > 0) || !copy_text(&to->name, from->name) ||
        !copy_text(&to->declared_name, from->declared_name) || !copy_text(&to->sql, from->sql))
        return false;
    memcpy(to->slot, from->slot, (size_t)from->column_count * sizeof *to->slot);
    /* Each counts before it is filled: what it has got is freed with the table. */
    while (to->column_count < from->column_count) {
        int i = to->column_count++;
        if (!copy_column(&to->columns[i], &from->columns[i])) return false;
    }
    if (!copy_parts(&to->key, &to->key_count, from->key, from->key_count)) return false;
    while (to->index_count < from->index_count) {
        int i = to->index_count++;
        if (!copy_index(to, &to->indexes[i], &from->indexes[i])) return false;
    }
    while (to->foreign_key_count < from->foreign_key_count) {
        int i = to->foreign_key_count++;
        if (!copy_foreign_key(&to->foreign_keys[i], &from->foreign_keys[i])) return false;
    }
    return true;
}

int rst_table_describe_again(const rst_table *from, rst_table **out) {
    rst_table *table = sqlite3_malloc64(sizeof *table);
    int code;
    if (table == NULL) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    code = copy_all(table, from) ? rst_expression_column_load(table) : SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        rst_table_release(table);
        return code;
    }
    *out = table;
    return SQLITE_OK;
}
