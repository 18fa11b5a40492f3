/*
** upsert_clauses.c - ON CONFLICT clauses and SET lists: from text to the SELECT that evaluates them.
**
** The assignments are evaluated by one SELECT over two row images of the table. One is the row that is there, under the
** table's name or alias. The other is the row that wanted in, `excluded`. A scalar subquery each keeps their names
** apart: unqualified columns mean the row that is there. Invariant: the SELECT gives the values in the order of the
** clause's columns, then the WHERE.
*/
#include "program/program.h"
#include "program/runner.h"

#include <string.h>

void rst_upsert_clauses_free(rst_clause *clauses, int count) {
    for (int i = 0; i < count; i++) {
        sqlite3_free(clauses[i].select);
        sqlite3_free(clauses[i].columns);
        sqlite3_free(clauses[i].sources);
    }
    sqlite3_free(clauses);
}

/* The table is known by that name itself. */
static bool hides_excluded(const rst_table *table, const rst_token *alias) {
    return rst_token_same_name(alias, "excluded") || sqlite3_stricmp(table->name, "excluded") == 0;
}

/* Columns of `excluded` below the node, as expressions. False: the name is somebody else's, too. */
static bool write_bare(const rst_syntax *node, rst_edits *edits) {
    rst_token name = {0}, qualifier = {0};
    if (node->kind == SYNTAX_NAME || node->kind == SYNTAX_STAR) name = rst_syntax_name(node, &qualifier);
    if (rst_token_same_name(&name, "excluded")) return false;
    if (rst_token_same_name(&qualifier, "excluded")) {
        if (node->kind == SYNTAX_STAR || qualifier.text != node->start) return false;
        rst_edits_add(edits, node->start, node->end,
                      sqlite3_mprintf("(CASE WHEN 1 THEN %.*s END)", (int)(node->end - node->start), node->start));
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next)
        if (!write_bare(child, edits)) return false;
    return true;
}

/* The text of an expression. Columns of `excluded` have neither affinity nor collation, for SQLite has them in
** registers: excluded.a becomes an expression that has none either. Where the name is somebody else's, too, the text
** stays as it was written. From sqlite3_malloc, or null. */
static char *bare_text(const rst_table *table, const rst_token *alias, const rst_syntax *written) {
    rst_edits edits = {0};
    char *text = NULL;
    if (hides_excluded(table, alias) || !write_bare(written, &edits)) rst_edits_free(&edits);
    if (rst_edits_apply(&edits, written->start, written->end, &text) == SQLITE_OK && text == NULL)
        text = rst_span_text(written->start, written->end);
    return text;
}

/* "expr" as a scalar subquery over the row that is there. */
static void append_scalar(sqlite3_str *out, const rst_table *table, rst_span with, const rst_token *alias,
                          const char *text, int size) {
    char *prepared = rst_init_subquery_subqueries(table, with, alias, text, size);
    if (prepared != NULL) {
        text = prepared;
        size = (int)strlen(prepared);
    }
    sqlite3_str_appendf(out, "(SELECT %.*s FROM main.\"%w\" AS ", size, text, table->declared_name);
    if (alias->type != TOKEN_END)
        sqlite3_str_append(out, alias->text, (int)alias->size);
    else
        sqlite3_str_appendf(out, "\"%w\"", table->name);
    sqlite3_str_appendall(out, " WHERE \"rootstock row\"=1)");
    sqlite3_free(prepared);
}

static int add_column(const rst_table *table, rst_clause *clause, const rst_token *name, int column) {
    rst_span span = {name->text, name->text + name->size};
    int *columns = sqlite3_realloc64(clause->columns, ((sqlite3_uint64)clause->column_count + 1) * sizeof *columns);
    if (columns == NULL) return SQLITE_NOMEM;
    clause->columns = columns;
    columns[clause->column_count++] = column;
    clause->marks |= UPDATE_NAMED | rst_rowid_names_in(table, span);
    if (table->rowid_column >= 0 && rst_token_same_name(name, table->columns[table->rowid_column].name))
        clause->marks |= UPDATE_OWN_NAME;
    return SQLITE_OK;
}

/* The column, or the list of columns, that an assignment sets. */
static int read_columns(const rst_table *table, const rst_syntax *target, rst_clause *clause) {
    const rst_syntax *name = target->kind == SYNTAX_COLUMNS ? target->first : target;
    int code = SQLITE_OK;
    for (; name != NULL && code == SQLITE_OK; name = name->next) {
        const rst_token token = rst_syntax_token(name, 0);
        const int column = rst_set_column(table, &token);
        code = column == -3 ? SQLITE_ERROR : add_column(table, clause, &token, column);
        if (name == target) break;
    }
    return code;
}

static int append_node(sqlite3_str *out, const rst_table *table, rst_span with, const rst_token *alias,
                       const rst_syntax *node) {
    char *text = bare_text(table, alias, node);
    if (text == NULL) return SQLITE_NOMEM;
    append_scalar(out, table, with, alias, text, (int)strlen(text));
    sqlite3_free(text);
    return SQLITE_OK;
}

/* The i-th of `count` values of a row value: a list, or a subquery's first row. */
static int append_value(sqlite3_str *out, const rst_table *table, rst_span with, const rst_token *alias,
                        const rst_syntax *row, int count, int i) {
    row = rst_syntax_unwrap(row);
    if (row->kind == SYNTAX_VECTOR) {
        const rst_syntax *item = row->first;
        for (int k = 0; k < i && item != NULL; k++) item = item->next;
        if (item == NULL) return SQLITE_ERROR;
        return append_node(out, table, with, alias, item);
    } else if (row->kind == SYNTAX_SUBQUERY) {
        const rst_syntax *select = row->first;
        const int size = (int)(select->end - select->start);
        sqlite3_str *text;
        char *built, *bare;
        if (select->first->kind != SYNTAX_VALUES &&
            rst_init_subquery_append(table->connection, with, select->start, size, i, out))
            return SQLITE_OK;
        bare = bare_text(table, alias, select);
        if (bare == NULL) return SQLITE_NOMEM;
        text = sqlite3_str_new(NULL);
        sqlite3_str_appendf(text, "(WITH \"rootstock q\"(");
        for (int k = 0; k < count; k++) sqlite3_str_appendf(text, "%sc%d", k > 0 ? "," : "", k);
        sqlite3_str_appendf(text, ") AS (%s) SELECT c%d FROM \"rootstock q\" LIMIT 1)", bare, i);
        sqlite3_free(bare);
        built = sqlite3_str_finish(text);
        if (built == NULL) return SQLITE_NOMEM;
        append_scalar(out, table, with, alias, built, (int)strlen(built));
        sqlite3_free(built);
    } else {
        return SQLITE_ERROR;
    }
    return SQLITE_OK;
}

static int read_assignments(const rst_table *table, const rst_syntax *set, rst_span with, const rst_token *alias,
                            rst_clause *clause, sqlite3_str *out) {
    for (const rst_syntax *one = set->first; one != NULL; one = one->next) {
        const int first = clause->column_count;
        int code = read_columns(table, one->first, clause), count = clause->column_count - first;
        for (int i = 0; i < count && code == SQLITE_OK; i++) {
            if (first + i > 0) sqlite3_str_appendall(out, ",");
            if (count == 1)
                code = append_node(out, table, with, alias, one->last);
            else
                code = append_value(out, table, with, alias, one->last, count, i);
        }
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

/* The clause's SELECT, with the names that the connection has for them, where all went well so far. */
static int finish_select(rst_connection *c, rst_table *table, sqlite3_str *select, rst_clause *clause, int code,
                         char **message) {
    clause->select = sqlite3_str_finish(select);
    if (code == SQLITE_OK) code = rst_tell(c, rst_transform, &clause->select);
    return code == SQLITE_OK ? rst_refuse_kept_subqueries(table, clause->select, message) : code;
}

/* The target of ON CONFLICT, if it has one. */
static int read_target(const rst_table *table, const rst_syntax *upsert, rst_clause *clause, char **message) {
    clause->targeted = upsert->first != NULL && upsert->first->kind == SYNTAX_TERM;
    return clause->targeted ? rst_conflict_target(table, upsert, &clause->target, message) : SQLITE_OK;
}

/* The column that the value is, of `excluded`; -1: it is something else. */
static int excluded_column(const rst_table *table, const rst_token *alias, const rst_syntax *value) {
    rst_token qualifier, name;
    int column;
    value = rst_syntax_unwrap(value);
    if (value->kind != SYNTAX_NAME || hides_excluded(table, alias)) return -1;
    name = rst_syntax_name(value, &qualifier);
    if (qualifier.type == TOKEN_END || qualifier.text != value->start || name.type == TOKEN_STRING ||
        !rst_token_same_name(&qualifier, "excluded"))
        return -1;
    column = rst_set_column(table, &name);
    return column >= 0 && column != table->rowid_column && !table->columns[column].generated ? column : -1;
}

/* Fills clause->sources, if every column but the rowid gets one of `excluded`. */
static int find_sources(const rst_table *table, const rst_token *alias, const rst_syntax *set, rst_clause *clause) {
    int *sources = sqlite3_malloc64((sqlite3_uint64)clause->column_count * sizeof *sources), count = 0;
    if (sources == NULL) return SQLITE_NOMEM;
    for (const rst_syntax *one = set->first; one != NULL && count < clause->column_count; one = one->next) {
        const int column = clause->columns[count];
        sources[count] = column < 0 || column == table->rowid_column ? -1 : excluded_column(table, alias, one->last);
        if (sources[count++] < 0) break;
    }
    if (count == clause->column_count && sources[count - 1] >= 0)
        clause->sources = sources;
    else
        sqlite3_free(sources);
    return SQLITE_OK;
}

/* DO UPDATE: the assignments, and behind them its WHERE. */
static int read_update(rst_connection *c, rst_table *table, const rst_syntax *set, rst_span with,
                       const rst_token *alias, rst_clause *clause, char **message) {
    sqlite3_str *select = sqlite3_str_new(NULL);
    int code;
    clause->update = true;
    sqlite3_str_append(select, with.start, (int)(with.end - with.start));
    sqlite3_str_appendall(select, " SELECT ");
    code = read_assignments(table, set, with, alias, clause, select);
    if (code == SQLITE_OK && set->next == NULL) code = find_sources(table, alias, set, clause);
    if (set->next != NULL) {
        clause->has_where = true;
        sqlite3_str_appendall(select, ",");
        if (code == SQLITE_OK) code = append_node(select, table, with, alias, set->next->first);
    }
    sqlite3_str_appendf(select, " FROM main.\"%w\" AS excluded WHERE excluded.\"rootstock row\"=2",
                        table->declared_name);
    return finish_select(c, table, select, clause, code, message);
}

int rst_upsert_clauses_parse(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_clause **out,
                             int *count, char **message) {
    const rst_span readers = {parts->verb.start,
                              parts->returning.start != NULL ? parts->returning.start : parts->whole.end};
    rst_span with = {parts->whole.start, parts->verb.start};
    char *kept = NULL;
    rst_clause *clauses = NULL;
    int n = 0, code;
    *out = NULL;
    *count = 0;
    if (parts->upsert.start == NULL) return SQLITE_OK;
    /* The source read a common table before SQLite knew that the clauses would. */
    code = rst_init_subquery_common_tables(c, parts, readers, 2, NULL, &kept);
    if (kept != NULL) with = (rst_span){kept, kept + strlen(kept)};
    for (const rst_syntax *node = parts->tree->root->first; node != NULL && code == SQLITE_OK; node = node->next) {
        const rst_syntax *set = rst_syntax_child(node, SYNTAX_SET);
        rst_clause *more;
        if (node->kind != SYNTAX_UPSERT) continue;
        more = sqlite3_realloc64(clauses, ((sqlite3_uint64)n + 1) * sizeof *more);
        if (more == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        clauses = more;
        memset(&clauses[n++], 0, sizeof *clauses);
        code = read_target(table, node, &clauses[n - 1], message);
        if (code == SQLITE_OK && set != NULL)
            code = read_update(c, table, set, with, &parts->alias, &clauses[n - 1], message);
    }
    sqlite3_free(kept);
    if (code != SQLITE_OK) {
        if (code == SQLITE_ERROR && message != NULL && *message == NULL)
            rst_set_message(message, "malformed ON CONFLICT clause");
        rst_upsert_clauses_free(clauses, n);
        return code;
    }
    *out = clauses;
    *count = n;
    return SQLITE_OK;
}

int rst_set_parse(rst_connection *c, rst_table *table, const rst_statement_parts *parts, rst_clause *clause,
                  char **message) {
    const rst_span with = {parts->whole.start, parts->verb.start};
    sqlite3_str *select = sqlite3_str_new(NULL);
    int code;
    memset(clause, 0, sizeof *clause);
    clause->update = true;
    sqlite3_str_append(select, with.start, (int)(with.end - with.start));
    sqlite3_str_appendall(select, " SELECT ");
    code = read_assignments(table, rst_statement_part(parts, SYNTAX_SET), with, &parts->alias, clause, select);
    return finish_select(c, table, select, clause, code, message);
}

bool rst_insert_names_rowid(const rst_table *table, rst_span columns) {
    const int own = table->rowid_column;
    if (columns.start == NULL) return own >= 0;
    return (own >= 0 && rst_span_lists(columns, table->columns[own].name)) ||
           (!table->has_rowid_name && rst_rowid_names_in(table, columns) != 0);
}

bool rst_clause_is_left_out(const rst_table *table, const rst_statement_parts *parts, const rst_clause *clause) {
    if (table->without_rowid || rst_insert_names_rowid(table, parts->columns)) return false;
    if (clause->targeted) return clause->target == -1;
    for (int i = 0; i < table->index_count; i++)
        if (table->indexes[i].unique) return false;
    return true;
}
