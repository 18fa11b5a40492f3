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
#include "rewriter/conflict_targets.h"

#include <string.h>

/* The bit of a rowid that no column is. */
#define ROWID_BIT ((uint64_t)1 << 63)

/* Columns of the table that WHERE holds equal, as bits; 0 where it says anything else. A name may be qualified: nothing
** but the target is in scope, beside a trigger's NEW and OLD. */
static uint64_t held(const rst_table *table, const char *p, const char *end) {
    uint64_t columns = 0;
    for (;;) {
        rst_token name = rst_token_next(&p, end), token = rst_token_next(&p, end), value;
        int column;
        while (rst_token_mark(&token, ".") && !rst_token_is(&name, "NEW") && !rst_token_is(&name, "OLD")) {
            name = rst_token_next(&p, end);
            token = rst_token_next(&p, end);
        }
        column = rst_token_names(&name) && name.type != TOKEN_STRING ? rst_set_column(table, &name) : COLUMN_NONE;
        if (column == COLUMN_NONE || column >= 63) return 0;
        if (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")) return 0;
        value = rst_token_next(&p, end);
        if (value.type != TOKEN_VARIABLE && value.type != TOKEN_NUMBER && value.type != TOKEN_STRING &&
            value.type != TOKEN_BLOB)
            return 0;
        columns |= column == COLUMN_ROWID ? ROWID_BIT : (uint64_t)1 << column;
        token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return columns;
        if (!rst_token_is(&token, "AND")) return 0;
    }
}

/* Whether the columns hold all of the key. *told: some of them says what a plan could not know by itself. */
static bool is_held(const rst_table *table, const rst_part *parts, int count, uint64_t columns, bool *told) {
    *told = false;
    for (int k = 0; k < count; k++) {
        int column = parts[k].column;
        if (column < 0 || column >= 63 || (columns >> column & 1) == 0) return false;
        if (parts[k].key.collation != ROOTSTOCK_COLLATION_BINARY ||
            table->columns[column].collation != ROOTSTOCK_COLLATION_BINARY)
            return false;
        *told |= table->columns[column].affinity < AFFINITY_NUMERIC;
    }
    return count > 0;
}

/* The columns are those of some unique key; *told as above, of any. */
static bool hold_a_key(const rst_table *table, uint64_t columns, bool *told) {
    bool all = (columns & ROWID_BIT) != 0 || (table->rowid_column >= 0 && (columns >> table->rowid_column & 1) != 0);
    bool more;
    *told = false;
    if (table->without_rowid && is_held(table, table->key, table->key_count, columns, &more)) {
        all = true;
        *told = more;
    }
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (!index->unique || index->evaluated || !is_held(table, index->parts, index->part_count, columns, &more))
            continue;
        all = true;
        *told |= more;
    }
    return all;
}

/* The condition of an UPDATE or DELETE of the table alone. False: it has none. */
static bool condition_of(const rst_statement_parts *parts, rst_span *where) {
    const char *p = parts->after_table.start;
    if ((parts->kind != KIND_UPDATE && parts->kind != KIND_DELETE) || !parts->has_where || p == NULL ||
        parts->limit.start != NULL)
        return false;
    for (;;) {
        rst_token token = rst_token_next(&p, parts->after_table.end);
        if (token.type == TOKEN_END || rst_token_is(&token, "FROM")) return false;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, parts->after_table.end)) return false;
        if (!rst_token_is(&token, "WHERE")) continue;
        *where = (rst_span){p, parts->after_table.end};
        return true;
    }
}

bool rst_finds_one_row(const rst_table *table, const rst_statement_parts *parts) {
    rst_span where;
    bool told;
    return condition_of(parts, &where) && hold_a_key(table, held(table, where.start, where.end), &told);
}

int rst_one_row_tell(const rst_table *table, const rst_statement_parts *parts, char **out) {
    rst_span where;
    bool told;
    sqlite3_str *text;
    if (rst_has_target_hint(parts) || parts->returning.start != NULL || table->internal ||
        !condition_of(parts, &where) || !hold_a_key(table, held(table, where.start, where.end), &told) || !told)
        return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "%.*s AND ", (int)(where.end - parts->whole.start), parts->whole.start);
    rst_append_hint_column(table, parts, text);
    sqlite3_str_appendall(text, "='" ROOTSTOCK_EXACT_HINT "'");
    *out = sqlite3_str_finish(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
