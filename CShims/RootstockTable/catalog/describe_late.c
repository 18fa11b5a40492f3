/*
** describe_late.c - a table is described when a statement first needs it: a schema may have thousands, and a program
** that opens the store asks for a few.
**
** Until then a table has a name, a text and a tree. Some questions are about all tables at once: ON CONFLICT,
** AUTOINCREMENT, collations, partial indexes and those on expressions. A table that may have any of these is described
** when it is loaded, so that the answer is always known. Foreign keys are known by the word REFERENCES.
**
** Invariant: rst_table_find gives described tables only.
*/
#include "catalog/catalog.h"
#include "catalog/describe.h"

#include <string.h>

/* Reads whom the table refers to. *plain: nothing else has to be known of it before it is named. */
static int read_text(rst_table *table, bool *plain) {
    const char *p = table->sql, *end = p + strlen(p);
    char *to = NULL;
    *plain = true;
    for (rst_token token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        char *name;
        if (rst_token_is(&token, "CONFLICT") || rst_token_is(&token, "AUTOINCREMENT") ||
            rst_token_is(&token, "COLLATE")) {
            *plain = false;
            return SQLITE_OK;
        }
        if (!rst_token_is(&token, "REFERENCES")) continue;
        if (table->parents == NULL) {
            size_t most = (size_t)(end - token.text) / strlen("REFERENCES") + 1;
            /* Each name is shorter than what it stands in. */
            table->parents = sqlite3_malloc64(most * sizeof *table->parents + (size_t)(end - token.text) + 1);
            if (table->parents == NULL) return SQLITE_NOMEM;
            to = (char *)(table->parents + most);
        }
        token = rst_token_next(&p, end);
        if (!rst_token_names(&token)) continue;
        name = rst_token_name(&token);
        if (name == NULL) return SQLITE_NOMEM;
        table->parents[table->parent_count++] =
            (rst_parent_name){memcpy(to, name, strlen(name) + 1), rst_name_hash(name)};
        to += strlen(name) + 1;
        sqlite3_free(name);
    }
    return SQLITE_OK;
}

int rst_table_note(rst_connection *c, const rst_object *object, rst_table **out, char **message) {
    bool plain = false;
    int code = rst_table_begin(c, object, out);
    if (code != SQLITE_OK) return code;
    if (!schema_of(c)->sidecar && !(*out)->internal) code = read_text(*out, &plain);
    if (code == SQLITE_OK && !plain) code = rst_table_complete(*out, message);
    if (code != SQLITE_OK) rst_table_release(*out);
    return code;
}

int rst_tables_complete(rst_connection *c, char **message) {
    int code = SQLITE_OK;
    for (int i = 0; i < schema_of(c)->table_count && code == SQLITE_OK; i++)
        code = rst_table_complete(schema_of(c)->tables[i], message);
    return code;
}

rst_table *rst_table_listed(rst_connection *c, const char *name) {
    const rst_named_table *named = rst_table_names_find(&schema_of(c)->names, name);
    return named == NULL ? NULL : named->table;
}

/* A failure of any kind fails the call that is watched: without the table a statement would not do what it should. */
rst_table *rst_table_find(rst_connection *c, const char *name) {
    rst_table *table = rst_table_listed(c, name);
    if (table == NULL || table->described || rst_table_complete(table, NULL) == SQLITE_OK) return table;
    rst_call_no_memory();
    return NULL;
}

static int describe_children(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    int code = SQLITE_OK;
    for (int i = 0; i < schema->table_count && code == SQLITE_OK; i++) {
        if (schema->tables[i]->parents != NULL) code = rst_table_complete(schema->tables[i], NULL);
    }
    return code == SQLITE_OK ? rst_table_names_refer(schema->tables, schema->table_count, &schema->names) : code;
}

const rst_child *rst_table_children(const rst_table *table) {
    const rst_table_names *names = &schema_of(table->connection)->names;
    const rst_named_table *named;
    if (!table->is_parent) return NULL;
    /* All at once: a list that was handed out must stay. */
    if (names->children_wait && describe_children(table->connection) != SQLITE_OK) {
        rst_call_no_memory();
        return NULL;
    }
    named = rst_table_names_find(names, table->name);
    return named == NULL ? NULL : named->children;
}
