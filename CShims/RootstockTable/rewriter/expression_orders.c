/*
** expression_orders.c - ORDER BY and GROUP BY of indexed expressions. Which terms can be written as the hidden column
** that shows the expression (expression_column.c)? Does that spare SQLite the sorting?
**
** Invariant: a term is one only where it is the whole expression, of the one item of FROM of its own SELECT that is the
** table. Columns of the expression can then be nobody else's: SQLite looks for them there first.
*/
#include "rewriter/rewriter.h"
#include "rewriter/hints.h"

#include <limits.h>
#include <string.h>

const rst_syntax *rst_result_meant(const rst_syntax *core, const rst_syntax *term, bool names) {
    rst_token qualifier, token = rst_syntax_token(term, 0);
    const bool numbered = term->kind == SYNTAX_LITERAL && token.type == TOKEN_NUMBER;
    int number = 0, n = 0;
    for (size_t i = 0; numbered && i < token.size; i++) {
        if (token.text[i] < '0' || token.text[i] > '9' || i > 3) return NULL;
        number = number * 10 + (token.text[i] - '0');
    }
    if (!numbered) {
        if (term->kind != SYNTAX_NAME || !names) return NULL;
        token = rst_syntax_name(term, &qualifier);
        if (qualifier.type != TOKEN_END) return NULL;
    }
    for (const rst_syntax *result = core->first; result != NULL; result = result->next) {
        const rst_syntax *alias = rst_syntax_child(result, SYNTAX_ALIAS);
        rst_token own;
        if (result->kind != SYNTAX_RESULT) continue;
        if (numbered && result->first->kind == SYNTAX_STAR) return NULL;
        if (numbered ? ++n == number
                     : alias != NULL && (own = rst_syntax_name(alias->last, &qualifier), rst_token_alike(&own, &token)))
            return result->first;
    }
    return NULL;
}

bool rst_order_term(rst_connection *c, const rst_syntax_tree *tree, const rst_indexed *e, const rst_syntax *select,
                    const rst_syntax *term, bool names, rst_token *alias) {
    rst_token qualifier;
    if (!rst_indexed_is(e, term, &qualifier)) {
        term = rst_result_meant(select, term, names);
        if (term == NULL || !rst_indexed_is(e, term, &qualifier)) return false;
    }
    return rst_place_alias(c, tree, select, e->table, alias) &&
           (qualifier.type == TOKEN_END || rst_token_alike(&qualifier, alias));
}

int rst_sorts(rst_connection *c, const char *sql) {
    char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    sqlite3_stmt *statement = NULL;
    int count = INT_MAX;
    if (text != NULL && sqlite3_prepare_v2(c->db, text, -1, &statement, NULL) == SQLITE_OK) {
        count = 0;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(statement, 3);
            count += detail != NULL && strncmp(detail, "USE TEMP B-TREE", 15) == 0;
        }
    }
    sqlite3_finalize(statement);
    sqlite3_free(text);
    return count;
}

int rst_draft_write_sorted(rst_connection *c, rst_draft *draft, rst_edits *edits) {
    char *text = sqlite3_mprintf("%.*s", (int)(draft->end - draft->text), draft->text), *made;
    int code = rst_edits_apply(edits, draft->text, draft->end, &made), sorts = INT_MAX;
    if (code == SQLITE_OK && text == NULL) code = SQLITE_NOMEM;
    if (code == SQLITE_OK && made != NULL) sorts = rst_sorts(c, made);
    if (sorts < INT_MAX && sorts <= rst_sorts(c, text))
        rst_draft_take(draft, made);
    else
        sqlite3_free(made);
    sqlite3_free(text);
    return code;
}
