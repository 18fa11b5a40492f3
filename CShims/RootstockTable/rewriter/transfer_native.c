/*
** transfer_native.c - INSERT INTO t SELECT * FROM u where one is a store's table and the other a native one
** (transfer.c).
**
** SQLite is asked whether it could copy the rows whole, on a database made for the question. It has both tables by
** their texts, with their indexes and under their schemas' names, and no rows. Invariant: where it would not, nothing
** is changed, and what is wrong with the statement is said in SQLite's words.
*/
#include "rewriter/rewriter.h"
#include "rewriter/transform.h"

#include <string.h>

/* What the question is asked of. */
typedef struct question {
    sqlite3 *db;
    char *schema; /* of the native table */
    char *name;
} question;

static void question_end(question *q) {
    sqlite3_close(q->db);
    sqlite3_free(q->schema);
    sqlite3_free(q->name);
}

/* Runs "CREATE ... TABLE name(...)", or that of an index, as of that schema. */
static int create_in(sqlite3 *db, const char *sql, const char *schema) {
    const rst_token type = rst_schema_statement_read(sql, sql + strlen(sql)).type;
    const char *behind = type.text + type.size;
    if (type.type == TOKEN_END) return SQLITE_ERROR;
    return rst_execute_on(db, "%.*s \"%w\".%s", (int)(behind - sql), sql, schema, behind);
}

/* The schema in which a native table has the name: the one named, or the first that has it. *schema null: none. */
static int find_schema(rst_connection *c, const char *name, char **schema) {
    sqlite3_stmt *list = NULL;
    int code = *schema != NULL ? SQLITE_OK
                               : sqlite3_prepare_v2(c->db,
                                                    "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', "
                                                    "'rootstock') ORDER BY seq <> 1, seq",
                                                    -1, &list, NULL);
    while (code == SQLITE_OK && *schema == NULL && list != NULL && sqlite3_step(list) == SQLITE_ROW) {
        bool has;
        code = rst_has_row(c->db, &has,
                           "SELECT 1 FROM \"%w\".sqlite_master WHERE type = 'table' AND name = %Q COLLATE NOCASE",
                           (const char *)sqlite3_column_text(list, 0), name);
        if (code == SQLITE_OK && has) {
            *schema = sqlite3_mprintf("%s", sqlite3_column_text(list, 0));
            if (*schema == NULL) code = SQLITE_NOMEM;
        }
    }
    sqlite3_finalize(list);
    return code;
}

/* Table and indexes as the schema of db has them, and whether a trigger hangs on the table. */
static int copy_native(rst_connection *c, question *q, bool *triggers) {
    sqlite3_stmt *list;
    int code = rst_prepare(c->db, &list,
                           "SELECT type, sql FROM \"%w\".sqlite_master WHERE tbl_name = %Q COLLATE NOCASE AND sql NOT "
                           "NULL UNION ALL SELECT type, sql FROM temp.sqlite_master WHERE type = 'trigger' AND "
                           "tbl_name = %Q COLLATE NOCASE",
                           q->schema, q->name, q->name);
    *triggers = false;
    while (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) {
        const char *type = (const char *)sqlite3_column_text(list, 0),
                   *text = (const char *)sqlite3_column_text(list, 1);
        if (strcmp(type, "trigger") == 0)
            *triggers = true;
        else
            code = create_in(q->db, text, q->schema);
    }
    sqlite3_finalize(list);
    return code;
}

/* Both tables, without rows. SQLITE_OK, SQLITE_NOMEM, or another code: it cannot be asked. */
static int question_begin(rst_connection *c, const rst_table *table, const rst_token *schema, const rst_token *name,
                          question *q, bool *triggers) {
    int code = sqlite3_open_v2(":memory:", &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code != SQLITE_OK) return code;
    if (schema->type != TOKEN_END) q->schema = rst_token_name(schema);
    q->name = rst_token_name(name);
    if (q->name == NULL || (schema->type != TOKEN_END && q->schema == NULL)) return SQLITE_NOMEM;
    code = find_schema(c, q->name, &q->schema);
    if (code == SQLITE_OK && q->schema == NULL) code = SQLITE_ERROR;
    if (code == SQLITE_OK && sqlite3_stricmp(q->schema, "temp") != 0)
        code = rst_execute_on(q->db, "ATTACH ':memory:' AS \"%w\"", q->schema);
    for (int i = 0; i < schema_of(c)->loaded.count && code == SQLITE_OK; i++) {
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        if ((strcmp(object->type, "table") == 0 || strcmp(object->type, "index") == 0) && object->sql != NULL &&
            object->sql[0] != '\0' && sqlite3_stricmp(object->table_name, table->name) == 0)
            code = rst_execute_on(q->db, "%s", object->sql);
    }
    if (code == SQLITE_OK) code = copy_native(c, q, triggers);
    if (code == SQLITE_OK && rst_foreign_enabled(c)) code = rst_execute_on(q->db, "PRAGMA foreign_keys = ON");
    return code;
}

/* Whether SQLite takes the statement as it stands; else *message, where that is its word on the number of values. */
static int ask(const question *q, const rst_statement_parts *parts, bool *taken, char **message) {
    sqlite3_stmt *statement = NULL;
    int code =
        sqlite3_prepare_v2(q->db, parts->whole.start, (int)(parts->whole.end - parts->whole.start), &statement, NULL);
    *taken = code == SQLITE_OK;
    sqlite3_finalize(statement);
    if (*taken || code == SQLITE_NOMEM) return code;
    if (strstr(sqlite3_errmsg(q->db), " values were supplied") == NULL) return SQLITE_OK;
    rst_set_message(message, "%s", sqlite3_errmsg(q->db));
    return SQLITE_ERROR;
}

/* The names of the native table's columns that are not generated. *all: how many SELECT * gives. */
static int columns_of_native(const question *q, int *all, int *plain, char **names) {
    sqlite3_stmt *list = NULL;
    sqlite3_str *out = sqlite3_str_new(NULL);
    int code = rst_prepare(q->db, &list, "SELECT name, hidden FROM pragma_table_xinfo(%Q, %Q)", q->name, q->schema);
    *all = *plain = 0;
    while (code == SQLITE_OK && sqlite3_step(list) == SQLITE_ROW) {
        ++*all;
        if (sqlite3_column_int(list, 1) != 0) continue;
        sqlite3_str_appendf(out, "%s\"%w\"", (*plain)++ > 0 ? "," : "", sqlite3_column_text(list, 0));
    }
    sqlite3_finalize(list);
    *names = sqlite3_str_finish(out);
    return code == SQLITE_OK && *names == NULL && *plain > 0 ? SQLITE_NOMEM : code; /* none: there is no such table */
}

int rst_transfer_in(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, const char *star,
                    const rst_syntax *item, bool fires, char **source, char **message) {
    const char *end = parts->source_text.end;
    rst_token schema, name;
    question q = {NULL, NULL, NULL};
    char *names = NULL;
    bool triggers, taken;
    int all, plain, code;
    if (item->kind != SYNTAX_TABLE) return SQLITE_OK;
    name = rst_syntax_name(item->first, &schema);
    code = question_begin(c, table, &schema, &name, &q, &triggers);
    if (code == SQLITE_OK) code = columns_of_native(&q, &all, &plain, &names);
    if (code == SQLITE_OK && fires) /* whatever it does */
        code =
            rst_execute_on(q.db, "CREATE TRIGGER main.fires AFTER INSERT ON \"%w\" BEGIN SELECT 1; END", table->name);
    if (code == SQLITE_OK && all != rst_taken_by(table)) {
        code = ask(&q, parts, &taken, message);
        if (code == SQLITE_OK && taken) {
            *source = sqlite3_mprintf("%.*s%s %.*s", (int)(star - parts->source_text.start), parts->source_text.start,
                                      names, (int)(end - star - 1), star + 1);
            if (*source == NULL) code = SQLITE_NOMEM;
        }
    } else if (code != SQLITE_NOMEM) {
        code = SQLITE_OK; /* what is wrong with it is said where it is prepared */
    }
    sqlite3_free(names);
    question_end(&q);
    return code;
}

int rst_transfer_out(rst_connection *c, const rst_statement_parts *parts, char **out) {
    const rst_table *from;
    const char *star;
    question q = {NULL, NULL, NULL};
    char *names = NULL;
    bool triggers = false, taken;
    int all, plain, code;
    if (rst_transfer_source(c, parts, &star, &from) == NULL || from == NULL || !from->has_generated) return SQLITE_OK;
    code = question_begin(c, from, &parts->schema, &parts->table, &q, &triggers);
    if (code == SQLITE_OK) code = columns_of_native(&q, &all, &plain, &names);
    if (code == SQLITE_OK && !triggers && plain != from->column_count) {
        char *ignored = NULL; /* SQLite says it of the statement itself */
        code = ask(&q, parts, &taken, &ignored);
        sqlite3_free(ignored);
        if (code == SQLITE_ERROR) code = SQLITE_OK;
        if (code == SQLITE_OK && taken) {
            *out = rst_transfer_columns(from, parts->whole.start, star, parts->whole.end);
            if (*out == NULL) code = SQLITE_NOMEM;
        }
    } else if (code != SQLITE_NOMEM) {
        code = SQLITE_OK;
    }
    sqlite3_free(names);
    question_end(&q);
    return code;
}
