/*
** among_hint.c - `column IN ('a', 'b')` in the WHERE of an UPDATE or DELETE, told to the walk of the column's table.
**
** xBestIndex is shown an IN only as something whose values SQLite would gather before the walk begins, a subquery's as
** well, which a table without rows never asks for. So of a list of texts the statement gets a hint beside it:
**
**   column IN ('a', 'b')   becomes   (column IN ('a', 'b') AND rootstock_among(column, '1:a1:b'))
**
** The function is true whatever it is given. Where xBestIndex is shown it, the cursor goes by the rows of other texts
** (scan_filter.c). Invariants: the hint stands where its AND binds as the IN did, behind WHERE or an AND of it; each
** text begins with a letter, so that no affinity makes a number of it.
*/
#include "rewriter/rewriter.h"
#include "rewriter/expressions.h"
#include "rewriter/hints.h"

#include <string.h>

enum { MOST_TEXTS = 16, LONGEST_TEXT = 1000 };

/* The list behind "IN (" as `length:bytes` for each; false where something else than such texts stands in it. Moves *p
** behind its ")". */
static bool read_texts(const char **p, const char *end, sqlite3_str *out) {
    for (int count = 0; count < MOST_TEXTS; count++) {
        rst_token token = rst_token_next(p, end), behind = rst_token_next(p, end);
        char first = token.type == TOKEN_STRING && token.size > 2 ? token.text[1] : '\0', *text;
        if ((first | 0x20) < 'a' || (first | 0x20) > 'z' || token.size > LONGEST_TEXT) return false;
        token.type = TOKEN_NAME; /* its quotes go as a name's do */
        text = rst_token_name(&token);
        if (text == NULL) return false;
        sqlite3_str_appendf(out, "%d:%s", (int)strlen(text), text);
        sqlite3_free(text);
        if (rst_token_mark(&behind, ")")) return count > 0; /* of one SQLite makes an equality */
        if (!rst_token_mark(&behind, ",")) return false;
    }
    return false;
}

/* What may stand behind the term: nothing that binds closer than AND. */
static bool ends_term(const rst_token *token) {
    return token->type == TOKEN_END || rst_token_mark(token, ")") || rst_token_is(token, "AND") ||
           rst_token_is(token, "OR") || rst_token_is(token, "ORDER") || rst_token_is(token, "GROUP") ||
           rst_token_is(token, "LIMIT") || rst_token_is(token, "UNION") || rst_token_is(token, "RETURNING");
}

/* The term at `start`: its name, its texts, where it ends. */
static bool read_term(const char *start, const char *end, rst_span *name, sqlite3_str *texts, const char **stop) {
    const char *p = start;
    rst_token token = rst_token_next(&p, end);
    name->start = token.text;
    for (;;) {
        if (token.type != TOKEN_WORD && token.type != TOKEN_NAME) return false;
        name->end = p;
        token = rst_token_next(&p, end);
        if (!rst_token_mark(&token, ".")) break;
        token = rst_token_next(&p, end);
    }
    if (!rst_token_is(&token, "IN")) return false;
    token = rst_token_next(&p, end);
    if (!rst_token_mark(&token, "(") || !read_texts(&p, end, texts)) return false;
    *stop = p;
    token = rst_token_next(&p, end);
    return ends_term(&token);
}

int rst_among_add_to(rst_connection *c, char **text) {
    enum { DEEPEST = 64 };
    const char *end = *text + strlen(*text), *p = *text, *copied = *text;
    bool where[DEEPEST] = {false}; /* in a WHERE of this depth */
    sqlite3_str *out;
    int depth = 0, found = 0, code = SQLITE_OK;
    char *made;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_is(&token, "BETWEEN") || rst_token_is(&token, "ON") || rst_token_is(&token, "USING"))
            return SQLITE_OK; /* whose AND is another one; and beside outer joins nothing is told */
        found |= rst_token_is(&token, "IN");
    }
    if (!found) return SQLITE_OK;
    p = *text;
    found = 0;
    out = sqlite3_str_new(NULL);
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) break;
        if (rst_token_mark(&token, "(")) {
            if (++depth == DEEPEST) break;
            where[depth] = false;
        } else if (rst_token_mark(&token, ")")) {
            if (--depth < 0) break;
        } else if (rst_token_is(&token, "SELECT")) {
            where[depth] = false;
        } else if (rst_token_is(&token, "WHERE")) {
            where[depth] = true;
        } else if (rst_token_is(&token, "GROUP") || rst_token_is(&token, "ORDER") ||
                   rst_token_is(&token, "RETURNING")) {
            where[depth] = false;
        }
        if (where[depth] && (rst_token_is(&token, "WHERE") || rst_token_is(&token, "AND"))) {
            sqlite3_str *texts = sqlite3_str_new(NULL);
            const char *stop = p;
            rst_span name;
            bool is_term = read_term(p, end, &name, texts, &stop);
            char *packed = sqlite3_str_finish(texts);
            if (is_term && packed != NULL) {
                sqlite3_str_appendf(out, "%.*s (%.*s AND rootstock_among(%.*s,%Q))", (int)(p - copied), copied,
                                    (int)(stop - p), p, (int)(name.end - name.start), name.start, packed);
                copied = p = stop;
                found++;
            }
            sqlite3_free(packed);
        }
    }
    sqlite3_str_append(out, copied, (int)(end - copied));
    made = sqlite3_str_finish(out);
    if (made == NULL) return SQLITE_NOMEM;
    if (found > 0) code = rst_hint_register(c, ROOTSTOCK_AMONG_NAME);
    if (found == 0 || code != SQLITE_OK) {
        sqlite3_free(made);
        return code;
    }
    rst_keep_if_it_compiles(c, &made);
    if (made != NULL) {
        sqlite3_free(*text);
        *text = made;
    }
    return SQLITE_OK;
}
