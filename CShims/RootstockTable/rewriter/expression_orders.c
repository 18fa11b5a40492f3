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
#include <stdlib.h>
#include <string.h>

/* The result of the SELECT that has this name, or this number where name is null, without its own name. Null where
** there is none, or a `*` stands before it. */
static const rst_syntax *find_result(const rst_syntax *select, const rst_token *name, int number) {
    int n = 0;
    for (const rst_syntax *result = select->first; result != NULL; result = result->next) {
        const rst_syntax *alias;
        rst_token own, none;
        if (result->kind != SYNTAX_RESULT) continue;
        if (result->first->kind == SYNTAX_STAR) return NULL;
        alias = rst_syntax_child(result, SYNTAX_ALIAS);
        if (name == NULL ? ++n == number
                         : alias != NULL && (own = rst_syntax_name(alias->last, &none), rst_token_alike(&own, name)))
            return result->first;
    }
    return NULL;
}

/* What the term stands for: the result that has its number or, where `names` is, its name. */
static const rst_syntax *meant(const rst_syntax *select, const rst_syntax *term, bool names) {
    rst_token qualifier, token = rst_syntax_token(term, 0);
    if (term->kind == SYNTAX_LITERAL && token.type == TOKEN_NUMBER) {
        for (size_t i = 0; i < token.size; i++) {
            if (token.text[i] < '0' || token.text[i] > '9' || i > 3) return NULL;
        }
        return find_result(select, NULL, atoi(token.text));
    }
    if (term->kind != SYNTAX_NAME || !names) return NULL;
    token = rst_syntax_name(term, &qualifier);
    return qualifier.type == TOKEN_END ? find_result(select, &token, 0) : NULL;
}

bool rst_order_term(rst_connection *c, const rst_syntax_tree *tree, const rst_indexed *e, const rst_syntax *select,
                    const rst_syntax *term, bool names, rst_token *alias) {
    rst_token qualifier;
    if (!rst_indexed_is(e, term, &qualifier)) {
        term = meant(select, term, names);
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
