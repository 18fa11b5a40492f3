/*
** partial_terms.c - tells xBestIndex that it may believe `x IS NOT NULL`, `x <> 1` and `x IS NOT 1`, so that partial
** indexes of such rows serve.
**
** SQLite shows these terms of a table even where they stand in the ON of a LEFT JOIN to the right of it, and choose
** none of its rows (partial_predicate.c). A statement in which no ON of a LEFT JOIN has such a term is safe. There the
** front door hands an argument to the tables that have such indexes:
**
**   FROM t WHERE t.a = ?1 AND t.b IS NOT NULL   becomes   FROM t('rootstock terms') WHERE ...
**
** The target of an UPDATE or DELETE takes no argument; there it is a term of WHERE, unless the statement has a LEFT
** JOIN anywhere.
**
** Invariant: a table is told of only if every ON that could name it stands in the statement's own text. The ON of a
** view or trigger names none of the statement's tables, and those of its own are not told of anything.
*/
#include "rewriter/expressions.h"
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"
#include "catalog/partial_predicate.h"
#include "rewriter/transform.h"
#include "rewriter/update_from.h"

#include <string.h>

enum { DEEPEST = 100 };

static bool is_exclusion(const rst_token *token) {
    return rst_token_is(token, "NOT") || rst_token_is(token, "NOTNULL") || rst_token_mark(token, "<>") ||
           rst_token_mark(token, "!=");
}

/* What the whole statement has: terms that could serve, LEFT JOINs. False where the front door has to keep silent. */
static bool look(const char *text, const char *end, bool *left) {
    static const char *const others[] = {"IS", "LIKE", "GLOB", "MATCH", "REGEXP", NULL};
    static const char *const ends[] = {"WHERE",     "GROUP", "ORDER", "LIMIT", "HAVING", "WINDOW",  "UNION",  "EXCEPT",
                                       "INTERSECT", "JOIN",  "LEFT",  "INNER", "CROSS",  "NATURAL", "SELECT", NULL};
    bool on[DEEPEST] = {false}, wanted = false, doubtful = false;
    int depth = 0;
    *left = false;
    for (const char *p = text;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return depth == 0 && wanted && !(*left && doubtful);
        if (rst_token_mark(&token, "(")) {
            if (++depth == DEEPEST) return false;
            on[depth] = on[depth - 1];
        } else if (rst_token_mark(&token, ")")) {
            if (--depth < 0) return false;
        } else if (rst_token_is(&token, "RIGHT") || rst_token_is(&token, "FULL")) {
            return false;
        } else if (rst_token_is(&token, "ON")) {
            on[depth] = true;
        } else if (is_exclusion(&token)) {
            wanted = true;
            doubtful |= on[depth];
        } else if (rst_is_among(&token, others)) {
            doubtful |= on[depth];
        }
        *left |= rst_token_is(&token, "LEFT");
        /* In parentheses of an ON all is in it, whatever begins there. */
        if ((depth == 0 || !on[depth - 1]) && (rst_is_among(&token, ends) || rst_token_mark(&token, ",")))
            on[depth] = false;
    }
}

static bool has_exclusions(const rst_table *table) {
    for (int i = 0; i < table->index_count; i++) {
        if (rst_partial_predicate_excludes(table->indexes[i].predicate)) return true;
    }
    return false;
}

/* Where tables are told of: behind their names. */
typedef struct places {
    const char *at[32];
    int count;
} places;

/* The tables of the FROM at `from`. */
static void find(rst_connection *c, const char *text, const char *end, const char *from, places *out) {
    rst_scope scope;
    if (!rst_scope_read(c, text, end, NULL, from, &scope)) return;
    for (int i = 0; i < scope.count && out->count < 32; i++) {
        const rst_scope_item *item = &scope.items[i];
        int k = out->count;
        if (item->table == NULL || item->behind == NULL || !has_exclusions(item->table)) continue;
        for (; k > 0 && out->at[k - 1] > item->behind; k--) out->at[k] = out->at[k - 1];
        out->at[k] = item->behind;
        out->count++;
    }
}

/* The WHERE of an UPDATE or DELETE with the same, as a term: a target takes no argument (target_hint.c). Null where
** nothing is to be said. */
static char *tell_target(rst_connection *c, const char *text, const rst_statement_parts *parts) {
    const rst_table *table = rst_target(c, &parts->schema, &parts->table);
    const char *p = parts->after_table.start, *end = parts->whole.end, *where = NULL;
    sqlite3_str *str;
    if (table == NULL || !has_exclusions(table) || rst_has_target_hint(parts) || parts->returning.start != NULL ||
        parts->limit.start != NULL || rst_update_has_from(parts) || p == NULL)
        return NULL;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) return NULL;
        } else if (rst_token_is(&token, "ORDER") || rst_token_is(&token, "LIMIT")) {
            return NULL;
        } else if (rst_token_same_name(&token, "rootstock hint")) {
            return NULL; /* a plan takes one term of hints: that of INDEXED BY or NOT INDEXED stands there already */
        } else if (rst_token_is(&token, "WHERE")) {
            if (where != NULL) return NULL;
            where = p;
        }
    }
    if (where == NULL) return NULL;
    str = sqlite3_str_new(NULL);
    sqlite3_str_appendf(str, "%.*s ", (int)(where - text), text);
    rst_append_hint_column(table, parts, str);
    sqlite3_str_appendf(str, "='" ROOTSTOCK_TERMS_HINT "' AND (%.*s\n)", (int)(end - where), where);
    return sqlite3_str_finish(str);
}

int rst_terms_add(rst_connection *c, const char *text, const char *end, char **out) {
    rst_statement_parts parts;
    sqlite3_str *str;
    const char *p = text, *copied = text;
    rst_token previous = {TOKEN_END, text, 0};
    places found = {{NULL}, 0};
    bool left, list[DEEPEST] = {false}; /* in the results of a SELECT, whose names are their texts */
    int depth = 0;
    *out = NULL;
    if (!look(text, end, &left)) return SQLITE_OK;
    rst_statement_parse(text, end, &parts);
    if ((parts.kind == KIND_UPDATE || parts.kind == KIND_DELETE) && !left) {
        *out = tell_target(c, text, &parts);
        if (*out != NULL) rst_keep_if_it_compiles(c, out);
        return SQLITE_OK;
    }
    if (parts.kind != KIND_SELECT) return SQLITE_OK;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            depth++;
            list[depth] = list[depth - 1];
        }
        if (rst_token_mark(&token, ")")) depth--;
        if (rst_token_is(&token, "SELECT")) list[depth] = true;
        /* Beside a LEFT JOIN the tables of a subquery could be named by its ON as columns of that. */
        if (rst_token_is(&token, "FROM") && !rst_token_is(&previous, "DISTINCT")) {
            list[depth] = depth > 0 && list[depth - 1];
            if (!list[depth] && (!left || depth == 0)) find(c, text, end, p, &found);
        }
        previous = token;
    }
    if (found.count == 0) return SQLITE_OK;
    str = sqlite3_str_new(NULL);
    for (int i = 0; i < found.count; i++) {
        sqlite3_str_append(str, copied, (int)(found.at[i] - copied));
        sqlite3_str_appendall(str, "('" ROOTSTOCK_TERMS_HINT "')");
        copied = found.at[i];
    }
    sqlite3_str_append(str, copied, (int)(end - copied));
    *out = sqlite3_str_finish(str);
    if (*out == NULL) return SQLITE_NOMEM;
    rst_keep_if_it_compiles(c, out);
    return SQLITE_OK;
}

int rst_hints_add(rst_connection *c, const char *sql, const char *end, int code, char **out) {
    char *more = NULL;
    if (code == SQLITE_OK && rewriter_of(c)->has_expressions)
        code = *out != NULL ? rst_expressions_add_to(c, out) : rst_expressions_add(c, sql, end, out);
    if (code != SQLITE_OK || !rewriter_of(c)->has_exclusions) return code;
    code = *out != NULL ? rst_terms_add(c, *out, *out + strlen(*out), &more) : rst_terms_add(c, sql, end, &more);
    if (more == NULL) return code;
    sqlite3_free(*out);
    *out = more;
    return code;
}
