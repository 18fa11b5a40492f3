/*
** transform.c - what a statement's text has to become. One walk of its tree collects edits from all who have to write
** something otherwise (rewriting.h); then they are written.
**
** Invariants: text that needs none of this comes back as "no change", whatever it is, and so does what has no tree,
** which SQLite refuses. Edits at one place are collected from the inside out.
*/
#include "rewriter/rewriting.h"
#include "rewriter/transform.h"

#include <string.h>

static void visit(rst_rewriting *w, const rst_syntax *node, const rst_syntax *join, bool filter, int depth);

/* outermost: the statement's own SELECT; source: a subquery in FROM, or a common table. */
static void write_results(rst_rewriting *w, const rst_syntax *select, bool outermost, bool source) {
    outermost &= !rst_becomes_subquery(select);
    if (source || rst_is_compound(select)) rst_write_compound_keys(w, select, outermost);
    rst_write_rowids(w, select, outermost);
}

static void visit_child(rst_rewriting *w, const rst_syntax *node, const rst_syntax *child, const rst_syntax *join,
                        bool filter, int depth) {
    const int edits = w->edits.count;
    const bool own = node->kind == SYNTAX_INSERT || node->kind == SYNTAX_CREATE_TABLE ||
                     node->kind == SYNTAX_CREATE_VIEW; /* no parentheses around it */
    const bool nested = depth > 0 || w->tree->root->kind == SYNTAX_CREATE_VIEW;
    if (child->kind == SYNTAX_SELECT)
        filter = false;
    else if (child->kind == SYNTAX_WHERE || child->kind == SYNTAX_ON)
        filter = true;
    visit(w, child, child->kind == SYNTAX_JOINED || node->kind == SYNTAX_JOINED ? join : NULL, filter,
          depth + (child->kind == SYNTAX_SELECT && !own));
    switch (child->kind) {
    case SYNTAX_SELECT:
        write_results(w, child, depth == 0 && own, node->kind == SYNTAX_SOURCE || node->kind == SYNTAX_COMMON_TABLE);
        break;
    case SYNTAX_TABLE:
    case SYNTAX_TARGET: rst_write_table(w, child, join, node->kind == SYNTAX_FROM); break;
    case SYNTAX_FROM: rst_write_joins(w, node, child, depth == 0); break;
    case SYNTAX_RESULT:
        if (nested) rst_write_literal(w, child->first);
        if (node->kind == SYNTAX_CORE) rst_write_result(w, child, edits);
        break;
    case SYNTAX_CAST: rst_write_literal(w, child->first); break;
    case SYNTAX_VECTOR:
        if (nested && node->kind == SYNTAX_VALUES) rst_write_values(w, child);
        break;
    case SYNTAX_IN:
        if (filter) rst_write_row_value(w, child);
        break;
    default: break;
    }
}

/* join: before the node, if that is a join in parentheses; filter: in a WHERE or ON; depth: of SELECTs in
** parentheses. */
static void visit(rst_rewriting *w, const rst_syntax *node, const rst_syntax *join, bool filter, int depth) {
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind == SYNTAX_JOIN)
            join = child;
        else
            visit_child(w, node, child, join, filter, depth);
    }
}

/* Whether any of the words that concern us is there at all: most statements end here. casts: CAST is one. */
static bool is_concerned(const char *text, const char *end, bool casts) {
    for (const char *p = text; end - p >= 3; p++) {
        switch (*p | 0x20) {
        case 'o':
        case 'w':
            if (sqlite3_strnicmp(p + 1, "id", 2) == 0) return true; /* rowid, oid */
            break;
        case 'c':
            if (casts && end - p >= 6 && (sqlite3_strnicmp(p, "cast", 4) == 0 || sqlite3_strnicmp(p, "create", 6) == 0))
                return true;
            break;
        case 's':
            if (end - p >= 7 && sqlite3_strnicmp(p, "sqlite_", 7) == 0) return true;
            break;
        case 'p':
            if (end - p >= 7 && sqlite3_strnicmp(p, "pragma_", 7) == 0) return true;
            break;
        case 'i':
            if (end - p >= 7 && sqlite3_strnicmp(p, "indexed", 7) == 0) return true;
            break;
        case 'l':
        case 'f':
            if (end - p >= 4 && (sqlite3_strnicmp(p, "left", 4) == 0 || sqlite3_strnicmp(p, "full", 4) == 0))
                return true;
            break;
        case 'u':
            if (end - p >= 5 && sqlite3_strnicmp(p, "union", 5) == 0) return true;
            break;
        case ')': /* has the bit */
            if (rst_row_value_in(p + 1, end)) return true;
            break;
        default: break;
        }
    }
    return false;
}

int rst_transform(rst_connection *c, rst_draft *draft) {
    rst_rewriting w = {.c = c, .text = draft->text, .end = draft->end};
    int code;
    /* What is kept (a view, a trigger) may meet a partial index that is not there yet. */
    const bool casts = rewriter_of(c)->has_conditions || (*draft->text | 0x20) != 's';
    if (!rst_has_outer_views(c) && !is_concerned(draft->text, draft->end, casts)) return SQLITE_OK;
    w.tree = rst_draft_tree(draft);
    if (w.tree == NULL) return rst_draft_failed(draft);
    visit(&w, w.tree->root, NULL, false, 0);
    if (w.tree->root->kind == SYNTAX_SELECT) write_results(&w, w.tree->root, true, false);
    code = rst_draft_write(draft, &w.edits);
    return code == SQLITE_OK && w.orders ? rst_order_joins(c, draft) : code;
}

int rst_transform_names(rst_connection *c, const char *text, const char *end, char **out, char **message) {
    rst_draft draft;
    int code;
    rst_draft_begin(&draft, text, end);
    code = rst_transform(c, &draft);
    rst_draft_finish(&draft, out);
    if (code != SQLITE_OK) rst_set_message(message, "out of memory");
    return code;
}

int rst_tell(rst_connection *c, int (*tell)(rst_connection *, rst_draft *), char **text) {
    rst_draft draft;
    int code;
    if (*text == NULL) return SQLITE_NOMEM;
    rst_draft_begin(&draft, *text, *text + strlen(*text));
    draft.made = *text;
    code = tell(c, &draft);
    rst_draft_finish(&draft, text);
    return code;
}
