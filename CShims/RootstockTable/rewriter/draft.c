/*
** draft.c - a statement on its way through the rewriter.
*/
#include "rewriter/draft.h"

#include "common/common.h"

#include <string.h>

void rst_draft_begin(rst_draft *draft, const char *text, const char *end) {
    draft->text = text;
    draft->end = end;
    draft->made = NULL;
    draft->parsed = SQLITE_EMPTY;
}

static void forget_tree(rst_draft *draft) {
    if (draft->parsed != SQLITE_EMPTY) rst_syntax_free(&draft->tree);
    draft->parsed = SQLITE_EMPTY;
}

const rst_syntax_tree *rst_draft_tree(rst_draft *draft) {
    if (draft->parsed == SQLITE_EMPTY) draft->parsed = rst_syntax_parse(&draft->tree, draft->text, draft->end);
    return draft->parsed == SQLITE_OK ? &draft->tree : NULL;
}

int rst_draft_write(rst_draft *draft, rst_edits *edits) {
    char *made;
    int code = rst_edits_apply(edits, draft->text, draft->end, &made);
    rst_draft_take(draft, made);
    return code;
}

void rst_draft_take(rst_draft *draft, char *made) {
    if (made == NULL) return;
    forget_tree(draft);
    sqlite3_free(draft->made);
    draft->made = made;
    draft->text = made;
    draft->end = made + strlen(made);
}

void rst_draft_finish(rst_draft *draft, char **out) {
    forget_tree(draft);
    *out = draft->made;
}
