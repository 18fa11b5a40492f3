/*
** transfer.c - INSERT INTO t SELECT * FROM u between tables that have the same generated columns.
**
** Such a SELECT gives more values than the INSERT takes. SQLite copies the rows whole all the same, where it can copy
** them entry by entry (xferOptimization, insert.c). Then columns, their expressions, CHECKs and indexes are alike, and
** nothing hangs on a row. SQLite is asked on the schema database, which has tables, indexes and CHECKs but no rows. A
** copy leaves what the columns that are not generated have, and so they are named: INSERT INTO t(a) SELECT "a" FROM u.
**
** Where one of the two is a native table, SQLite is asked on a database made for the question. It has both tables by
** their texts, with their indexes and under their schemas' names, and no rows.
**
** Invariant: what SQLite refuses is refused, in its words. Where it would not copy rows whole, nothing is changed.
*/
#include "rewriter/rewriter.h"
#include "rewriter/transform.h"
#include "catalog/triggers.h"
#include "catalog/statement_check.h"
#include "rewriter/hints.h"
#include "rewriter/trigger_list.h"

#include <string.h>

static bool has_insert_triggers(const rst_connection *c, const rst_table *table) {
    if (rst_trigger_any(table, TRIGGER_INSERT)) return true;
    for (int i = 0; i < schema_of(c)->loaded.count; i++) {
        const rst_object *object = &schema_of(c)->loaded.objects[i];
        if (strcmp(object->type, "trigger") == 0 && sqlite3_stricmp(object->table_name, table->name) == 0) return true;
    }
    return false;
}

int rst_taken_by(const rst_table *table) {
    int count = 0;
    for (int i = 0; i < table->column_count; i++) count += table->columns[i].generated == 0;
    return count;
}

static int refuse(const rst_table *table, const rst_statement_parts *parts, int given, char **message) {
    bool named = parts->schema.type != TOKEN_END;
    rst_set_message(message, "table %s%s has %d columns but %d values were supplied", named ? "main." : "", table->name,
                    rst_taken_by(table), given);
    return SQLITE_ERROR;
}

/* The one item of its FROM, if the INSERT selects * alone and takes it without a list of columns; or null. *table: the
** store's that it is, or null. */
static const rst_syntax *find_source(rst_connection *c, const rst_statement_parts *parts, const char **star,
                                     const rst_table **table) {
    const rst_syntax *select = rst_statement_part(parts, SYNTAX_SELECT), *core, *from;
    rst_scope scope;
    if (parts->columns.start != NULL || parts->source != SOURCE_SELECT || select == NULL) return NULL;
    core = select->first;
    if (core->kind != SYNTAX_CORE || core->first->kind != SYNTAX_RESULT || core->first->first->kind != SYNTAX_STAR ||
        core->first->end - core->first->start != 1)
        return NULL;
    from = core->first->next;
    if (from == NULL || from->kind != SYNTAX_FROM || !rst_scope_of(c, parts->tree, NULL, from, &scope) ||
        scope.count != 1 || scope.nested)
        return NULL;
    *star = core->first->start;
    *table = scope.items[0].table;
    return from->first;
}

/* The text with the columns of the table that are not generated in place of the star, or null. */
static char *name_columns(const rst_table *from, const char *start, const char *star, const char *end) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_append(text, start, (int)(star - start));
    rst_columns_append(text, from, COLUMNS_STORED);
    sqlite3_str_appendf(text, " %.*s", (int)(end - star - 1), star + 1);
    return sqlite3_str_finish(text);
}

/* ---- between a store's table and a native one ---- */

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

/* rst_transfer from a native table; star: of the source, item: of its FROM; fires: a trigger hangs on the target. */
static int transfer_in(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, const char *star,
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
    if (find_source(c, parts, &star, &from) == NULL || from == NULL || !from->has_generated) return SQLITE_OK;
    code = question_begin(c, from, &parts->schema, &parts->table, &q, &triggers);
    if (code == SQLITE_OK) code = columns_of_native(&q, &all, &plain, &names);
    if (code == SQLITE_OK && !triggers && plain != from->column_count) {
        char *ignored = NULL; /* SQLite says it of the statement itself */
        code = ask(&q, parts, &taken, &ignored);
        sqlite3_free(ignored);
        if (code == SQLITE_ERROR) code = SQLITE_OK;
        if (code == SQLITE_OK && taken) {
            *out = name_columns(from, parts->whole.start, star, parts->whole.end);
            if (*out == NULL) code = SQLITE_NOMEM;
        }
    } else if (code != SQLITE_NOMEM) {
        code = SQLITE_OK;
    }
    sqlite3_free(names);
    question_end(&q);
    return code;
}

int rst_transfer(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **source,
                 char **message) {
    const rst_syntax *item;
    const char *star;
    const rst_table *from;
    bool unknown;
    int code;
    *source = NULL;
    if (table->has_generated) rst_trigger_asks_more(c); /* PRAGMA foreign_keys, and other schemas */
    if (!table->has_generated || (item = find_source(c, parts, &star, &from)) == NULL) return SQLITE_OK;
    if (from == NULL) return transfer_in(c, table, parts, star, item, has_insert_triggers(c, table), source, message);
    if (from->column_count == rst_taken_by(table)) return SQLITE_OK; /* as many as it takes: no matter of ours */
    if (has_insert_triggers(c, table) || (table->foreign_key_count > 0 && rst_foreign_enabled(c)))
        return refuse(table, parts, from->column_count, message);
    code = rst_statement_check_known(c, parts->whole.start, parts->whole.end, &unknown, message);
    if (code != SQLITE_OK || unknown) return code;
    *source = name_columns(from, parts->source_text.start, star, parts->source_text.end);
    return *source == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
