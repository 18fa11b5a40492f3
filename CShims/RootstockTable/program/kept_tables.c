/*
** kept_tables.c - common tables of a change that are run once a statement.
**
** A common table that the statement reads in several places, or in RETURNING, is kept by SQLite for the whole
** statement. Here it becomes a SELECT from rootstock_init_rows (init_rows.c). Invariant: places are counted as SQLite
** does, which expands a common table where it is read: one in a common table that is read twice counts twice.
*/
#include "program/program.h"
#include "program/init_rows.h"
#include "program/init_subquery.h"
#include "program/runner.h"

#include <string.h>

/* A common table of a WITH. */
typedef struct common_table {
    const rst_syntax *node;
    rst_token name;
    bool kept, always; /* as NOT MATERIALIZED and MATERIALIZED have it */
    int uses;          /* NOT_COUNTED, or places that read it, SEVERAL at most */
    char *definition;  /* of rows that are run once: from sqlite3_malloc; null: as it was written */
} common_table;

enum { NOT_COUNTED = -1, SEVERAL = 2 };

/* Places of the statement, outside of its WITH, that end within the span. */
typedef struct places {
    const rst_syntax *root;
    rst_span span;
} places;

static int at_most_several(int uses) {
    return uses < SEVERAL ? uses : SEVERAL;
}

/* Places below the node that read the common table. */
static int times_read(const rst_syntax *node, const rst_token *name) {
    int times = 0;
    if (node->kind == SYNTAX_TABLE) {
        rst_token schema, own = rst_syntax_name(node->first, &schema);
        times += schema.type == TOKEN_END && rst_token_alike(&own, name);
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) times += times_read(child, name);
    return times;
}

/* Places that read the table, by way of other common tables, too. A circle, which SQLite refuses, ends. */
static int count_uses(common_table *tables, int count, int at, const places *readers) {
    int uses = 0;
    for (const rst_syntax *part = readers->root->first; part != NULL; part = part->next)
        if (part->end > readers->span.start && part->end <= readers->span.end)
            uses += times_read(part, &tables[at].name);
    tables[at].uses = at_most_several(uses);
    for (int i = 0; i < count && uses < SEVERAL; i++) {
        int reads = i == at ? 0 : times_read(tables[i].node->last, &tables[at].name);
        if (reads == 0) continue;
        uses += reads * (tables[i].uses == NOT_COUNTED ? count_uses(tables, count, i, readers) : tables[i].uses);
    }
    return tables[at].uses = at_most_several(uses);
}

static common_table read_table(const rst_syntax *node) {
    const char *p = node->last == node->first->next ? node->first->end : node->first->next->end;
    rst_token word, none;
    common_table out = {.node = node, .name = rst_syntax_name(node->first, &none), .uses = NOT_COUNTED};
    (void)rst_token_next(&p, node->last->start); /* AS */
    word = rst_token_next(&p, node->last->start);
    out.kept = !rst_token_is(&word, "NOT");
    out.always = rst_token_is(&word, "MATERIALIZED");
    return out;
}

static void free_tables(common_table *tables, int count) {
    for (int i = 0; i < count; i++) sqlite3_free(tables[i].definition);
    sqlite3_free(tables);
}

/* The tables of a WITH. SQLITE_OK, or SQLITE_NOMEM. */
static int read_tables(const rst_syntax *with, common_table **out, int *count) {
    *count = 0;
    for (const rst_syntax *node = with->first; node != NULL; node = node->next) ++*count;
    *out = sqlite3_malloc64((sqlite3_uint64)*count * sizeof **out);
    if (*out == NULL) return SQLITE_NOMEM;
    *count = 0;
    for (const rst_syntax *node = with->first; node != NULL; node = node->next) (*out)[(*count)++] = read_table(node);
    return SQLITE_OK;
}

/* A common table's definition as one of its rows, run once: from sqlite3_malloc. False: it stays as it is. `target` is
** read beside them, if given. */
static bool define_kept(rst_connection *c, rst_span with, const rst_token *name, const rst_table *target,
                        char **definition) {
    char *query = sqlite3_mprintf("SELECT * FROM %.*s", (int)name->size, name->text),
         *whole = sqlite3_mprintf("%.*s %s", (int)(with.end - with.start), with.start, query);
    const char *kind[INIT_ROWS_COLUMNS], *collation[INIT_ROWS_COLUMNS];
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_stmt *statement = NULL;
    bool done = query != NULL && whole != NULL && rst_prepare_alone(c, whole, &statement) == SQLITE_OK &&
                sqlite3_column_count(statement) <= INIT_ROWS_COLUMNS &&
                rst_result_kinds(c, with, query, true, sqlite3_column_count(statement), kind, collation) == SQLITE_OK;
    if (done) {
        const int columns = sqlite3_column_count(statement);
        sqlite3_str_append(out, name->text, (int)name->size);
        for (int i = 0; i < columns; i++)
            sqlite3_str_appendf(out, "%s\"%w\"", i > 0 ? "," : "(", sqlite3_column_name(statement, i));
        sqlite3_str_appendall(out, ") AS (SELECT ");
        for (int i = 0; i < columns; i++)
            sqlite3_str_appendf(out, "%s%s%d%s", i > 0 ? "," : "", kind[i], i, collation[i]);
        done = rst_init_rows_append(c, with, query, false, "", out);
        if (target != NULL)
            sqlite3_str_appendf(out, " WHERE (SELECT 1 FROM main.\"%w\" LIMIT 0) IS NULL", target->name);
        sqlite3_str_appendchar(out, 1, ')');
    }
    sqlite3_finalize(statement);
    sqlite3_free(whole);
    sqlite3_free(query);
    *definition = sqlite3_str_finish(out);
    if (done && *definition != NULL) return true;
    sqlite3_free(*definition);
    *definition = NULL;
    return false;
}

/* The definition of a table, behind those that it reads. `done`, of each: whether it is there already. */
static void append_definitions(const common_table *tables, int count, int at, bool *done, sqlite3_str *out) {
    const common_table *table = &tables[at];
    done[at] = true;
    for (int i = 0; i < count; i++)
        if (!done[i] && times_read(table->node->last, &tables[i].name) > 0)
            append_definitions(tables, count, i, done, out);
    sqlite3_str_appendall(out, sqlite3_str_length(out) == 0 ? "WITH " : ", ");
    if (table->definition != NULL)
        sqlite3_str_appendall(out, table->definition);
    else
        sqlite3_str_append(out, table->node->start, (int)(table->node->end - table->node->start));
}

/* Has the table's rows run once, if that can be. Its text is of the tables that it reads alone, so that it is the
** same wherever the statement reads it. It reads them as they are kept, so that all show the rows of one moment.
** SQLITE_OK, or SQLITE_NOMEM. */
static int keep(rst_connection *c, common_table *tables, int count, int at, const rst_table *target) {
    sqlite3_str *text = sqlite3_str_new(NULL);
    bool *done = sqlite3_malloc64((sqlite3_uint64)count);
    char *with;
    if (done != NULL) {
        memset(done, 0, (size_t)count);
        append_definitions(tables, count, at, done, text);
    }
    sqlite3_free(done);
    with = sqlite3_str_finish(text);
    if (with == NULL) return SQLITE_NOMEM;
    (void)define_kept(c, (rst_span){with, with + strlen(with)}, &tables[at].name, target, &tables[at].definition);
    sqlite3_free(with);
    return SQLITE_OK;
}

int rst_init_subquery_common_tables(rst_connection *c, const rst_statement_parts *parts, rst_span span, int times,
                                    const rst_table *target, char **out) {
    const rst_syntax *with = rst_statement_part(parts, SYNTAX_WITH);
    common_table *tables;
    rst_edits edits = {0};
    int count, code;
    *out = NULL;
    if (with == NULL) return SQLITE_OK;
    code = read_tables(with, &tables, &count);
    if (code != SQLITE_OK) return code;
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        const places readers = {parts->tree->root, span};
        common_table *table = &tables[i];
        if (!table->always && (!table->kept || count_uses(tables, count, i, &readers) < times)) continue;
        code = keep(c, tables, count, i, target);
        if (code == SQLITE_OK && table->definition != NULL)
            rst_edits_add(&edits, table->node->start, table->node->end, sqlite3_mprintf("%s", table->definition));
    }
    free_tables(tables, count);
    if (code == SQLITE_OK) return rst_edits_apply(&edits, parts->whole.start, parts->verb.start, out);
    rst_edits_free(&edits);
    return code;
}
