/*
** pragma.c - the schema as a user sees it: sqlite_schema, PRAGMA table_info and its kin, answered by the schema
** database.
**
** The schema database holds the schema natively, so that what it answers is SQLite's own answer. Each is an eponymous
** table-valued function (rootstock_schema, rootstock_pragma_table_info(name) ...), to which the front door turns the
** names a user writes.
*/
#include "interface/attached.h"
#include "interface/frontdoor.h"
#include "interface/interface.h"
#include "common/eponymous.h"
#include "ddl/temporary.h"

#include <string.h>

typedef struct pragma_definition {
    const char *name;    /* of the module */
    const char *columns; /* declaration */
    int column_count;
    bool argument;
    const char *sql; /* on the schema database; ?1 the argument. Null: made for the moment */
    bool plain;      /* a PRAGMA of SQLite's own, of a table or an index of the store */
} pragma_definition;

static const pragma_definition definitions[] = {
    {"rootstock_schema", "type TEXT, name TEXT, tbl_name TEXT, rootpage INT, sql TEXT", 5, false,
     "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master", false},
    {"rootstock_temp_schema", "type TEXT, name TEXT, tbl_name TEXT, rootpage INT, sql TEXT", 5, false, NULL,
     false}, /* rst_temporary_triggers_listed */
    {"rootstock_pragma_table_info", "cid, name, type, \"notnull\", dflt_value, pk", 6, true,
     "SELECT * FROM pragma_table_info(?1)", true},
    {"rootstock_pragma_table_xinfo", "cid, name, type, \"notnull\", dflt_value, pk, hidden", 7, true,
     "SELECT * FROM pragma_table_xinfo(?1)", true},
    {"rootstock_pragma_index_list", "seq, name, \"unique\", origin, partial", 5, true,
     "SELECT * FROM pragma_index_list(?1)", true},
    {"rootstock_pragma_index_info", "seqno, cid, name", 3, true, "SELECT * FROM pragma_index_info(?1)", true},
    {"rootstock_pragma_index_xinfo", "seqno, cid, name, \"desc\", coll, \"key\"", 6, true,
     "SELECT * FROM pragma_index_xinfo(?1)", true},
    {"rootstock_pragma_foreign_key_list", "id, seq, \"table\", \"from\", \"to\", on_update, on_delete, \"match\"", 8,
     true, "SELECT * FROM pragma_foreign_key_list(?1)", true},
    {"rootstock_pragma_table_list", "schema, name, type, ncol, wr, strict", 6, true,
     "SELECT * FROM pragma_table_list(?1) WHERE schema='main'", false},
    {"rootstock_pragma_foreign_key_check", "\"table\", rowid, parent, fkid", 4, true,
     "SELECT * FROM rootstock_foreign_key_check WHERE ?1 IS NULL OR \"table\"=?1 COLLATE NOCASE", false},
};

enum { DEFINITIONS = sizeof definitions / sizeof definitions[0] };

typedef struct pragma_cursor {
    rst_counted_cursor shown; /* must be first; count: rows found so far */
    sqlite3_stmt *statement;
    int place;           /* table_list: the schema whose part is under way, by SQLite's number */
    char *name, *schema; /* the arguments, or nulls */
} pragma_cursor;

static int pragma_connect(sqlite3 *db, void *context, int count, const char *const *arguments, sqlite3_vtab **out,
                          char **message) {
    const pragma_definition *definition = NULL;
    char *columns;
    int code;
    UNUSED(count);
    UNUSED(message);
    for (int i = 0; i < DEFINITIONS; i++) {
        if (sqlite3_stricmp(arguments[0], definitions[i].name) == 0) definition = &definitions[i];
    }
    if (definition == NULL) return SQLITE_ERROR;
    /* Named as SQLite's own; table_list has another column of that name. */
    columns = sqlite3_mprintf("%s, arg HIDDEN, %s HIDDEN", definition->columns,
                              strncmp(definition->columns, "schema,", 7) == 0 ? "schema_" : "schema");
    code = rst_eponymous_connect(db, context, columns,
                                 &(rst_eponymous_kind){.config = SQLITE_VTAB_INNOCUOUS,
                                                       .cursor = sizeof(pragma_cursor),
                                                       .first = definition->column_count,
                                                       .count = 2,
                                                       .cost = 100,
                                                       .rows = 20,
                                                       .definition = definition},
                                 out);
    sqlite3_free(columns);
    return code;
}

static const pragma_definition *definition_of(const sqlite3_vtab_cursor *base) {
    return ((const rst_eponymous *)base->pVtab)->kind.definition;
}

/* sqlite_master is read often: its statement is kept for the next one. */
static void drop_statement(sqlite3_vtab_cursor *base) {
    pragma_cursor *cursor = (pragma_cursor *)base;
    rst_schema *schema = schema_of(((rst_eponymous *)base->pVtab)->connection);
    const pragma_definition *definition = definition_of(base);
    if (definition->sql != NULL && !definition->argument && cursor->statement != NULL && schema->listed == NULL &&
        sqlite3_db_handle(cursor->statement) == schema->schema_db) {
        (void)sqlite3_reset(cursor->statement);
        schema->listed = cursor->statement;
    } else {
        sqlite3_finalize(cursor->statement);
    }
    cursor->statement = NULL;
}

static int pragma_close(sqlite3_vtab_cursor *base) {
    drop_statement(base);
    sqlite3_free(((pragma_cursor *)base)->name);
    sqlite3_free(((pragma_cursor *)base)->schema);
    return rst_eponymous_close(base);
}

/* sql: from sqlite3_malloc, freed here. */
static int prepare_on(sqlite3_vtab_cursor *base, sqlite3 *db, char *sql) {
    int code = sql == NULL ? SQLITE_NOMEM : sqlite3_prepare_v2(db, sql, -1, &((pragma_cursor *)base)->statement, NULL);
    sqlite3_free(sql);
    if (code != SQLITE_OK && code != SQLITE_NOMEM) rst_set_message(&base->pVtab->zErrMsg, "%s", sqlite3_errmsg(db));
    return code;
}

/* Views name functions that the application may have registered after the schema database was made. */
static int learn_functions(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    int i = 0;
    while (i < schema->loaded.count && !rst_object_is(&schema->loaded.objects[i], "view")) i++;
    return i == schema->loaded.count ? SQLITE_OK
                                     : rst_function_proxies_sync(c, schema->schema_db, &schema->function_proxies);
}

static bool is_list(const sqlite3_vtab_cursor *base) {
    return strcmp(definition_of(base)->name, "rootstock_pragma_table_list") == 0;
}

/* table_list: the statement of the next schema that is asked for. SQLITE_DONE: there is none. */
static int list_next(sqlite3_vtab_cursor *base) {
    pragma_cursor *cursor = (pragma_cursor *)base;
    rst_connection *c = ((rst_eponymous *)base->pVtab)->connection;
    const pragma_definition *definition = definition_of(base);
    const char *schema;
    rst_attached *a;
    int code;
    drop_statement(base);
    do {
        schema = sqlite3_db_name(c->db, ++cursor->place);
        if (schema == NULL) return SQLITE_DONE;
    } while (strcmp(schema, "rootstock") == 0 ||
             (cursor->schema != NULL && sqlite3_stricmp(schema, cursor->schema) != 0));
    a = rst_attached_find(c, schema);
    if (a != NULL)
        code = prepare_on(
            base, a->inner,
            sqlite3_mprintf("SELECT %Q,name,type,ncol,wr,strict FROM %s(?1,'main')", schema, definition->name));
    else if (cursor->place == 0 && store_of(c)->shared != NULL && !schema_of(c)->sidecar) {
        code = learn_functions(c);
        if (code == SQLITE_OK) code = prepare_on(base, schema_of(c)->schema_db, sqlite3_mprintf("%s", definition->sql));
    } else /* not pragma_table_list(), which takes no schema and would connect every table of the store */
        code = prepare_on(base, c->db,
                          cursor->name == NULL ? sqlite3_mprintf("PRAGMA \"%w\".table_list", schema)
                                               : sqlite3_mprintf("PRAGMA \"%w\".table_list(%Q)", schema, cursor->name));
    if (code == SQLITE_OK && cursor->name != NULL && sqlite3_bind_parameter_count(cursor->statement) > 0)
        code = sqlite3_bind_text(cursor->statement, 1, cursor->name, -1, SQLITE_TRANSIENT);
    return code;
}

/* table_list: whether the row is one that ROOTSTOCK_NOT_MADE leaves out. */
static bool is_made(const pragma_cursor *cursor) {
    const char *name = (const char *)sqlite3_column_text(cursor->statement, 1);
    return name != NULL && strncmp(name, "rootstock ", 10) == 0 && (name[10] == 't' || name[10] == 'v') &&
           name[11] != '\0';
}

static int next_row(sqlite3_vtab_cursor *base) {
    pragma_cursor *cursor = (pragma_cursor *)base;
    const bool list = is_list(base);
    int code;
    do {
        code = cursor->statement == NULL ? SQLITE_DONE : sqlite3_step(cursor->statement);
        while (code == SQLITE_DONE && list && (code = list_next(base)) == SQLITE_OK)
            code = sqlite3_step(cursor->statement);
    } while (code == SQLITE_ROW && list &&
             sqlite3_db_handle(cursor->statement) == ((rst_eponymous *)base->pVtab)->connection->db && is_made(cursor));
    cursor->shown.row = cursor->shown.count;
    cursor->shown.count += code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE) return SQLITE_OK;
    if (cursor->statement != NULL)
        rst_set_message(&base->pVtab->zErrMsg, "%s", sqlite3_errmsg(sqlite3_db_handle(cursor->statement)));
    return code;
}

static int pragma_next(sqlite3_vtab_cursor *base) {
    rst_call_enter();
    return rst_leave(((rst_eponymous *)base->pVtab)->connection, next_row(base));
}

/* Where SQLite would find the name: null for the store, else the schema, or "" for any that is attached. What temp has
** hides the store's. An index is found before a table, be that one of temp. */
static const char *place_of(rst_connection *c, const pragma_definition *definition, const char *name,
                            const char *schema) {
    const rst_catalog *loaded = &schema_of(c)->loaded;
    if (schema != NULL) return sqlite3_stricmp(schema, "main") == 0 ? NULL : schema;
    if (name == NULL) return NULL;
    if (strncmp(definition->columns, "seqno,", 6) == 0) { /* index_info and index_xinfo */
        if (rst_is_listed(c, "temp", name, ROOTSTOCK_INDEXES)) return "temp";
        if (rst_catalog_find(loaded, "index", name) != NULL) return NULL;
    }
    if (sqlite3_strnicmp(name, "sqlite_temp_", 12) == 0 || rst_is_listed(c, "temp", name, ROOTSTOCK_TABLES))
        return "temp";
    return rst_catalog_find(loaded, "table", name) != NULL || rst_catalog_find(loaded, "view", name) != NULL ||
                   sqlite3_strnicmp(name, "sqlite_", 7) == 0
               ? NULL
               : "";
}

/* The attached store that is asked about the name: SQLite knows neither its indexes nor its keys. */
static rst_attached *attached_of(rst_connection *c, const char *name, const char *place) {
    if (place == NULL || name == NULL) return NULL;
    return place[0] != '\0' ? rst_attached_find(c, place) : rst_attached_holding(c, name);
}

/* The statement that answers: of the store on the schema database (rows are the store's own), of an attached store its
** own, of temp and attached files SQLite's. */
static int prepare(rst_connection *c, sqlite3_vtab_cursor *base, const char *name, const char *schema) {
    static const char prefix[] = "rootstock_";
    const pragma_definition *definition = definition_of(base);
    sqlite3 *schema_db = schema_of(c)->schema_db;
    const char *place = definition->argument ? place_of(c, definition, name, schema) : NULL;
    bool rows = strcmp(definition->name, "rootstock_pragma_foreign_key_check") == 0;
    rst_attached *a = definition->plain ? attached_of(c, name, place) : NULL;
    if (definition->sql == NULL) return prepare_on(base, schema_db, rst_temporary_triggers_listed(c));
    if (place == NULL && definition->plain && name != NULL) {
        const char *pragma = definition->name + sizeof "rootstock_pragma_" - 1;
        /* The PRAGMA itself: the same rows as its table-valued function, which prepares it anew for each call. */
        int code = prepare_on(base, schema_db, sqlite3_mprintf("PRAGMA main.%s(%Q)", pragma, name));
        if (code != SQLITE_ERROR) return code;
        rst_forget_message(&base->pVtab->zErrMsg);
        code = learn_functions(c);
        return code == SQLITE_OK ? prepare_on(base, schema_db, sqlite3_mprintf("PRAGMA main.%s(%Q)", pragma, name))
                                 : code;
    }
    if (a != NULL) return prepare_on(base, a->inner, sqlite3_mprintf("SELECT * FROM %s(?1)", definition->name));
    if (!definition->argument && schema_of(c)->listed != NULL) {
        ((pragma_cursor *)base)->statement = schema_of(c)->listed;
        schema_of(c)->listed = NULL;
        return SQLITE_OK;
    }
    if (place == NULL) return prepare_on(base, rows ? c->db : schema_db, sqlite3_mprintf("%s", definition->sql));
    return prepare_on(
        base, c->db,
        place[0] == '\0'
            ? sqlite3_mprintf("SELECT * FROM main.%s(?1)", definition->name + sizeof prefix - 1)
            : sqlite3_mprintf("SELECT * FROM main.%s(?1,%Q)", definition->name + sizeof prefix - 1, place));
}

/* Prepares the answer and gives its first row. */
static int begin(rst_connection *c, sqlite3_vtab_cursor *base, const char *schema, const sqlite3_value *name_value) {
    pragma_cursor *cursor = (pragma_cursor *)base;
    int code;
    drop_statement(base);
    cursor->shown.row = cursor->shown.count = 0;
    code = prepare(c, base, cursor->name, schema);
    if (code != SQLITE_OK) return code;
    /* A PRAGMA of its own has it in its text. */
    if (name_value != NULL && sqlite3_bind_parameter_count(cursor->statement) > 0)
        (void)sqlite3_bind_value(cursor->statement, 1, name_value);
    return next_row(base);
}

/* Whether SQLite reads nothing where these give no row, for there is no such table, index or key. The schema is no
** older than the last commit. */
static bool reads_by_row(rst_connection *c, const pragma_definition *definition, const char *name) {
    const rst_store *store = store_of(c);
    const rst_catalog *loaded = &schema_of(c)->loaded;
    if (!definition->plain || strncmp(definition->columns, "cid,", 4) == 0) return false; /* table_info, table_xinfo */
    /* index_list of what has no index reads. */
    if (strncmp(definition->columns, "seq,", 4) == 0 && name != NULL &&
        (rst_catalog_find(loaded, "table", name) != NULL || rst_catalog_find(loaded, "view", name) != NULL))
        return false;
    return store->shared != NULL && (store->writer != NULL || store->reader_pinned || rst_newest_is_checked(c));
}

/* number: 1 for a name, 2 for a schema among the values, in this order. */
static int ask(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    pragma_cursor *cursor = (pragma_cursor *)base;
    rst_connection *c = ((rst_eponymous *)base->pVtab)->connection;
    const sqlite3_value *name_value = (number & 1) != 0 ? values[0] : NULL;
    const char *name = (number & 1) != 0 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    const char *schema = (number & 2) != 0 ? (const char *)sqlite3_value_text(values[count - 1]) : NULL;
    const uint64_t epoch = store_of(c)->epoch;
    char *message = NULL;
    int code = SQLITE_OK;
    UNUSED(text);
    drop_statement(base);
    cursor->shown.row = cursor->shown.count = 0;
    cursor->place = -1; /* main comes next */
    sqlite3_free(cursor->name);
    sqlite3_free(cursor->schema);
    cursor->name = name == NULL ? NULL : sqlite3_mprintf("%s", name);
    cursor->schema = schema == NULL ? NULL : sqlite3_mprintf("%s", schema);
    if (schema_of(c)->schema_db == NULL && !is_list(base)) return SQLITE_OK;
    if (reads_by_row(c, definition_of(base), name)) {
        code = begin(c, base, schema, name_value);
        if (code != SQLITE_OK || rst_counted_eof(base)) return code;
    }
    /* The schema is read as a table is: while its statement or transaction lasts it stands still, as all else does. */
    if (store_of(c)->shared != NULL) code = rst_snapshot_take(c, rst_read_begin_renewing, &message);
    (void)rst_take_message(base->pVtab, code, message);
    if (code != SQLITE_OK) return code;
    if (is_list(base)) return next_row(base);
    /* The first row stands unless the schema has become another meanwhile. */
    return cursor->statement != NULL && store_of(c)->epoch == epoch ? SQLITE_OK : begin(c, base, schema, name_value);
}

static int pragma_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    rst_call_enter();
    return rst_leave(((rst_eponymous *)base->pVtab)->connection, ask(base, number, text, count, values));
}

static int pragma_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    pragma_cursor *cursor = (pragma_cursor *)base;
    int hidden = column - definition_of(base)->column_count;
    const char *argument = hidden == 0 ? cursor->name : cursor->schema;
    if (hidden < 0)
        sqlite3_result_value(context, sqlite3_column_value(cursor->statement, column));
    else if (argument != NULL)
        sqlite3_result_text(context, argument, -1, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static const sqlite3_module pragma_module = {
    .xConnect = pragma_connect,
    .xBestIndex = rst_eponymous_best,
    .xDisconnect = rst_eponymous_disconnect,
    .xOpen = rst_eponymous_open,
    .xClose = pragma_close,
    .xFilter = pragma_filter,
    .xNext = pragma_next,
    .xEof = rst_counted_eof,
    .xColumn = pragma_column,
    .xRowid = rst_counted_rowid,
};

int rst_pragma_register(rst_connection *c) {
    int code = SQLITE_OK;
    for (int i = 0; i < DEFINITIONS && code == SQLITE_OK; i++)
        code = rst_module(c, definitions[i].name, &pragma_module);
    return code;
}

/* ---- user_version and application_id ---- */
