/*
** partial_terms.c - tells xBestIndex that it may believe `x IS NOT NULL`, `x <> 1` and `x IS NOT 1`, so that partial
** indexes of such rows serve. It may believe `x LIKE ?1`, too, by which a scan passes over other rows (plan_reject.c),
** and an index is entered behind its NULLs (plan_match.c).
**
** SQLite shows these terms of a table even in the ON of a LEFT JOIN to the right of it, where they choose none of its
** rows (partial_predicate.c). A statement in which no ON of a LEFT JOIN has such a term is safe. There the front door
** hands an argument to the tables that have such indexes. It does so, too, where the WHERE of a query has such a LIKE
** of the table, or IS NOT NULL of a column that an index has:
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

/* What the whole statement has. */
typedef struct looked {
    bool wanted;   /* terms that could serve */
    bool doubtful; /* such in an ON, or others that may be shown as such */
    bool left;     /* a LEFT JOIN */
    bool silent;   /* a RIGHT or FULL JOIN */
} looked;

/* on: in an ON, where all is, whatever begins there. */
static void look(const rst_syntax *node, bool on, looked *out) {
    on |= node->kind == SYNTAX_ON;
    switch (node->kind) {
    case SYNTAX_JOIN:
        out->left |= rst_join_has(node, "LEFT");
        out->silent |= rst_join_is_right(node);
        break;
    case SYNTAX_CALL: { /* like(pattern, x) is shown as x LIKE pattern */
        rst_token qualifier, name = rst_syntax_name(node->first, &qualifier);
        out->doubtful |= on && rst_token_same_name(&name, "like");
        break;
    }
    case SYNTAX_NOT:
        out->wanted = true;
        out->doubtful |= on;
        break;
    case SYNTAX_EQUAL:
    case SYNTAX_NULL:
    case SYNTAX_LIKE:
    case SYNTAX_IN:
    case SYNTAX_BETWEEN: {
        rst_token word = rst_syntax_operator(node);
        if (rst_token_is(&word, "IS") || rst_token_is(&word, "NOT") || rst_token_is(&word, "NOTNULL") ||
            rst_token_mark(&word, "<>") || rst_token_mark(&word, "!=")) {
            out->wanted = true;
            out->doubtful |= on;
        } else if (node->kind == SYNTAX_LIKE) {
            out->wanted |= rst_token_is(&word, "LIKE");
            out->doubtful |= on;
        }
        break;
    }
    default: break;
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) look(child, on, out);
}

static bool has_exclusions(const rst_table *table) {
    for (int i = 0; i < table->index_count; i++) {
        if (rst_partial_predicate_excludes(table->indexes[i].predicate)) return true;
    }
    return false;
}

/* Whether the term compares a column of TEXT by that name with a literal or a parameter. */
static bool is_like_of(const rst_table *table, const rst_syntax *term) {
    rst_token word, name, qualifier;
    int column;
    if (term->kind != SYNTAX_LIKE || term->first->kind != SYNTAX_NAME || term->first->next != term->last ||
        (term->last->kind != SYNTAX_VARIABLE && (term->last->kind != SYNTAX_LITERAL || *term->last->start != '\'')))
        return false;
    word = rst_syntax_operator(term);
    if (!rst_token_is(&word, "LIKE")) return false;
    name = rst_syntax_name(term->first, &qualifier);
    column = rst_column_named(table, &name);
    return column >= 0 && table->columns[column].affinity == AFFINITY_TEXT;
}

/* Whether it is IS NOT NULL of a column by the name of one that an index has. */
static bool is_not_null_of(const rst_table *table, const rst_syntax *term) {
    rst_token word, name, qualifier;
    int column;
    if (term->first == NULL || term->first->kind != SYNTAX_NAME) return false;
    word = rst_syntax_operator(term);
    if (term->kind == SYNTAX_EQUAL) {
        const char *p = word.text + word.size;
        rst_token second = rst_token_next(&p, term->end), third = rst_token_next(&p, term->end);
        if (!rst_token_is(&word, "IS") || !rst_token_is(&second, "NOT") || !rst_token_is(&third, "NULL")) return false;
    } else if (term->kind != SYNTAX_NULL || (!rst_token_is(&word, "NOT") && !rst_token_is(&word, "NOTNULL"))) {
        return false;
    }
    name = rst_syntax_name(term->first, &qualifier);
    column = rst_column_named(table, &name);
    for (int i = 0; i < table->index_count && column >= 0; i++) {
        for (int p = 0; p < table->indexes[i].part_count; p++)
            if (table->indexes[i].parts[p].column == column) return true;
    }
    return false;
}

static bool is_useful(const rst_table *table, const rst_syntax *term) {
    return is_like_of(table, term) || is_not_null_of(table, term);
}

/* Whether a scan may pass over rows by such a term, or an index over its NULLs. where: a SYNTAX_WHERE, or null. */
static bool has_useful(const rst_table *table, const rst_syntax *where) {
    const rst_syntax *terms = where == NULL ? NULL : where->first;
    if (terms == NULL || terms->kind != SYNTAX_AND) return terms != NULL && is_useful(table, terms);
    for (const rst_syntax *term = terms->first; term != NULL; term = term->next) {
        if (is_useful(table, term)) return true;
    }
    return false;
}

typedef struct teller {
    rst_connection *c;
    const char *text, *end;
    const rst_syntax_tree *tree;
    bool left; /* the statement has a LEFT JOIN */
    rst_edits edits;
} teller;

/* Tells the tables of a FROM. */
static void tell_from(teller *t, const rst_syntax *from, const rst_syntax *where) {
    rst_scope scope;
    if (!rst_scope_of(t->c, t->tree, NULL, from, &scope) || scope.nested) return;
    for (int i = 0; i < scope.count; i++) {
        const rst_scope_item *item = &scope.items[i];
        if (item->table != NULL && item->behind != NULL &&
            (has_exclusions(item->table) || (!item->left && has_useful(item->table, where))))
            rst_edits_add(&t->edits, item->behind, item->behind, sqlite3_mprintf("('" ROOTSTOCK_TERMS_HINT "')"));
    }
}

/* The results of a SELECT are left alone: their names are their texts. Beside a LEFT JOIN the tables of a subquery
** could be named by its ON as columns of that. */
static void tell(teller *t, const rst_syntax *node, int depth) {
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind == SYNTAX_RESULT) continue;
        if (child->kind == SYNTAX_FROM && node->kind == SYNTAX_CORE && (!t->left || depth == 0))
            tell_from(t, child, rst_syntax_child(node, SYNTAX_WHERE));
        tell(t, child, depth + (child->kind == SYNTAX_SELECT));
    }
}

/* The WHERE of an UPDATE or DELETE with the same, as a term: a target takes no argument (target_hint.c). */
static void tell_target(teller *t, const rst_syntax *change) {
    static const rst_syntax_kind others[] = {SYNTAX_FROM, SYNTAX_ORDER, SYNTAX_LIMIT, SYNTAX_RETURNING};
    const rst_syntax *where = rst_syntax_child(change, SYNTAX_WHERE);
    rst_statement_parts parts;
    const rst_table *table;
    sqlite3_str *term;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (rst_syntax_child(change, others[i]) != NULL) return;
    }
    rst_statement_read(t->tree, t->text, t->end, &parts);
    /* A plan takes one term of hints: that of INDEXED BY or NOT INDEXED stands there already. */
    table = where == NULL || rst_text_mentions(where->start, where->end, "\"rootstock hint\"") ||
                    rst_has_target_hint(&parts)
                ? NULL
                : rst_target(t->c, &parts.schema, &parts.table);
    if (table == NULL || !has_exclusions(table)) return;
    term = sqlite3_str_new(NULL);
    rst_append_hint_column(table, &parts, term);
    sqlite3_str_appendall(term, "='" ROOTSTOCK_TERMS_HINT "' AND (");
    rst_edits_add(&t->edits, where->first->start, where->first->start, sqlite3_str_finish(term));
    rst_edits_add(&t->edits, where->first->end, where->first->end, sqlite3_mprintf(")"));
}

int rst_terms_tell(rst_connection *c, rst_draft *draft) {
    teller t = {.c = c, .text = draft->text, .end = draft->end};
    looked has = {0};
    char *made;
    int code;
    t.tree = rst_draft_tree(draft);
    if (t.tree == NULL) return rst_draft_failed(draft);
    look(t.tree->root, false, &has);
    t.left = has.left;
    if (!has.wanted || has.silent || (has.left && has.doubtful)) {
        /* nothing is to be said, or cannot be */
    } else if (t.tree->root->kind == SYNTAX_SELECT) {
        tell(&t, t.tree->root, 0);
    } else if (t.tree->root->kind != SYNTAX_INSERT && !has.left) {
        tell_target(&t, t.tree->root);
    }
    code = rst_edits_apply(&t.edits, t.text, t.end, &made);
    if (made != NULL) rst_keep_if_it_compiles(c, &made);
    rst_draft_take(draft, made);
    return code;
}
