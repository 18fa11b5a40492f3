/*
** schema_db.c - a private in-memory SQLite database with the store's schema and no rows.
**
** SQLite itself parses, checks and alters the schema there (pragmas, ALTER TABLE, error texts are its own), and judges rows (twin.c).
** A second mirror takes rows that were judged before: it asks them no CHECK, and its STRICT tables are not STRICT. Invariant: what a mirror
** holds is the catalog's text, as SQLite lists it, but for that STRICT.
*/
#include "catalog/catalog.h"
#include "catalog/schema_db_image.h"
#include "catalog/schema_sandbox.h"
#include "parser/tokens.h"

#include <string.h>

int rst_mirror_execute(sqlite3 *mirror, const char *sql, char **message) {
    int code = sqlite3_exec(mirror, sql, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        code = sqlite3_extended_errcode(mirror);
        rst_set_message(message, "%s", sqlite3_errmsg(mirror));
    }
    return code;
}

static int open_mirror(bool checks, sqlite3 **out, char **message) {
    int code = sqlite3_open_v2(":memory:", out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code != SQLITE_OK) return code;
    sqlite3_extended_result_codes(*out, 1);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    return checks ? SQLITE_OK : rst_mirror_execute(*out, "PRAGMA ignore_check_constraints=1", message);
}

/* Object by object. */
static int build_by_texts(rst_connection *c, const rst_catalog *catalog, sqlite3 *mirror, struct rst_forward **forwards,
                          int *made, char **message) {
    /* The twins are empty: no function of the application is called before one is prepared, which asks for their list then. The list is
    ** most of what opening a store would cost, so the schema is read with placeholders. */
    int code = rst_mirror_execute(mirror, "BEGIN", message); /* for good: the twins' rows come and go without commits */
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        if (strcmp(object->name, "sqlite_stat1") == 0) code = rst_mirror_execute(mirror, "ANALYZE", message);
        if (!rst_untrusted_is_made(object)) continue;
        do {
            code = rst_untrusted_create(mirror, object, message);
        } while (code != SQLITE_OK && rst_forwards_placeholder(c, mirror, forwards, sqlite3_errmsg(mirror)));
        if (code == SQLITE_OK) rst_forget_message(message); /* of the try before the placeholder */
        *made = i;
    }
    return code;
}

/* CREATE TABLE ... STRICT as a table that takes any value, of the same affinities: only ANY means another one there. Null: it is not
** STRICT, or there is no memory (*code). */
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

/* Makes the STRICT tables of a mirror, or the one of that name, such that they take what was stored. A STRICT table may hold what it would not
** take: a column's DEFAULT, a generated column's value. */
static int allow_types(sqlite3 *mirror, const rst_catalog *catalog, const char *only, char **message) {
    sqlite3_stmt *update = NULL;
    int code = SQLITE_OK;
    for (int i = 0; i < catalog->count && code == SQLITE_OK; i++) {
        const rst_object *object = &catalog->objects[i];
        char *sql;
        if (strcmp(object->type, "table") != 0 || object->sql == NULL) continue;
        if (only != NULL && sqlite3_stricmp(only, object->name) != 0) continue;
        sql = text_without_strict(object->sql, &code);
        if (sql == NULL) continue;
        if (update == NULL) {
            code = rst_mirror_execute(mirror, "PRAGMA writable_schema=ON", message);
            if (code == SQLITE_OK)
                code = sqlite3_prepare_v2(mirror, "UPDATE sqlite_master SET sql=?1 WHERE type='table' AND name=?2", -1,
                                          &update, NULL);
        }
        if (code == SQLITE_OK) code = sqlite3_bind_text(update, 1, sql, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(update, 2, object->name, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_step(update) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        if (code == SQLITE_OK) code = sqlite3_reset(update);
        sqlite3_free(sql);
    }
    if (update == NULL) return code;
    sqlite3_finalize(update);
    if (code == SQLITE_OK) code = rst_mirror_execute(mirror, "PRAGMA writable_schema=RESET", message);
    return code == SQLITE_OK ? rst_mirror_execute(mirror, "SELECT 1 FROM sqlite_master", message) : code;
}

int rst_mirror_allow_types(rst_connection *c, const char *table, bool allow, char **message) {
    sqlite3_stmt *update = NULL;
    int code;
    if (allow) return allow_types(c->mirror, &c->loaded, table, message);
    code = rst_mirror_execute(c->mirror, "PRAGMA writable_schema=ON", message);
    for (int i = 0; i < c->loaded.count && code == SQLITE_OK; i++) {
        const rst_object *object = &c->loaded.objects[i];
        if (strcmp(object->type, "table") != 0 || sqlite3_stricmp(table, object->name) != 0) continue;
        code = sqlite3_prepare_v2(c->mirror, "UPDATE sqlite_master SET sql=?1 WHERE type='table' AND name=?2", -1,
                                  &update, NULL);
        if (code == SQLITE_OK) code = sqlite3_bind_text(update, 1, object->sql, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) code = sqlite3_bind_text(update, 2, object->name, -1, SQLITE_STATIC);
        if (code == SQLITE_OK) (void)sqlite3_step(update);
        if (update != NULL) code = sqlite3_finalize(update);
        update = NULL;
    }
    if (code == SQLITE_OK) code = rst_mirror_execute(c->mirror, "PRAGMA writable_schema=RESET", message);
    return code == SQLITE_OK ? rst_mirror_execute(c->mirror, "SELECT 1 FROM sqlite_master", message) : code;
}

static int build(rst_connection *c, const rst_catalog *catalog, bool checks, bool takes_stored, sqlite3 **out,
                 struct rst_forward **forwards, char **message) {
    int made = 0, code = open_mirror(checks, out, message);
    bool touched = false;
    if (code != SQLITE_OK) return code;
    if (rst_mirror_load(c, *out, forwards, catalog, &touched) != SQLITE_OK) {
        if (touched) {
            sqlite3_close(*out);
            *out = NULL;
            rst_forwards_free(forwards);
            code = open_mirror(checks, out, message);
            if (code != SQLITE_OK) return code;
        }
        code = build_by_texts(c, catalog, *out, forwards, &made, message);
    }
    /* Also where one could not be made: the fault may be with one before, which made something else. */
    if (code != SQLITE_NOMEM) {
        char *other = NULL;
        int listed = rst_untrusted_check(*out, catalog->objects, code == SQLITE_OK ? catalog->count : made, &other);
        if (listed != SQLITE_OK && (code == SQLITE_OK || listed == SQLITE_CORRUPT_VTAB)) {
            code = listed;
            if (other != NULL) rst_set_message(message, "%s", other);
        }
        sqlite3_free(other);
    }
    if (code == SQLITE_OK && takes_stored) code = allow_types(*out, catalog, NULL, message);
    rst_forwards_end_placeholders(*out, forwards);
    return code;
}

int rst_mirror_build(rst_connection *c, const rst_catalog *catalog, char **message) {
    struct rst_forward *forwards = NULL;
    sqlite3 *mirror = NULL;
    int code = build(c, catalog, !c->ignores_checks, false, &mirror, &forwards, message);
    if (code != SQLITE_OK) {
        sqlite3_close(mirror);
        rst_forwards_free(&forwards);
        return code;
    }
    for (int i = 0; i < c->table_count; i++) rst_twin_finalize(c->tables[i]);
    sqlite3_close_v2(c->mirror);
    rst_forwards_free(&c->forwards);
    c->forwards = forwards;
    c->mirror = mirror;
    return SQLITE_OK;
}

/* The mirror that a row goes to: one that was judged when it came must not meet the table's CHECKs again, which it may violate
** (PRAGMA ignore_check_constraints). A pragma for a moment would not do: it makes SQLite prepare every statement anew. */
int rst_mirror_unchecked(rst_connection *c, char **message) {
    int code;
    if (c->unchecked != NULL && c->unchecked_epoch == c->epoch) return SQLITE_OK;
    for (int i = 0; i < c->table_count; i++) rst_twin_finalize_unchecked(c->tables[i]);
    sqlite3_close_v2(c->unchecked);
    c->unchecked = NULL;
    rst_forwards_free(&c->unchecked_forwards);
    code = build(c, &c->loaded, false, true, &c->unchecked, &c->unchecked_forwards, message);
    c->unchecked_epoch = c->epoch;
    if (code != SQLITE_OK) {
        sqlite3_close(c->unchecked);
        c->unchecked = NULL;
        rst_forwards_free(&c->unchecked_forwards);
    }
    return code;
}

int rst_mirror_ignore_checks(rst_connection *c, char **message) {
    sqlite3_stmt *statement = NULL;
    bool on = false;
    int code = sqlite3_prepare_v2(c->db, "PRAGMA ignore_check_constraints", -1, &statement, NULL);
    if (code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) on = sqlite3_column_int(statement, 0) != 0;
    sqlite3_finalize(statement);
    if (code != SQLITE_OK) return code;
    c->ignores_checks = on;
    return rst_mirror_execute(c->mirror, on ? "PRAGMA ignore_check_constraints=1" : "PRAGMA ignore_check_constraints=0",
                              message);
}
