/*
** target_hint.c - INDEXED BY and NOT INDEXED of the table that an UPDATE or DELETE changes.
**
** In a FROM the hint becomes an argument of the table (transform.c); a target takes none. There it becomes what SQLite
** makes of the argument: a term of WHERE that compares the hidden column of hints. What is wrong with the hint SQLite
** says, asked on the schema database: no such index, or that no plan can use it. Invariant: the rest of the statement
** stands as it was written.
*/
#include "rewriter/rewriter.h"
#include "catalog/statement_check.h"
#include "rewriter/transform.h"

#include <string.h>

bool rst_has_target_hint(const rst_statement_parts *parts) {
    return parts->not_indexed || parts->index.type != TOKEN_END;
}

void rst_append_hint_column(const rst_table *table, const rst_statement_parts *parts, sqlite3_str *out) {
    if (parts->alias.type != TOKEN_END)
        sqlite3_str_append(out, parts->alias.text, (int)parts->alias.size);
    else
        sqlite3_str_appendf(out, "\"%w\"", table->name);
    sqlite3_str_appendall(out, ".\"rootstock hint\"");
}

static void append_term(const rst_table *table, const rst_statement_parts *parts, sqlite3_str *out) {
    char *index = parts->index.type == TOKEN_END ? NULL : rst_token_name(&parts->index);
    rst_append_hint_column(table, parts, out);
    sqlite3_str_appendf(out, "='" ROOTSTOCK_INDEX_HINT "%q'", index == NULL ? "" : index);
    sqlite3_free(index);
}

void rst_append_hinted(const rst_table *table, const rst_statement_parts *parts, const char *text, const char *end,
                       sqlite3_str *out) {
    static const rst_syntax_kind behind[] = {SYNTAX_LIMIT, SYNTAX_ORDER, SYNTAX_RETURNING};
    const rst_syntax *where = rst_statement_part(parts, SYNTAX_WHERE);
    const char *stop = end;
    if (!rst_has_target_hint(parts)) {
        sqlite3_str_append(out, text, (int)(end - text));
        return;
    }
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        const rst_syntax *part = rst_statement_part(parts, behind[i]);
        if (part != NULL && part->start < stop) stop = part->start;
    }
    sqlite3_str_append(out, text, (int)((where != NULL ? where->first->start : stop) - text));
    sqlite3_str_appendall(out, where != NULL ? " " : " WHERE ");
    append_term(table, parts, out);
    if (where != NULL)
        sqlite3_str_appendf(out, " AND (%.*s\n)", (int)(stop - where->first->start), where->first->start);
    sqlite3_str_appendf(out, " %.*s", (int)(end - stop), stop);
}

int rst_transform_target(rst_connection *c, const rst_table *table, const rst_statement_parts *parts, char **out,
                         char **message) {
    sqlite3_str *text;
    int code = rst_statement_check(c, parts->whole.start, parts->whole.end, message);
    *out = NULL;
    if (code != SQLITE_OK) return code;
    text = sqlite3_str_new(NULL);
    sqlite3_str_append(text, parts->whole.start, (int)(parts->hint - parts->whole.start));
    rst_append_hinted(table, parts, parts->after_table.start, parts->whole.end, text);
    *out = sqlite3_str_finish(text);
    return rst_tell(c, rst_transform, out);
}
