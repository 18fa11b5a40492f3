/*
** row_bounds.c - tells xBestIndex of a row value that bounds: (a, b) > (x, y).
**
** SQLite shows a module a >= x alone, so a walk would pass all rows with a = x that stand before y. The front door
** therefore adds what each column is compared with:
**
**   (a, b) > (?1, ?2)   becomes   ((a, b) > (?1, ?2) AND rootstock_beyond_0(a, ?1) AND rootstock_beyond_1(b, ?2))
**
** The function is true, and xBestIndex is shown it as a constraint on its column (expressions.c). SQLite compares the
** rows that come. Invariants
**  1. The statement is a SELECT of one table, and the bound is a term of its WHERE, the only one that is told so. No
**     other term names these columns: SQLite's a >= x can only be this one's, and puts no other term's value in a
**     column's place.
**  2. The columns stand one after the other in a key, and are compared with literals and parameters.
*/
#include "rewriter/expressions.h"
#include "rewriter/hints.h"

#include <string.h>

/* How many names below the node may be one of the columns. One that is no column's counts as all: a result's name may
** be any of them (a AS z). */
static int mentions(const rst_table *table, const rst_syntax *node, const int *columns, int count) {
    int found = 0;
    if (node->kind == SYNTAX_NAME) {
        rst_token qualifier, name = rst_syntax_name(node, &qualifier);
        const int column = rst_column_named(table, &name);
        for (int i = 0; i < count; i++) found += columns[i] == column;
        return found + (column < 0 || rst_token_is_rowid(&name) ? ROW_BOUND_TERMS : 0);
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (node->kind != SYNTAX_CALL || child != node->first) found += mentions(table, child, columns, count);
    }
    return found;
}

static bool is_column(const rst_table *table, const rst_part *part, int column) {
    return part->column == column || (part->column == -1 && column == table->rowid_column);
}

static bool follow(const rst_table *table, const rst_part *parts, int part_count, const int *columns, int count) {
    for (int p = 0; p + count <= part_count; p++) {
        int same = 0;
        while (same < count && is_column(table, &parts[p + same], columns[same])) same++;
        if (same == count) return true;
    }
    return false;
}

static bool are_of_a_key(const rst_table *table, const int *columns, int count) {
    bool found = table->without_rowid && follow(table, table->key, table->key_count, columns, count);
    for (int i = 0; i < table->index_count && !found; i++)
        found = follow(table, table->indexes[i].parts, table->indexes[i].part_count, columns, count);
    return found;
}

/* The hints of the term; null: it is no such bound, or there is no memory. */
static char *hints_of(rst_connection *c, const rst_draft *draft, const rst_scope *scope, const rst_syntax *where,
                      const rst_syntax *term, int *code) {
    const rst_syntax *left = rst_syntax_unwrap(term->first), *right = rst_syntax_unwrap(term->last), *value;
    const rst_table *table = scope->items[0].table;
    int columns[ROW_BOUND_TERMS], count = 0;
    bool called = false;
    sqlite3_str *out;
    if (left->kind != SYNTAX_VECTOR || right->kind != SYNTAX_VECTOR) return NULL;
    value = right->first;
    for (const rst_syntax *name = left->first; name != NULL; name = name->next, value = value->next, count++) {
        if (count == ROW_BOUND_TERMS || value == NULL || !rst_is_operand(value, &called) || called ||
            rst_scope_column(scope, name, &columns[count]) == NULL)
            return NULL;
    }
    if (value != NULL || mentions(table, where, columns, count) != count || !are_of_a_key(table, columns, count))
        return NULL;
    out = sqlite3_str_new(NULL);
    value = right->first;
    count = 0;
    for (const rst_syntax *name = left->first; name != NULL; name = name->next, value = value->next, count++) {
        char function[32];
        if (*code != SQLITE_OK) continue;
        sqlite3_snprintf(sizeof function, function, "rootstock_beyond_%d", count);
        sqlite3_str_appendf(out, " AND %s(%.*s,", function, (int)(name->end - name->start), name->start);
        *code = rst_hint_register(c, function);
        if (*code == SQLITE_OK) *code = rst_operand_again(c, draft->text, value, out);
        sqlite3_str_appendall(out, ")");
    }
    sqlite3_str_appendall(out, ")");
    return sqlite3_str_finish(out);
}

static int tell_terms(rst_connection *c, const rst_draft *draft, const rst_scope *scope, const rst_syntax *where,
                      const rst_syntax *node, rst_edits *edits) {
    const rst_syntax *term = rst_syntax_unwrap(node);
    int code = SQLITE_OK;
    if (term->kind == SYNTAX_AND) {
        for (const rst_syntax *child = term->first; child != NULL && code == SQLITE_OK; child = child->next)
            code = tell_terms(c, draft, scope, where, child, edits);
    } else if (term->kind == SYNTAX_COMPARE && edits->count == 0) {
        char *hints = hints_of(c, draft, scope, where, term, &code);
        if (hints == NULL) return code;
        rst_edits_add(edits, term->start, term->start, sqlite3_mprintf("("));
        rst_edits_add(edits, term->end, term->end, hints);
    }
    return code;
}

int rst_row_bounds_tell(rst_connection *c, rst_draft *draft) {
    const rst_syntax_tree *tree = rst_row_value_compared(draft->text, draft->end) ? rst_draft_tree(draft) : NULL;
    const rst_syntax *core, *from, *where;
    rst_edits edits = {0};
    rst_scope scope;
    int code;
    if (tree == NULL) return rst_draft_failed(draft);
    core = tree->root->first;
    if (tree->root->kind != SYNTAX_SELECT || core->kind != SYNTAX_CORE ||
        (core->next != NULL && (core->next->kind == SYNTAX_CORE || core->next->kind == SYNTAX_VALUES)))
        return SQLITE_OK;
    from = rst_syntax_child(core, SYNTAX_FROM);
    where = rst_syntax_child(core, SYNTAX_WHERE);
    if (from == NULL || where == NULL || !rst_scope_of(c, tree, NULL, from, &scope) || scope.count != 1 ||
        scope.nested || scope.items[0].table == NULL || scope.items[0].table->internal)
        return SQLITE_OK;
    code = tell_terms(c, draft, &scope, where, where->first, &edits);
    if (code == SQLITE_OK && edits.count > 0) return rst_draft_write_sorted(c, draft, &edits);
    rst_edits_free(&edits);
    return code == SQLITE_NOMEM ? code : SQLITE_OK; /* a parameter's number is out of range: SQLite says so */
}
