/*
** declare.c - declaring the loaded schema to SQLite.
**
** A connection with a store is a `:memory:` database to SQLite. Its schema is brought in line with the catalog: a
** virtual table for each table, a native view for each view. Invariant: what is declared carries the SQL text it was
** declared from, so that only what changed is declared anew.
*/
#include "catalog/statement_check.h"
#include "ddl/ddl.h"
#include "ddl/declare.h"

#include "catalog/describe.h"
#include "catalog/hosted.h"
#include "executor/foreign.h"
#include "planner/plan_migrate.h"
#include "catalog/partial_predicate.h"
#include "catalog/expression_column.h"
#include "ddl/temporary.h"
#include "executor/trigger.h"

#include <string.h>

enum { MANY_TABLES = 4 }; /* that are declared at once when a store is opened */

static bool declared_same(const rst_declared *declared, rst_declared_type type, const char *name, const char *sql,
                          int64_t identifier) {
    return declared->type == type && declared->identifier == identifier && strcmp(declared->sql, sql) == 0 &&
           sqlite3_stricmp(declared->name, name) == 0;
}

static void declared_free(rst_declared *declared) {
    if (declared->table != NULL) rst_table_release(declared->table);
    sqlite3_free(declared->name);
    sqlite3_free(declared->sql);
}

/* The others keep their order, in which they are sought. */
static void remove_declared(rst_definitions *definitions, int number) {
    rst_declared *declared = &definitions->declared[number];
    declared_free(declared);
    memmove(declared, declared + 1, (size_t)(--definitions->declared_count - number) * sizeof *declared);
}

static int undeclare(rst_connection *c, int number, char **message) {
    rst_definitions *definitions = definitions_of(c);
    static const char *const words[] = {"TABLE", "VIEW", "TRIGGER"};
    rst_declared *declared = &definitions->declared[number];
    int code;
    char *sql = sqlite3_mprintf("DROP %s IF EXISTS main.\"%w\"", words[declared->type], declared->name);
    if (sql == NULL) return SQLITE_NOMEM;
    definitions->undeclaring = true;
    code = declared->table != NULL ? rst_execute(c, message, "%s", sql) : rst_program_table_unlist(c, sql, message);
    definitions->undeclaring = false;
    sqlite3_free(sql);
    if (code == SQLITE_OK) remove_declared(definitions, number);
    return code;
}

static int note_declared(rst_connection *c, rst_declared_type type, const char *name, const char *sql,
                         int64_t identifier, rst_table *table) {
    rst_definitions *definitions = definitions_of(c);
    rst_declared *more = rst_array_grown(definitions->declared, definitions->declared_count, sizeof *more);
    rst_declared *declared;
    if (more == NULL) return SQLITE_NOMEM;
    definitions->declared = more;
    declared = &more[definitions->declared_count];
    *declared = (rst_declared){type, rst_text_duplicate(name), rst_text_duplicate(sql), identifier, NULL};
    if (declared->name == NULL || declared->sql == NULL) {
        declared_free(declared);
        return SQLITE_NOMEM;
    }
    if (table != NULL) table->references++;
    declared->table = table;
    definitions->declared_count++;
    return SQLITE_OK;
}

int rst_declared_note(rst_connection *c, rst_table *table) {
    return note_declared(c, DECLARED_TABLE, table->declared_name, table->sql, table->identifier, table);
}

/* *next: behind the one that was found last, for they are sought in the order in which they were declared. */
static const rst_declared *find_declared(const rst_declared *declared, int count, rst_declared_type type,
                                         const char *name, int *next) {
    int i = *next;
    for (int n = 0; n < count; n++, i++) {
        if (i >= count) i = 0;
        if (declared[i].type != type || sqlite3_stricmp(declared[i].name, name) != 0) continue;
        *next = i + 1;
        return &declared[i];
    }
    return NULL;
}

static bool is_declared(const rst_connection *c, rst_declared_type type, const char *name, int *next) {
    const rst_definitions *definitions = definitions_of(c);
    return find_declared(definitions->declared, definitions->declared_count, type, name, next) != NULL;
}

static rst_declared_type declared_type(const rst_connection *c, const rst_object *object) {
    rst_token module;
    if (rst_hosted_by_program(c, object)) return DECLARED_TABLE;
    if (rst_object_is_virtual(object))
        return rst_virtual_is_plain(object, &module) && rst_hosted_is(c, &module) ? DECLARED_TABLE : DECLARED_VIEW;
    return rst_object_is(object, "view") ? DECLARED_VIEW : DECLARED_TRIGGER;
}

/* Views, INSTEAD OF triggers on them, and virtual tables of SQLite's modules are native objects of the connection. */
static inline bool is_native(rst_connection *c, const rst_object *object) {
    if (object->type[0] == 'i') return false; /* an index: asked of every object */
    if (rst_object_is(object, "view") || rst_object_is_virtual(object)) return true;
    if (!rst_object_is(object, "trigger")) return false;
    return rst_table_listed(c, object->table_name) == NULL;
}

/* The schema's table is the one that was found last: nothing of a table's description changes but by a new one. */
static bool is_held(const rst_declared *declared, const rst_table *table) {
    return declared->table == table && declared->identifier == table->identifier;
}

/* The table is held, and in the schema's list, which is in the order of the identifiers. *next: where it is perhaps,
** for declarations are mostly in that order, and gone through from the last one. */
static rst_table *find_held(const rst_schema *schema, const rst_declared *declared, int *next) {
    int low = 0, high = schema->table_count;
    if (*next >= 0 && *next < high && is_held(declared, schema->tables[*next])) return schema->tables[(*next)--];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (schema->tables[middle]->identifier < declared->identifier)
            low = middle + 1;
        else
            high = middle;
    }
    *next = low - 1;
    return low < schema->table_count && is_held(declared, schema->tables[low]) ? schema->tables[low] : NULL;
}

/* Whether what is declared is what the schema has now. *shown: it is, but for a table's hidden columns. */
static bool is_current(rst_connection *c, rst_declared *declared, int *next, bool *shown) {
    const rst_object *object;
    *shown = false;
    if (declared->type == DECLARED_TABLE) {
        rst_table *table = find_held(schema_of(c), declared, next);
        if (table == NULL) {
            table = rst_table_listed(c, declared->name);
            if (table != NULL &&
                !declared_same(declared, DECLARED_TABLE, table->declared_name, table->sql, table->identifier))
                return false;
            if (table != NULL) {
                if (declared->table != NULL) rst_table_release(declared->table);
                table->references++;
                declared->table = table;
            }
        }
        if (table != NULL) {
            *shown = rst_expression_column_stale(c, table);
            return true;
        }
    }
    object = rst_catalog_identified(&schema_of(c)->loaded, declared->identifier);
    return object != NULL && is_native(c, object) &&
           declared_same(declared, declared_type(c, object), object->name, object->sql, object->identifier);
}

/* Whether a table comes or goes beside triggers that are declared. */
static bool tables_differ(rst_connection *c) {
    const rst_definitions *definitions = definitions_of(c);
    int next = schema_of(c)->table_count - 1, tables = 0;
    bool triggers = false, current = true, shown;
    for (int i = 0; i < definitions->declared_count && !triggers; i++)
        triggers = definitions->declared[i].type == DECLARED_TRIGGER;
    for (int i = definitions->declared_count - 1; triggers && current && i >= 0; i--) {
        rst_declared *declared = &definitions->declared[i];
        if (declared->type != DECLARED_TABLE) continue;
        current = is_current(c, declared, &next, &shown);
        tables += rst_table_listed(c, declared->name) != NULL;
    }
    return triggers && (!current || tables < schema_of(c)->table_count);
}

/* Takes away what is not the schema's any more. A view takes its triggers along, whose own texts may be unchanged. A
** trigger that inserts into a table names the columns that the table had. So where a view or table goes or comes, all
** triggers go, and are declared anew. */
static int undeclare_stale(rst_connection *c, rst_kept_triggers *kept, char **message) {
    rst_definitions *definitions = definitions_of(c);
    const int last = schema_of(c)->table_count - 1;
    bool views_go = false, triggers_go = tables_differ(c), shown;
    int code = SQLITE_OK, next = last;
    for (int i = 0; i < definitions->declared_count && !views_go; i++)
        views_go =
            definitions->declared[i].type == DECLARED_VIEW && !is_current(c, &definitions->declared[i], &next, &shown);
    triggers_go |= views_go;
    next = last;
    if (views_go) code = rst_kept_triggers_note(c, kept);
    for (int i = definitions->declared_count - 1; i >= 0 && code == SQLITE_OK; i--) {
        rst_declared *declared = &definitions->declared[i];
        bool keep = is_current(c, declared, &next, &shown) && !(triggers_go && declared->type == DECLARED_TRIGGER);
        if (keep && !shown) continue;
        code = undeclare(c, i, shown ? NULL : message);
        if (shown && code == SQLITE_LOCKED) code = SQLITE_OK; /* it is being read: it does without for now */
        if (i > definitions->declared_count) i = definitions->declared_count;
    }
    return code;
}

/* The text with the schema in front of a trigger's name: without it a view of temp would take the trigger of the
** store's view. */
static char *in_main(const char *sql) {
    const rst_schema_statement s = rst_schema_statement_read(sql, sql + strlen(sql));
    if (!rst_token_is(&s.type, "TRIGGER") || s.schema.type != TOKEN_END) return sqlite3_mprintf("%s", sql);
    return sqlite3_mprintf("%.*s main.%s", (int)(s.name.text - sql), sql, s.name.text);
}

/* Sets PRAGMA query_only, which SQLite does when the text is compiled: run, it would have every statement prepared
** anew. */
static int set_query_only(rst_connection *c, bool on) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(c->db, on ? "PRAGMA query_only=1" : "PRAGMA query_only=0", -1, &statement, NULL);
    sqlite3_finalize(statement);
    return code;
}

/* A module may lack what the application registers on a connection only once it is open: a tokenizer of FTS. Or the
** table's shadow tables are damaged, or made behind it by a dump. Then a view stands for the table, which says what is
** wrong, until a refresh connects it. The rest of the store is as it was. */
static bool is_of_the_table(int code) {
    return (code & 0xff) == SQLITE_ERROR || (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_MISUSE;
}

static int declare_missing(rst_connection *c, const rst_object *object, char **message) {
    char *reason = sqlite3_mprintf("%s", sqlite3_errmsg(c->db));
    int code = reason == NULL ? SQLITE_NOMEM : SQLITE_OK;
    if (message != NULL) {
        sqlite3_free(*message);
        *message = NULL;
    }
    if (code == SQLITE_OK)
        code = rst_execute(c, message, "CREATE VIEW main.\"%w\" AS SELECT * FROM main.\"%w: %w\"", object->name,
                           object->name, reason);
    sqlite3_free(reason);
    if (code == SQLITE_OK) code = note_declared(c, DECLARED_VIEW, object->name, object->sql, object->identifier, NULL);
    store_of(c)->tables_missing = true;
    return code;
}

/* A view, a trigger on one, or a virtual table of another module, that is not declared yet. */
static int declare_object(rst_connection *c, const rst_object *object, int *next, char **message) {
    char *sql = NULL, *text;
    int code = SQLITE_OK;
    if (!is_native(c, object) || is_declared(c, declared_type(c, object), object->name, next)) return SQLITE_OK;
    if (rst_hosted_by_program(c, object)) {
        code = rst_program_table_list(c, object, message);
        return code == SQLITE_OK ? rst_declared_note_object(c, object) : code;
    }
    if (rst_object_is_virtual(object)) {
        code = rst_hosted_fill(c, object, message);
        if (code == SQLITE_OK) sql = rst_hosted_declaration(c, object);
        if (code == SQLITE_OK && sql == NULL) code = SQLITE_NOMEM;
    } else {
        rewriter_of(c)->names_in_main = true;
        code = rst_transform_object(c, object->sql, &sql, message);
        rewriter_of(c)->names_in_main = false;
    }
    if (code == SQLITE_OK) {
        text = in_main(sql == NULL ? object->sql : sql);
        code = text == NULL ? SQLITE_NOMEM : rst_execute(c, message, "%s", text);
        sqlite3_free(text);
    }
    sqlite3_free(sql);
    if (code == SQLITE_OK) return rst_declared_note_object(c, object);
    if (is_of_the_table(code) && declared_type(c, object) == DECLARED_TABLE &&
        (definitions_of(c)->opening || executor_of(c)->refreshing || store_of(c)->tables_missing))
        return declare_missing(c, object, message);
    return code;
}

static int declare(rst_connection *c, char **message) {
    rst_definitions *definitions = definitions_of(c);
    rst_schema *schema = schema_of(c);
    rst_kept_triggers kept = {0};
    int next = 0, code;
    bool natives = true;
    if (definitions->declared_count == 0 && definitions->opening && schema->table_count >= MANY_TABLES) {
        code = rst_declare_at_once(c);
        if (code != SQLITE_OK && code != SQLITE_NOTFOUND) return code;
    }
    code = undeclare_stale(c, &kept, message);
    for (int t = 0; t < schema->table_count && code == SQLITE_OK; t++) {
        rst_table *table = schema->tables[t];
        if (next < definitions->declared_count && is_held(&definitions->declared[next], table)) {
            next++;
            continue;
        }
        if (is_declared(c, DECLARED_TABLE, table->declared_name, &next)) continue;
        code = rst_table_complete(table, message);
        if (code != SQLITE_OK) break;
        definitions->declaring = table;
        code = rst_execute(c, message, "CREATE VIRTUAL TABLE main.\"%w\" USING \"%w\"", table->declared_name,
                           RST_STORE_MODULE);
        definitions->declaring = NULL;
        if (code == SQLITE_OK) code = rst_declared_note(c, table);
    }
    /* What a program's module may have to be asked for, as the columns of an FTS table's content, comes behind the list
    ** of its tables. */
    for (int pass = 0; pass < 2 && natives && code == SQLITE_OK; pass++) {
        natives = false;
        for (int o = 0; o < schema->loaded.count && code == SQLITE_OK; o++) {
            const rst_object *object = &schema->loaded.objects[o];
            if (!is_native(c, object)) continue;
            natives = true;
            if (rst_hosted_by_program(c, object) == (pass == 0)) code = declare_object(c, object, &next, message);
        }
        if (pass == 0 && code == SQLITE_OK) code = rst_program_tables_listed(c);
    }
    if (code == SQLITE_OK) code = rst_kept_triggers_restore(c, &kept, message);
    rst_kept_triggers_free(&kept);
    if (code == SQLITE_OK) code = rst_triggers_load(c, message);
    return code;
}

int rst_schema_declare_own(rst_connection *c, char **message) {
    int code;
    definitions_of(c)->declares = true;
    definitions_of(c)->reads++;
    code = declare(c, message);
    definitions_of(c)->reads--;
    definitions_of(c)->declares = false;
    return code;
}

/* What another connection has made of the schema is declared to one that may only read, too: its tables are SQLite's to
** write down. */
int rst_schema_declare(rst_connection *c, char **message) {
    bool query_only = false;
    int code = SQLITE_OK;
    if (schema_of(c)->sidecar) return SQLITE_OK;
    if (!definitions_of(c)->opening) code = rst_query_only(c, &query_only);
    if (code == SQLITE_OK && query_only) code = set_query_only(c, false);
    if (code == SQLITE_OK) code = rst_schema_declare_own(c, message);
    if (query_only) {
        int back = set_query_only(c, true);
        if (code == SQLITE_OK) code = back;
    }
    return code;
}

int rst_declared_note_object(rst_connection *c, const rst_object *object) {
    return note_declared(c, declared_type(c, object), object->name, object->sql, object->identifier, NULL);
}

void rst_declared_forget_table(rst_connection *c, const char *name) {
    rst_definitions *definitions = definitions_of(c);
    for (int i = definitions->declared_count - 1; i >= 0; i--) {
        const rst_declared *declared = &definitions->declared[i];
        if (declared->type == DECLARED_TABLE && sqlite3_stricmp(declared->name, name) == 0)
            remove_declared(definitions, i);
    }
}

void rst_declared_forget(rst_connection *c) {
    rst_definitions *definitions = definitions_of(c);
    for (int i = 0; i < definitions->declared_count; i++) declared_free(&definitions->declared[i]);
    sqlite3_free(definitions->declared);
    definitions->declared = NULL;
    definitions->declared_count = 0;
}

/* After a rollback SQLite has its old schema back, of which we know only the names: read what is declared from it. */
int rst_declared_relearn(rst_connection *c) {
    rst_definitions *definitions = definitions_of(c);
    rst_declared *old = definitions->declared;
    const rst_declared *known;
    int old_count = definitions->declared_count, next = 0, code;
    sqlite3_stmt *statement;
    definitions->declared = NULL;
    definitions->declared_count = 0;
    code =
        sqlite3_prepare_v2(c->db, "SELECT type, name FROM main.sqlite_master WHERE type IN ('table','view','trigger')",
                           -1, &statement, NULL);
    if (code == SQLITE_OK) {
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *word = (const char *)sqlite3_column_text(statement, 0);
            const rst_declared_type type = strcmp(word, "table") == 0  ? DECLARED_TABLE
                                           : strcmp(word, "view") == 0 ? DECLARED_VIEW
                                                                       : DECLARED_TRIGGER;
            const char *name = (const char *)sqlite3_column_text(statement, 1);
            const char *sql = "?";
            int64_t identifier = -1;
            rst_table *table = NULL;
            if (sqlite3_strnicmp(name, "rootstock_txn", 16) == 0) continue;
            known = find_declared(old, old_count, type, name, &next);
            if (known != NULL) {
                sql = known->sql;
                identifier = known->identifier;
                table = known->table;
            }
            code = note_declared(c, type, name, sql, identifier, table);
            if (code != SQLITE_OK) break;
        }
        code = rst_finish(statement, code); /* an interrupt must not make the list a short one */
    }
    for (int i = 0; i < old_count; i++) declared_free(&old[i]);
    sqlite3_free(old);
    return code;
}

int64_t rst_declared_version(rst_connection *c) {
    return rst_pragma_number(c, "PRAGMA main.schema_version", -1) + rst_temporary_version(c) * ((int64_t)1 << 32);
}
