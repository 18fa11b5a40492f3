/*
** program_tables.c - virtual tables of the program's own modules, on the connection itself.
**
** Such a table is an object of the catalog without a tree. On the connection it is what it is natively. SQLite lists
** its text. It calls xCreate and xDestroy where the program creates and drops the table, and xConnect where a statement
** first names it.
**
** A table that another connection made, or that was there when the store was opened, is only listed. A table without
** rows is made in its place, and SQLite is told to read its list anew. Invariant: no method of a program's module is
** called for a table because of the list.
*/
#include "ddl/declare.h"

#include "catalog/hosted.h"
#include "parser/tokens.h"

#include <string.h>

/* ---- the list ---- */

/* Stands for a module that the program has not registered. */
static const sqlite3_module absent = {
    .iVersion = 1,
    .xCreate = rst_bare_connect,
    .xConnect = rst_bare_connect,
    .xDisconnect = rst_bare_disconnect,
    .xDestroy = rst_bare_disconnect,
};

static int run(rst_connection *c, const char *sql, char **message) {
    static const char missing[] = "no such module: ";
    rst_definitions *definitions = definitions_of(c);
    const bool was = definitions->listing;
    char *words = NULL, *name = NULL;
    int code;
    definitions->listing = true;
    code = rst_execute(c, &words, "%s", sql);
    if ((code & 0xff) == SQLITE_ERROR && words != NULL && strncmp(words, missing, sizeof missing - 1) == 0) {
        name = sqlite3_mprintf("%s", words + sizeof missing - 1);
        rst_forget_message(&words);
        code = name == NULL ? SQLITE_NOMEM : sqlite3_create_module_v2(c->db, name, &absent, c, NULL);
        if (code == SQLITE_OK) code = rst_execute(c, &words, "%s", sql);
        if (name != NULL) (void)sqlite3_create_module_v2(c->db, name, NULL, NULL, NULL);
        sqlite3_free(name);
    }
    definitions->listing = was;
    if (code != SQLITE_OK) rst_set_message(message, "%s", words == NULL ? sqlite3_errstr(code) : words);
    sqlite3_free(words);
    return code;
}

int rst_program_table_list(rst_connection *c, const rst_object *object, char **message) {
    definitions_of(c)->listed = true;
    return run(c, object->sql, message);
}

int rst_program_table_unlist(rst_connection *c, const char *sql, char **message) {
    return run(c, sql, message);
}

int rst_program_tables_listed(rst_connection *c) {
    if (!definitions_of(c)->listed) return SQLITE_OK;
    definitions_of(c)->listed = false;
    return rst_read_list_again(c->db);
}

/* ---- CREATE, DROP, ALTER ---- */

/* The catalog's table of that name, if it is one of a program's module. */
static const rst_object *find(rst_connection *c, const rst_token *name) {
    char *text = rst_token_names(name) ? rst_token_name(name) : NULL;
    const rst_object *object = text == NULL ? NULL : rst_catalog_find(&schema_of(c)->loaded, "table", text);
    sqlite3_free(text);
    return object != NULL && rst_hosted_by_program(c, object) ? object : NULL;
}

/* The store's part first, for the table comes before those that its module makes in SQLite's list, too. */
static int create(rst_connection *c, const char *sql, const rst_token *name, const rst_token *module, char **message) {
    const rst_object *object;
    char *text;
    int code = rst_hosted_stand_in(c, module);
    if (code == SQLITE_OK) code = rst_schema_change(c, sql, message);
    if (code != SQLITE_OK) return code;
    object = find(c, name);
    if (object == NULL) return SQLITE_OK; /* IF NOT EXISTS, and something is called so */
    for (int i = 0; i < definitions_of(c)->declared_count; i++) {
        if (definitions_of(c)->declared[i].identifier == object->identifier) return SQLITE_OK;
    }
    text = sqlite3_mprintf("%s", object->sql); /* what xCreate runs may change the catalog */
    code = text == NULL ? SQLITE_NOMEM : rst_declared_note_object(c, object);
    if (code == SQLITE_OK) code = rst_execute(c, message, "%s", text);
    sqlite3_free(text);
    /* The schema database asks for its columns anew. */
    return code == SQLITE_OK ? rst_read_list_anew(schema_of(c)->schema_db, NULL) : code;
}

/* The store's part last: until then the table may be named by what xDestroy runs. */
static int drop(rst_connection *c, const char *sql, const rst_object *object, char **message) {
    char *name = sqlite3_mprintf("%s", object->name);
    int code = name == NULL ? SQLITE_NOMEM : rst_execute(c, message, "DROP TABLE main.\"%w\"", name);
    if (code == SQLITE_OK) {
        rst_declared_forget_table(c, name);
        code = rst_schema_change(c, sql, message);
    }
    sqlite3_free(name);
    return code;
}

static int rename_table(rst_connection *c, const char *sql, const rst_object *object, const rst_token *to,
                        char **message) {
    char *name = sqlite3_mprintf("%s", object->name), *renamed = rst_token_name(to);
    int code = name == NULL || renamed == NULL ? SQLITE_NOMEM : SQLITE_OK;
    /* It has to be connected. */
    if (code == SQLITE_OK) code = rst_execute(c, message, "SELECT 1 FROM main.\"%w\" WHERE 0", name);
    if (code == SQLITE_OK) code = schema_of(c)->rename_hosted(c->db, name, renamed, message);
    if (code == SQLITE_OK) code = rst_schema_change(c, sql, message);
    sqlite3_free(name);
    sqlite3_free(renamed);
    return code;
}

int rst_program_table_change(rst_connection *c, const rst_schema_statement *s, const char *sql, bool *done,
                             char **message) {
    const char *p, *end = sql + strlen(sql);
    rst_token word;
    const rst_object *object;
    if (schema_of(c)->rename_hosted == NULL || !rst_token_is(&s->type, "TABLE")) return SQLITE_OK;
    p = s->after.text + s->after.size;
    word = rst_token_next(&p, end);
    if (rst_token_is(&s->verb, "CREATE")) {
        *done = s->is_virtual && rst_token_names(&word) && rst_hosted_may_be_program(c, &word);
        return *done ? create(c, sql, &s->name, &word, message) : SQLITE_OK;
    }
    object = find(c, &s->name);
    if (object == NULL) return SQLITE_OK;
    *done = true;
    if (rst_token_is(&s->verb, "DROP")) return drop(c, sql, object, message);
    *done = rst_token_is(&s->after, "RENAME") && rst_token_is(&word, "TO");
    word = rst_token_next(&p, end);
    return *done ? rename_table(c, sql, object, &word, message) : SQLITE_OK;
}
