/*
** hosted.c - virtual tables of SQLite's own modules, and a program's, in a store's schema: hosted.h.
**
** CREATE VIRTUAL TABLE runs on the schema database with the module's own xCreate, which makes the shadow tables there
** and their first rows. The change of the schema carries the tables into the catalog, and the rows are moved into the
** store. DROP and RENAME work on the schema database's list in the same way.
*/
#include "catalog/hosted.h"

#include <string.h>

struct rst_hosted_module {
    struct rst_hosted_module *next;
    const sqlite3_module *real; /* null: the program has taken it away, and may have its own under that name */
    void *context;
    char name[];
};

/* The module of that name on a schema database. */
typedef struct stand_in {
    sqlite3_module methods;
    rst_connection *connection;
    const struct rst_hosted_module *hosted; /* null: the connection has it not, or it is a program's */
    bool by_program;
    char *renamed, *columns; /* a table's new name, which the connection has not been told yet */
    char name[];
} stand_in;

typedef struct stand_in_table {
    sqlite3_vtab base;
    sqlite3 *db;
    stand_in *module;
    char *name;
    bool own_content, own_sizes; /* FTS keeps them in shadow tables */
} stand_in_table;

int rst_hosted_add(rst_connection *c, const char *name, const sqlite3_module *module, void *context) {
    struct rst_hosted_module *added = schema_of(c)->hosted;
    if (module == NULL) {
        while (added != NULL && sqlite3_stricmp(added->name, name) != 0) added = added->next;
        if (added != NULL) added->real = NULL;
        return SQLITE_OK;
    }
    added = sqlite3_malloc64(sizeof *added + strlen(name) + 1);
    if (added == NULL) return SQLITE_NOMEM;
    added->real = module;
    added->context = context;
    memcpy(added->name, name, strlen(name) + 1);
    added->next = schema_of(c)->hosted;
    schema_of(c)->hosted = added;
    return SQLITE_OK;
}

void rst_hosted_free(rst_connection *c) {
    while (schema_of(c)->hosted != NULL) {
        struct rst_hosted_module *gone = schema_of(c)->hosted;
        schema_of(c)->hosted = gone->next;
        sqlite3_free(gone);
    }
}

static const struct rst_hosted_module *find(const rst_connection *c, const rst_token *module) {
    const struct rst_hosted_module *hosted = schema_of(c)->hosted;
    while (hosted != NULL && (hosted->real == NULL || !rst_token_same_name(module, hosted->name)))
        hosted = hosted->next;
    return hosted;
}

bool rst_hosted_is(const rst_connection *c, const rst_token *module) {
    return find(c, module) != NULL;
}

bool rst_hosted_may_be_program(const rst_connection *c, const rst_token *module) {
    char *name;
    bool may;
    if (schema_of(c)->rename_hosted == NULL || rst_hosted_is(c, module)) return false;
    name = rst_token_name(module);
    may = name != NULL && !rst_module_is_own(name);
    sqlite3_free(name);
    return may;
}

bool rst_hosted_by_program(const rst_connection *c, const rst_object *object) {
    rst_token module;
    return rst_object_is_virtual(object) && rst_virtual_is_plain(object, &module) &&
           rst_hosted_may_be_program(c, &module);
}

bool rst_object_is_virtual(const rst_object *object) {
    static const char words[] = "CREATE VIRTUAL TABLE ";
    /* The last comparison is the rarest: it is asked of every object of a schema. */
    return object->type[0] == 't' && object->sql != NULL && strncmp(object->sql, words, sizeof words - 1) == 0 &&
           strcmp(object->type, "table") == 0;
}

bool rst_virtual_is_plain(const rst_object *object, rst_token *module) {
    const char *p = object->sql + strlen("CREATE VIRTUAL TABLE "), *end = object->sql + strlen(object->sql);
    rst_token token = rst_token_next(&p, end);
    if (sqlite3_strnicmp(object->name, "sqlite_", 7) == 0 || !rst_token_names(&token) ||
        !rst_token_same_name(&token, object->name) || strcmp(object->name, object->table_name) != 0)
        return false;
    token = rst_token_next(&p, end);
    *module = rst_token_next(&p, end);
    if (!rst_token_is(&token, "USING") || !rst_token_names(module)) return false;
    token = rst_token_next(&p, end);
    if (token.type == TOKEN_END) return true;
    if (!rst_token_mark(&token, "(") || !rst_token_skip_parentheses(&p, end)) return false;
    token = rst_token_next(&p, end);
    return token.type == TOKEN_END;
}

/* ---- on a schema database ---- */

static bool is_program(const stand_in *module) {
    return module->by_program || (module->hosted != NULL && module->hosted->real == NULL);
}

/* Whether FTS was told content=... (it keeps no rows of its own), and columnsize=0. */
static void read_arguments(stand_in_table *table, int count, const char *const *arguments) {
    table->own_content = table->own_sizes = true;
    for (int i = 3; i < count; i++) {
        const char *p = arguments[i], *end = p + strlen(p);
        rst_token key = rst_token_next(&p, end), equals = rst_token_next(&p, end), value = rst_token_next(&p, end);
        if (!rst_token_mark(&equals, "=")) continue;
        if (rst_token_same_name(&key, "content")) table->own_content = false;
        if (rst_token_same_name(&key, "columnsize")) /* 0 or 1; the last one counts */
            table->own_sizes =
                !rst_token_same_name(&value, "0") && !(value.type == TOKEN_NUMBER && value.text[0] == '0');
    }
}

/* Whether the table of that name is one of its shadow tables. */
static bool is_shadow(const stand_in_table *table, const char *name) {
    const size_t size = strlen(table->name);
    const char *suffix = name + size + 1;
    int (*judge)(const char *) = table->module->methods.xShadowName;
    if (judge == NULL || sqlite3_strnicmp(name, table->name, (int)size) != 0 || name[size] != '_') return false;
    if (!table->own_content && sqlite3_stricmp(suffix, "content") == 0) return false;
    if (!table->own_sizes && sqlite3_stricmp(suffix, "docsize") == 0) return false;
    return judge(suffix) != 0;
}

/* A statement to run for each of its shadow tables, one after the other. format takes the table's name; `renamed` is
** what the shadow table is called behind the virtual table's name. */
static char *for_each_shadow(const stand_in_table *table, const char *renamed) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *list = NULL;
    if (sqlite3_prepare_v2(table->db, "SELECT name FROM main.sqlite_master WHERE type='table'", -1, &list, NULL) ==
        SQLITE_OK) {
        while (sqlite3_step(list) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(list, 0);
            if (name == NULL || !is_shadow(table, name)) continue;
            if (renamed == NULL)
                sqlite3_str_appendf(text, "DROP TABLE main.\"%w\";", name);
            else
                sqlite3_str_appendf(text, "ALTER TABLE main.\"%w\" RENAME TO \"%w%w\";", name, renamed,
                                    name + strlen(table->name));
        }
    }
    (void)sqlite3_finalize(list);
    sqlite3_str_appendall(text, " ");
    return sqlite3_str_finish(text);
}

static int run(sqlite3 *db, char *sql) {
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return code;
}

static int table_disconnect(sqlite3_vtab *base) {
    sqlite3_free(((stand_in_table *)base)->name);
    sqlite3_free(base);
    return SQLITE_OK;
}

static int table_destroy(sqlite3_vtab *base) {
    stand_in_table *table = (stand_in_table *)base;
    int code = run(table->db, for_each_shadow(table, NULL));
    return code == SQLITE_OK ? table_disconnect(base) : code;
}

static int table_best(sqlite3_vtab *base, sqlite3_index_info *info) {
    UNUSED(base);
    UNUSED(info);
    return SQLITE_OK;
}

static int table_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    UNUSED(base);
    UNUSED(out);
    return SQLITE_ERROR; /* nothing reads a schema database's virtual tables */
}

static int table_update(sqlite3_vtab *base, int count, sqlite3_value **values, sqlite3_int64 *rowid) {
    UNUSED(base);
    UNUSED(count);
    UNUSED(values);
    UNUSED(rowid);
    return SQLITE_READONLY;
}

static int make_table(sqlite3 *db, stand_in *module, int count, const char *const *arguments, sqlite3_vtab **out) {
    stand_in_table *table = sqlite3_malloc64(sizeof *table);
    if (table == NULL) return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    table->db = db;
    table->module = module;
    table->name = sqlite3_mprintf("%s", arguments[2]);
    read_arguments(table, count, arguments);
    if (table->name == NULL) {
        sqlite3_free(table);
        return SQLITE_NOMEM;
    }
    *out = &table->base;
    return SQLITE_OK;
}

static int missing(const stand_in *module, const char *table, char **message) {
    *message =
        sqlite3_mprintf("table %s is of module %s, which works on a store through the interposer only: rootstock "
                        "run, or product RootstockInterpose",
                        table, module->name);
    return SQLITE_ERROR;
}

/* Declares the columns that the connection's own table has. Null: it has none of that name, it cannot be connected, or
** there is no memory. */
static char *columns_of(rst_connection *c, const char *name) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *list;
    int columns = 0, code = rst_prepare(c->db, &list, "PRAGMA main.table_xinfo(\"%w\")", name);
    while (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(list, 2);
        sqlite3_str_appendf(text, "%s\"%w\" %s%s", columns++ == 0 ? "CREATE TABLE x(" : ",",
                            (const char *)sqlite3_column_text(list, 1), type == NULL ? "" : type,
                            sqlite3_column_int(list, 6) == 1 ? " HIDDEN" : "");
    }
    (void)sqlite3_finalize(list);
    if (code != SQLITE_OK) {
        sqlite3_free(sqlite3_str_finish(text));
        return NULL;
    }
    if (columns > 0) sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

/* What SQLite asks of the views and triggers that name the table, it asks before the connection has it. */
static int table_rename(sqlite3_vtab *base, const char *name) {
    stand_in_table *table = (stand_in_table *)base;
    stand_in *module = table->module;
    sqlite3_free(module->renamed);
    sqlite3_free(module->columns);
    module->renamed = sqlite3_mprintf("%s", name);
    module->columns = columns_of(module->connection, table->name);
    return module->renamed == NULL ? SQLITE_NOMEM : run(table->db, for_each_shadow(table, name));
}

static int table_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                         char **message) {
    stand_in *module = context;
    char *columns;
    int code;
    if (module->hosted == NULL && !is_program(module)) return missing(module, arguments[2], message);
    columns = columns_of(module->connection, arguments[2]);
    if (columns == NULL && module->columns != NULL && sqlite3_stricmp(module->renamed, arguments[2]) == 0)
        columns = sqlite3_mprintf("%s", module->columns);
    else if (columns == NULL && is_program(module) && sqlite3_errcode(module->connection->db) != SQLITE_OK) {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(module->connection->db));
        return SQLITE_ERROR;
    }
    if (columns == NULL) columns = sqlite3_mprintf("CREATE TABLE x(a)");
    code = columns == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, columns);
    sqlite3_free(columns);
    return code == SQLITE_OK ? make_table(db, module, count, arguments, out) : code;
}

static int table_create(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    stand_in *module = context;
    sqlite3_vtab *real = NULL;
    int code;
    if (is_program(module) && db == schema_of(module->connection)->schema_db) { /* its columns are learnt later */
        code = sqlite3_declare_vtab(db, "CREATE TABLE x(a)");
        return code == SQLITE_OK ? make_table(db, module, count, arguments, out) : code;
    }
    if (is_program(module)) return table_connect(db, context, count, arguments, out, message);
    if (module->hosted == NULL) return missing(module, arguments[2], message);
    code = module->hosted->real->xCreate(db, module->hosted->context, count, arguments, &real, message);
    if (code != SQLITE_OK) return code;
    code = module->hosted->real->xDisconnect(real);
    return code == SQLITE_OK ? make_table(db, module, count, arguments, out) : code;
}

static void stand_in_free(void *context) {
    stand_in *module = context;
    sqlite3_free(module->renamed);
    sqlite3_free(module->columns);
    sqlite3_free(module);
}

static int stand_in_register(rst_connection *c, sqlite3 *schema_db, const struct rst_hosted_module *hosted,
                             bool by_program, const char *name) {
    stand_in *module = sqlite3_malloc64(sizeof *module + strlen(name) + 1);
    if (module == NULL) return SQLITE_NOMEM;
    memset(module, 0, sizeof *module);
    module->methods = (sqlite3_module){.iVersion = 3,
                                       .xCreate = table_create,
                                       .xConnect = table_connect,
                                       .xBestIndex = table_best,
                                       .xDisconnect = table_disconnect,
                                       .xDestroy = table_destroy,
                                       .xOpen = table_open,
                                       .xUpdate = table_update,
                                       .xRename = table_rename};
    module->connection = c;
    module->hosted = hosted;
    module->by_program = hosted == NULL && by_program;
    if (hosted != NULL && hosted->real->iVersion >= 3) module->methods.xShadowName = hosted->real->xShadowName;
    memcpy(module->name, name, strlen(name) + 1);
    return sqlite3_create_module_v2(schema_db, module->name, &module->methods, module, stand_in_free);
}

int rst_hosted_register(rst_connection *c, sqlite3 *schema_db, const rst_catalog *catalog) {
    int code = SQLITE_OK;
    for (const struct rst_hosted_module *hosted = schema_of(c)->hosted; hosted != NULL && code == SQLITE_OK;
         hosted = hosted->next)
        if (hosted->real != NULL) code = stand_in_register(c, schema_db, hosted, false, hosted->name);
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        rst_token module;
        char *name;
        if (!rst_object_is_virtual(&catalog->objects[i])) continue;
        if (!rst_virtual_is_plain(&catalog->objects[i], &module)) continue; /* the sandbox refuses it */
        if (rst_hosted_is(c, &module)) continue;
        name = rst_token_name(&module);
        code = name == NULL ? SQLITE_NOMEM
                            : stand_in_register(c, schema_db, NULL, rst_hosted_may_be_program(c, &module), name);
        sqlite3_free(name);
    }
    return code;
}

int rst_hosted_stand_in(rst_connection *c, const rst_token *module) {
    sqlite3 *schema_db = schema_of(c)->schema_db;
    bool known = false;
    char *name = rst_token_name(module);
    int code = name == NULL ? SQLITE_NOMEM : SQLITE_OK;
    /* Its tables need the one that there is until they are gone. */
    if (code == SQLITE_OK)
        code = rst_has_row(schema_db, &known, "SELECT 1 FROM pragma_module_list WHERE name=%Q COLLATE NOCASE", name);
    if (code == SQLITE_OK && !known) code = stand_in_register(c, schema_db, NULL, true, name);
    sqlite3_free(name);
    return code;
}

int rst_hosted_stand_in_on(rst_connection *c, sqlite3 *other, const char *name) {
    return stand_in_register(c, other, NULL, true, name);
}

int rst_hosted_list(sqlite3 *schema_db, const rst_object *object) {
    const int code =
        rst_execute_on(schema_db,
                       "PRAGMA writable_schema=ON;INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) "
                       "VALUES ('table', %Q, %Q, 0, %Q)",
                       object->name, object->name, object->sql);
    return code == SQLITE_OK ? rst_read_list_anew(schema_db, NULL) : code;
}

/* ---- on the connection ---- */

static int move_rows(rst_connection *c, const char *name, char **message) {
    sqlite3_stmt *rows;
    bool any;
    char *target = sqlite3_mprintf("\"%w\"", name);
    int code =
        target == NULL ? SQLITE_NOMEM : rst_has_row(schema_of(c)->schema_db, &any, "SELECT 1 FROM main.%s", target);
    if (code == SQLITE_OK && any) {
        code = rst_prepare(schema_of(c)->schema_db, &rows, "SELECT * FROM main.%s", target);
        if (code == SQLITE_OK) code = rst_rows_copy(rows, c->db, target, (int)strlen(target), message);
        (void)sqlite3_finalize(rows);
        if (code == SQLITE_OK) code = rst_execute_on(schema_of(c)->schema_db, "DELETE FROM main.%s", target);
    }
    sqlite3_free(target);
    return code;
}

int rst_hosted_fill(rst_connection *c, const rst_object *object, char **message) {
    const size_t size = strlen(object->name);
    rst_token module;
    const struct rst_hosted_module *hosted = rst_virtual_is_plain(object, &module) ? find(c, &module) : NULL;
    int code = SQLITE_OK;
    if (hosted == NULL || hosted->real->iVersion < 3 || hosted->real->xShadowName == NULL) return SQLITE_OK;
    for (int i = 0; i < schema_of(c)->table_count && code == SQLITE_OK; i++) {
        const char *name = schema_of(c)->tables[i]->name;
        if (sqlite3_strnicmp(name, object->name, (int)size) == 0 && name[size] == '_' &&
            hosted->real->xShadowName(name + size + 1) != 0)
            code = move_rows(c, name, message);
    }
    return code;
}

char *rst_hosted_declaration(const rst_connection *c, const rst_object *object) {
    rst_token module;
    char *name, *text;
    if (!rst_virtual_is_plain(object, &module)) return sqlite3_mprintf("SELECT 1 WHERE 0");
    if (rst_hosted_is(c, &module)) return sqlite3_mprintf("%s", object->sql);
    name = rst_token_name(&module);
    text = name == NULL
               ? NULL
               : sqlite3_mprintf("CREATE VIEW main.\"%w\" AS SELECT * FROM main.\"%w, whose module %w works on "
                                 "a store through the interposer only\"",
                                 object->name, object->name, name);
    sqlite3_free(name);
    return text;
}
