/*
** frontdoor.c - SQL text in, SQL text out.
*/
#include "declare.h"
#include "tokens.h"

#include <string.h>

/* End of the first statement: behind its semicolon, or the end. CREATE TRIGGER ends behind END;. */
static const char *statement_end(const char *sql, const char *end) {
    const char *p = sql;
    rst_token token = rst_token_next(&p, end);
    bool trigger = false, explain = rst_token_is(&token, "EXPLAIN");
    int words = 0;
    bool create;
    while (explain && (rst_token_is(&token, "EXPLAIN") || rst_token_is(&token, "QUERY") || rst_token_is(&token, "PLAN"))) {
        token = rst_token_next(&p, end);
    }
    create = rst_token_is(&token, "CREATE");
    while (token.type != TOKEN_END) {
        if (create && ++words <= 3 && rst_token_is(&token, "TRIGGER")) trigger = true;
        if (rst_token_mark(&token, ";")) {
            if (!trigger) return p;
            {
                const char *q = p;
                rst_token word = rst_token_next(&q, end), after;
                if (rst_token_is(&word, "END")) {
                    after = rst_token_next(&q, end);
                    if (after.type == TOKEN_END || rst_token_mark(&after, ";")) return q;
                }
            }
        }
        token = rst_token_next(&p, end);
    }
    return end;
}

int rst_rewrite(rst_connection *c, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    const char *end = bytes < 0 ? sql + strlen(sql) : sql + bytes;
    const char *stop = statement_end(sql, end), *p = sql;
    rst_token token = rst_token_next(&p, stop);
    *rewritten = NULL;
    if (tail != NULL) *tail = stop;
    if (c->shared == NULL || c->sidecar) return SQLITE_OK;
    {
        int code = rst_schema_refresh(c, message);
        if (code != SQLITE_OK) return code;
    }
    if (rst_token_is(&token, "CREATE") || rst_token_is(&token, "DROP") || rst_token_is(&token, "ALTER")) {
        const char *last = stop;
        rst_token second = rst_token_next(&p, stop);
        if (rst_token_is(&second, "TEMP") || rst_token_is(&second, "TEMPORARY") || rst_token_is(&second, "VIRTUAL")) return SQLITE_OK;
        while (last > sql && (last[-1] == ';' || last[-1] == ' ' || last[-1] == '\n')) last--;
        {
            char *text = sqlite3_mprintf("%.*s", (int)(last - sql), sql);
            if (text == NULL) return SQLITE_NOMEM;
            *rewritten = sqlite3_mprintf("SELECT 1 WHERE rootstock_ddl(%Q)", text);
            sqlite3_free(text);
        }
        return *rewritten == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    return SQLITE_OK;
}

int rootstock_rewrite(sqlite3 *db, const char *sql, int bytes, char **rewritten, const char **tail, char **message) {
    rst_connection *c = rst_connection_of(db);
    *rewritten = NULL;
    if (c == NULL) {
        const char *end = bytes < 0 ? sql + strlen(sql) : sql + bytes;
        if (tail != NULL) *tail = statement_end(sql, end);
        return SQLITE_OK;
    }
    return rst_rewrite(c, sql, bytes, rewritten, tail, message);
}
