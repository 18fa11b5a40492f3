/*
** sort_hint.c - rows that are sorted by a column of one table first and by others behind it, with a LIMIT.
**
** Natively SQLite walks an index in the order of the first term, sorts the rows of each value, and ends with the value
** that fills the LIMIT. Of a virtual table it believes the whole order or none, and tells it of none that has columns
** of other tables. So the front door tells the table, and lets SQLite say of each row that it sorts it:
**
**   SELECT ... FROM p JOIN u ON u.id = p.by ORDER BY p.made DESC, u.name LIMIT 20            becomes
**   SELECT ... FROM p('rootstock order d :made') JOIN u ON u.id = p.by
**   ORDER BY p.made DESC, u.name, rootstock_sorted(p."rootstock row", 20) LIMIT 20
**
** SQLite tells nobody of NULLS LAST behind ASC or NULLS FIRST behind DESC, be it the only term. The table is told so,
** too: its cursor walks through the column's NULLs and its other values as two ranges.
**
** Nor has a table one order where an index is walked for each value of a list, as of `by IN (1, 2) ORDER BY made LIMIT
** 20`. Each of the walks ends when it has given enough.
**
** The last term is NULL of every row, and leaves their order as it is. SQLite works it out once for a row that has
** passed all of WHERE. The cursor counts these, and ends its walk behind the value that fills the LIMIT
** (scan_enough.c). A parameter that stands in LIMIT gets its number in ORDER BY, and is written as ?N in LIMIT.
**
** The parts of a compound with ORDER BY and LIMIT are merged, each in the whole order. Their tables are told that they
** may sort the groups of an index's first columns (plan_groups.c): FROM p('rootstock order g :').
**
** Invariants
**  1. The rows that are sorted are the SELECT's own: it has no DISTINCT, GROUP BY, aggregate or window function.
**  2. The table stands to the right of no LEFT JOIN and beside no RIGHT or FULL JOIN: where its walk ends, rows of
**     others would seem to have no match.
**  3. The column is told by its name, which a later schema cannot give to another one of the term.
*/
#include "rewriter/expressions.h"
#include "rewriter/hints.h"
#include "rewriter/rewriter.h"

#include <string.h>

typedef struct sorted {
    rst_connection *c;
    const rst_syntax_tree *tree;
    const char *text;
    rst_edits edits;
    bool failed;
} sorted;

/* Whether what is worked out for a row needs no other one. A subquery has rows of its own. */
static bool is_of_row(const rst_syntax *e) {
    if (e->kind == SYNTAX_SUBQUERY || e->kind == SYNTAX_EXISTS) return true;
    if (e->kind == SYNTAX_FILTER || e->kind == SYNTAX_WINDOW || e->kind == SYNTAX_DISTINCT) return false;
    if (e->kind == SYNTAX_CALL) {
        rst_token qualifier, token = rst_syntax_name(e->first, &qualifier);
        char *name = rst_token_name(&token);
        const bool known = name != NULL && rst_is_operand_call(name);
        sqlite3_free(name);
        if (!known) return false;
    }
    for (const rst_syntax *child = e->first; child != NULL; child = child->next) {
        if (!is_of_row(child)) return false;
    }
    return true;
}

/* The item of which the term is a column: itself, or the result of that number or name. Null: that is not known. */
static const rst_scope_item *item_of(const rst_scope *scope, const rst_syntax *core, const rst_syntax *term,
                                     int *column) {
    const rst_syntax *result = rst_result_meant(core, term, true);
    return rst_scope_column(scope, result == NULL ? term : result, column);
}

/* Whether some walk of the table may have the column's order. */
static bool may_lead(const rst_table *table, int column) {
    bool leads = column == table->rowid_column;
    for (int p = 0; p < table->key_count && table->without_rowid; p++) leads |= table->key[p].column == column;
    for (int i = 0; i < table->index_count; i++) {
        for (int p = 0; p < table->indexes[i].part_count; p++) leads |= table->indexes[i].parts[p].column == column;
    }
    return leads;
}

/* Whether the condition holds a column of the name equal to something. *listed is set where it is to one of a list. */
static bool holds(const rst_syntax *condition, const char *column, bool *listed) {
    const rst_syntax *term = rst_syntax_unwrap(condition), *left = term->first;
    rst_token mark, qualifier, name;
    if (term->kind == SYNTAX_AND) {
        for (const rst_syntax *child = term->first; child != NULL; child = child->next)
            if (holds(child, column, listed)) return true;
        return false;
    }
    if ((term->kind != SYNTAX_EQUAL && term->kind != SYNTAX_IN) || left->kind != SYNTAX_NAME ||
        left->next->kind == SYNTAX_NAME)
        return false;
    mark = rst_syntax_operator(term);
    name = rst_syntax_name(left, &qualifier);
    if (term->kind == SYNTAX_IN) {
        const bool held = rst_token_is(&mark, "IN") && rst_token_same_name(&name, column);
        *listed |= held;
        return held;
    }
    return (rst_token_mark(&mark, "=") || rst_token_mark(&mark, "==")) && rst_token_same_name(&name, column);
}

/* Whether an index of the statement's only table has the column's order, behind columns that WHERE holds equal. Not
** where another index has more of these, which finds fewer rows: they are sorted at once. */
static bool leads_alone(const rst_table *table, int column, const rst_syntax *where, bool *listed) {
    int leading = -1, other = 0;
    for (int i = table->without_rowid ? -1 : 0; i < table->index_count; i++) {
        const rst_walked_key key = rst_walked_key_of(table, i);
        const rst_part *parts = key.parts;
        bool lists = false;
        int held = 0;
        while (held < key.part_count && parts[held].column >= 0 && parts[held].column != column && where != NULL &&
               holds(where->first, table->columns[parts[held].column].name, &lists))
            held++;
        if ((i < 0 || table->indexes[i].where == NULL) && held < key.part_count && parts[held].column == column) {
            if (held > leading) *listed = lists;
            if (held > leading) leading = held;
        } else if (held > other) {
            other = held;
        }
    }
    return leading >= other;
}

bool rst_term_is_plain(const rst_syntax *term, bool *descending, bool *apart) {
    const char *p = term->first->end;
    rst_token word = rst_token_next(&p, term->end);
    *descending = rst_token_is(&word, "DESC");
    *apart = false;
    if (*descending || rst_token_is(&word, "ASC")) word = rst_token_next(&p, term->end);
    if (rst_token_is(&word, "NULLS")) {
        word = rst_token_next(&p, term->end);
        *apart = rst_token_is(&word, *descending ? "FIRST" : "LAST");
        word = rst_token_next(&p, term->end);
    }
    return word.type == TOKEN_END;
}

/* Whether the SELECT's results are of its rows, each by itself. */
static bool gives_rows(const rst_syntax *core) {
    for (const rst_syntax *part = core->first; part != NULL; part = part->next) {
        switch (part->kind) {
        case SYNTAX_FROM:
        case SYNTAX_WHERE: break;
        case SYNTAX_RESULT:
            if (part->first->kind != SYNTAX_STAR && !is_of_row(part->first)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

/* Whether the SELECT sorts its own rows. */
static bool sorts_rows(const rst_syntax *core, const rst_syntax *order) {
    for (const rst_syntax *term = order->first; term != NULL; term = term->next) {
        if (!is_of_row(term->first)) return false;
    }
    return gives_rows(core);
}

/* A number without a sign, or a parameter. */
static bool is_count(const rst_syntax *e) {
    const rst_token token = rst_syntax_token(e, 0);
    return e->kind == SYNTAX_VARIABLE || (e->kind == SYNTAX_LITERAL && token.type == TOKEN_NUMBER);
}

static bool is_unnumbered(const rst_syntax *e) {
    return e->kind == SYNTAX_VARIABLE && e->end - e->start == 1;
}

/* LIMIT x, or LIMIT x OFFSET y. */
static bool counts(const rst_syntax *limit) {
    rst_token word;
    if (!is_count(limit->first)) return false;
    if (limit->first->next == NULL) return true;
    word = rst_syntax_operator(limit);
    return rst_token_is(&word, "OFFSET") && is_count(limit->last);
}

/* Writes the operand of LIMIT behind the terms, and its number where it stands. */
static bool move_count(sorted *s, const rst_syntax *e, sqlite3_str *term) {
    sqlite3_str_appendf(term, ", %.*s", (int)(e->end - e->start), e->start);
    if (is_unnumbered(e)) {
        rst_parameters parameters = {0};
        char *message = NULL;
        const int code = rst_parameters_number(s->c, s->text, e->end, &parameters, NULL, &message);
        const int number = parameters.highest;
        rst_parameters_free(&parameters);
        sqlite3_free(message);
        if (code != SQLITE_OK) return false;
        rst_edits_add(&s->edits, e->start, e->end, sqlite3_mprintf("?%d", number));
    }
    return true;
}

bool rst_hand_order(rst_edits *edits, const rst_scope_item *item, char letter, const char *nulls, const char *names) {
    static const char terms[] = "('" ROOTSTOCK_TERMS_HINT "')";
    const rst_syntax *arguments = rst_syntax_child(item->node, SYNTAX_VECTOR);
    const char *start = item->behind, *end = start;
    if (start == NULL) {
        if (arguments == NULL || rst_syntax_child(item->node, SYNTAX_HINT) != NULL ||
            (size_t)(arguments->end - arguments->start) != sizeof terms - 1 ||
            sqlite3_strnicmp(arguments->start, terms, sizeof terms - 1) != 0)
            return false;
        start = arguments->start;
        end = arguments->end;
    }
    rst_edits_add(
        edits, start, end,
        sqlite3_mprintf("('" ROOTSTOCK_ORDER_HINT "%c%c%s:%q')", letter, end > start ? 't' : ' ', nulls, names));
    return true;
}

static bool hand(sorted *s, const rst_scope_item *item, int column, char order, const char *nulls) {
    return rst_hand_order(&s->edits, item, order, nulls, column < 0 ? "" : item->table->columns[column].name);
}

static void tell_select(sorted *s, const rst_syntax *core, const rst_syntax *order, const rst_syntax *limit) {
    const rst_syntax *from = rst_syntax_child(core, SYNTAX_FROM);
    const rst_scope_item *item;
    rst_scope scope;
    sqlite3_str *term;
    int column = -1;
    bool descending = false, apart = false, listed = false;
    if (from == NULL || !rst_term_is_plain(order->first, &descending, &apart) || !sorts_rows(core, order) ||
        !counts(limit) || !rst_scope_of(s->c, s->tree, NULL, from, &scope) || scope.nested)
        return;
    for (int i = 1; i < scope.count; i++) {
        if (rst_join_is_right(scope.items[i].join)) return;
    }
    item = item_of(&scope, core, order->first->first, &column);
    if (item == NULL || item->left || !may_lead(item->table, column) ||
        (scope.count == 1 && !leads_alone(item->table, column, rst_syntax_child(core, SYNTAX_WHERE), &listed)))
        return;
    /* Of a single term SQLite tells the table, which has its order, unless the walk is one for each value of a list. */
    if (order->first->next == NULL && !apart && !listed) return;
    if (!hand(s, item, column, descending ? 'd' : 'a', !apart ? "" : order->first->next == NULL ? "o" : "n")) return;
    term = sqlite3_str_new(NULL);
    sqlite3_str_appendf(term, ", rootstock_sorted(%.*s.\"rootstock row\"", (int)item->name.size, item->name.text);
    if (!move_count(s, limit->first, term) || (limit->last != limit->first && !move_count(s, limit->last, term)))
        s->failed = true; /* SQLite will refuse the statement as it is */
    sqlite3_str_appendall(term, ")");
    rst_edits_add(&s->edits, order->end, order->end, sqlite3_str_finish(term));
}

/* The parts of a compound are merged, each in the order of all: their tables may have it group by group. */
static void tell_parts(sorted *s, const rst_syntax *select) {
    for (const rst_syntax *core = select->first; core != NULL; core = core->next) {
        const rst_syntax *from = core->kind == SYNTAX_CORE ? rst_syntax_child(core, SYNTAX_FROM) : NULL;
        rst_scope scope;
        if (from != NULL && gives_rows(core) && rst_scope_of(s->c, s->tree, NULL, from, &scope) && scope.count == 1 &&
            scope.items[0].table != NULL)
            (void)hand(s, &scope.items[0], -1, 'g', "");
    }
}

/* few: the rows of a SELECT around the node are sorted, and only the first are asked for. */
static void visit(sorted *s, const rst_syntax *node, bool few) {
    const rst_syntax *core = node->kind == SYNTAX_SELECT ? rst_syntax_child(node, SYNTAX_CORE) : NULL;
    const rst_syntax *order = core == NULL ? NULL : rst_syntax_child(node, SYNTAX_ORDER);
    if (order != NULL && order->next != NULL && order->next->kind == SYNTAX_LIMIT) {
        few = true;
        if (core->next == order) tell_select(s, core, order, order->next);
    }
    if (few && core != NULL && core->next != NULL && core->next != order) tell_parts(s, node);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind != SYNTAX_RESULT) visit(s, child, few && child->kind != SYNTAX_WHERE);
    }
}

int rst_sort_tell(rst_connection *c, rst_draft *draft) {
    sorted s = {.c = c, .text = draft->text};
    s.tree = rst_text_mentions(draft->text, draft->end, "limit") ? rst_draft_tree(draft) : NULL;
    if (s.tree == NULL) return rst_draft_failed(draft);
    if (s.tree->root->kind != SYNTAX_SELECT) return SQLITE_OK;
    visit(&s, s.tree->root, false);
    if (s.failed) rst_edits_free(&s.edits);
    return s.edits.count == 0 ? SQLITE_OK : rst_draft_write_sorted(c, draft, &s.edits);
}
