/*
** least_value.c - min(x) of a column that may be NULL is the first entry of an index, as natively.
**
** SQLite asks its own table for the order of x with NULLs last, and ends behind the first row. Of a virtual table it
** tells no such order, so that all rows are read. The front door asks for the row instead:
**
**   SELECT min(b.x) FROM b JOIN a ON ... WHERE a.y = ?1            becomes
**   SELECT min("rootstock least") AS "min(b.x)" FROM (SELECT b.x AS "rootstock least" FROM b JOIN a ON ...
**   WHERE (a.y = ?1) AND b.x >= -9e999 ORDER BY b.x LIMIT 1)
**
** Each value but NULL passes the comparison, by which an index is entered behind its NULLs: `>= ''` of a TEXT column.
** An application's own min() is called for the one row, too, as natively.
**
** Invariants
**  1. The SELECT has one result, min() of a store's column, and nothing else but FROM and WHERE: it gives one row.
**  2. The column's collation is one of SQLite's, of which no text comes before ''.
**  3. What SQLite would then sort stays as it is.
*/
#include "rewriter/expressions.h"
#include "rewriter/rewriting.h"

#define ROOTSTOCK_LEAST "\"rootstock least\"" /* WHERE sees the name: a plain one could be a word of the program's */

typedef struct least {
    rst_connection *c;
    const rst_syntax_tree *tree;
    const char *end;
    rst_edits edits;
} least;

/* The column of min(column), without more in the call; or null. */
static const rst_syntax *least_of(const rst_syntax *e) {
    rst_token qualifier, name;
    if (e->kind != SYNTAX_CALL || e->first->next == NULL || e->first->next != e->last || e->last->kind != SYNTAX_NAME)
        return NULL;
    name = rst_syntax_name(e->first, &qualifier);
    return qualifier.type == TOKEN_END && rst_token_same_name(&name, "min") ? e->last : NULL;
}

/* Whether an index of all rows begins with the column, or has it behind others that WHERE may hold equal. */
static bool is_ordered(const rst_table *table, int column, bool held) {
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        for (int p = 0; p < index->part_count && (p == 0 || held) && index->where == NULL; p++) {
            if (index->parts[p].column == column &&
                sqlite3_stricmp(index->parts[p].collation_name, table->columns[column].collation_name) == 0)
                return true;
        }
    }
    return false;
}

/* Whether min() of it is the first entry behind the NULLs. */
static bool is_fit(const rst_table *table, int column, bool held) {
    const rst_column *of = &table->columns[column];
    return !table->internal && column != table->rowid_column && !of->not_null && of->generated == 0 &&
           of->collation <= ROOTSTOCK_COLLATION_RTRIM && is_ordered(table, column, held);
}

static void write_select(least *l, const rst_syntax *core) {
    const rst_syntax *result = core->first, *from = result->next, *where = from == NULL ? NULL : from->next;
    const rst_syntax *name = result->kind == SYNTAX_RESULT ? least_of(result->first) : NULL;
    const rst_syntax *alias = name == NULL ? NULL : rst_syntax_child(result, SYNTAX_ALIAS);
    const rst_scope_item *item;
    const char *behind;
    rst_scope scope;
    int column, size;
    if (name == NULL || from == NULL || from->kind != SYNTAX_FROM ||
        (where != NULL && (where->kind != SYNTAX_WHERE || where->next != NULL)) ||
        !rst_scope_of(l->c, l->tree, NULL, from, &scope) || scope.nested)
        return;
    for (int i = 1; i < scope.count; i++) {
        if (rst_join_is_right(scope.items[i].join)) return;
    }
    item = rst_scope_column(&scope, name, &column);
    if (item == NULL || item->left || !is_fit(item->table, column, where != NULL)) return;
    size = (int)(name->end - name->start);
    if (alias == NULL) rst_name_result(&l->edits, result, l->end);
    rst_edits_add(&l->edits, name->start, name->end, sqlite3_mprintf(ROOTSTOCK_LEAST));
    rst_edits_add(&l->edits, result->end, result->end,
                  sqlite3_mprintf(" FROM (SELECT %.*s AS " ROOTSTOCK_LEAST, size, name->start));
    if (where != NULL) rst_edits_add(&l->edits, where->first->start, where->first->start, sqlite3_mprintf("("));
    behind = where != NULL ? where->first->end : from->end;
    rst_edits_add(&l->edits, behind, behind,
                  sqlite3_mprintf("%s %.*s >= %s ORDER BY %.*s LIMIT 1)", where != NULL ? ") AND" : " WHERE", size,
                                  name->start, item->table->columns[column].affinity == AFFINITY_TEXT ? "''" : "-9e999",
                                  size, name->start));
}

/* A result without an alias is named by its text. */
static void visit(least *l, const rst_syntax *node) {
    if (node->kind == SYNTAX_SELECT && node->first == node->last && node->first->kind == SYNTAX_CORE)
        write_select(l, node->first);
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (child->kind != SYNTAX_RESULT || child->first->next != NULL) visit(l, child);
    }
}

int rst_least_tell(rst_connection *c, rst_draft *draft) {
    least l = {.c = c, .end = draft->end};
    l.tree = rst_text_mentions(draft->text, draft->end, "min") ? rst_draft_tree(draft) : NULL;
    if (l.tree == NULL) return rst_draft_failed(draft);
    if (l.tree->root->kind != SYNTAX_SELECT) return SQLITE_OK;
    visit(&l, l.tree->root);
    return l.edits.count == 0 ? SQLITE_OK : rst_draft_write_sorted(c, draft, &l.edits);
}
