/*
** expression_scope.c - which items the FROM of a SELECT, UPDATE or DELETE has: the tables that names in its conditions
** can mean.
**
** Invariant: what is not understood is unclear, never half a scope. An item is a table of the store only where its name
** can mean nothing else: no WITH has that name, and no temp table (rst_target).
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

static const char *const ends[] = {"WHERE", "GROUP",  "ORDER",     "LIMIT",     "HAVING", "WINDOW",
                                   "UNION", "EXCEPT", "INTERSECT", "RETURNING", "SET",    NULL};

/* Whether a WITH may give the name: `name AS (`, `name AS [NOT] MATERIALIZED (` or `name(columns) AS` somewhere. */
static bool is_with(const char *text, const char *end, const char *name) {
    const char *p = text;
    bool with = false;
    for (;;) {
        rst_token token = rst_token_next(&p, end), next;
        const char *q = p;
        if (token.type == TOKEN_END) return false;
        with |= rst_token_is(&token, "WITH");
        if (!with || !rst_token_names(&token) || !rst_token_same_name(&token, name)) continue;
        next = rst_token_next(&q, end);
        if (rst_token_mark(&next, "(")) {
            if (!rst_token_skip_parentheses(&q, end)) return true;
            next = rst_token_next(&q, end);
        }
        if (!rst_token_is(&next, "AS")) continue;
        next = rst_token_next(&q, end);
        if (rst_token_mark(&next, "(") || rst_token_is(&next, "NOT") || rst_token_is(&next, "MATERIALIZED"))
            return true;
    }
}

/* Reads one item at *p. */
static bool read_item(rst_connection *c, const char *text, const char *end, const char **p, rst_scope_item *item) {
    rst_token token = rst_token_next(p, end), next;
    const char *q;
    item->table = NULL;
    item->start = token.text;
    item->name.type = TOKEN_END;
    item->behind = NULL;
    if (rst_token_mark(&token, "(")) {
        q = *p;
        next = rst_token_next(&q, end);
        if (!rst_token_is(&next, "SELECT") && !rst_token_is(&next, "WITH") && !rst_token_is(&next, "VALUES"))
            return false; /* a join in parentheses */
        if (!rst_token_skip_parentheses(p, end)) return false;
    } else if (rst_token_names(&token)) {
        rst_token schema = {TOKEN_END, text, 0};
        char *name;
        q = *p;
        next = rst_token_next(&q, end);
        if (rst_token_mark(&next, ".")) {
            schema = token;
            token = rst_token_next(&q, end);
            if (!rst_token_names(&token)) return false;
            *p = q;
            next = rst_token_next(&q, end);
        }
        item->name = token;
        name = rst_token_name(&token);
        if (name == NULL) return false;
        if (schema.type != TOKEN_END || !is_with(text, end, name)) item->table = rst_target(c, &schema, &token);
        sqlite3_free(name);
        if (rst_token_mark(&next, "(")) {
            *p = q;
            if (!rst_token_skip_parentheses(p, end)) return false;
        } else {
            item->behind = token.text + token.size;
        }
    } else {
        return false;
    }
    q = *p;
    next = rst_token_next(&q, end);
    if (rst_token_is(&next, "AS")) {
        item->name = rst_token_next(&q, end);
        *p = q;
        if (!rst_token_names(&item->name)) return false;
        next = rst_token_next(&q, end);
    } else if (rst_token_names(&next) && !rst_is_among(&next, rst_words_behind_table)) {
        item->name = next;
        *p = q;
        next = rst_token_next(&q, end);
    }
    if (rst_token_is(&next, "INDEXED") || rst_token_is(&next, "NOT")) item->behind = NULL;
    return true;
}

bool rst_scope_read(rst_connection *c, const char *text, const char *end, const char *target, const char *from,
                    rst_scope *out) {
    const char *p;
    bool item = true, left = false;
    out->count = 0;
    out->merged = false;
    if (target != NULL) {
        p = target;
        out->items[0].left = false;
        if (!read_item(c, text, end, &p, &out->items[0])) return false;
        out->count = 1;
    }
    if (from == NULL) return out->count > 0;
    for (p = from;;) {
        const char *q;
        rst_token token;
        if (item) {
            if (out->count == SCOPE_ITEMS || !read_item(c, text, end, &p, &out->items[out->count])) return false;
            out->items[out->count++].left = left;
            item = left = false;
        }
        q = p;
        token = rst_token_next(&q, end);
        if (token.type == TOKEN_END || rst_token_mark(&token, ")") || rst_token_mark(&token, ";") ||
            rst_is_among(&token, ends))
            return true;
        p = q;
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) return false;
        } else if (rst_token_mark(&token, ",") || rst_token_is(&token, "JOIN")) {
            item = true;
        } else if (rst_token_is(&token, "LEFT")) {
            const char *behind = p;
            rst_token next = rst_token_next(&behind, end); /* a column may have that name */
            left = rst_token_is(&next, "JOIN") || rst_token_is(&next, "OUTER");
        } else if (rst_token_is(&token, "NATURAL") || rst_token_is(&token, "USING")) {
            out->merged = true;
        } else if (rst_token_is(&token, "ON")) {
            const char *behind = p;
            rst_token next = rst_token_next(&behind, end);
            if (rst_token_is(&next, "CONFLICT")) return true;
        }
    }
}

const rst_scope_item *rst_scope_named(const rst_scope *scope, const rst_token *name) {
    const rst_scope_item *found = NULL;
    for (int i = 0; i < scope->count; i++) {
        char *own;
        bool same;
        if (scope->items[i].name.type == TOKEN_END) continue;
        own = rst_token_name(&scope->items[i].name);
        same = own == NULL || rst_token_same_name(name, own);
        sqlite3_free(own);
        if (!same) continue;
        if (found != NULL) return NULL;
        found = &scope->items[i];
    }
    return found;
}

const rst_scope_item *rst_scope_table(const rst_scope *scope, const rst_table *table) {
    const rst_scope_item *found = NULL;
    for (int i = 0; i < scope->count; i++) {
        if (scope->items[i].table != table) continue;
        if (found != NULL) return NULL;
        found = &scope->items[i];
    }
    return found;
}
