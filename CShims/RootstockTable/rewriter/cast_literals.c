/*
** cast_literals.c - literals of which SQLite 3.40.1 tells xBestIndex another value than it computes.
**
** sqlite3_vtab_rhs_value gives the literal inside a CAST the affinity of the CAST before it casts. So it tells 10 of
** CAST('1e1' AS INTEGER), which is 1, and '1e1' of CAST(1e1 AS TEXT), which is '10.0'. By that value a partial index
** could be chosen that lacks rows. An operator that SQLite does not compute while planning hides the value:
**
**   CAST('1e1' AS INTEGER)   becomes   CAST(('1e1'||'') AS INTEGER)
**   CAST(1e1 AS TEXT)        becomes   CAST((1e1*1) AS TEXT)
**
** The results of views and subqueries are written so, too: SQLite puts them in the place of their names. Invariant:
** value, affinity and collation stay.
*/
#include "rewriter/rewriting.h"

#include <string.h>

/* Whether the text, in its quotes, could spell a number with a point or an exponent. */
static bool spells_number(const char *p, const char *end) {
    bool marked = false;
    for (p++; p < end - 1; p++) {
        if (*p == '.' || (*p | 0x20) == 'e')
            marked = true;
        else if (strchr("0123456789+- \t\n\v\f\r", *p) == NULL)
            return false;
    }
    return marked;
}

/* Whether the number is none of those that are kept as an integer of 32 bits, digits alone. */
static bool is_written_otherwise(const char *p, const char *end) {
    if (end - p > 9) return true;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return true;
    }
    return false;
}

void rst_write_literal(rst_rewriting *w, const rst_syntax *node) {
    const rst_syntax *literal;
    const char *behind = NULL;
    node = rst_syntax_unwrap(node);
    literal = node->kind == SYNTAX_SIGN ? node->first : node;
    if (literal->kind != SYNTAX_LITERAL) {
        if (node->kind == SYNTAX_SIGN) rst_write_literal(w, literal);
        return;
    }
    if (*literal->start == '\'') {
        node = literal;
        if (spells_number(node->start, node->end)) behind = "||'')";
    } else if (strchr("0123456789.", *literal->start) != NULL && is_written_otherwise(literal->start, literal->end)) {
        behind = "*1)";
    }
    if (behind == NULL) return;
    rst_edits_add(&w->edits, node->start, node->start, sqlite3_mprintf("("));
    rst_edits_add(&w->edits, node->end, node->end, sqlite3_mprintf("%s", behind));
}

void rst_write_values(rst_rewriting *w, const rst_syntax *row) {
    for (const rst_syntax *value = row->first; value != NULL; value = value->next) rst_write_literal(w, value);
}
