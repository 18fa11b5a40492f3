/*
** inner_joins.c - a LEFT JOIN whose rows without a match are left out again is run as the inner join that it is.
**
** SQLite does so itself: a comparison in WHERE, or in the ON of an inner join, is not true of a row of NULLs. But it
** does not where a side of the comparison is a virtual table's column, because a module may let x = NULL be true. A
** store's tables never do. As a LEFT JOIN the table would keep its place in the order of loops, and WHERE would find no
** index. So LEFT and OUTER are blanked. Invariants
**  1. Only a term that AND joins to the rest of its clause counts, with one comparison, of which one side is a column
**     of the table on the right.
**  2. The tables are looked at from left to right, once, as SQLite does: the loops then stand in its order.
**  3. Nothing moves: what is blanked is as long as before. What is not understood is left as it is.
*/
#include "rewriter/hints.h"

#include <string.h>

enum { DEEPEST = 32 };

/* An item of FROM: how it is joined, and what its ON says. */
typedef struct joined {
    const char *left, *outer; /* where these words stand, or null */
    const char *on, *on_end;  /* what stands behind ON, or null */
} joined;

typedef struct select_parts {
    rst_scope scope;
    joined items[SCOPE_ITEMS];
    const char *where, *where_end; /* or null */
    bool outermost;                /* no other SELECT has it in parentheses */
} select_parts;

static rst_token token_behind(const char *p, const char *end) {
    return rst_token_next(&p, end);
}

static bool begins_join(const rst_token *token) {
    static const char *const words[] = {"JOIN", "LEFT", "INNER", "CROSS", "NATURAL", "OUTER", NULL};
    return rst_is_among(token, words);
}

/* Reads the joins behind FROM, whose items are known, and WHERE. False: unclear, or a RIGHT or FULL JOIN. */
static bool read_joins(const char *from, const char *end, select_parts *s) {
    static const char *const ends[] = {"WHERE", "GROUP",  "ORDER",     "LIMIT",     "HAVING", "WINDOW",
                                       "UNION", "EXCEPT", "INTERSECT", "RETURNING", NULL};
    const char *p = from, **open = NULL; /* the end of the clause under way */
    joined next = {0};
    int current = -1;
    bool item = true;
    memset(s->items, 0, sizeof s->items);
    s->where = s->where_end = NULL;
    for (;;) {
        rst_token token = rst_token_next(&p, end), behind = token_behind(p, end);
        bool over = token.type == TOKEN_END || rst_token_mark(&token, ")") || rst_token_mark(&token, ";");
        if (item) {
            if (over || ++current >= s->scope.count || token.text != s->scope.items[current].start) return false;
            s->items[current] = next;
            memset(&next, 0, sizeof next);
            item = false;
        }
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) return false;
            continue;
        }
        if (rst_token_is(&token, "ON") && rst_token_is(&behind, "CONFLICT")) over = true;
        if (over || rst_is_among(&token, ends)) {
            if (open != NULL) *open = token.text;
            open = NULL;
            if (over || !rst_token_is(&token, "WHERE")) return current + 1 == s->scope.count;
            if (s->where != NULL) return false;
            s->where = p;
            open = &s->where_end;
            continue;
        }
        if (s->where != NULL || rst_token_mark(&behind, ".")) continue;
        if (rst_token_is(&token, "RIGHT") || rst_token_is(&token, "FULL")) return false;
        if (rst_token_is(&token, "ON")) {
            if (s->items[current].on != NULL) return false;
            s->items[current].on = p;
            open = &s->items[current].on_end;
        } else if (rst_token_mark(&token, ",") || begins_join(&token)) {
            if (open != NULL) *open = token.text;
            open = NULL;
            item = rst_token_mark(&token, ",") || rst_token_is(&token, "JOIN");
            if (!item && !begins_join(&behind)) return false; /* a name */
            if (rst_token_is(&token, "OUTER") && (next.left == NULL || !rst_token_is(&behind, "JOIN"))) return false;
            if (rst_token_is(&token, "OUTER")) next.outer = token.text;
            if (rst_token_is(&token, "LEFT")) {
                if (!rst_token_is(&behind, "JOIN") && !rst_token_is(&behind, "OUTER")) return false;
                next.left = token.text;
            }
        }
    }
}

static bool has_column(const rst_table *table, const rst_token *name) {
    for (int i = 0; i < table->column_count; i++) {
        if (rst_token_same_name(name, table->columns[i].name)) return true;
    }
    return false;
}

/* Of a store's table or of a subquery: no column of another module's. */
static bool is_ours(const rst_scope_item *item) {
    return item->table != NULL || *item->start == '(';
}

/* Whether [p, end) can be a column of a module that is not the store's: that may let x = NULL be true. */
static bool may_be_foreign(const select_parts *s, const char *p, const char *end) {
    rst_token name = rst_token_next(&p, end), dot = rst_token_next(&p, end);
    const bool qualified = rst_token_mark(&dot, ".");
    if (!rst_token_names(&name) || (dot.type != TOKEN_END && !qualified)) return false;
    for (int i = 0; i < s->scope.count; i++) {
        const rst_scope_item *item = &s->scope.items[i];
        char *own;
        bool other;
        if (is_ours(item)) continue;
        own = qualified && item->name.type != TOKEN_END ? rst_token_name(&item->name) : NULL;
        other = own != NULL && !rst_token_same_name(&name, own);
        sqlite3_free(own);
        if (!other) return true;
    }
    return false;
}

/* Whether [p, end) is a column of the item. */
static bool is_column_of(const select_parts *s, const char *p, const char *end, int item) {
    const rst_scope_item *found = &s->scope.items[item];
    rst_token name = rst_token_next(&p, end), dot = rst_token_next(&p, end);
    int tables = 0;
    if (name.type != TOKEN_WORD && name.type != TOKEN_NAME) return false;
    if (rst_token_mark(&dot, ".")) {
        const rst_token qualifier = name;
        name = rst_token_next(&p, end);
        dot = rst_token_next(&p, end);
        if (dot.type != TOKEN_END || !rst_token_names(&name) || rst_scope_named(&s->scope, &qualifier) != found)
            return false;
        /* A name that it does not have can be that of an outer SELECT's item. */
        return found->table != NULL ? has_column(found->table, &name) : s->outermost && is_ours(found);
    }
    if (dot.type != TOKEN_END || s->scope.merged) return false;
    for (int i = 0; i < s->scope.count; i++) {
        if (s->scope.items[i].table == NULL) return false;
        tables += has_column(s->scope.items[i].table, &name);
    }
    return tables == 1 && has_column(found->table, &name);
}

static bool is_comparison(const rst_token *token) {
    static const char *const marks[] = {"=", "==", "<", "<=", ">", ">=", "<>", "!=", NULL};
    for (int i = 0; marks[i] != NULL; i++) {
        if (rst_token_mark(token, marks[i])) return true;
    }
    return false;
}

static bool clause_rejects(const select_parts *s, const char *p, const char *end, int item, int depth);

/* Whether the term, in which no AND and no OR stands, is true only where the item has a row. */
static bool term_rejects(const select_parts *s, const char *p, const char *end, int item, int depth) {
    static const char *const words[] = {"IS",     "IN",      "LIKE",   "GLOB",    "MATCH", "REGEXP", "BETWEEN",
                                        "ISNULL", "NOTNULL", "ESCAPE", "COLLATE", "NOT",   "CASE",   NULL};
    const char *start = p, *stop;
    rst_token token = rst_token_next(&p, end), comparison = {TOKEN_END, start, 0};
    if (rst_token_mark(&token, "(")) {
        stop = p;
        if (!rst_token_skip_parentheses(&stop, end)) return false;
        if (token_behind(stop, end).type == TOKEN_END) return clause_rejects(s, p, stop - 1, item, depth + 1);
    }
    for (p = start;;) {
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_is_among(&token, words) || token.type == TOKEN_ILLEGAL) return false;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return false;
        if (!is_comparison(&token)) continue;
        if (comparison.type != TOKEN_END) return false;
        comparison = token;
    }
    if (comparison.type == TOKEN_END) return false;
    stop = comparison.text + comparison.size;
    return (is_column_of(s, start, comparison.text, item) && !may_be_foreign(s, stop, end)) ||
           (is_column_of(s, stop, end, item) && !may_be_foreign(s, start, comparison.text));
}

static bool clause_rejects(const select_parts *s, const char *p, const char *end, int item, int depth) {
    const char *start = p;
    bool found = false;
    int cases = 0, betweens = 0;
    if (depth > DEEPEST || p == NULL) return false;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        bool over = token.type == TOKEN_END;
        if (rst_token_mark(&token, ",") || rst_token_is(&token, "SELECT") || rst_token_is(&token, "VALUES"))
            return false;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return false;
        if (rst_token_is(&token, "CASE")) cases++;
        if (rst_token_is(&token, "END")) cases--;
        if (cases == 0 && rst_token_is(&token, "OR")) return false;
        if (cases == 0 && rst_token_is(&token, "BETWEEN")) betweens++;
        if (cases == 0 && rst_token_is(&token, "AND")) {
            if (betweens > 0)
                betweens--;
            else
                over = true;
        }
        if (!over) continue;
        found = found || term_rejects(s, start, token.text, item, depth);
        if (token.type == TOKEN_END) return found && cases == 0;
        start = p;
    }
}

/* Notes in `blanked` where the joins that are inner ones stand. Returns how many more they are. */
static int find_inner(rst_connection *c, const char *text, const char *end, const char *from, bool outermost,
                      joined *blanked, int room) {
    select_parts s;
    int count = 0;
    bool left = false;
    s.outermost = outermost;
    if (!rst_scope_read(c, text, end, NULL, from, &s.scope)) return 0;
    for (int i = 0; i < s.scope.count; i++) left |= s.scope.items[i].left;
    if (!left || !read_joins(from, end, &s)) return 0;
    for (int i = 1; i < s.scope.count && count < room; i++) {
        bool rejects;
        if (s.items[i].left == NULL) continue;
        rejects = clause_rejects(&s, s.where, s.where_end, i, 0);
        for (int j = 1; j < s.scope.count && !rejects; j++)
            rejects = s.items[j].left == NULL && clause_rejects(&s, s.items[j].on, s.items[j].on_end, i, 0);
        if (!rejects) continue;
        blanked[count++] = s.items[i];
        s.items[i].left = NULL;
    }
    return count;
}

int rst_inner_joins_write(rst_connection *c, const char *text, const char *end, char **out) {
    joined blanked[SCOPE_ITEMS * 2];
    const char *p = text;
    rst_token previous = {TOKEN_END, text, 0};
    int count = 0, depth = 0;
    *out = NULL;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        depth += rst_token_mark(&token, "(") - rst_token_mark(&token, ")");
        if (rst_token_is(&token, "FROM") && !rst_token_is(&previous, "DISTINCT"))
            count += find_inner(c, text, end, p, depth == 0, blanked + count,
                                (int)(sizeof blanked / sizeof blanked[0]) - count);
        previous = token;
    }
    if (count == 0) return SQLITE_OK;
    *out = sqlite3_mprintf("%.*s", (int)(end - text), text);
    if (*out == NULL) return SQLITE_NOMEM;
    for (int i = 0; i < count; i++) {
        memset(*out + (blanked[i].left - text), ' ', strlen("LEFT"));
        if (blanked[i].outer != NULL) memset(*out + (blanked[i].outer - text), ' ', strlen("OUTER"));
    }
    return SQLITE_OK;
}
