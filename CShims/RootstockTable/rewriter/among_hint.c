/*
** among_hint.c - `column IN ('a', 'b')` in the WHERE of an UPDATE or DELETE, told to the walk of the column's table.
**
** xBestIndex is shown an IN only as something whose values SQLite would gather before the walk begins, a subquery's as
** well, which a table without rows never asks for. So of a list of texts the statement gets a hint beside it:
**
**   column IN ('a', 'b')   becomes   (column IN ('a', 'b') AND rootstock_among(column, '1:a1:b'))
**
** The function is true whatever it is given. Where xBestIndex is shown it, the cursor passes over the rows of other
** texts (scan_filter.c). Invariants: the hint stands in parentheses with the IN, a term of WHERE or of its AND. Each
** text begins with a letter, so that no affinity makes a number of it.
*/
#include "rewriter/rewriter.h"
#include "rewriter/expressions.h"
#include "rewriter/hints.h"

#include <string.h>

enum { MOST_TEXTS = 16, LONGEST_TEXT = 1000 };

/* The list as `length:bytes` for each; null where something else than such texts stands in it. */
static char *pack_texts(const rst_syntax *list) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    int count = 0;
    for (const rst_syntax *item = list->first; item != NULL; item = item->next) {
        rst_token token = {TOKEN_NAME, item->start, (size_t)(item->end - item->start)}; /* its quotes go as a name's */
        char first = token.size > 2 ? (char)(item->start[1] | 0x20) : '\0', *text = NULL;
        if (item->kind == SYNTAX_LITERAL && item->start[0] == '\'' && first >= 'a' && first <= 'z' &&
            token.size <= LONGEST_TEXT && count < MOST_TEXTS)
            text = rst_token_name(&token);
        if (text == NULL) {
            count = 0;
            break;
        }
        sqlite3_str_appendf(out, "%d:%s", (int)strlen(text), text);
        sqlite3_free(text);
        count++;
    }
    if (count < 2) sqlite3_str_reset(out); /* of one SQLite makes an equality */
    return sqlite3_str_finish(out);
}

static void tell_term(const rst_syntax *term, rst_edits *edits) {
    const rst_syntax *name = term->first;
    rst_token in;
    char *packed;
    if (term->kind != SYNTAX_IN || name->kind != SYNTAX_NAME || name->next->kind != SYNTAX_VECTOR) return;
    in = rst_syntax_operator(term);
    packed = rst_token_is(&in, "IN") ? pack_texts(name->next) : NULL;
    if (packed == NULL) return;
    rst_edits_add(edits, term->start, term->start, sqlite3_mprintf("("));
    rst_edits_add(
        edits, term->end, term->end,
        sqlite3_mprintf(" AND rootstock_among(%.*s,%Q))", (int)(name->end - name->start), name->start, packed));
    sqlite3_free(packed);
}

/* Tells of the terms of each WHERE. False: an ON or USING, and beside outer joins nothing is told. */
static bool tell(const rst_syntax *node, rst_edits *edits) {
    bool columns = node->kind == SYNTAX_TABLE || node->kind == SYNTAX_SOURCE || node->kind == SYNTAX_JOINED;
    if (node->kind == SYNTAX_ON || (columns && rst_syntax_child(node, SYNTAX_COLUMNS) != NULL)) return false;
    if (node->kind == SYNTAX_WHERE) {
        const rst_syntax *terms = node->first;
        if (terms->kind != SYNTAX_AND) tell_term(terms, edits);
        for (const rst_syntax *term = terms->first; terms->kind == SYNTAX_AND && term != NULL; term = term->next)
            tell_term(term, edits);
    }
    for (const rst_syntax *child = node->first; child != NULL; child = child->next) {
        if (!tell(child, edits)) return false;
    }
    return true;
}

int rst_among_tell(rst_connection *c, rst_draft *draft) {
    const char *p = draft->text;
    const rst_syntax_tree *tree = rst_token_seek(&p, draft->end, "IN") ? rst_draft_tree(draft) : NULL;
    rst_edits edits = {0};
    char *made = NULL;
    int code = SQLITE_OK;
    if (tree == NULL) return draft->parsed == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
    if (tell(tree->root, &edits)) code = rst_edits_apply(&edits, draft->text, draft->end, &made);
    rst_edits_free(&edits);
    if (made != NULL) code = rst_hint_register(c, ROOTSTOCK_AMONG_NAME);
    if (made != NULL && code == SQLITE_OK) rst_keep_if_it_compiles(c, &made);
    rst_draft_take(draft, made);
    return code;
}
