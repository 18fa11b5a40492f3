/*
** expression_hints.c - writes a hint beside each comparison of an indexed expression with a literal or parameter: see expressions.c.
** Invariant: one that does not compile is taken back.
*/
#include "expressions.h"
#include "hints.h"

#include <string.h>

typedef struct adding {
    rst_connection *c;
    const char *text, *end;
    const rst_indexed *expressions;
    int count;
    sqlite3_str *out;
    const char *copied;
    bool outer;   /* an outer join stands somewhere */
    bool refused; /* a parameter's number is out of range */
    int added, code;
} adding;

/* The name by which the table is known in the statement, if it stands there as one item of FROM only. */
static void only_alias(const adding *a, const rst_table *table, rst_token *alias) {
    const char *p = a->text;
    rst_token before = {TOKEN_END, a->text, 0}, before_dot = before;
    int found = 0;
    alias->type = TOKEN_END;
    for (;;) {
        rst_token token = rst_token_next(&p, a->end), place;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        place = rst_token_mark(&before, ".") ? before_dot : before;
        if (rst_token_names(&token) && rst_token_same_name(&token, table->name) &&
            (rst_token_is(&place, "FROM") || rst_token_is(&place, "JOIN") || rst_token_mark(&place, ",") ||
             rst_token_mark(&place, "(") || rst_token_is(&place, "UPDATE") || rst_token_is(&place, "MAIN"))) {
            rst_token next = rst_token_next(&q, a->end);
            if (rst_token_mark(&next, ".")) {
                /* table.column in a list */
            } else {
                found++;
                *alias = token;
                if (rst_token_is(&next, "AS"))
                    *alias = rst_token_next(&q, a->end);
                else if (next.type == TOKEN_NAME || next.type == TOKEN_WORD) {
                    static const char *const words[] = {
                        "WHERE",   "ORDER", "GROUP", "LIMIT", "JOIN",   "LEFT",      "INNER",  "CROSS",
                        "NATURAL", "ON",    "USING", "UNION", "EXCEPT", "INTERSECT", "HAVING", "WINDOW",
                        "INDEXED", "NOT",   "RIGHT", "FULL",  "SET",    "RETURNING", "FROM",   NULL};
                    if (!rst_is_among(&next, words)) *alias = next;
                }
            }
        }
        before_dot = before;
        before = token;
    }
    if (found != 1) alias->type = TOKEN_END;
}

static void append_hint(adding *a, const rst_indexed *e, int kind, const rst_token *qualifier, const char *start,
                        const char *stop, bool variable) {
    char name[96];
    rst_token alias = *qualifier;
    sqlite3_snprintf(sizeof name, name, "rootstock_%s_%lld_%d", rst_hint_name(kind), (long long)e->index->identifier,
                     e->part);
    if (a->code == SQLITE_OK) a->code = rst_hint_register(a->c, name);
    if (alias.type == TOKEN_END) only_alias(a, e->table, &alias);
    sqlite3_str_appendf(a->out, " AND %s(", name);
    if (alias.type != TOKEN_END) sqlite3_str_appendf(a->out, "%.*s.", (int)alias.size, alias.text);
    sqlite3_str_appendall(a->out, "[rootstock hint],");
    if (variable && stop - start == 1) {
        rst_parameters parameters = {0};
        int code = rst_parameters_number(a->c, a->text, stop, &parameters, NULL, NULL);
        if (code == SQLITE_NOMEM)
            a->code = code;
        else if (code != SQLITE_OK)
            a->refused = true; /* SQLite will say so of the text as it stands */
        sqlite3_str_appendf(a->out, "?%d)", parameters.highest);
        rst_parameters_free(&parameters);
    } else {
        sqlite3_str_appendf(a->out, "%.*s)", (int)(stop - start), start);
    }
    a->added++;
}

/* The comparison that begins at `from`, if it is one of an indexed expression: written out with its hint. The position behind
** it, or null. */
static const char *add_at(adding *a, const char *from) {
    for (int i = 0; i < a->count; i++) {
        const rst_indexed *e = &a->expressions[i];
        const char *p = from, *q, *start, *stop, *low_start = NULL, *low_stop = NULL;
        rst_token token = rst_token_next(&p, a->end), qualifier;
        bool turned = false, variable, low_variable = false, wrapped;
        int kind;
        const char *begin = token.text;
        p = from;
        if (rst_read_operand(&p, a->end, &start, &stop, &variable)) {
            token = rst_token_next(&p, a->end);
            kind = rst_hint_kind(&token, true);
            if (kind < 0) continue;
            turned = true;
        }
        q = p;
        token = rst_token_next(&q, a->end);
        wrapped = rst_token_mark(&token, "(");
        if (wrapped && e->start[0] != '(')
            p = q;
        else
            wrapped = false;
        if (e->loose && !wrapped) continue;
        if (!rst_indexed_matches(e, &p, a->end, &qualifier)) continue;
        if (wrapped) {
            token = rst_token_next(&p, a->end);
            if (!rst_token_mark(&token, ")")) continue;
        }
        if (!turned) {
            token = rst_token_next(&p, a->end);
            if (rst_token_is(&token, "BETWEEN")) {
                if (!rst_read_operand(&p, a->end, &low_start, &low_stop, &low_variable)) continue;
                token = rst_token_next(&p, a->end);
                if (!rst_token_is(&token, "AND")) continue;
                kind = 4;
            } else {
                kind = rst_hint_kind(&token, false);
                if (kind < 0) continue;
            }
            if (!rst_read_operand(&p, a->end, &start, &stop, &variable)) continue;
        }
        if (!rst_comparison_ends(p, a->end)) continue;
        sqlite3_str_append(a->out, a->copied, (int)(begin - a->copied));
        sqlite3_str_appendf(a->out, "(%.*s", (int)(p - begin), begin);
        if (low_start != NULL) append_hint(a, e, 2, &qualifier, low_start, low_stop, low_variable);
        append_hint(a, e, kind, &qualifier, start, stop, variable);
        sqlite3_str_appendall(a->out, ")");
        a->copied = p;
        return p;
    }
    return NULL;
}

enum { CLAUSE_OTHER = 0, CLAUSE_LIST, CLAUSE_CONDITION, DEEPEST = 100 };

/* Goes through the statement; false if it is one in which names are resolved in ways not followed here. */
static bool add_all(adding *a) {
    /* What stands inside the parentheses at each depth: the clause, whether its BETWEEN waits for its AND, whether a result's
    ** name comes from the text of it. */
    struct {
        int clause;
        bool between, named;
    } at[DEEPEST] = {{CLAUSE_OTHER, false, false}};
    int depth = 0;
    const char *p = a->text;
    for (;;) {
        rst_token token = rst_token_next(&p, a->end);
        bool operand = false;
        if (token.type == TOKEN_END) return true;
        if (rst_token_is(&token, "NATURAL") || rst_token_is(&token, "USING")) return false;
        if (rst_token_mark(&token, "(") || rst_token_is(&token, "CASE")) {
            bool named = at[depth].named || at[depth].clause == CLAUSE_LIST;
            if (++depth == DEEPEST) return false;
            at[depth] = at[depth - 1];
            at[depth].between = false;
            at[depth].named = named;
            operand = rst_token_mark(&token, "(");
        } else if (rst_token_mark(&token, ")") || rst_token_is(&token, "END")) {
            if (--depth < 0) return false;
        } else if (rst_token_is(&token, "SELECT") || rst_token_is(&token, "RETURNING")) {
            at[depth].clause = CLAUSE_LIST;
        } else if (rst_token_is(&token, "WHERE") || (rst_token_is(&token, "ON") && !a->outer)) {
            at[depth].clause = CLAUSE_CONDITION;
            operand = true;
        } else if (rst_token_is(&token, "FROM") || rst_token_is(&token, "GROUP") || rst_token_is(&token, "ORDER") ||
                   rst_token_is(&token, "LIMIT") || rst_token_is(&token, "HAVING") || rst_token_is(&token, "SET") ||
                   rst_token_is(&token, "WINDOW") || rst_token_is(&token, "JOIN") || rst_token_is(&token, "ON")) {
            at[depth].clause = CLAUSE_OTHER;
        } else if (rst_token_is(&token, "BETWEEN")) {
            at[depth].between = true;
        } else if (rst_token_is(&token, "AND")) {
            operand = !at[depth].between;
            at[depth].between = false;
        } else if (rst_token_is(&token, "OR")) {
            operand = true;
        }
        if (operand && at[depth].clause == CLAUSE_CONDITION && !at[depth].named) {
            const char *behind = add_at(a, p);
            if (behind != NULL) p = behind;
        }
    }
}

/* Whether some function of the connection has the name of one in the expression: the index's entries were made with SQLite's own. */
static bool is_redefined(rst_connection *c, const rst_indexed *expressions, int count) {
    sqlite3_stmt *statement = NULL;
    bool found = true;
    if (sqlite3_prepare_v2(c->db, "SELECT name FROM pragma_function_list WHERE NOT builtin", -1, &statement, NULL) ==
        SQLITE_OK) {
        found = false;
        while (!found && sqlite3_step(statement) == SQLITE_ROW) {
            const char *name = (const char *)sqlite3_column_text(statement, 0);
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

static bool compiles(rst_connection *c, const char *sql) {
    sqlite3_stmt *statement = NULL;
    bool good = sqlite3_prepare_v2(c->db, sql, -1, &statement, NULL) == SQLITE_OK;
    sqlite3_finalize(statement);
    return good;
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

int rst_expressions_add(rst_connection *c, const char *text, const char *end, char **out) {
    rst_indexed found[32];
    adding a = {.c = c, .text = text, .end = end, .expressions = found, .copied = text};
    bool followed;
    *out = NULL;
    if (!c->has_expressions) return SQLITE_OK;
    for (int t = 0; t < c->table_count; t++) {
        const rst_table *table = c->tables[t];
        for (int i = 0; i < table->index_count && table->has_evaluated_index; i++) {
            for (int p = 0; p < table->indexes[i].part_count; p++) {
                bool known = false;
                if (a.count == (int)(sizeof found / sizeof found[0])) break;
                if (table->indexes[i].parts[p].column != -2) continue;
                if (!rst_indexed_understand(table, &table->indexes[i], p, &found[a.count])) continue;
                if (!is_mentioned(&found[a.count], text, end)) continue;
                /* One hint serves every index on the expression. */
                for (int k = 0; k < a.count; k++) {
                    const rst_part *other = &found[k].index->parts[found[k].part];
                    const rst_part *part = &table->indexes[i].parts[p];
                    known = known || (found[k].table == table && strcmp(other->expression, part->expression) == 0 &&
                                      other->key.collation == part->key.collation);
                }
                if (!known) a.count++;
            }
        }
    }
    if (a.count == 0) return SQLITE_OK;
    a.out = sqlite3_str_new(NULL);
    for (const char *p = text;;) {
        static const char *const outer[] = {"LEFT", "RIGHT", "FULL", NULL};
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_is_among(&token, outer)) a.outer = true;
    }
    followed = add_all(&a);
    sqlite3_str_append(a.out, a.copied, (int)(end - a.copied));
    if (!followed || a.refused || a.added == 0 || a.code != SQLITE_OK || is_redefined(c, found, a.count)) {
        sqlite3_free(sqlite3_str_finish(a.out));
        return a.code;
    }
    *out = sqlite3_str_finish(a.out);
    if (*out == NULL) return SQLITE_NOMEM;
    if (!compiles(c, *out)) {
        sqlite3_free(*out);
        *out = NULL;
    }
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
