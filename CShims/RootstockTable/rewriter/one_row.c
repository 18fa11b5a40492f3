/*
** one_row.c - an UPDATE or DELETE of the row whose unique key is given by parameters tells the plan so.
**
** SQLite lets a statement change the one row that it finds, without gathering rows first, where the module says that
** there is one at most. A key without numeric affinity may find several: '05' = 5 is true where 5 comes from an INTEGER
** column. A module is not told where a value comes from (plan.c). Parameters and literals have no affinity of their
** own. So where all of WHERE compares columns by = with these, and the columns hold a unique key, the statement gets
** one more term. It is on the hidden column of hints, and says so. Invariant: the term stands behind what was written,
** which is left as it is; it says nothing but what the text shows.
*/
#include "rewriter/rewriter.h"
#include "rewriter/transform.h"

#include <string.h>

/* Columns of the table that WHERE holds equal, as bits; the last stands for all behind it, and for none. */
static uint64_t held(const rst_table *table, const char *p, const char *end) {
    uint64_t columns = 0;
    for (;;) {
        rst_token token = rst_token_next(&p, end), value;
        int column = 0;
        if (!rst_token_names(&token) || token.type == TOKEN_STRING) return 0;
        while (column < table->column_count && !rst_token_same_name(&token, table->columns[column].name)) column++;
        if (column >= 63 || column == table->column_count) return 0;
        token = rst_token_next(&p, end);
        if (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")) return 0;
        value = rst_token_next(&p, end);
        if (value.type != TOKEN_VARIABLE && value.type != TOKEN_NUMBER && value.type != TOKEN_STRING &&
            value.type != TOKEN_BLOB)
            return 0;
        columns |= (uint64_t)1 << column;
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return columns;
        if (!rst_token_is(&token, "AND")) return 0;
    }
}

/* Whether the columns hold all of the key, and some of them says what a plan could not know by itself. */
static bool is_unique_key(const rst_table *table, const rst_part *parts, int count, uint64_t columns) {
    bool told = false;
    for (int k = 0; k < count; k++) {
        int column = parts[k].column;
        if (column < 0 || column >= 63 || (columns >> column & 1) == 0) return false;
        if (parts[k].key.collation != ROOTSTOCK_COLLATION_BINARY) return false;
        told |= table->columns[column].affinity < AFFINITY_NUMERIC;
    }
    return told;
}

static bool gives_one_row(const rst_table *table, uint64_t columns) {
    if (columns == 0) return false;
    if (table->without_rowid && is_unique_key(table, table->key, table->key_count, columns)) return true;
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (index->unique && !index->evaluated && is_unique_key(table, index->parts, index->part_count, columns))
            return true;
    }
    return false;
}

int rst_one_row_tell(const rst_table *table, const rst_statement_parts *parts, char **out) {
    const char *p = parts->after_table.start, *end = parts->whole.end, *where = NULL;
    sqlite3_str *text;
    if ((parts->kind != KIND_UPDATE && parts->kind != KIND_DELETE) || !parts->has_where || rst_has_target_hint(parts) ||
        parts->returning.start != NULL || parts->limit.start != NULL || p == NULL || table->internal)
        return SQLITE_OK;
    for (;;) {
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END || rst_token_is(&token, "FROM")) return SQLITE_OK;
        if (rst_token_mark(&token, "(")) {
            if (!rst_token_skip_parentheses(&p, end)) return SQLITE_OK;
        } else if (rst_token_is(&token, "WHERE")) {
            where = p;
            break;
        }
    }
    if (!gives_one_row(table, held(table, where, end))) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "%.*s AND ", (int)(end - parts->whole.start), parts->whole.start);
    rst_append_hint_column(table, parts, text);
    sqlite3_str_appendall(text, "='" ROOTSTOCK_EXACT_HINT "'");
    *out = sqlite3_str_finish(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
