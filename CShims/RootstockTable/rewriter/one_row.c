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

/* What the terms of a WHERE, all of which must hold, compare by =. Columns are bits, with this one for the rowid. */
#define ROWID_BIT ((uint64_t)1 << 63)
typedef struct held_columns {
    uint64_t plain; /* with a parameter, a literal or a trigger's NEW.x */
    uint64_t any;   /* or with something else */
    bool alone;     /* there are no other terms than those of `plain` */
} held_columns;

/* The column that a term begins with, as its bit, and *p is behind the = then. A name may be qualified: nothing but the
** target is in scope, beside a trigger's NEW and OLD. */
static uint64_t compared(const rst_table *table, const char **p, const char *end) {
    rst_token name = rst_token_next(p, end), token = rst_token_next(p, end);
    int column;
    while (rst_token_mark(&token, ".") && !rst_token_is(&name, "NEW") && !rst_token_is(&name, "OLD")) {
        name = rst_token_next(p, end);
        token = rst_token_next(p, end);
    }
    if (!rst_token_names(&name) || name.type == TOKEN_STRING ||
        (!rst_token_mark(&token, "=") && !rst_token_mark(&token, "==")))
        return 0;
    column = rst_set_column(table, &name);
    return column == COLUMN_ROWID ? ROWID_BIT : column < 0 || column >= 63 ? 0 : (uint64_t)1 << column;
}

/* Whether what stands there is one value for all rows, without affinity: *p is behind it then. The rowid of a trigger's
** NEW is CAST(NEW.x AS INTEGER) by now (trigger_row.c): a text would be compared with it as a number. */
static bool one_value(const rst_table *table, uint64_t bit, const char **p, const char *end) {
    rst_token token = rst_token_next(p, end), dot, name;
    const bool cast = rst_token_is(&token, "CAST");
    if (cast) {
        (void)rst_token_next(p, end); /* its parenthesis */
        token = rst_token_next(p, end);
    }
    if (rst_token_is(&token, "NEW") || rst_token_is(&token, "OLD")) {
        dot = rst_token_next(p, end);
        name = rst_token_next(p, end);
        if (!rst_token_mark(&dot, ".") || !rst_token_names(&name)) return false;
    } else if (token.type != TOKEN_VARIABLE && token.type != TOKEN_NUMBER && token.type != TOKEN_STRING &&
               token.type != TOKEN_BLOB) {
        return false;
    }
    if (!cast) return true;
    for (int i = 0; i < table->column_count && i < 63; i++)
        if (bit == (uint64_t)1 << i && table->columns[i].affinity < AFFINITY_NUMERIC) return false;
    name = rst_token_next(p, end); /* AS */
    name = rst_token_next(p, end);
    dot = rst_token_next(p, end);
    return rst_token_is(&name, "INTEGER") && rst_token_mark(&dot, ")");
}

/* The end of the term at p: an AND that binds looser than what is in it. Null: an OR binds looser than that. */
static const char *term_end(const char *p, const char *end) {
    for (int cases = 0, betweens = 0;;) {
        const char *before = p;
        rst_token token = rst_token_next(&p, end);
        if (token.type == TOKEN_END) return end;
        if (rst_token_mark(&token, "(") && !rst_token_skip_parentheses(&p, end)) return NULL;
        if (rst_token_is(&token, "CASE")) cases++;
        if (rst_token_is(&token, "END")) cases--;
        if (cases > 0) continue;
        if (rst_token_is(&token, "OR")) return NULL;
        if (rst_token_is(&token, "BETWEEN")) betweens++;
        if (rst_token_is(&token, "AND") && betweens-- <= 0) return before;
    }
}

static bool is_last(const char *p, const char *end) {
    return rst_token_next(&p, end).type == TOKEN_END;
}

static held_columns held(const rst_table *table, const char *p, const char *end, int depth) {
    enum { DEEPEST = 16 };
    held_columns out = {.alone = true};
    while (!is_last(p, end)) {
        const char *stop = depth > DEEPEST ? NULL : term_end(p, end), *q = p, *inner = p;
        rst_token token = rst_token_next(&inner, end);
        uint64_t bit;
        if (stop == NULL) return (held_columns){0};
        p = inner;
        if (rst_token_mark(&token, "(") && rst_token_skip_parentheses(&p, stop) && is_last(p, stop)) {
            const held_columns within = held(table, inner, p - 1, depth + 1);
            out.plain |= within.plain;
            out.any |= within.any;
            out.alone = out.alone && within.alone;
        } else {
            bit = compared(table, &q, stop);
            if (bit == 0 || !one_value(table, bit, &q, stop) || !is_last(q, stop))
                out.alone = false;
            else
                out.plain |= bit;
            out.any |= bit;
        }
        p = stop;
        (void)rst_token_next(&p, end); /* AND */
    }
    return out;
}

/* Whether the columns hold all of the key. *told: all of it is compared byte by byte, and some of the columns says what
** a plan could not know by itself. */
static bool is_key(const rst_table *table, const rst_part *parts, int count, uint64_t columns, bool *told) {
    bool bytes = true, more = false;
    for (int k = 0; k < count; k++) {
        const int column = parts[k].column;
        if (column < 0 || column >= 63 || (columns >> column & 1) == 0 ||
            sqlite3_stricmp(parts[k].collation_name, table->columns[column].collation_name) != 0)
            return false;
        bytes = bytes && parts[k].key.collation == ROOTSTOCK_COLLATION_BINARY;
        more = more || table->columns[column].affinity < AFFINITY_NUMERIC;
    }
    *told = *told || (count > 0 && bytes && more);
    return count > 0;
}

/* Whether the columns are those of some unique key; *told as above, of any. */
static bool hold_a_key(const rst_table *table, uint64_t columns, bool *told) {
    bool any = (columns & ROWID_BIT) != 0 || (table->rowid_column >= 0 && (columns >> table->rowid_column & 1) != 0);
    *told = false;
    if (table->without_rowid && is_key(table, table->key, table->key_count, columns, told)) any = true;
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (index->unique && !index->evaluated && is_key(table, index->parts, index->part_count, columns, told))
            any = true;
    }
    return any;
}

bool rst_holds_a_key(const rst_table *table, rst_span where) {
    bool told;
    return hold_a_key(table, held(table, where.start, where.end, 0).any, &told);
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
    return condition_of(parts, &where) && hold_a_key(table, held(table, where.start, where.end, 0).plain, &told);
}

int rst_one_row_tell(const rst_table *table, const rst_statement_parts *parts, char **out) {
    rst_span where;
    held_columns columns;
    bool told;
    sqlite3_str *text;
    if (rst_has_target_hint(parts) || parts->returning.start != NULL || table->internal || !condition_of(parts, &where))
        return SQLITE_OK;
    columns = held(table, where.start, where.end, 0);
    if (!columns.alone || !hold_a_key(table, columns.plain, &told) || !told) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "%.*s AND ", (int)(where.end - parts->whole.start), parts->whole.start);
    rst_append_hint_column(table, parts, text);
    sqlite3_str_appendall(text, "='" ROOTSTOCK_EXACT_HINT "'");
    *out = sqlite3_str_finish(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
