/*
** row_values.c - (a, b) IN (...) in WHERE and ON is kept from the planner.
**
** SQLite 3.40.1 splits such a term into one equality for each column and tells a module nothing of it. It checks the
** rows that come back by the column's affinity alone. So rows are lost where the right-hand side's affinity counts too
** (a TEXT column and a list of integers). OR 0 behind the whole term leaves its value as it is and makes it one that no
** index serves, so that SQLite evaluates it on each row. A unary plus would do that, too. But SQLite then asks for the
** value, and looks through the whole list for a NULL on each row that is not in it. Invariant: nothing else of the text
** changes, and the result columns, whose names are their text, are left alone. Terms for which all this makes no
** difference are left to the planner: row_values_alike.c.
*/
#include "rewriter/rewriter.h"
#include "rewriter/rewriting.h"
#include "rewriter/transform.h"

bool rst_row_value_in(const char *behind, const char *end) {
    while (behind < end && (*behind == ' ' || *behind == '\t' || *behind == '\n' || *behind == '\r')) behind++;
    if (behind < end && (*behind == '-' || *behind == '/')) return true; /* perhaps a comment */
    return end - behind >= 2 && (behind[0] | 0x20) == 'i' && (behind[1] | 0x20) == 'n';
}

void rst_write_row_value(rst_rewriting *w, const rst_syntax *in) {
    const rst_syntax *columns = rst_syntax_unwrap(in->first);
    rst_token word = rst_syntax_operator(in);
    if ((columns->kind != SYNTAX_VECTOR && columns->kind != SYNTAX_SUBQUERY) || !rst_token_is(&word, "IN")) return;
    if (columns->kind == SYNTAX_VECTOR && in->last->kind == SYNTAX_SUBQUERY &&
        rst_row_value_alike(w->c, w->tree, columns, in->last->first))
        return;
    rst_edits_add(&w->edits, in->start, in->start, sqlite3_mprintf("("));
    rst_edits_add(&w->edits, in->end, in->end, sqlite3_mprintf(" OR 0)"));
}
