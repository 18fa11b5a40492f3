/*
** changes.c - changes() inside a statement that fires triggers, and inside their bodies.
**
** SQLite puts the number back when a trigger is done. Here a trigger's body runs in a statement of its own, whose end
** leaves 0 (or what a foreign key's action changed) behind. So changes() of a statement that changes a store's table,
** and of a trigger's body, is rootstock_changes(), which knows what stood there before the body ran. Invariant: a
** number that was kept counts only until a statement has changed a row, and only for the statement whose row fired, and
** what is inside of it.
*/
#include "rewriter/rewriter.h"
#include "rewriter/changes.h"

#include "catalog/statement_check.h"

#include <string.h>

static int64_t changes_at(const rst_connection *c, bool inside) {
    rst_rewriter *rewriter = rewriter_of(c);
    int64_t now = sqlite3_changes64(c->db);
    bool meant = rewriter->changes.kept_for == rewriter->trigger_depth ||
                 (inside && rewriter->changes.kept_for == rewriter->trigger_depth - 1);
    return meant && now == rewriter->changes.left && sqlite3_total_changes64(c->db) == rewriter->changes.total
               ? rewriter->changes.kept
               : now;
}

int64_t rst_changes_keep(const rst_connection *c) {
    return changes_at(c, true);
}

void rst_changes_restore(rst_connection *c, int64_t kept) {
    rewriter_of(c)->changes = (struct rst_changes){rewriter_of(c)->trigger_depth, kept, sqlite3_changes64(c->db),
                                                   sqlite3_total_changes64(c->db)};
}

void rst_changes_forget(rst_connection *c) {
    rewriter_of(c)->changes.kept_for = -2;
}

/* rootstock_changes(first): first is 0 where an earlier statement of the same trigger has changed rows, or tried to. */
static void changes_function(sqlite3_context *context, int count, sqlite3_value **values) {
    UNUSED(count);
    sqlite3_result_int64(context, changes_at(rst_function_connection(context), sqlite3_value_int(values[0]) != 0));
}

/* rootstock_changes_over(): the statements of the same trigger so far are done, and what they set is changes(). */
static void over_function(sqlite3_context *context, int count, sqlite3_value **values) {
    rst_rewriter *rewriter = rewriter_of(rst_function_connection(context));
    UNUSED(count);
    UNUSED(values);
    if (rewriter->changes.kept_for >= rewriter->trigger_depth - 1) rewriter->changes.kept_for = -2;
}

int rst_changes_rewrite(rst_connection *c, const char *text, const char *end, bool first, char **out) {
    const char *p = text, *copied = text;
    rst_token previous = {TOKEN_END, text, 0};
    sqlite3_str *str = NULL;
    *out = NULL;
    for (;;) {
        rst_token token = rst_token_next(&p, end), open, close;
        const char *q = p;
        if (token.type == TOKEN_END) break;
        if (rst_token_is(&token, "CHANGES") && !rst_token_mark(&previous, ".")) {
            open = rst_token_next(&q, end);
            close = rst_token_next(&q, end);
            if (rst_token_mark(&open, "(") && rst_token_mark(&close, ")")) {
                if (str == NULL && rst_function_is_replaced(c, "changes")) return SQLITE_OK;
                if (str == NULL) str = sqlite3_str_new(NULL);
                sqlite3_str_append(str, copied, (int)(token.text - copied));
                sqlite3_str_appendf(str, "rootstock_changes(%d)", first);
                p = copied = q;
            }
        }
        previous = token;
    }
    if (str == NULL) return SQLITE_OK;
    sqlite3_str_append(str, copied, (int)(end - copied));
    return rst_str_give(str, SQLITE_OK, out);
}

int rst_changes_register(rst_connection *c) {
    int code = rst_function(c, "rootstock_changes", 1, SQLITE_INNOCUOUS, changes_function);
    if (code == SQLITE_OK) code = rst_function(c, "rootstock_changes_over", 0, SQLITE_INNOCUOUS, over_function);
    return code;
}
