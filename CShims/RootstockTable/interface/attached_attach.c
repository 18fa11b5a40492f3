/*
** attached_attach.c - what the text of an ATTACH becomes.
**
** Invariant: one of what is plainly a native file stays as it is, unless the control file has to make room for it.
*/
#include "interface/attached.h"

#include "interface/frontdoor.h"

/* One operand of ATTACH as an expression: a lone name is a text there. */
static char *operand(const char *start, const char *end) {
    const char *p = start;
    rst_token token = rst_token_next(&p, end), next = rst_token_next(&p, end);
    if (next.type == TOKEN_END && (token.type == TOKEN_WORD || token.type == TOKEN_NAME)) {
        char *name = rst_token_name(&token), *text = name == NULL ? NULL : sqlite3_mprintf("%Q", name);
        sqlite3_free(name);
        return text;
    }
    return rst_span_text(start, end);
}

int rst_attach_rewrite(rst_connection *c, const char *p, const char *end, char **out, bool *done, char **message) {
    rst_token token = rst_token_next(&p, end), first;
    const char *start, *as = NULL, *behind = NULL;
    char *file, *schema, *path = NULL, *engine = NULL, *options = NULL;
    int code = SQLITE_OK;
    if (rst_token_is(&token, "DATABASE")) token = rst_token_next(&p, end);
    first = token;
    start = token.text;
    for (; token.type != TOKEN_END; token = rst_token_next(&p, end)) {
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return SQLITE_OK;
        if (rst_token_is(&token, "AS")) {
            as = token.text;
            behind = p;
        }
        if (rst_token_is(&token, "KEY")) return SQLITE_OK; /* SQLite's */
    }
    if (as == NULL) return SQLITE_OK;
    /* What is plainly a native file SQLite attaches itself. */
    token = first;
    p = token.text + token.size;
    if (rst_token_names(&token) && rst_token_next(&p, end).text == as) {
        char *name = rst_token_name(&token);
        code = name == NULL ? SQLITE_NOMEM : rst_attached_choose(c, name, &path, &engine, &options, message);
        sqlite3_free(name);
        sqlite3_free(path);
        sqlite3_free(engine);
        sqlite3_free(options);
        if (code != SQLITE_OK && code != SQLITE_NOTFOUND) return code;
        if (code == SQLITE_NOTFOUND && (store_of(c)->shared == NULL || schema_of(c)->sidecar ||
                                        (!rst_txn_hook_is_full(c) && !rst_txn_hook_is_away(c))))
            return SQLITE_OK;
        code = SQLITE_OK;
    }
    *done = true;
    file = operand(start, as);
    schema = operand(behind, end);
    if (file != NULL && schema != NULL) *out = sqlite3_mprintf("SELECT 1 WHERE rootstock_attach(%s,%s)", file, schema);
    sqlite3_free(file);
    sqlite3_free(schema);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
