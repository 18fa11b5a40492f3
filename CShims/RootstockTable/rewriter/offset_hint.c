/*
** offset_hint.c - tells xBestIndex that the cursor may skip the rows of an OFFSET itself: leaf by leaf, not row by row.
**
** SQLite offers OFFSET to a table that is alone in its FROM. 3.40 also offers it in two cases where other rows could be
** skipped than SQLite would skip. One is a part of a compound SELECT, whose parts share one OFFSET. The other are terms
** of WHERE that it does not show (`a = b` of one table). So the front door reads the statement. It must be one SELECT
** of one table of the store. Its WHERE compares columns with literals or parameters, joined by AND, and its ORDER BY
** are names. The front door then hands the table an argument, which says whether there is an ORDER BY:
**
**   SELECT * FROM t ORDER BY id LIMIT 10 OFFSET ?1   becomes   SELECT * FROM t('rootstock offset ordered') ORDER BY ...
**
** Invariant: rows are skipped only if the plan gives no others, in their order. Each constraint is the plan's alone
** (rst_plan_skips). A statement that is not understood here stays as it is.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"
#include "rewriter/transform.h"

enum { TERMS = 8, ORDERS = 8 };

/* name or qualifier.name */
static bool is_column(const rst_syntax *e) {
    const char *p = e->start;
    rst_token schema;
    if (e->kind != SYNTAX_NAME) return false;
    (void)rst_token_object(&p, e->end, &schema);
    return p == e->end;
}

static bool is_constant(const rst_syntax *e) {
    bool called = false;
    return rst_is_operand(e, &called) && !called;
}

/* Whether the results are those of one row: no window, no subquery, no DISTINCT. */
static bool is_of_row(const rst_syntax *e) {
    if (e->kind == SYNTAX_SUBQUERY || e->kind == SYNTAX_FILTER || e->kind == SYNTAX_WINDOW ||
        e->kind == SYNTAX_DISTINCT)
        return false;
    for (const rst_syntax *child = e->first; child != NULL; child = child->next) {
        if (!is_of_row(child)) return false;
    }
    return true;
}

static bool is_term(const rst_syntax *e) {
    rst_token mark;
    if (e->kind != SYNTAX_EQUAL && e->kind != SYNTAX_COMPARE) return false;
    mark = rst_syntax_operator(e);
    return (e->kind == SYNTAX_COMPARE || rst_token_mark(&mark, "=") || rst_token_mark(&mark, "==")) &&
           is_column(e->first) && is_constant(e->last);
}

/* Whether the WHERE is such terms, TERMS at most. */
static bool is_understood(const rst_syntax *where) {
    const rst_syntax *e = where->first;
    int count = 0;
    if (e->kind != SYNTAX_AND) return is_term(e);
    for (e = e->first; e != NULL; e = e->next) {
        if (++count > TERMS || !is_term(e)) return false;
    }
    return true;
}

/* Whether the ORDER BY is names, ORDERS at most, with ASC or DESC alone. */
static bool is_of_names(const rst_syntax *order) {
    int count = 0;
    for (const rst_syntax *term = order->first; term != NULL; term = term->next) {
        bool descending, apart;
        if (!rst_term_is_plain(term, &descending, &apart) || apart || ++count > ORDERS || !is_column(term->first))
            return false;
    }
    return true;
}

/* LIMIT x OFFSET y */
static bool has_offset(const rst_syntax *limit) {
    rst_token word;
    if (limit->first->next == NULL) return false;
    word = rst_syntax_operator(limit);
    return rst_token_is(&word, "OFFSET") && is_constant(limit->first) && is_constant(limit->last);
}

/* The one table, alone in its FROM with at most an alias, of a SELECT that is understood; or null. */
static const rst_syntax *table_of(const rst_syntax *core) {
    const rst_syntax *table = NULL;
    for (const rst_syntax *part = core->first; part != NULL; part = part->next) {
        switch (part->kind) {
        case SYNTAX_RESULT:
            if (!is_of_row(part)) return NULL;
            break;
        case SYNTAX_WHERE:
            if (!is_understood(part)) return NULL;
            break;
        case SYNTAX_FROM: table = part->first; break;
        default: return NULL;
        }
    }
    if (table == NULL || table->next != NULL || table->kind != SYNTAX_TABLE) return NULL;
    return table->first->next == NULL || (table->last == table->first->next && table->last->kind == SYNTAX_ALIAS)
               ? table->first
               : NULL;
}

int rst_offset_tell(rst_connection *c, rst_draft *draft) {
    const bool mentions = rst_text_mentions(draft->text, draft->end, "offset");
    const rst_syntax_tree *tree = mentions ? rst_draft_tree(draft) : NULL;
    const rst_syntax *core, *order, *limit, *name = NULL;
    rst_token schema, table;
    rst_edits edits = {0};
    if (tree == NULL) return rst_draft_failed(draft);
    core = tree->root->first;
    if (tree->root->kind != SYNTAX_SELECT || core->kind != SYNTAX_CORE) return SQLITE_OK;
    order = core->next != NULL && core->next->kind == SYNTAX_ORDER ? core->next : NULL;
    limit = order != NULL ? order->next : core->next;
    if (limit != NULL && limit->kind == SYNTAX_LIMIT && has_offset(limit) && (order == NULL || is_of_names(order)))
        name = table_of(core);
    if (name == NULL) return SQLITE_OK;
    table = rst_syntax_name(name, &schema);
    if (rst_target(c, &schema, &table) == NULL) return SQLITE_OK;
    rst_edits_add(&edits, name->end, name->end,
                  sqlite3_mprintf("('%s')", order != NULL ? ROOTSTOCK_OFFSET_HINT " ordered" : ROOTSTOCK_OFFSET_HINT));
    return rst_draft_write(draft, &edits);
}
