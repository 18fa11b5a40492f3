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
    rst_token name;
    char *unquoted;
    rst_span body;     /* its SELECT, without the parentheses */
    const char *end;   /* behind the definition */
    bool kept, always; /* as NOT MATERIALIZED and MATERIALIZED have it */
    int uses;          /* NOT_COUNTED, or places that read it, SEVERAL at most */
    char *definition;  /* of rows that are run once: from sqlite3_malloc; null: as it was written */
} common_table;

enum { NOT_COUNTED = -1, SEVERAL = 2 };

static int at_most_several(int uses) {
    return uses < SEVERAL ? uses : SEVERAL;
}

/* Places of a text that read the common table. */
static int times_read(rst_span text, const char *name) {
    rst_token previous = {TOKEN_END, text.start, 0};
    int times = 0;
    for (const char *p = text.start; name != NULL && times < SEVERAL;) {
        rst_token token = rst_token_next(&p, text.end);
        if (token.type == TOKEN_END) break;
        if (rst_token_names(&token) && rst_token_same_name(&token, name) &&
            (rst_token_is(&previous, "FROM") || rst_token_is(&previous, "JOIN") || rst_token_mark(&previous, ",") ||
             rst_token_mark(&previous, "(")))
            times++;
        previous = token;
    }
    return times;
}

/* Places that read the table, by way of other common tables, too. A circle, which SQLite refuses, ends. */
static int count_uses(common_table *tables, int count, int at, rst_span readers) {
    int uses = times_read(readers, tables[at].unquoted);
    tables[at].uses = at_most_several(uses);
    for (int i = 0; i < count && uses < SEVERAL; i++) {
        int reads = i == at ? 0 : times_read(tables[i].body, tables[at].unquoted);
        if (reads == 0) continue;
        uses += reads * (tables[i].uses == NOT_COUNTED ? count_uses(tables, count, i, readers) : tables[i].uses);
    }
    return tables[at].uses = at_most_several(uses);
}

/* The next definition at *p. False: there is none that is understood. */
static bool next_table(const char **p, const char *end, common_table *out) {
    rst_token token, name = rst_token_next(p, end);
    const char *start;
    if (rst_token_is(&name, "RECURSIVE")) name = rst_token_next(p, end);
    token = rst_token_next(p, end);
    if (rst_token_mark(&token, "(")) {
        if (!rst_token_skip_parentheses(p, end)) return false;
        token = rst_token_next(p, end);
    }
    if (!rst_token_is(&token, "AS")) return false;
    token = rst_token_next(p, end);
    *out = (common_table){.name = name, .kept = true, .uses = NOT_COUNTED};
    if (rst_token_is(&token, "NOT")) {
        out->kept = false;
        token = rst_token_next(p, end);
    }
    out->always = out->kept && rst_token_is(&token, "MATERIALIZED");
    if (rst_token_is(&token, "MATERIALIZED")) token = rst_token_next(p, end);
    start = *p;
    if (!rst_token_mark(&token, "(") || !rst_token_skip_parentheses(p, end)) return false;
    out->body = (rst_span){start, *p - 1};
    out->end = *p;
    return true;
}

static void free_tables(common_table *tables, int count) {
    for (int i = 0; i < count; i++) {
        sqlite3_free(tables[i].unquoted);
        sqlite3_free(tables[i].definition);
    }
    sqlite3_free(tables);
}

/* The tables of a WITH as far as they are understood. SQLITE_OK, or SQLITE_NOMEM. */
static int read_tables(rst_span with, common_table **out, int *count) {
    const char *p = with.start;
    common_table *tables = NULL, *more, next;
    rst_token token = rst_token_next(&p, with.end);
    int n = 0;
    *out = NULL;
    *count = 0;
    if (!rst_token_is(&token, "WITH")) return SQLITE_OK;
    while (next_table(&p, with.end, &next)) {
        next.unquoted = rst_token_name(&next.name);
        more = next.unquoted == NULL ? NULL : sqlite3_realloc64(tables, ((sqlite3_uint64)n + 1) * sizeof *more);
        if (more == NULL) {
            sqlite3_free(next.unquoted);
            free_tables(tables, n);
            return SQLITE_NOMEM;
        }
        tables = more;
        tables[n++] = next;
        token = rst_token_next(&p, with.end);
        if (!rst_token_mark(&token, ",")) break;
    }
    *out = tables;
    *count = n;
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
        if (!done[i] && times_read(table->body, tables[i].unquoted) > 0)
            append_definitions(tables, count, i, done, out);
    sqlite3_str_appendall(out, sqlite3_str_length(out) == 0 ? "WITH " : ", ");
    if (table->definition != NULL)
        sqlite3_str_appendall(out, table->definition);
    else
        sqlite3_str_append(out, table->name.text, (int)(table->end - table->name.text));
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

int rst_init_subquery_common_tables(rst_connection *c, rst_span with, rst_span readers, int times,
                                    const rst_table *target, char **out) {
    const char *copied = with.start;
    common_table *tables;
    sqlite3_str *text;
    int count, code;
    *out = NULL;
    if (with.end == with.start) return SQLITE_OK;
    code = read_tables(with, &tables, &count);
    for (int i = 0; i < count && code == SQLITE_OK; i++) {
        const common_table *table = &tables[i];
        if (table->always || (table->kept && count_uses(tables, count, i, readers) >= times))
            code = keep(c, tables, count, i, target);
    }
    text = sqlite3_str_new(NULL);
    for (int i = 0; i < count; i++) {
        if (tables[i].definition == NULL) continue;
        sqlite3_str_append(text, copied, (int)(tables[i].name.text - copied));
        sqlite3_str_appendall(text, tables[i].definition);
        copied = tables[i].end;
    }
    free_tables(tables, count);
    if (copied != with.start) sqlite3_str_append(text, copied, (int)(with.end - copied));
    *out = sqlite3_str_finish(text);
    if (code == SQLITE_OK && copied != with.start && *out == NULL) code = SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        sqlite3_free(*out);
        *out = NULL;
    }
    return code;
}
