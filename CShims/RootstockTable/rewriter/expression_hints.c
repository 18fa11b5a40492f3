/*
** expression_hints.c - writes a hint beside each comparison of an indexed expression, and the column that shows it for
** a term of ORDER BY or GROUP BY: see expressions.c and expression_column.c. Invariant: one that does not compile is
** taken back.
*/
#include "rewriter/rewriter.h"
#include "rewriter/expressions.h"
#include "rewriter/hints.h"
#include "catalog/expression_column.h"

#include <string.h>

typedef struct adding {
    rst_connection *c;
    const char *text, *end;
    const rst_indexed *expressions;
    int count;
    sqlite3_str *out;
    const char *copied;
    bool outer; /* RIGHT or FULL stands somewhere */
    bool left;  /* LEFT does */
    rst_where where;
    bool refused; /* a parameter's number is out of range */
    bool orders;  /* terms of ORDER BY and GROUP BY are written as columns */
    bool called;  /* an operand is a call */
    int added, ordered, code;
} adding;

/* The operand once more: `?` as the number that it has. */
static void append_operand(adding *a, const rst_operand *operand) {
    const char *p = operand->start, *copied = p;
    for (;;) {
        rst_token token = rst_token_next(&p, operand->stop);
        rst_parameters parameters = {0};
        int code;
        if (token.type == TOKEN_END) break;
        if (token.type != TOKEN_VARIABLE || token.size > 1) continue;
        code = rst_parameters_number(a->c, a->text, token.text + 1, &parameters, NULL, NULL);
        if (code == SQLITE_NOMEM)
            a->code = code;
        else if (code != SQLITE_OK)
            a->refused = true; /* SQLite will say so of the text as it stands */
        sqlite3_str_appendf(a->out, "%.*s?%d", (int)(token.text - copied), copied, parameters.highest);
        copied = token.text + 1;
        rst_parameters_free(&parameters);
    }
    sqlite3_str_append(a->out, copied, (int)(operand->stop - copied));
}

static void append_call(adding *a, const rst_indexed *e, int kind, const rst_hint_row *row,
                        const rst_operand *operand) {
    char name[96];
    sqlite3_snprintf(sizeof name, name, "rootstock_%s_%lld_%d", rst_hint_name(kind), (long long)e->index->identifier,
                     e->part);
    if (a->code == SQLITE_OK) a->code = rst_hint_register(a->c, name);
    sqlite3_str_appendf(a->out, "%s(", name);
    if (row->qualifier.type != TOKEN_END)
        sqlite3_str_appendf(a->out, "%.*s.", (int)row->qualifier.size, row->qualifier.text);
    if (row->column < 0)
        sqlite3_str_appendall(a->out, "[rootstock hint],");
    else
        sqlite3_str_appendf(a->out, "\"%w\",", e->table->columns[row->column].name);
    append_operand(a, operand);
    sqlite3_str_appendall(a->out, ")");
    a->called |= operand->called;
    a->added++;
}

static void append_hint(adding *a, const rst_indexed *e, int kind, const rst_hint_row *row,
                        const rst_operand *operand) {
    sqlite3_str_appendall(a->out, " AND ");
    append_call(a, e, kind, row, operand);
}

/* What the comparison that begins with an indexed expression, or ends with it, says of it. */
typedef struct comparison {
    int kind;     /* of the first operand, or of each in a list */
    int operands; /* a list: as many; BETWEEN: two, the second an upper bound */
    bool list;
    rst_operand operand[64];
} comparison;

/* Reads what stands behind the expression. */
static bool read_behind(adding *a, const char **p, comparison *out) {
    rst_token token = rst_token_next(p, a->end);
    out->operands = 1;
    out->list = rst_token_is(&token, "IN");
    if (out->list) {
        out->kind = 0;
        out->operands = rst_read_list(p, a->end, out->operand, (int)(sizeof out->operand / sizeof out->operand[0]));
        return out->operands > 0;
    }
    if (rst_token_is(&token, "BETWEEN")) {
        if (!rst_read_side(a->c, a->text, a->end, p, &out->operand[0])) return false;
        token = rst_token_next(p, a->end);
        out->kind = 2;
        out->operands = 2;
        return rst_token_is(&token, "AND") && rst_read_side(a->c, a->text, a->end, p, &out->operand[1]);
    }
    out->kind = rst_hint_kind(&token, false);
    return out->kind >= 0 && rst_read_side(a->c, a->text, a->end, p, &out->operand[0]);
}

/* The expression at *p, perhaps in parentheses; moves *p behind it. */
static bool read_indexed(const adding *a, const rst_indexed *e, const char **p, rst_token *qualifier) {
    const char *q = *p;
    rst_token token = rst_token_next(&q, a->end);
    bool wrapped = rst_token_mark(&token, "(") && e->start[0] != '(';
    if (!wrapped) q = *p;
    if ((e->loose && !wrapped) || !rst_indexed_matches(e, &q, a->end, qualifier)) return false;
    if (wrapped) {
        token = rst_token_next(&q, a->end);
        if (!rst_token_mark(&token, ")")) return false;
    }
    *p = q;
    return true;
}

/* Whether a comparison of the expression begins at `from`: what it says, and the position behind it; or null. */
static const char *read_comparison(adding *a, const rst_indexed *e, const char *from, comparison *found,
                                   rst_token *qualifier) {
    const char *p = from;
    found->operands = 1;
    found->list = false;
    if (read_indexed(a, e, &p, qualifier) && read_behind(a, &p, found) && rst_comparison_ends(p, a->end)) return p;
    p = from;
    found->operands = 1;
    found->list = false;
    if (rst_read_side(a->c, a->text, a->end, &p, &found->operand[0])) {
        rst_token token = rst_token_next(&p, a->end);
        found->kind = rst_hint_kind(&token, true);
        if (found->kind >= 0 && read_indexed(a, e, &p, qualifier) && rst_comparison_ends(p, a->end)) return p;
    }
    return NULL;
}

/* The comparison that begins at `from`, if it is one of an indexed expression: written out with its hint. The position
** behind it, or null. A view's column may be several tables', each with such an index. */
static const char *add_at(adding *a, const rst_place *at, const char *from) {
    const char *behind = NULL;
    bool views = false;
    for (int i = 0; i < a->count; i++) {
        const rst_indexed *e = &a->expressions[i];
        rst_token qualifier;
        comparison found;
        rst_hint_row row;
        const char *p = read_comparison(a, e, from, &found, &qualifier);
        if (p == NULL || !rst_place_row(&a->where, e, at, &qualifier, &row) || (views && row.column < 0)) continue;
        if (behind == NULL) {
            const char *q = from;
            rst_token first = rst_token_next(&q, a->end);
            sqlite3_str_append(a->out, a->copied, (int)(first.text - a->copied));
            sqlite3_str_appendf(a->out, "(%.*s", (int)(p - first.text), first.text);
        }
        if (found.list) {
            /* A hint for each: SQLite looks the rows up arm by arm, and takes each once. An arm that is a function and
            ** no AND it would take for two. */
            for (int k = 0; k < found.operands; k++) {
                sqlite3_str_appendall(a->out, k == 0 ? " AND ((1 AND " : ") OR (1 AND ");
                append_call(a, e, 0, &row, &found.operand[k]);
            }
            sqlite3_str_appendall(a->out, "))");
        } else {
            append_hint(a, e, found.kind, &row, &found.operand[0]);
            if (found.operands == 2) append_hint(a, e, 4, &row, &found.operand[1]);
        }
        behind = p;
        views = row.column >= 0;
        if (!views) break;
    }
    if (behind == NULL) return NULL;
    sqlite3_str_appendall(a->out, ")");
    a->copied = behind;
    return behind;
}

/* The term of ORDER BY or GROUP BY at `from`, if it is an indexed expression, as the column that shows it. The position
** behind it, or null. */
static const char *order_at(adding *a, const rst_place *at, bool ordered, const char *select, const char *from) {
    for (int i = 0; i < a->count; i++) {
        bool names = ordered || !rst_place_column(&a->where, at, a->expressions[i].table, from);
        char name[96];
        rst_token alias, first;
        const char *p = from, *behind;
        first = rst_token_next(&p, a->end);
        behind = rst_order_term(&a->expressions[i], a->text, a->end, select, from, names, &alias);
        if (behind == NULL) continue;
        if (!rst_expression_column_name(a->expressions[i].table, rst_indexed_part(&a->expressions[i]), name,
                                        (int)sizeof name))
            continue;
        sqlite3_str_append(a->out, a->copied, (int)(first.text - a->copied));
        sqlite3_str_appendf(a->out, "%.*s.[%s]", (int)alias.size, alias.text, name);
        a->copied = behind;
        a->ordered++;
        return behind;
    }
    return NULL;
}

enum { CLAUSE_OTHER = 0, CLAUSE_LIST, CLAUSE_CONDITION, CLAUSE_ORDER, DEEPEST = 100 };

/* Goes through the statement; false if it is one in which names are resolved in ways not followed here. */
static bool add_all(adding *a) {
    /* What stands inside the parentheses at each depth: the clause, whether its BETWEEN waits for its AND, whether a
    ** result's name comes from the text of it. */
    struct {
        int clause;
        bool between, named;
        bool ordered;       /* in ORDER BY, which takes results' names before columns'; not GROUP BY */
        bool upsert;        /* behind ON CONFLICT: names are resolved otherwise */
        const char *select; /* the last one here, behind which ORDER BY orders what it gives */
        rst_place place;
    } at[DEEPEST] = {{CLAUSE_OTHER, false, false, false, false, NULL, {NULL, NULL, NULL}}};
    int depth = 0;
    const char *p = a->text;
    rst_token previous = {TOKEN_END, a->text, 0}, token = previous;
    for (;;) {
        bool operand = false, term = false;
        previous = token;
        token = rst_token_next(&p, a->end);
        if (token.type == TOKEN_END) return true;
        if (rst_token_mark(&token, "(") || rst_token_is(&token, "CASE")) {
            bool named = at[depth].named || at[depth].clause == CLAUSE_LIST;
            if (++depth == DEEPEST) return false;
            at[depth] = at[depth - 1];
            at[depth].between = false;
            at[depth].named = named;
            at[depth].select = NULL;
            if (at[depth].clause == CLAUSE_ORDER) at[depth].clause = CLAUSE_OTHER;
            operand = rst_token_mark(&token, "(");
        } else if (rst_token_mark(&token, ")") || rst_token_is(&token, "END")) {
            if (--depth < 0) return false;
        } else if (rst_token_is(&token, "SELECT") || rst_token_is(&token, "RETURNING")) {
            at[depth].clause = CLAUSE_LIST;
            at[depth].select = rst_token_is(&token, "SELECT") ? p : NULL;
            if (at[depth].select != NULL) at[depth].place = (rst_place){NULL, NULL, NULL};
        } else if (rst_token_is(&token, "CONFLICT")) {
            at[depth].upsert = true;
        } else if (rst_token_is(&token, "UPDATE") && !rst_token_is(&previous, "DO")) {
            const char *q = p;
            rst_token next = rst_token_next(&q, a->end);
            if (rst_token_is(&next, "OR")) {
                (void)rst_token_next(&q, a->end);
                p = q;
            }
            at[depth].place = (rst_place){NULL, p, NULL};
        } else if (rst_token_is(&token, "WHERE") || (rst_token_is(&token, "ON") && !a->outer)) {
            at[depth].clause = CLAUSE_CONDITION;
            at[depth].place.on =
                rst_token_is(&token, "ON") && a->left ? rst_place_left(&a->where, &at[depth].place, p) : NULL;
            operand = true;
        } else if (rst_token_is(&token, "FROM") || rst_token_is(&token, "GROUP") || rst_token_is(&token, "ORDER") ||
                   rst_token_is(&token, "LIMIT") || rst_token_is(&token, "HAVING") || rst_token_is(&token, "SET") ||
                   rst_token_is(&token, "WINDOW") || rst_token_is(&token, "JOIN") || rst_token_is(&token, "ON")) {
            at[depth].clause = CLAUSE_OTHER;
            if (rst_token_is(&token, "FROM") && !rst_token_is(&previous, "DISTINCT")) at[depth].place.from = p;
            if (a->orders && at[depth].select != NULL &&
                (rst_token_is(&token, "ORDER") || rst_token_is(&token, "GROUP"))) {
                const char *q = p;
                rst_token by = rst_token_next(&q, a->end);
                if (rst_token_is(&by, "BY")) {
                    at[depth].clause = CLAUSE_ORDER;
                    at[depth].ordered = rst_token_is(&token, "ORDER");
                    p = q;
                    term = true;
                }
            }
        } else if (rst_token_mark(&token, ",") && at[depth].clause == CLAUSE_ORDER) {
            term = true;
        } else if (rst_token_is(&token, "BETWEEN")) {
            at[depth].between = true;
        } else if (rst_token_is(&token, "AND")) {
            operand = !at[depth].between;
            at[depth].between = false;
        } else if (rst_token_is(&token, "OR")) {
            operand = true;
        }
        if (term && !at[depth].named) {
            const char *behind = order_at(a, &at[depth].place, at[depth].ordered, at[depth].select, p);
            if (behind != NULL) p = behind;
        }
        if (operand && at[depth].clause == CLAUSE_CONDITION && !at[depth].named && !at[depth].upsert) {
            const char *behind = add_at(a, &at[depth].place, p);
            if (behind != NULL) p = behind;
        }
    }
}

/* Whether some function of the connection has the name of one in the expression: the index's entries were made with
** SQLite's own. Of an operand that is a call: it need not give the same twice. */
static bool is_redefined(rst_connection *c, const rst_indexed *expressions, int count, bool called) {
    sqlite3_stmt *statement = NULL;
    bool found = true;
    if (sqlite3_prepare_v2(c->db, "SELECT name FROM pragma_function_list WHERE NOT builtin", -1, &statement, NULL) ==
        SQLITE_OK) {
        found = false;
        while (!found && sqlite3_step(statement) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(statement, 0);
            found = called && rst_is_operand_call(name);
            for (int i = 0; i < count && !found; i++) {
                const char *p = expressions[i].start;
                for (;;) {
                    rst_token token = rst_token_next(&p, expressions[i].end);
                    if (token.type == TOKEN_END) break;
                    if (rst_token_same_name(&token, name) || rst_token_mark(&token, name)) found = true;
                }
            }
        }
    }
    sqlite3_finalize(statement);
    return found;
}

void rst_keep_if_it_compiles(rst_connection *c, char **sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(c->db, *sql, -1, &statement, NULL) != SQLITE_OK) {
        sqlite3_free(*sql);
        *sql = NULL;
    }
    sqlite3_finalize(statement);
}

/* Whether the text can hold the expression at all: its first name is in it. */
static bool is_mentioned(const rst_indexed *e, const char *text, const char *end) {
    const char *p = e->start;
    rst_token token;
    do {
        token = rst_token_next(&p, e->end);
    } while (token.type != TOKEN_END && token.type != TOKEN_WORD);
    if (token.type == TOKEN_END) return true;
    for (const char *at = text; at + token.size <= end; at++) {
        if ((*at | 0x20) == (token.text[0] | 0x20) && sqlite3_strnicmp(at, token.text, (int)token.size) == 0)
            return true;
    }
    return false;
}

/* The statement with its hints, and its orders if those are wanted; null where nothing was added. */
static int add_to_copy(adding *a, bool orders, char **out) {
    bool followed;
    *out = NULL;
    a->copied = a->text;
    a->orders = orders;
    a->refused = false;
    a->added = a->ordered = 0;
    a->out = sqlite3_str_new(NULL);
    followed = add_all(a);
    sqlite3_str_append(a->out, a->copied, (int)(a->end - a->copied));
    if (!followed || a->refused || a->added + a->ordered == 0 || a->code != SQLITE_OK) {
        sqlite3_free(sqlite3_str_finish(a->out));
        return a->code;
    }
    *out = sqlite3_str_finish(a->out);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* The table's indexed expressions that the text may hold, one of each kind: one hint serves every index on the
** expression. */
static int gather(rst_connection *c, const char *text, const char *end, rst_indexed *found, int room) {
    int count = 0;
    for (int t = 0; t < schema_of(c)->table_count; t++) {
        const rst_table *table = schema_of(c)->tables[t];
        for (int i = 0; i < table->index_count && table->has_evaluated_index; i++) {
            for (int p = 0; p < table->indexes[i].part_count && count < room; p++) {
                const rst_part *part = &table->indexes[i].parts[p];
                bool known = false;
                if (part->column != -2 || !rst_indexed_understand(table, &table->indexes[i], p, &found[count]))
                    continue;
                if (!is_mentioned(&found[count], text, end)) continue;
                for (int k = 0; k < count; k++) {
                    const rst_part *other = rst_indexed_part(&found[k]);
                    known = known || (found[k].table == table && strcmp(other->expression, part->expression) == 0 &&
                                      other->key.collation == part->key.collation);
                }
                if (!known) count++;
            }
        }
    }
    return count;
}

int rst_expressions_add(rst_connection *c, const char *text, const char *end, char **out) {
    rst_indexed found[32];
    adding a = {.c = c, .text = text, .end = end, .expressions = found, .where = {c, text, end, false}};
    int code;
    *out = NULL;
    if (!rewriter_of(c)->has_expressions) return SQLITE_OK;
    a.count = gather(c, text, end, found, (int)(sizeof found / sizeof found[0]));
    if (a.count == 0) return SQLITE_OK;
    for (const char *p = text;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        a.left |= rst_token_is(&token, "LEFT");
        a.outer |= rst_token_is(&token, "RIGHT") || rst_token_is(&token, "FULL");
        a.where.merged |= rst_token_is(&token, "NATURAL") || rst_token_is(&token, "USING");
    }
    code = add_to_copy(&a, !a.where.merged && rst_orders_possible(text, end), out);
    if (code != SQLITE_OK || *out == NULL) return code;
    if (is_redefined(c, found, a.count, a.called)) {
        sqlite3_free(*out);
        *out = NULL;
        return SQLITE_OK;
    }
    if (a.ordered > 0) {
        /* Read in the order of an index, or as it was: an order that is sorted all the same would cost more. */
        char *without;
        code = add_to_copy(&a, false, &without);
        if (code == SQLITE_OK) {
            char *plain = without != NULL ? without : sqlite3_mprintf("%.*s", (int)(end - text), text);
            if (plain == NULL) code = SQLITE_NOMEM;
            if (code == SQLITE_OK && rst_sorts(c, *out) < rst_sorts(c, plain)) {
                sqlite3_free(plain);
                return SQLITE_OK;
            }
            if (plain != without) sqlite3_free(plain);
        }
        sqlite3_free(*out);
        *out = without;
        if (code != SQLITE_OK || without == NULL) return code;
    }
    rst_keep_if_it_compiles(c, out);
    return SQLITE_OK;
}

int rst_expressions_add_to(rst_connection *c, char **text) {
    char *more = NULL;
    int code = rst_expressions_add(c, *text, *text + strlen(*text), &more);
    if (more == NULL) return code;
    sqlite3_free(*text);
    *text = more;
    return SQLITE_OK;
}
