/*
** schema_db.c - a private in-memory SQLite database with the store's schema and no rows.
**
** SQLite itself parses, checks and alters the schema there (pragmas, ALTER TABLE, error texts are its own), and judges
** rows (row_validator.c). A second schema database takes rows that were judged before: it asks them no CHECK, and its
** STRICT tables are not STRICT. Invariant: what a schema database holds is the catalog's text, as SQLite lists it, but
** for that STRICT.
*/
#include "catalog/catalog.h"
#include "catalog/statement_check.h"
#include "catalog/hosted.h"
#include "catalog/schema_db_image.h"
#include "catalog/schema_sandbox.h"

#include <string.h>

int rst_schema_db_execute(sqlite3 *schema_db, const char *sql, char **message) {
    return rst_failed_on(schema_db, sqlite3_exec(schema_db, sql, NULL, NULL, NULL), message);
}

/* Never called: with it SQLite can say what else is wrong with a text whose changes() the front door has replaced. */
static void no_changes(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(context);
    UNUSED(count);
    UNUSED(values);
}

static int open_schema_db(bool checks, sqlite3 **out, char **message) {
    int code = sqlite3_open_v2(":memory:", out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_extended_result_codes(*out, 1);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    code = sqlite3_create_function(*out, "rootstock_changes", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, no_changes,
                                   NULL, NULL);
    if (code != SQLITE_OK) return code;
    return checks ? SQLITE_OK : rst_schema_db_execute(*out, "PRAGMA ignore_check_constraints=1", message);
}

/* Makes sqlite_sequence, where no table of the list has made it: it stays when the last AUTOINCREMENT table goes. */
static int make_sequence(const rst_catalog *catalog, sqlite3 *schema_db, char **message) {
    char name[16], *sql;
    int number = 0, code;
    if (rst_has_table(schema_db, "main", "sqlite_sequence")) return SQLITE_OK;
    do {
        sqlite3_snprintf(sizeof name, name, "a%d", number++);
    } while (rst_catalog_find(catalog, "table", name) != NULL || rst_catalog_find(catalog, "view", name) != NULL ||
             rst_catalog_find(catalog, "index", name) != NULL);
    sql = sqlite3_mprintf("CREATE TABLE %s(b INTEGER PRIMARY KEY AUTOINCREMENT); DROP TABLE %s", name, name);
    code = sql == NULL ? SQLITE_NOMEM : rst_schema_db_execute(schema_db, sql, message);
    sqlite3_free(sql);
    return code;
}

/* Object by object. */
static int build_by_texts(rst_connection *c, const rst_catalog *catalog, sqlite3 *schema_db,
                          rst_function_proxies *function_proxies, int *made, char **message) {
    /* The row validators are empty: no function of the application is called before one is prepared, which asks for
    ** their list then. The list is most of what opening a store would cost, so the schema is read with placeholders. */
    /* for good: the row validators' rows come and go without commits */
    int code = rst_schema_db_execute(schema_db, "BEGIN", message);
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        if (strcmp(object->name, "sqlite_stat1") == 0) code = rst_schema_db_execute(schema_db, "ANALYZE", message);
        if (strcmp(object->name, "sqlite_sequence") == 0) code = make_sequence(catalog, schema_db, message);
        if (!rst_schema_sandbox_is_made(object)) continue;
        if (rst_object_is_virtual(object)) {
            rst_token module;
            code = rst_virtual_is_plain(object, &module) ? rst_hosted_list(schema_db, object) : SQLITE_CORRUPT_VTAB;
            if (code == SQLITE_CORRUPT_VTAB)
                rst_set_message(message,
                                "malformed catalog: the text of table %s is not the one CREATE VIRTUAL TABLE "
                                "that it should be",
                                object->name);
            *made = i;
            continue;
        }
        do {
            code = rst_schema_sandbox_create(schema_db, object, message);
        } while (code != SQLITE_OK &&
                 rst_function_proxies_placeholder(c, schema_db, function_proxies, sqlite3_errmsg(schema_db)));
        if (code == SQLITE_OK) rst_forget_message(message); /* of the try before the placeholder */
        *made = i;
    }
    return code;
}

/* CREATE TABLE ... STRICT as a table that takes any value, of the same affinities: only ANY means another one there.
** Null: it is not STRICT, or there is no memory (*code). */
static char *text_without_strict(const char *sql, int *code) {
    const char *p = sql, *end = sql + strlen(sql), *copied = sql;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int depth = 0, place = 0; /* of the token in its column's definition */
    bool strict = false, without = false;
    char *out;
    for (rst_token token = rst_token_next(&p, end); token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (copied == NULL) { /* behind the columns */
            strict |= rst_token_is(&token, "STRICT");
            without |= rst_token_is(&token, "WITHOUT");
            continue;
        }
        place++;
        if (rst_token_mark(&token, "(") && depth++ == 0) place = 0;
        if (rst_token_mark(&token, ",") && depth == 1) place = 0;
        if (place == 2 && depth == 1 && rst_token_same_name(&token, "ANY")) {
            sqlite3_str_append(text, copied, (int)(token.text - copied));
            sqlite3_str_appendall(text, "BLOB");
            copied = p;
        }
        if (rst_token_mark(&token, ")") && --depth == 0) {
            sqlite3_str_append(text, copied, (int)(p - copied));
            copied = NULL;
        }
    }
    if (without) sqlite3_str_appendall(text, " WITHOUT ROWID");
    out = sqlite3_str_finish(text);
    if (out == NULL) *code = SQLITE_NOMEM;
    if (strict) return out;
    sqlite3_free(out);
    return NULL;
}

/* Makes the STRICT tables of a schema database, or the one of that name, such that they take what was stored; or as
** they are again. A STRICT table may hold what it would not take: a column's DEFAULT, a generated column's value. */
static int allow_types(sqlite3 *schema_db, const rst_catalog *catalog, const char *only, bool allow, char **message) {
    sqlite3_stmt *update = NULL;
    int code = SQLITE_OK;
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        char *sql;
        if (strcmp(object->type, "table") != 0 || object->sql == NULL) continue;
        if (only != NULL && sqlite3_stricmp(only, object->name) != 0) continue;
        sql = allow ? text_without_strict(object->sql, &code) : sqlite3_mprintf("%s", object->sql);
        if (sql == NULL && !allow) code = SQLITE_NOMEM;
        if (sql == NULL) continue;
        if (update == NULL) {
            code = rst_schema_db_execute(schema_db, "PRAGMA writable_schema=ON", message);
            if (code == SQLITE_OK)
                code =
                    rst_prepare(schema_db, &update, "UPDATE sqlite_master SET sql=?1 WHERE type='table' AND name=?2");
        }
        if (code == SQLITE_OK) code = sqlite3_bind_text(update, 1, sql, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(update, 2, object->name, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_step(update) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        if (code == SQLITE_OK) code = sqlite3_reset(update);
        sqlite3_free(sql);
    }
    if (update == NULL) return code;
    sqlite3_finalize(update);
    return code == SQLITE_OK ? rst_read_list_anew(schema_db, message) : code;
}

int rst_schema_db_allow_types(rst_connection *c, const char *table, bool allow, char **message) {
    return allow_types(schema_of(c)->schema_db, &schema_of(c)->loaded, table, allow, message);
}

static int build(rst_connection *c, const rst_catalog *catalog, bool checks, bool takes_stored, sqlite3 **out,
                 rst_function_proxies *function_proxies, char **message) {
    int made = 0, code = open_schema_db(checks, out, message);
    bool touched = false;
    if (code == SQLITE_OK) code = rst_hosted_register(c, *out, catalog);
    if (code != SQLITE_OK) return code;
    if (rst_schema_db_load(c, *out, function_proxies, catalog, &touched) != SQLITE_OK) {
        if (touched) {
            sqlite3_close(*out);
            *out = NULL;
            rst_function_proxies_free(function_proxies);
            code = open_schema_db(checks, out, message);
            if (code == SQLITE_OK) code = rst_hosted_register(c, *out, catalog);
            if (code != SQLITE_OK) return code;
        }
        code = build_by_texts(c, catalog, *out, function_proxies, &made, message);
    }
    /* Also where one could not be made: the fault may be with one before, which made something else. */
    if (code != SQLITE_NOMEM) {
        char *other = NULL;
        int listed =
            rst_schema_sandbox_check(*out, catalog->objects, code == SQLITE_OK ? catalog->count : made, &other);
        if (listed != SQLITE_OK && (code == SQLITE_OK || listed == SQLITE_CORRUPT_VTAB)) {
            code = listed;
            if (other != NULL) rst_set_message(message, "%s", other);
        }
        sqlite3_free(other);
    }
    if (code == SQLITE_OK && takes_stored) code = allow_types(*out, catalog, NULL, true, message);
    rst_function_proxies_end_placeholders(*out, function_proxies);
    return code;
}

int rst_schema_db_build(rst_connection *c, const rst_catalog *catalog, char **message) {
    rst_schema *schema = schema_of(c);
    rst_function_proxies function_proxies = {0};
    sqlite3 *schema_db = NULL;
    int code = build(c, catalog, !schema->ignores_checks, false, &schema_db, &function_proxies, message);
    if (code != SQLITE_OK) {
        sqlite3_close(schema_db);
        rst_function_proxies_free(&function_proxies);
        return code;
    }
    for (int i = 0; i < schema->table_count; i++) rst_validator_finalize(schema->tables[i]);
    rst_statements_forget(c);
    sqlite3_close_v2(schema->schema_db);
    rst_function_proxies_free(&schema->function_proxies);
    schema->function_proxies = function_proxies;
    schema->schema_db = schema_db;
    return rst_function_proxies_lend_collations(c, schema_db, &schema->function_proxies);
}

/* The schema database that a row goes to: one that was judged when it came must not meet the table's CHECKs again,
** which it may violate (PRAGMA ignore_check_constraints). A pragma for a moment would not do: it makes SQLite prepare
** every statement anew. */
int rst_schema_db_unchecked(rst_connection *c, char **message) {
    rst_schema *schema = schema_of(c);
    int code;
    if (schema->unchecked != NULL && schema->unchecked_epoch == store_of(c)->epoch) return SQLITE_OK;
    for (int i = 0; i < schema->table_count; i++) rst_validator_finalize_unchecked(schema->tables[i]);
    sqlite3_close_v2(schema->unchecked);
    schema->unchecked = NULL;
    rst_function_proxies_free(&schema->unchecked_proxies);
    code = build(c, &schema->loaded, false, true, &schema->unchecked, &schema->unchecked_proxies, message);
    if (code == SQLITE_OK)
        code = rst_function_proxies_lend_collations(c, schema->unchecked, &schema->unchecked_proxies);
    schema->unchecked_epoch = store_of(c)->epoch;
    if (code != SQLITE_OK) {
        sqlite3_close(schema->unchecked);
        schema->unchecked = NULL;
        rst_function_proxies_free(&schema->unchecked_proxies);
    }
    return code;
}

int rst_schema_db_ignore_checks(rst_connection *c, char **message) {
    sqlite3_stmt *statement = NULL;
    bool on = false;
    int code = sqlite3_prepare_v2(c->db, "PRAGMA ignore_check_constraints", -1, &statement, NULL);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) on = sqlite3_column_int(statement, 0) != 0;
    sqlite3_finalize(statement);
    if (code != SQLITE_OK) return code;
    schema_of(c)->ignores_checks = on;
    return rst_schema_db_execute(schema_of(c)->schema_db,
                                 on ? "PRAGMA ignore_check_constraints=1" : "PRAGMA ignore_check_constraints=0",
                                 message);
}
