/*
** init_subquery.c - subqueries of a program that are run once a statement.
**
** Natively a subquery that does not look at the row is run once a statement. Here it becomes a SELECT from
** rootstock_init_rows (init_rows.c), which the program answers from its first answer. One that looks at the row is run
** for each row. Invariant: what was replaced can be prepared by itself, with the statement's WITH before it, and looks
** at nothing but the statement's parameters.
*/
#include "program/program.h"
#include "program/init_rows.h"
#include "program/init_subquery.h"
#include "program/runner.h"

#include <string.h>

/* The text with "x" as `x`: a name of the row's in double quotes would else be a string where the row is not there. */
static char *strictly_quoted(const char *text, int size) {
    const char *p = text, *end = text + size, *copied = text;
    sqlite3_str *out = sqlite3_str_new(NULL);
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (token.type != TOKEN_NAME || token.text[0] != '"') continue;
        sqlite3_str_append(out, copied, (int)(token.text - copied));
        sqlite3_str_appendchar(out, 1, '`');
        for (size_t i = 1; i + 1 < token.size; i++) {
            if (token.text[i] == '"') i++;
            sqlite3_str_appendchar(out, token.text[i] == '`' ? 2 : 1, token.text[i]);
        }
        sqlite3_str_appendchar(out, 1, '`');
        copied = p;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

int rst_prepare_alone(rst_connection *c, const char *text, sqlite3_stmt **statement) {
    char *sql = strictly_quoted(text, (int)strlen(text));
    int code = rst_tell(c, rst_transform, &sql);
    *statement = NULL;
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(c->db, sql, -1, statement, NULL);
    sqlite3_free(sql);
    return code;
}

/* The columns of a subquery that can be run by itself behind the statement's WITH, or 0. */
static int columns_alone(rst_connection *c, rst_span with, const char *text, int size) {
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("%.*s SELECT * FROM (%.*s)", (int)(with.end - with.start),
                                with.start == NULL ? "" : with.start, size, text);
    int columns = 0;
    if (sql != NULL && rst_prepare_alone(c, sql, &statement) == SQLITE_OK) columns = sqlite3_column_count(statement);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return columns;
}

bool rst_subquery_stands_alone(rst_connection *c, rst_span with, const char *text, int size) {
    return columns_alone(c, with, text, size) > 0;
}

int rst_result_kinds(rst_connection *c, rst_span with, const char *query, bool table, int columns, const char **kind,
                     const char **collation) {
    static const char *const samples[] = {"1", "'01'", "'A'", "'a '"};
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_stmt *statement = NULL;
    char *sql;
    int code;
    sqlite3_str_appendall(text, "WITH \"rootstock kinds\"(");
    for (int i = 0; i < columns; i++) sqlite3_str_appendf(text, "%sc%d", i > 0 ? "," : "", i);
    sqlite3_str_appendf(text, ") AS (%.*s SELECT * FROM (SELECT * FROM (%s) LIMIT 0)", (int)(with.end - with.start),
                        with.start == NULL ? "" : with.start, query);
    for (size_t k = 0; k < sizeof samples / sizeof samples[0]; k++) {
        sqlite3_str_appendall(text, " UNION SELECT ");
        for (int i = 0; i < columns; i++) sqlite3_str_appendf(text, "%s%s", i > 0 ? "," : "", samples[k]);
    }
    sqlite3_str_appendall(text, ") SELECT ");
    for (int i = 0; i < columns; i++)
        sqlite3_str_appendf(text,
                            "%smax(typeof(c%d)<>'text' AND c%d='1'),max(typeof(c%d)='text' AND c%d=1),"
                            "max(hex(c%d)='41' AND c%d='a'),max(hex(c%d)='6120' AND c%d='a'),"
                            "max(typeof(c%d)<>'text' AND c%d=CAST('1' AS TEXT)),max(typeof(c%d)='real')",
                            i > 0 ? "," : "", i, i, i, i, i, i, i, i, i, i, i);
    sqlite3_str_appendall(text, " FROM \"rootstock kinds\"");
    sql = sqlite3_str_finish(text);
    if (sql == NULL) return SQLITE_NOMEM;
    code = rst_prepare_alone(c, sql, &statement);
    sqlite3_free(sql);
    if (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            bool text_or_number = sqlite3_column_int(statement, 6 * i) != 0;
            /* A text compares with an expression's value as with a text, with a column without type as it is. */
            bool of_none = !text_or_number && sqlite3_column_int(statement, 6 * i + 4) != 0;
            kind[i] = of_none                                                  ? "+b"
                      : !text_or_number                                        ? "b"
                      : table && sqlite3_column_int(statement, 6 * i + 5) != 0 ? "r"
                      : sqlite3_column_int(statement, 6 * i + 1) != 0          ? "n"
                                                                               : "t";
            collation[i] = sqlite3_column_int(statement, 6 * i + 2) != 0   ? " COLLATE NOCASE"
                           : sqlite3_column_int(statement, 6 * i + 3) != 0 ? " COLLATE RTRIM"
                                                                           : "";
        }
        code = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    return code;
}

bool rst_init_rows_append(rst_connection *c, rst_span with, const char *query, bool first, const char *mark,
                          sqlite3_str *out) {
    sqlite3_stmt *statement = NULL;
    const char *p = query;
    const rst_token word = rst_token_next(&p, query + strlen(query));
    /* What is a table to the statement is read as one. A value or a list is not: of a compound whose first SELECT is of
    ** REAL the others' whole numbers would become reals. */
    const bool table = mark[0] == '\0' || (with.end != with.start && rst_token_is(&word, "WITH"));
    char *text = sqlite3_mprintf(table ? "%.*s SELECT * FROM (%s)%s" : "%.*s %s%s", (int)(with.end - with.start),
                                 with.start == NULL ? "" : with.start, query, mark);
    int used = 0, highest;
    bool alone = text != NULL && rst_prepare_alone(c, text, &statement) == SQLITE_OK;
    highest = alone ? sqlite3_bind_parameter_count(statement) : 0;
    for (int i = 1; i <= highest; i++) used += sqlite3_bind_parameter_name(statement, i) != NULL;
    if (used > INIT_ROWS_PARAMETERS) alone = false;
    if (alone) {
        sqlite3_str_appendf(out, " FROM rootstock_init_rows(%Q,%d", text, first ? 1 : -1);
        if (used > 0) sqlite3_str_appendall(out, ",rootstock_pack(");
        for (int i = 1, at = 0; i <= highest; i++) {
            if (sqlite3_bind_parameter_name(statement, i) != NULL)
                sqlite3_str_appendf(out, "%s?%d", at++ > 0 ? "," : "", i);
        }
        sqlite3_str_appendall(out, used > 0 ? "))" : ")");
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return alone;
}

/* The column of a scalar subquery as one that is run once; false: it has to be run where it stands. `typed` is a query
** whose columns have the affinity and collation that SQLite takes the subquery's to have. */
static bool append_once(rst_connection *c, rst_span with, const char *query, const char *typed, int column,
                        const char *mark, sqlite3_str *out) {
    const char *kind[INIT_ROWS_COLUMNS], *collation[INIT_ROWS_COLUMNS];
    sqlite3_str *source = sqlite3_str_new(NULL);
    char *from;
    const int columns = columns_alone(c, with, query, (int)strlen(query));
    bool done = columns > column && columns <= INIT_ROWS_COLUMNS &&
                rst_result_kinds(c, with, typed, false, columns, kind, collation) == SQLITE_OK &&
                rst_init_rows_append(c, with, query, true, mark, source);
    from = sqlite3_str_finish(source);
    done = done && from != NULL;
    if (done) sqlite3_str_appendf(out, "(SELECT %s%d%s)", kind[column], column, from);
    sqlite3_free(from);
    return done;
}

/* The rows of an IN's subquery as those of one that is run once: its columns, each with its affinity and collation. */
static bool append_list(rst_connection *c, rst_span with, const char *query, const char *typed, const char *mark,
                        sqlite3_str *out) {
    const char *kind[INIT_ROWS_COLUMNS], *collation[INIT_ROWS_COLUMNS];
    sqlite3_str *source = sqlite3_str_new(NULL);
    char *from;
    const int columns = columns_alone(c, with, query, (int)strlen(query));
    bool done = columns > 0 && columns <= INIT_ROWS_COLUMNS &&
                rst_result_kinds(c, with, typed, false, columns, kind, collation) == SQLITE_OK &&
                rst_init_rows_append(c, with, query, false, mark, source);
    from = sqlite3_str_finish(source);
    done = done && from != NULL;
    /* A collation is that of a column: what compares has its own say first. */
    for (int i = 0; i < columns && done; i++) sqlite3_str_appendf(out, "%sc%d", i > 0 ? "," : "(SELECT ", i);
    for (int i = 0; i < columns && done; i++)
        sqlite3_str_appendf(out, "%s%s%d%s AS c%d", i > 0 ? "," : " FROM (SELECT ", kind[i], i, collation[i], i);
    if (done) sqlite3_str_appendf(out, "%s))", from);
    sqlite3_free(from);
    return done;
}

/* Whether the column is the rowid, or an index that holds every row begins with it. */
static bool begins_index(const rst_table *table, const rst_token *column) {
    const int number = rst_set_column(table, column);
    if (number == -1 || (number >= 0 && number == table->rowid_column)) return true;
    if (number < 0) return false;
    if (table->without_rowid && table->key[0].column == number) return true;
    for (int i = 0; i < table->index_count; i++)
        if (table->indexes[i].where == NULL && table->indexes[i].parts[0].column == number) return true;
    return false;
}

/* The FROM of SELECT a, b FROM t, and nothing more; null: the SELECT is something else. */
static const rst_syntax *plain_from(const rst_syntax *select) {
    const rst_syntax *core = select->first, *node = core->first, *table, *alias;
    if (select->kind != SYNTAX_SELECT || core->kind != SYNTAX_CORE || core->next != NULL) return NULL;
    while (node != NULL && node->kind == SYNTAX_RESULT && node->first->kind == SYNTAX_NAME && node->first->next == NULL)
        node = node->next;
    if (node == NULL || node == core->first || node->kind != SYNTAX_FROM || node->next != NULL) return NULL;
    table = node->first;
    alias = table->first->next;
    return table->kind == SYNTAX_TABLE && table->next == NULL &&
                   (alias == NULL || (alias->kind == SYNTAX_ALIAS && alias->next == NULL))
               ? node
               : NULL;
}

/* SELECT column FROM table that SQLite looks up in an index: it sees what the index holds by then, but no NULL if there
** was none at first. Of several columns it sees NULLs, too. */
static bool append_index_list(rst_connection *c, const rst_syntax *select, const char *mark, sqlite3_str *out) {
    const rst_span none = {NULL, NULL};
    const rst_syntax *column = select->first->first, *from = select->first->last;
    const int all = (int)(select->end - select->start), size = (int)(column->end - column->start);
    sqlite3_str *source;
    char *nulls, *rows;
    bool done;
    if (column->next != from) {
        sqlite3_str_appendf(out, "(%.*s)", all, select->start);
        return true;
    }
    source = sqlite3_str_new(NULL);
    nulls = sqlite3_mprintf("SELECT 1 %.*s WHERE %.*s IS NULL", (int)(from->end - from->start), from->start, size,
                            column->start);
    done = nulls != NULL && rst_init_rows_append(c, none, nulls, true, mark, source);
    rows = sqlite3_str_finish(source);
    done = done && rows != NULL;
    if (done)
        sqlite3_str_appendf(out, "(%.*s WHERE (SELECT b0%s) OR %.*s IS NOT NULL)", all, select->start, rows, size,
                            column->start);
    sqlite3_free(rows);
    sqlite3_free(nulls);
    return done;
}

bool rst_init_subquery_append(rst_connection *c, rst_span with, const char *text, int size, int column,
                              sqlite3_str *out) {
    char *query = sqlite3_mprintf("%.*s", size, text);
    bool done = query != NULL && append_once(c, with, query, query, column, INIT_ROWS_ASSIGNED, out);
    sqlite3_free(query);
    return done;
}

bool rst_subquery_may_read_index(rst_connection *c, const rst_syntax *select) {
    const rst_syntax *from = plain_from(select);
    rst_token schema, name;
    const rst_table *table;
    bool any = false;
    if (from == NULL) return false;
    name = rst_syntax_name(from->first->first, &schema);
    table = rst_target(c, &schema, &name);
    for (const rst_syntax *result = select->first->first; table != NULL && result != from; result = result->next) {
        name = rst_syntax_name(result->first, &schema);
        any |= begins_index(table, &name);
    }
    return any;
}

/* Where an expression stands: a statement of the same table, as SQLite is asked about it, has it between the two. */
typedef struct asked_place {
    char *before, *behind;
} asked_place;

static void place_free(asked_place *place) {
    sqlite3_free(place->before);
    sqlite3_free(place->behind);
}

/* How many IN are look-ups in an index or by rowid in SQLite's plan, on the schema database; -1: it cannot tell. */
static int lookups_planned(rst_connection *c, rst_span with, const asked_place *place, const char *text, int size) {
    sqlite3_stmt *plan;
    int count = 0;
    int code =
        rst_prepare(schema_of(c)->schema_db, &plan, "EXPLAIN QUERY PLAN %.*s %s%.*s%s", (int)(with.end - with.start),
                    with.start == NULL ? "" : with.start, place->before, size, text, place->behind);
    while (code == SQLITE_OK && (code = sqlite3_step(plan)) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3);
        count += detail != NULL && strstr(detail, " FOR IN-OPERATOR") != NULL;
        code = SQLITE_OK;
    }
    sqlite3_finalize(plan);
    return code == SQLITE_DONE ? count : -1;
}

/* Whether IN the subquery, which stands in the expression, is a look-up natively. That rests on the affinity and
** collation of what stands before IN. So SQLite is asked how many look-ups there are with and without this one: a
** LIMIT makes it none. */
static bool is_lookup(rst_connection *c, rst_span with, const asked_place *place, const char *text, int size,
                      const rst_syntax *select) {
    const rst_span none = {NULL, NULL};
    const char *close = select->end;
    int as_written, without = -1;
    char *limited;
    if (!rst_subquery_may_read_index(c, select)) return false;
    limited = sqlite3_mprintf("%.*s LIMIT -1%.*s", (int)(close - text), text, (int)(text + size - close), close);
    as_written = lookups_planned(c, with, place, text, size);
    if (as_written < 0) { /* common tables that are run once are none of the schema database */
        as_written = lookups_planned(c, none, place, text, size);
        with = none;
    }
    if (limited != NULL) without = lookups_planned(c, with, place, limited, (int)strlen(limited));
    sqlite3_free(limited);
    return as_written < 0 || without < 0 || as_written > without;
}

/* Expressions between commas, whose subqueries are replaced. */
typedef struct once_walk {
    rst_connection *c;
    rst_span with;
    const asked_place *place;
    const char *text, *mark;
    int size;
    rst_edits edits;
} once_walk;

/* The SELECT after which SQLite types the columns of one that is a value or a list: a compound's last. Of one that is a
** table it is the first. From sqlite3_malloc. */
static char *typing_select(const rst_syntax *select) {
    const rst_syntax *with = select->first->kind == SYNTAX_WITH ? select->first : NULL, *last = select->first;
    for (const rst_syntax *part = last; part != NULL; part = part->next)
        if (part->kind == SYNTAX_CORE || part->kind == SYNTAX_VALUES) last = part;
    return sqlite3_mprintf("%.*s %.*s", with == NULL ? 0 : (int)(with->end - with->start),
                           with == NULL ? "" : with->start, (int)(last->end - last->start), last->start);
}

/* What replaces the subquery of that node, from sqlite3_malloc; null: nothing does. Not inline: the walk below goes as
** deep as the text nests, and has this one's variables on the stack at each level otherwise. */
static __attribute__((noinline)) char *once(const once_walk *w, const rst_syntax *parent, const rst_syntax *subquery) {
    const rst_syntax *select = subquery->first;
    const int size = (int)(select->end - select->start);
    const bool list = parent->kind == SYNTAX_IN && subquery == parent->last, exists = parent->kind == SYNTAX_EXISTS;
    sqlite3_str *out;
    char *query, *typed, *replaced;
    bool done;
    if (select->first->kind == SYNTAX_VALUES) return NULL;
    if (!list && !exists && columns_alone(w->c, w->with, select->start, size) != 1) return NULL;
    query = sqlite3_mprintf(exists ? "SELECT EXISTS(%.*s)" : "%.*s", size, select->start);
    typed = exists ? sqlite3_mprintf("%s", query) : typing_select(select);
    out = sqlite3_str_new(NULL);
    /* SQLite looks IN up in an index, which changes, or else in what the subquery gave at first. */
    if (query == NULL || typed == NULL)
        done = false;
    else if (list && is_lookup(w->c, w->with, w->place, w->text, w->size, select))
        done = append_index_list(w->c, select, w->mark, out);
    else
        done = list ? append_list(w->c, w->with, query, typed, w->mark, out)
                    : append_once(w->c, w->with, query, typed, 0, w->mark, out);
    sqlite3_free(typed);
    sqlite3_free(query);
    replaced = sqlite3_str_finish(out);
    if (done) return replaced;
    sqlite3_free(replaced);
    return NULL;
}

static void replace_subqueries(once_walk *w, const rst_syntax *node) {
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        char *replaced = child->kind == SYNTAX_SUBQUERY ? once(w, node, child) : NULL;
        if (replaced != NULL)
            rst_edits_add(&w->edits, node->kind == SYNTAX_EXISTS ? node->start : child->start, child->end, replaced);
        else if (child->kind != SYNTAX_SELECT || child->first->kind != SYNTAX_WITH)
            replace_subqueries(w, child); /* what a WITH defines may have the name of a table */
    }
}

/* Null: no memory. */
static char *once_subqueries(rst_connection *c, rst_span with, const asked_place *place, const char *text, int size,
                             const char *mark) {
    static const char select[] = "SELECT ";
    char *whole = sqlite3_mprintf("%s%.*s", select, size, text), *out = NULL;
    once_walk w = {.c = c, .with = with, .place = place, .mark = mark, .size = size};
    const char *end;
    rst_syntax_tree tree;
    int code;
    if (whole == NULL) return NULL;
    w.text = whole + sizeof select - 1;
    end = w.text + size;
    code = rst_syntax_parse(&tree, whole, end);
    if (code == SQLITE_OK) replace_subqueries(&w, tree.root);
    if (code != SQLITE_NOMEM) code = rst_edits_apply(&w.edits, w.text, end, &out);
    if (code == SQLITE_OK && out == NULL) out = rst_span_text(text, text + size);
    rst_syntax_free(&tree);
    sqlite3_free(whole);
    return out;
}

char *rst_init_subquery_subqueries(const rst_table *table, rst_span with, const rst_token *alias, const char *text,
                                   int size) {
    asked_place place = {sqlite3_mprintf("SELECT (SELECT "), NULL};
    char *replaced = NULL;
    place.behind = alias->type == TOKEN_END
                       ? sqlite3_mprintf(" FROM main.\"%w\") FROM main.\"%w\" AS excluded", table->name, table->name)
                       : sqlite3_mprintf(" FROM main.\"%w\" AS %.*s) FROM main.\"%w\" AS excluded", table->name,
                                         (int)alias->size, alias->text, table->name);
    if (place.before != NULL && place.behind != NULL)
        replaced = once_subqueries(table->connection, with, &place, text, size, INIT_ROWS_ASSIGNED);
    place_free(&place);
    return replaced;
}

char *rst_init_subquery_returning(const rst_table *table, rst_span with, const char *text, int size) {
    asked_place place = {sqlite3_mprintf("DELETE FROM main.\"%w\" RETURNING ", table->name), sqlite3_mprintf("")};
    char *replaced = NULL;
    if (place.before != NULL && place.behind != NULL)
        replaced = once_subqueries(table->connection, with, &place, text, size, INIT_ROWS_RETURNING);
    place_free(&place);
    return replaced;
}

/* Whether there may be a subquery in a FROM, or a WITH. */
static bool has_source_query(const char *text) {
    rst_syntax_tree tree;
    bool has = rst_syntax_parse(&tree, text, text + strlen(text)) != SQLITE_OK || tree.with ||
               rst_syntax_has(tree.root, SYNTAX_SOURCE);
    rst_syntax_free(&tree);
    return has;
}

int rst_refuse_kept_subqueries(rst_table *table, const char *select, char **message) {
    rst_connection *c = table->connection;
    sqlite3_stmt *plan;
    int kept = -1, code;
    if (!has_source_query(select)) return SQLITE_OK;
    code = rst_prepare(c->db, &plan, "EXPLAIN QUERY PLAN %s", select);
    if (code == SQLITE_NOMEM) return code;
    if (code != SQLITE_OK) return SQLITE_OK; /* what is wrong with it is said where it is prepared itself */
    while (code == SQLITE_OK && sqlite3_step(plan) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(plan, 3), *p = detail;
        rst_token word, name;
        char *text;
        if (detail == NULL) continue;
        if (sqlite3_column_int(plan, 1) < kept) kept = -1; /* no part of it any more */
        word = rst_token_next(&p, detail + strlen(detail));
        if (rst_token_is(&word, "MATERIALIZE")) {
            kept = sqlite3_column_int(plan, 0);
            continue;
        }
        if (kept < 0 || (!rst_token_is(&word, "SCAN") && !rst_token_is(&word, "SEARCH"))) continue;
        name = rst_token_next(&p, detail + strlen(detail));
        if (rst_token_is(&name, "CONSTANT") || rst_token_same_name(&name, "rootstock_init_rows")) continue;
        text = rst_token_name(&name);
        /* The table itself, an alias that may mean it, or one that a trigger may change. */
        if (text != NULL &&
            (table->triggers != NULL || sqlite3_stricmp(text, table->name) == 0 || rst_table_find(c, text) == NULL)) {
            rst_set_message(
                message,
                "a subquery in FROM or WITH that is kept for all rows of a change of %s cannot read %s, which "
                "the change may change: put its rows into a temp table first",
                table->name, text);
            code = SQLITE_ERROR;
        }
        sqlite3_free(text);
    }
    sqlite3_finalize(plan);
    return code;
}
