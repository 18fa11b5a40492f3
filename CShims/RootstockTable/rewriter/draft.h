/*
** draft.h - a statement on its way through the rewriter: its text as it is by now, and the text's tree. The tree is
** parsed when it is first asked for, and kept until the text changes.
*/
#ifndef ROOTSTOCK_REWRITER_DRAFT_H
#define ROOTSTOCK_REWRITER_DRAFT_H

#include "parser/parser.h"

typedef struct rst_draft {
    const char *text, *end;
    char *made; /* the text, from sqlite3_malloc, once it is another one than was given; or null */
    int parsed; /* SQLITE_OK: `tree` is the text's; SQLITE_ERROR, SQLITE_NOMEM: it has none; SQLITE_EMPTY: not tried */
    rst_syntax_tree tree;
} rst_draft;

/* The text has to stay until rst_draft_finish. */
void rst_draft_begin(rst_draft *draft, const char *text, const char *end);
/* The text's tree, or null: SQLite refuses it, or there is no memory (draft->parsed tells). */
const rst_syntax_tree *rst_draft_tree(rst_draft *draft);
/* Where it has none, or was not asked for it: SQLITE_NOMEM, or SQLITE_OK and the text stays as it is. */
static inline int rst_draft_failed(const rst_draft *draft) {
    return draft->parsed == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}
/* Writes the edits, which are none then. SQLITE_OK or SQLITE_NOMEM. */
int rst_draft_write(rst_draft *draft, rst_edits *edits);
/* Takes another text, from sqlite3_malloc; null: it stays. */
void rst_draft_take(rst_draft *draft, char *made);
/* Ends it. *out: the text, from sqlite3_malloc, or null if it is what was given. */
void rst_draft_finish(rst_draft *draft, char **out);

#endif
