/*
** transfer.c - INSERT INTO t SELECT * FROM u between tables that have the same generated columns.
**
** Such a SELECT gives more values than the INSERT takes. SQLite copies the rows whole all the same, where it can copy
** them entry by entry (xferOptimization, insert.c). Then columns, their expressions, CHECKs and indexes are alike, and
** nothing hangs on a row. SQLite is asked on the schema database, which has tables, indexes and CHECKs but no rows. A
** copy leaves what the columns that are not generated have, and so they are named: INSERT INTO t(a) SELECT "a" FROM u.
**
** Invariant: what SQLite refuses is refused, in its words. Where it would not copy rows whole, nothing is changed. That
** is so between a store's table and a native one.
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

/* The store's table that is the one item of its FROM, if the INSERT selects * alone and takes it without a list of
** columns; or null. */
static const rst_table *find_source(rst_connection *c, const rst_statement_parts *parts, const char **star) {
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
    return scope.items[0].table;
}

/* The text with the columns of the table that are not generated in place of the star, or null. */
static char *name_columns(const rst_table *from, const char *start, const char *star, const char *end) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_append(text, start, (int)(star - start));
    rst_columns_append(text, from, COLUMNS_STORED);
    sqlite3_str_appendf(text, " %.*s", (int)(end - star - 1), star + 1);
    return sqlite3_str_finish(text);
}

int rst_transfer(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **source,
                 char **message) {
    const char *star;
    const rst_table *from;
    bool unknown;
    int code;
    *source = NULL;
    if (table->has_generated) rst_trigger_asks_more(c); /* PRAGMA foreign_keys, and other schemas */
    if (!table->has_generated || (from = find_source(c, parts, &star)) == NULL) return SQLITE_OK;
    if (from->column_count == rst_taken_by(table)) return SQLITE_OK; /* as many as it takes: no matter of ours */
    if (has_insert_triggers(c, table) || (table->foreign_key_count > 0 && rst_foreign_enabled(c)))
        return refuse(table, parts, from->column_count, message);
    code = rst_statement_check_known(c, parts->whole.start, parts->whole.end, &unknown, message);
    if (code != SQLITE_OK || unknown) return code;
    *source = name_columns(from, parts->source_text.start, star, parts->source_text.end);
    return *source == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
