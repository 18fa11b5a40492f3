/*
** describe_stays.c - which tables keep their description when the schema changes.
**
** What is said of a table hangs on its own row of the catalog and on those of its indexes. Where these are the same and
** nothing was done with the table yet, its description stays. To describe a table again takes microseconds.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"

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
        table->table_rows != 0 || table->rows_per_key_prefix != NULL || table->pinned != 0 || table->last_rowid_known ||
        table->last_key.data != NULL || table->shown_count > 0 || table->images[0] != NULL || table->images[1] != NULL)
        return false;
    for (int i = 0; i < 2; i++) {
        const rst_validator *validator = &table->validators[i];
        if (validator->insert != NULL || validator->insert_old != NULL || validator->row != NULL ||
            validator->select != NULL || validator->remove != NULL)
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
