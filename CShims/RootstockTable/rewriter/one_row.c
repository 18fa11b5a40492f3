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

/* The column that an operand is, as its bit, or 0. A name may be qualified: nothing but the target is in scope, beside
** a trigger's NEW and OLD. */
static uint64_t column_bit(const rst_table *table, const rst_syntax *node) {
    rst_token qualifier, name;
    int column;
    if (node->kind != SYNTAX_NAME) return 0;
    name = rst_syntax_name(node, &qualifier);
    if (rst_token_is_row(&qualifier)) return 0;
    column = rst_set_column(table, &name);
    return column == COLUMN_ROWID ? ROWID_BIT : column < 0 || column >= 63 ? 0 : (uint64_t)1 << column;
}

/* Whether the other operand is one value for all rows, without affinity. The rowid of a trigger's NEW is CAST(NEW.x AS
** INTEGER) by now (trigger_row.c): a text would be compared with it as a number. */
static bool one_value(const rst_table *table, uint64_t bit, const rst_syntax *node) {
    rst_token qualifier, token = rst_syntax_token(node, 0);
    switch (node->kind) {
    case SYNTAX_VARIABLE: return true;
    case SYNTAX_LITERAL: return token.type == TOKEN_NUMBER || token.type == TOKEN_STRING || token.type == TOKEN_BLOB;
    case SYNTAX_NAME: (void)rst_syntax_name(node, &qualifier); return rst_token_is_row(&qualifier);
    case SYNTAX_CAST: break;
    default: return false;
    }
    for (int i = 0; i < table->column_count && i < 63; i++)
        if (bit == (uint64_t)1 << i && table->columns[i].affinity < AFFINITY_NUMERIC) return false;
    token = rst_syntax_token(node->last, 0);
    return node->first->kind == SYNTAX_NAME && rst_token_is(&token, "INTEGER") && one_value(table, bit, node->first);
}

static void read_term(const rst_table *table, const rst_syntax *node, held_columns *out) {
    const rst_syntax *left, *right;
    rst_token mark;
    uint64_t bit;
    node = rst_syntax_unwrap(node);
    if (node->kind == SYNTAX_AND) {
        for (const rst_syntax *term = node->first; term != NULL; term = term->next) read_term(table, term, out);
        return;
    }
    mark = node->kind == SYNTAX_EQUAL ? rst_syntax_operator(node) : (rst_token){TOKEN_END, node->end, 0};
    if (rst_token_mark(&mark, "=") || rst_token_mark(&mark, "==")) {
        left = rst_syntax_unwrap(node->first);
        right = rst_syntax_unwrap(node->last);
        bit = column_bit(table, left);
        if (bit == 0) {
            bit = column_bit(table, right);
            right = left;
        }
        out->any |= bit;
        if (bit != 0 && one_value(table, bit, right)) {
            out->plain |= bit;
            return;
        }
    }
    out->alone = false;
}

static held_columns held(const rst_table *table, const rst_syntax *condition) {
    held_columns out = {.alone = true};
    read_term(table, condition, &out);
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

bool rst_holds_a_key(const rst_table *table, const rst_syntax *condition) {
    bool told;
    return hold_a_key(table, held(table, condition).any, &told);
}

/* The condition of an UPDATE or DELETE of the table alone. Null: it has none, or NEW and OLD may be the table's names
** in it. */
static const rst_syntax *condition_of(const rst_statement_parts *parts) {
    const rst_syntax *where = rst_statement_part(parts, SYNTAX_WHERE);
    if ((parts->kind != KIND_UPDATE && parts->kind != KIND_DELETE) || where == NULL ||
        rst_statement_part(parts, SYNTAX_FROM) != NULL || rst_statement_part(parts, SYNTAX_ORDER) != NULL ||
        rst_statement_part(parts, SYNTAX_LIMIT) != NULL || rst_token_is_row(&parts->table) ||
        rst_token_is_row(&parts->alias))
        return NULL;
    return where->first;
}

bool rst_finds_one_row(const rst_table *table, const rst_statement_parts *parts) {
    const rst_syntax *condition = condition_of(parts);
    bool told;
    return condition != NULL && hold_a_key(table, held(table, condition).plain, &told);
}

int rst_one_row_tell(const rst_table *table, const rst_statement_parts *parts, char **out) {
    const rst_syntax *condition = condition_of(parts);
    held_columns columns;
    bool told;
    sqlite3_str *text;
    if (condition == NULL || rst_has_target_hint(parts) || parts->returning.start != NULL || table->internal)
        return SQLITE_OK;
    columns = held(table, condition);
    if (!columns.alone || !hold_a_key(table, columns.plain, &told) || !told) return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "%.*s AND ", (int)(condition->end - parts->whole.start), parts->whole.start);
    rst_append_hint_column(table, parts, text);
    sqlite3_str_appendall(text, "='" ROOTSTOCK_EXACT_HINT "'");
    *out = sqlite3_str_finish(text);
    return *out == NULL ? SQLITE_NOMEM : SQLITE_OK;
}
