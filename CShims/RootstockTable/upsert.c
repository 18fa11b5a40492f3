/*
** upsert.c - ON CONFLICT clauses: parsed from text, applied to a row that stands in the way.
**
** The assignments are evaluated by one SELECT over two row images of the table: the row that is there (under the table's name
** or alias) and the one that wanted in (`excluded`). A scalar subquery each keeps their names apart: unqualified columns
** mean the row that is there. Invariant: an UPSERT changes at most the row it conflicts with.
*/
#include "runner.h"
#include "trigger.h"
#include "untrusted.h"

#include <string.h>

void rst_clauses_free(rst_clause *clauses, int count) {
    for (int i = 0; i < count; i++) {
        sqlite3_free(clauses[i].targets);
        sqlite3_free(clauses[i].select);
        sqlite3_free(clauses[i].columns);
    }
    sqlite3_free(clauses);
}

static int column_by_token(const rst_table *table, const rst_token *token) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(token, table->columns[i].name)) return i;
    }
    if (rst_token_same_name(token, "rowid") || rst_token_same_name(token, "oid") ||
        rst_token_same_name(token, "_rowid_")) {
        return table->rowid_column >= 0 ? table->rowid_column : -1;
    }
    return -3;
}

/* The key or unique index that a conflict target names. */
static void resolve_target(rst_table *table, const int *columns, int count, bool expressions, bool has_where,
                           rst_clause *clause) {
    int targets[66], found = 0;
    if (!expressions && count == 1 && !table->without_rowid &&
        (columns[0] == -1 || (table->rowid_column >= 0 && columns[0] == table->rowid_column))) {
        targets[found++] = -1;
    }
    if (!expressions && table->without_rowid && count == table->key_count) {
        bool all = true;
        for (int k = 0; k < table->key_count && all; k++) {
            bool there = false;
            for (int i = 0; i < count; i++) there |= columns[i] == table->key[k].column;
            all = there;
        }
        if (all) targets[found++] = -1;
    }
    for (int n = 0; n < table->index_count && found < 65; n++) {
        const rst_index *index = &table->indexes[n];
        bool all = index->unique && index->part_count == count && (index->where == NULL || has_where);
        for (int k = 0; k < index->part_count && all; k++) {
            bool there = index->parts[k].column == -2 && expressions;
            for (int i = 0; i < count; i++)
                there |= columns[i] == index->parts[k].column && index->parts[k].column != -2;
            all = there;
        }
        if (all) targets[found++] = n;
    }
    clause->targets = sqlite3_malloc64(((sqlite3_uint64)found + 1) * sizeof *clause->targets);
    if (clause->targets == NULL) return;
    memcpy(clause->targets, targets, (size_t)found * sizeof *targets);
    clause->target_count = found;
}

/*
** A subquery that does not look at the row is run once a statement, natively: here it becomes rootstock_once(text, column), which
** the program answers from its first answer. One that does is run for each row.
*/
static bool stands_alone(rst_connection *c, const char *text, int size) {
    char *sql = sqlite3_mprintf("%.*s", size, text), *named = NULL;
    sqlite3_stmt *statement = NULL;
    bool alone;
    if (sql == NULL) return false;
    alone = rst_transform_names(c, sql, sql + strlen(sql), &named, NULL) == SQLITE_OK &&
            sqlite3_prepare_v2(c->db, named != NULL ? named : sql, -1, &statement, NULL) == SQLITE_OK &&
            sqlite3_bind_parameter_count(statement) == 0;
    sqlite3_finalize(statement);
    sqlite3_free(named);
    sqlite3_free(sql);
    return alone;
}

bool rst_subquery_stands_alone(rst_connection *c, const char *text, int size) {
    return stands_alone(c, text, size);
}

static char *once_subqueries(rst_connection *c, const char *text, int size) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    const char *p = text, *end = text + size, *copied = text;
    rst_token previous = {TOKEN_END, text, 0};
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(") && !rst_token_is(&previous, "IN") && !rst_token_is(&previous, "EXISTS")) {
            const char *q = p, *close = p;
            rst_token first = rst_token_next(&q, end);
            if ((rst_token_is(&first, "SELECT") || rst_token_is(&first, "WITH")) &&
                rst_token_skip_parentheses(&close, end) && stands_alone(c, p, (int)(close - 1 - p))) {
                char *inside = sqlite3_mprintf("%.*s", (int)(close - 1 - p), p);
                sqlite3_str_append(out, copied, (int)(token.text - copied));
                sqlite3_str_appendf(out, "rootstock_once(%Q,0)", inside == NULL ? "" : inside);
                sqlite3_free(inside);
                copied = p = close;
            }
        }
        previous = token;
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    return sqlite3_str_finish(out);
}

/* "expr" as a scalar subquery over the row that is there. */
static void append_scalar(sqlite3_str *out, const rst_table *table, const rst_token *alias, const char *text,
                          int size) {
    char *prepared = once_subqueries(table->connection, text, size);
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

static int add_column(rst_clause *clause, int column) {
    int *columns = sqlite3_realloc64(clause->columns, ((sqlite3_uint64)clause->column_count + 1) * sizeof *columns);
    if (columns == NULL) return SQLITE_NOMEM;
    clause->columns = columns;
    columns[clause->column_count++] = column;
    return SQLITE_OK;
}

/* Assignments from p to the clause's end. *p is left at WHERE, the next ON CONFLICT, or the end. */
static int read_assignments(rst_table *table, const char **p, const char *end, const rst_token *alias,
                            rst_clause *clause, sqlite3_str *out) {
    bool first = true;
    for (;;) {
        rst_token token = rst_token_next(p, end);
        int columns[64], count = 0;
        const char *start, *last;
        bool tuple = false;
        if (rst_token_mark(&token, "(")) {
            tuple = true;
            for (;;) {
                token = rst_token_next(p, end);
                if (token.type == TOKEN_END) return SQLITE_ERROR;
                if (rst_token_mark(&token, ")")) break;
                if (rst_token_names(&token) && count < 64) columns[count++] = column_by_token(table, &token);
            }
        } else {
            columns[count++] = column_by_token(table, &token);
        }
        token = rst_token_next(p, end);
        if (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")) return SQLITE_ERROR;
        start = *p;
        last = *p;
        for (;;) {
            const char *before = *p, *q;
            token = rst_token_next(p, end);
            if (token.type == TOKEN_END) break;
            q = *p;
            if (rst_token_mark(&token, ",") || rst_token_is(&token, "WHERE")) {
                *p = rst_token_mark(&token, ",") ? q : before;
                break;
            }
            if (rst_token_is(&token, "ON")) {
                rst_token next = rst_token_next(&q, end);
                if (rst_token_is(&next, "CONFLICT")) {
                    *p = before;
                    break;
                }
            }
            if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(p, end)) return SQLITE_ERROR;
            last = *p;
        }
        for (int i = 0; i < count; i++) {
            if (columns[i] == -3) return SQLITE_ERROR;
            if (add_column(clause, columns[i]) != SQLITE_OK) return SQLITE_NOMEM;
            if (!first) sqlite3_str_appendall(out, ",");
            first = false;
            if (!tuple || count == 1) {
                append_scalar(out, table, alias, start, (int)(last - start));
            } else {
                const char *q = start;
                rst_token open = rst_token_next(&q, last), inner;
                const char *inside = q;
                inner = rst_token_next(&q, last);
                if (!rst_token_mark(&open, "(")) return SQLITE_ERROR;
                if ((rst_token_is(&inner, "SELECT") || rst_token_is(&inner, "WITH")) &&
                    stands_alone(table->connection, inside, (int)(last - 1 - inside))) {
                    char *subquery = sqlite3_mprintf("%.*s", (int)(last - 1 - inside), inside);
                    sqlite3_str_appendf(out, "rootstock_once(%Q,%d)", subquery == NULL ? "" : subquery, i);
                    sqlite3_free(subquery);
                } else if (rst_token_is(&inner, "SELECT") || rst_token_is(&inner, "VALUES") ||
                           rst_token_is(&inner, "WITH")) {
                    /* the i-th column of a subquery's first row */
                    sqlite3_str *text = sqlite3_str_new(NULL);
                    char *built;
                    sqlite3_str_appendf(text, "(WITH \"rootstock q\"(");
                    for (int k = 0; k < count; k++) sqlite3_str_appendf(text, "%sc%d", k > 0 ? "," : "", k);
                    sqlite3_str_appendf(text, ") AS (%.*s) SELECT c%d FROM \"rootstock q\" LIMIT 1)",
                                        (int)(last - 1 - inside), inside, i);
                    built = sqlite3_str_finish(text);
                    if (built == NULL) return SQLITE_NOMEM;
                    append_scalar(out, table, alias, built, (int)strlen(built));
                    sqlite3_free(built);
                } else {
                    const char *item = inside, *at = inside;
                    int number = 0;
                    for (;;) {
                        const char *here;
                        token = rst_token_next(&at, last);
                        here = token.text;
                        if (rst_token_mark(&token, "(")) {
                            if (!rst_token_skip_parentheses(&at, last)) return SQLITE_ERROR;
                            continue;
                        }
                        if (token.type == TOKEN_END || rst_token_mark(&token, ",") || rst_token_mark(&token, ")")) {
                            if (number == i) {
                                append_scalar(out, table, alias, item, (int)(here - item));
                                break;
                            }
                            if (!rst_token_mark(&token, ",")) return SQLITE_ERROR;
                            number++;
                            item = at;
                        }
                    }
                }
            }
        }
        if (token.type == TOKEN_END || !rst_token_mark(&token, ",")) return SQLITE_OK;
    }
}

int rst_clauses_parse(rst_connection *c, rst_table *table, rst_span upsert, const rst_token *alias, rst_clause **out,
                      int *count, char **message) {
    const char *p = upsert.start, *end = upsert.end;
    rst_clause *clauses = NULL;
    int n = 0, code = SQLITE_OK;
    *out = NULL;
    *count = 0;
    if (upsert.start == NULL) return SQLITE_OK;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        rst_clause *clause, *more;
        sqlite3_str *select;
        char *text = NULL;
        if (!rst_token_is(&token, "ON")) break;
        (void)rst_token_next(&p, end); /* CONFLICT */
        more = sqlite3_realloc64(clauses, ((sqlite3_uint64)n + 1) * sizeof *more);
        if (more == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        clauses = more;
        clause = &clauses[n++];
        memset(clause, 0, sizeof *clause);
        token = rst_token_next(&p, end);
        if (rst_token_mark(&token, "(")) {
            int columns[64], found = 0;
            bool expressions = false, start = true, has_where = false;
            for (;;) {
                token = rst_token_next(&p, end);
                if (token.type == TOKEN_END || rst_token_mark(&token, ")")) break;
                if (rst_token_mark(&token, "(")) {
                    if (!rst_token_skip_parentheses(&p, end)) break;
                    expressions = true;
                    if (start && found < 64) columns[found++] = -2;
                    start = false;
                    continue;
                }
                if (rst_token_mark(&token, ",")) {
                    start = true;
                    continue;
                }
                if (start && found < 64) {
                    columns[found] = rst_token_names(&token) ? column_by_token(table, &token) : -3;
                    if (columns[found] == -3) {
                        columns[found] = -2;
                        expressions = true;
                    }
                    found++;
                } else if (token.type == TOKEN_PUNCTUATION && found > 0) {
                    columns[found - 1] = -2;
                    expressions = true;
                }
                start = false;
            }
            token = rst_token_next(&p, end);
            if (rst_token_is(&token, "WHERE")) {
                has_where = true;
                do {
                    token = rst_token_next(&p, end);
                    if (rst_token_mark(&token, "(")) (void)rst_token_skip_parentheses(&p, end);
                } while (token.type != TOKEN_END && !rst_token_is(&token, "DO"));
            }
            resolve_target(table, columns, found, expressions, has_where, clause);
            if (clause->target_count == 0) {
                rst_set_message(message, "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint");
                code = SQLITE_ERROR;
                break;
            }
        }
        token = rst_token_next(&p, end); /* NOTHING or UPDATE */
        if (rst_token_is(&token, "NOTHING")) continue;
        clause->update = true;
        (void)rst_token_next(&p, end); /* SET */
        select = sqlite3_str_new(NULL);
        sqlite3_str_appendall(select, "SELECT ");
        code = read_assignments(table, &p, end, alias, clause, select);
        if (code == SQLITE_OK) {
            const char *q = p;
            token = rst_token_next(&q, end);
            if (rst_token_is(&token, "WHERE")) {
                const char *start = q, *last = q;
                clause->has_where = true;
                for (;;) {
                    const char *before = q;
                    token = rst_token_next(&q, end);
                    if (token.type == TOKEN_END) break;
                    if (rst_token_is(&token, "ON")) {
                        const char *r = q;
                        rst_token next = rst_token_next(&r, end);
                        if (rst_token_is(&next, "CONFLICT")) {
                            q = before;
                            break;
                        }
                    }
                    if (rst_token_mark(&token, "(")) (void)rst_token_skip_parentheses(&q, end);
                    last = q;
                }
                sqlite3_str_appendall(select, ",");
                append_scalar(select, table, alias, start, (int)(last - start));
                p = q;
            }
        }
        sqlite3_str_appendf(select, " FROM main.\"%w\" AS excluded WHERE excluded.\"rootstock row\"=2",
                            table->declared_name);
        text = sqlite3_str_finish(select);
        if (code == SQLITE_OK && text == NULL) code = SQLITE_NOMEM;
        if (code == SQLITE_OK) {
            code = rst_transform_names(c, text, text + strlen(text), &clause->select, message);
            if (code == SQLITE_OK && clause->select == NULL) {
                clause->select = text;
                text = NULL;
            }
        }
        sqlite3_free(text);
        if (code != SQLITE_OK) break;
    }
    if (code != SQLITE_OK) {
        if (code == SQLITE_ERROR && message != NULL && *message == NULL)
            rst_set_message(message, "malformed ON CONFLICT clause");
        rst_clauses_free(clauses, n);
        return code;
    }
    *out = clauses;
    *count = n;
    return SQLITE_OK;
}

/* Evaluates a DO UPDATE and carries it out. SQLITE_DONE: its WHERE said no. */
static int do_update(rst_connection *c, rst_table *table, const rst_clause *clause, rst_hand *old, rst_hand *excluded,
                     int conflict, const rst_parameters *parameters, sqlite3_value **values, int value_count,
                     char **message) {
    const rst_hand *wants = excluded != NULL ? excluded : old;
    rst_row_image there = {old->values, old->rowid}, wanted = {wants->values, wants->rowid};
    rst_row_image *saved[2] = {table->images[0], table->images[1]};
    sqlite3_stmt *statement = NULL;
    rst_program *program = c->program;
    struct rst_once **once = c->once;
    rst_hand row;
    uint64_t changed = 0;
    int code = rst_statement_get(c, clause->select, &statement), used = 0;
    if (code != SQLITE_OK) {
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        return code;
    }
    for (int n = 1, highest = sqlite3_bind_parameter_count(statement); n <= parameters->highest && n <= highest; n++) {
        if (parameters->names[n] == NULL) continue;
        if (used < value_count) sqlite3_bind_value(statement, n, values[used]);
        used++;
    }
    table->images[0] = &there;
    table->images[1] = &wanted;
    c->program = NULL;
    if (program != NULL) c->once = &program->once;
    code = sqlite3_step(statement);
    c->once = once;
    c->program = program;
    if (code != SQLITE_ROW) {
        code = sqlite3_reset(statement);
        rst_set_message(message, "%s", sqlite3_errmsg(c->db));
        table->images[0] = saved[0];
        table->images[1] = saved[1];
        rst_statement_done(c, statement);
        return code == SQLITE_OK ? SQLITE_INTERNAL : sqlite3_extended_errcode(c->db);
    }
    table->images[0] = saved[0];
    table->images[1] = saved[1];
    if (clause->has_where) {
        int column = clause->column_count;
        if (sqlite3_column_type(statement, column) == SQLITE_NULL || sqlite3_column_double(statement, column) == 0.0) {
            rst_statement_done(c, statement);
            return SQLITE_DONE;
        }
    }
    code = rst_hand_begin(table, &row);
    if (code == SQLITE_OK) {
        memcpy(row.values, old->values, (size_t)table->column_count * sizeof *row.values);
        row.rowid = old->rowid;
        code = rootstock_buffer_reserve(&row.hold, (size_t)clause->column_count * 64 + 64);
    }
    for (int i = 0; i < clause->column_count && code == SQLITE_OK; i++) {
        int column = clause->columns[i];
        rootstock_value value;
        sqlite3_value *copy = sqlite3_value_dup(sqlite3_column_value(statement, i));
        if (copy == NULL) {
            code = SQLITE_NOMEM;
            break;
        }
        rst_column_value(statement, i, &value);
        if (column == -1 || column == table->rowid_column) {
            rst_value_from(copy, &value);
            code = rst_value_affinity(&value, copy, AFFINITY_INTEGER, &row.hold);
            if (code == SQLITE_OK && value.type != VALUE_INTEGER) {
                rst_set_message(message, "datatype mismatch");
                code = SQLITE_MISMATCH;
            }
            if (code == SQLITE_OK) {
                row.rowid = value.as.integer;
                if (column >= 0) row.values[column] = value;
            }
        } else {
            rootstock_value converted = value;
            code = rst_value_affinity(&converted, copy, table->columns[column].affinity, &row.hold);
            row.values[column] = converted;
        }
        if (column >= 0) changed |= (uint64_t)1 << (column < 63 ? column : 63);
        sqlite3_value_free(copy);
    }
    if (code == SQLITE_OK) code = rst_row_update(table, old, &row, conflict, changed, message);
    if (code == SQLITE_OK && excluded != NULL) excluded->rowid = row.rowid;
    rst_hand_end(table, &row);
    rst_statement_done(c, statement);
    return code;
}

/* SQLITE_OK: the clauses saw to the row. SQLITE_DONE: they let it go. SQLITE_NOTFOUND: nothing stands in the way. */
static int clauses_apply(rst_connection *c, rst_table *table, const rst_clause *clauses, int count, rst_hand *row,
                         const rst_parameters *parameters, sqlite3_value **values, int value_count, char **message) {
    rootstock_buffer found = {0};
    int code = SQLITE_NOTFOUND;
    for (int i = 0; i < count; i++) {
        const rst_clause *clause = &clauses[i];
        int targets = clause->target_count > 0 ? clause->target_count : table->index_count + 1;
        for (int t = 0; t < targets; t++) {
            int index = clause->target_count > 0 ? clause->targets[t] : t - 1;
            int result = rst_find_conflict(table, index, row, NULL, &found, message);
            if (result == SQLITE_DONE) continue;
            if (result != SQLITE_ROW) {
                code = result;
                goto done;
            }
            if (!clause->update) {
                code = SQLITE_DONE;
                goto done;
            }
            {
                rst_hand old;
                rootstock_slice key = {found.size, found.data};
                code = rst_hand_begin(table, &old);
                if (table->has_evaluated_index) rst_twin_clear(table);
                if (code == SQLITE_OK) code = rst_hand_fetch(table, &key, &old);
                if (code == SQLITE_ROW) {
                    int override = c->override_conflict;
                    c->override_conflict = SQLITE_ABORT; /* as SQLite compiles the UPDATE of an UPSERT */
                    code = do_update(c, table, clause, &old, row, CONFLICT_DEFAULT, parameters, values, value_count,
                                     message);
                    c->override_conflict = override;
                    if (code == SQLITE_OK) c->upsert_updated = true;
                }
                rst_hand_end(table, &old);
                goto done;
            }
        }
    }
done:
    rootstock_buffer_free(&found);
    return code;
}

/* Answers of subqueries that are run once. */
typedef struct rst_once {
    struct rst_once *next;
    char *text;
    int count;
    sqlite3_value **values;
} rst_once;

void rst_once_free(struct rst_once **list) {
    while (*list != NULL) {
        rst_once *once = *list;
        *list = once->next;
        for (int i = 0; i < once->count; i++) sqlite3_value_free(once->values[i]);
        sqlite3_free(once->values);
        sqlite3_free(once->text);
        sqlite3_free(once);
    }
}

void rst_once_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    int column = sqlite3_value_int(values[1]);
    struct rst_once *local = NULL, **list = c->once != NULL ? c->once : &local;
    rst_once *once;
    UNUSED(count);
    if (text == NULL || c->shared == NULL) return;
    for (once = *list; once != NULL && strcmp(once->text, text) != 0; once = once->next) {
    }
    if (once == NULL) {
        char *named = NULL, *message = NULL;
        sqlite3_stmt *statement = NULL;
        struct rst_once **saved = c->once;
        int code = rst_transform_names(c, text, text + strlen(text), &named, &message);
        if (code == SQLITE_OK) code = sqlite3_prepare_v2(c->db, named != NULL ? named : text, -1, &statement, NULL);
        sqlite3_free(named);
        once = sqlite3_malloc64(sizeof *once);
        if (code == SQLITE_OK && once != NULL) {
            memset(once, 0, sizeof *once);
            once->text = sqlite3_mprintf("%s", text);
            once->next = *list;
            *list = once;
            c->once = NULL;
            code = sqlite3_step(statement);
            c->once = saved;
            if (code == SQLITE_ROW) {
                int columns = sqlite3_column_count(statement);
                once->values = sqlite3_malloc64(((sqlite3_uint64)columns + 1) * sizeof *once->values);
                for (int i = 0; once->values != NULL && i < columns; i++) {
                    once->values[i] = sqlite3_value_dup(sqlite3_column_value(statement, i));
                    once->count++;
                }
                code = SQLITE_OK;
            } else {
                code = sqlite3_reset(statement);
            }
        } else {
            sqlite3_free(once);
            once = NULL;
            if (code == SQLITE_OK) code = SQLITE_NOMEM;
        }
        if (code != SQLITE_OK) {
            if (message == NULL) message = sqlite3_mprintf("%s", sqlite3_errmsg(c->db));
            sqlite3_finalize(statement);
            rst_once_free(&local);
            rst_function_fail(context, c, code, message);
            return;
        }
        sqlite3_finalize(statement);
    }
    if (column >= 0 && column < once->count) sqlite3_result_value(context, once->values[column]);
    rst_once_free(&local);
}

int rst_clause_update(rst_connection *c, rst_table *table, const rst_clause *clause, rst_hand *old, int conflict,
                      const rst_parameters *parameters, sqlite3_value **values, int value_count, char **message) {
    return do_update(c, table, clause, old, NULL, conflict, parameters, values, value_count, message);
}

/* The SET list of an UPDATE as a clause. with: the statement's WITH text, to stand before. */
int rst_set_parse(rst_connection *c, rst_table *table, rst_span set, rst_span with, const rst_token *alias,
                  rst_clause *clause, char **message) {
    sqlite3_str *select = sqlite3_str_new(NULL);
    const char *p = set.start;
    char *text;
    int code;
    memset(clause, 0, sizeof *clause);
    clause->update = true;
    sqlite3_str_append(select, with.start, (int)(with.end - with.start));
    sqlite3_str_appendall(select, " SELECT ");
    code = read_assignments(table, &p, set.end, alias, clause, select);
    text = sqlite3_str_finish(select);
    if (code == SQLITE_OK && text == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK) {
        code = rst_transform_names(c, text, text + strlen(text), &clause->select, message);
        if (code == SQLITE_OK && clause->select == NULL) {
            clause->select = text;
            text = NULL;
        }
    }
    sqlite3_free(text);
    return code;
}

typedef struct rst_upsert {
    struct rst_upsert *next;
    int64_t identifier;
    rst_code *code;
    int count;
    sqlite3_value *values[];
} rst_upsert;

void rst_upserts_free(rst_connection *c) {
    while (c->upserts != NULL) {
        rst_upsert *upsert = c->upserts;
        c->upserts = upsert->next;
        for (int i = 0; i < upsert->count; i++) sqlite3_value_free(upsert->values[i]);
        sqlite3_free(upsert);
    }
}

/* rootstock_upsert(statement, arguments ...): what a trigger's INSERT ... ON CONFLICT carries in its operation column. */
void rst_upsert_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_connection *c = rst_function_connection(context);
    const char *text = (const char *)sqlite3_value_text(values[0]);
    rst_upsert *upsert;
    rst_code *code = NULL;
    char *message = NULL;
    int result;
    if (text == NULL) return;
    result = rst_code_get(c, text, &code, &message);
    /* The clauses run as a statement of ours, but they are a trigger's. */
    if (result == SQLITE_OK && !code->judged) result = rst_untrusted_judge(c, text, text + strlen(text), &message);
    if (result != SQLITE_OK) {
        rst_function_fail(context, c, result, message);
        return;
    }
    code->judged = true;
    upsert = sqlite3_malloc64(sizeof *upsert + (sqlite3_uint64)count * sizeof(sqlite3_value *));
    if (upsert == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    upsert->identifier = ++c->upsert_count;
    upsert->code = code;
    upsert->count = count - 1;
    for (int i = 1; i < count; i++) upsert->values[i - 1] = sqlite3_value_dup(values[i]);
    upsert->next = c->upserts;
    c->upserts = upsert;
    sqlite3_result_int64(context, upsert->identifier);
}

int rst_upsert_apply(rst_table *table, int64_t operation, rst_hand *row, bool has_rowid, int conflict, char **message) {
    rst_connection *c = table->connection;
    const rst_clause *clauses = NULL;
    const rst_parameters *parameters = NULL;
    sqlite3_value **values = NULL;
    int count = 0, value_count = 0, code;
    rst_mark mark;
    rst_hand probe;
    if (operation == 0) {
        const rst_program *program = c->program;
        clauses = program->code->clauses;
        count = program->code->clause_count;
        parameters = &program->code->parameters;
        values = program->values;
        value_count = program->value_count;
    } else {
        rst_upsert *upsert = c->upserts;
        while (upsert != NULL && upsert->identifier != operation) upsert = upsert->next;
        if (upsert == NULL) return SQLITE_MISUSE;
        clauses = upsert->code->clauses;
        count = upsert->code->clause_count;
        parameters = &upsert->code->parameters;
        values = upsert->values;
        value_count = upsert->count;
    }
    mark = rst_mark_set(c);
    if (rst_trigger_any(table, TRIGGER_INSERT)) {
        code = rst_before_insert(table, row, has_rowid, message);
        c->row_written = false;
        if (code != SQLITE_OK) goto done;
    }
    if (!table->without_rowid && !has_rowid) {
        code = rst_new_rowid(table, &row->rowid, message);
        if (code != SQLITE_OK) goto done;
        has_rowid = true;
    }
    if (table->rowid_column >= 0 && has_rowid) {
        row->values[table->rowid_column].type = VALUE_INTEGER;
        row->values[table->rowid_column].as.integer = row->rowid;
    }
    code = rst_hand_begin(table, &probe);
    if (code != SQLITE_OK) goto done;
    memcpy(probe.values, row->values, (size_t)table->column_count * sizeof *probe.values);
    probe.rowid = row->rowid;
    code = rst_check_row(table, &probe, conflict, message);
    if (code == SQLITE_OK) code = rst_row_key(table, probe.values, probe.rowid, &probe.key);
    if (code == SQLITE_OK) {
        code = clauses_apply(c, table, clauses, count, &probe, parameters, values, value_count, message);
    }
    if (table->needs_mirror || table->has_evaluated_index) rst_twin_clear(table);
    if (code == SQLITE_OK) row->rowid = probe.rowid;
    rst_hand_end(table, &probe);
    if (code == SQLITE_NOTFOUND) {
        c->before_fired = rst_trigger_any(table, TRIGGER_INSERT);
        code = rst_row_insert(table, row, has_rowid, conflict, message);
    }
done:
    return rst_settle(c, mark, conflict, code);
}
