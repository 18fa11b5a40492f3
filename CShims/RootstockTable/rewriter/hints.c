/*
** hints.c - what a statement tells xBestIndex, written into it by one after the other; its tree is parsed again only
** where the text has changed.
*/
#include "rewriter/expressions.h"
#include "rewriter/rewriter.h"
#include "rewriter/transform.h"

static int tell(rst_connection *c, rst_draft *draft, bool query) {
    int code = query ? rst_least_tell(c, draft) : SQLITE_OK;
    if (code == SQLITE_OK && query) code = rst_equals_tell(c, draft);
    if (code == SQLITE_OK) code = rst_row_bounds_tell(c, draft);
    if (code == SQLITE_OK && rewriter_of(c)->has_expressions) code = rst_expressions_tell(c, draft);
    if (code == SQLITE_OK && (query || rewriter_of(c)->has_exclusions)) code = rst_terms_tell(c, draft);
    if (code == SQLITE_OK && query) code = rst_sort_tell(c, draft);
    if (code == SQLITE_OK && query) code = rst_distinct_tell(c, draft);
    return code == SQLITE_OK && query ? rst_own_terms_tell(c, draft) : code;
}

int rst_hints_tell(rst_connection *c, rst_draft *draft) {
    return tell(c, draft, false);
}

int rst_transform_query(rst_connection *c, const char *text, const char *end, char **out) {
    rst_draft draft;
    int code;
    rst_draft_begin(&draft, text, end);
    code = rst_transform(c, &draft);
    if (code == SQLITE_OK) code = tell(c, &draft, true);
    if (code == SQLITE_OK && draft.made == NULL) code = rst_offset_tell(c, &draft);
    rst_draft_finish(&draft, out);
    return code;
}

int rst_hints_add(rst_connection *c, const char *sql, const char *end, bool query, int code, char **out) {
    rst_draft draft;
    if (code != SQLITE_OK || (!query && !rewriter_of(c)->has_expressions && !rewriter_of(c)->has_exclusions &&
                              !rst_row_value_compared(sql, end)))
        return code;
    rst_draft_begin(&draft, sql, end);
    rst_draft_take(&draft, *out);
    code = tell(c, &draft, query);
    rst_draft_finish(&draft, out);
    return code;
}
