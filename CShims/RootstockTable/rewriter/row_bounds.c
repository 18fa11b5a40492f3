/*
** row_bounds.c - tells xBestIndex of a row value that bounds: (a, b) > (x, y).
**
** SQLite shows a module a >= x alone, so a walk would pass all rows with a = x that stand before y. The front door
** therefore adds what each column is compared with:
**
**   (a, b) > (?1, ?2)   becomes   ((a, b) > (?1, ?2) AND rootstock_beyond_0(a, ?1) AND rootstock_beyond_1(b, ?2))
**
** The function is true, and xBestIndex is shown it as a constraint on its column (expressions.c). The next row value
** has numbers of its own: SQLite may make one SELECT of several. A column of a view or subquery is handed on, too: what
** stands for it stands in both places, or in neither. SQLite compares the rows that come.
**
** Invariants
**  1. The bound is a term of WHERE, and so true of all rows that are wanted. Whatever else bounds the walk, it may
**     begin at the later of both.
**  2. The columns are compared with literals and parameters, which have no affinity.
*/
#include "rewriter/expressions.h"
#include "rewriter/hints.h"

#include <string.h>

typedef struct telling {
    rst_connection *c;
    const rst_draft *draft;
    const rst_syntax_tree *tree;
    rst_edits edits;
    int told[2]; /* row values that bound from below, from above */
    int code;
} telling;

static bool is_column(const rst_table *table, const rst_part *part, int column) {
    return part->column == column || (part->column == -1 && column == table->rowid_column);
}

/* Whether the columns stand one after the other in a key of the table. */
static bool are_of_a_key(const rst_table *table, const int *columns, int count) {
    for (int i = -1; i < table->index_count; i++) {
        const rst_walked_key key = rst_walked_key_of(table, i);
        for (int p = 0; p + count <= key.part_count; p++) {
            int same = 0;
            while (same < count && is_column(table, &key.parts[p + same], columns[same])) same++;
            if (same == count) return true;
        }
    }
    return false;
}

/* Whether what stands in the row value may be columns of one key. The table of a view or subquery is not known. */
static bool may_be_of_a_key(const rst_scope *scope, const rst_syntax *vector) {
    const rst_scope_item *first = NULL;
    int columns[ROW_BOUND_TERMS], count = 0, unknown = 0;
    for (int i = 0; i < scope->count; i++) unknown += scope->items[i].table == NULL;
    for (const rst_syntax *name = vector->first; name != NULL; name = name->next, count++) {
        const rst_scope_item *item;
        if (count == ROW_BOUND_TERMS || name->kind != SYNTAX_NAME) return false;
        item = rst_scope_column(scope, name, &columns[count]);
        if (item == NULL && unknown == 0) return false;
        if (name == vector->first) first = item;
        if (item != first) return false;
    }
    return first == NULL || (!first->left && !first->table->internal && are_of_a_key(first->table, columns, count));
}

/* Writes the hints of the term, if it is such a bound. */
static void tell_term(telling *t, const rst_scope *scope, const rst_syntax *term) {
    const rst_syntax *left = rst_syntax_unwrap(term->first), *right = rst_syntax_unwrap(term->last);
    const rst_syntax *value = right->first;
    const rst_token mark = rst_syntax_operator(term);
    const int side = rst_token_mark(&mark, ">") || rst_token_mark(&mark, ">=") ? 0 : 1;
    int place = (2 * t->told[side] + side) * ROW_BOUND_TERMS;
    bool called = false;
    sqlite3_str *out;
    if (left->kind != SYNTAX_VECTOR || right->kind != SYNTAX_VECTOR || place >= ROW_BOUNDS * ROW_BOUND_TERMS ||
        !may_be_of_a_key(scope, left))
        return;
    for (const rst_syntax *name = left->first; name != NULL; name = name->next) {
        if (value == NULL || !rst_is_operand(value, &called) || called) return;
        value = value->next;
    }
    if (value != NULL) return;
    out = sqlite3_str_new(NULL);
    value = right->first;
    for (const rst_syntax *name = left->first; name != NULL; name = name->next, value = value->next) {
        char function[32];
        sqlite3_snprintf(sizeof function, function, "rootstock_beyond_%d", place++);
        sqlite3_str_appendf(out, " AND %s(%.*s,", function, (int)(name->end - name->start), name->start);
        if (t->code == SQLITE_OK) t->code = rst_hint_register(t->c, function);
        if (t->code == SQLITE_OK) t->code = rst_operand_again(t->c, t->draft->text, value, out);
        sqlite3_str_appendall(out, ")");
    }
    sqlite3_str_appendall(out, ")");
    rst_edits_add(&t->edits, term->start, term->start, sqlite3_mprintf("("));
    rst_edits_add(&t->edits, term->end, term->end, sqlite3_str_finish(out));
    t->told[side]++;
}

static void tell_terms(telling *t, const rst_scope *scope, const rst_syntax *node) {
    const rst_syntax *term = rst_syntax_unwrap(node);
    if (term->kind == SYNTAX_AND) {
        for (const rst_syntax *child = term->first; child != NULL; child = child->next) tell_terms(t, scope, child);
    } else if (term->kind == SYNTAX_COMPARE) {
        tell_term(t, scope, term);
    }
}

static void visit(telling *t, const rst_syntax *node) {
    const rst_syntax *where = rst_syntax_child(node, SYNTAX_WHERE);
    rst_scope scope;
    if (where != NULL && node->kind != SYNTAX_FILTER && node->kind != SYNTAX_UPSERT &&
        rst_scope_of(t->c, t->tree, rst_syntax_child(node, SYNTAX_TARGET), rst_syntax_child(node, SYNTAX_FROM),
                     &scope) &&
        !scope.nested)
        tell_terms(t, &scope, where->first);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        /* SQLite names a result by its text, where it has no alias */
        if (child->kind != SYNTAX_RESULT || child->first->next != NULL) visit(t, child);
    }
}

int rst_row_bounds_tell(rst_connection *c, rst_draft *draft) {
    telling t = {.c = c, .draft = draft};
    char *made = NULL;
    t.tree = rst_row_value_compared(draft->text, draft->end) ? rst_draft_tree(draft) : NULL;
    if (t.tree == NULL) return rst_draft_failed(draft);
    visit(&t, t.tree->root);
    if (t.code == SQLITE_OK) t.code = rst_edits_apply(&t.edits, draft->text, draft->end, &made);
    rst_edits_free(&t.edits);
    if (made != NULL) rst_keep_if_it_compiles(c, &made);
    rst_draft_take(draft, made);
    return t.code == SQLITE_NOMEM ? t.code : SQLITE_OK; /* a parameter's number is out of range: SQLite says so */
}
