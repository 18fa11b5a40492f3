/*
** kv_plan.c - xBestIndex of a table of module kv: which keys a plan reaches, and in what order.
**
** Invariant: SQLite judges each row again (no constraint is omitted), so a plan may reach too many rows and never too
** few.
*/
#include "common/constraints.h"
#include "kv.h"

/* Values of an IN, which SQLite does not count beforehand: its own guess. */
#define LIST_GUESS 25

/* Is the tree's order of keys (of values) that of SQL? Text is UTF-8 here (see kv_notice_attach), so its bytes' order
** is its own. */
static bool keys_ordered(const kv_table *table) {
    if ((table->tree.flags & ROOTSTOCK_KV_REVERSE_KEYS) != 0) return false;
    if (table->key_type == KV_INTEGER) return true;
    return (table->tree.flags & ROOTSTOCK_KV_INTEGER_KEYS) == 0;
}

static bool values_ordered(const kv_table *table) {
    return (table->tree.flags & (ROOTSTOCK_KV_REVERSE_DUPLICATES | ROOTSTOCK_KV_INTEGER_DUPLICATES)) == 0;
}

static bool order_consumed(const kv_table *table, const sqlite3_index_info *info, bool one_key, bool *backwards) {
    bool duplicates = (table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    int seen = 0; /* 1: the key; 2: all of the entry */
    if (info->nOrderBy == 0) return false;
    *backwards = info->aOrderBy[0].desc != 0;
    if (one_key) seen = duplicates ? 1 : 2;
    for (int i = 0; i < info->nOrderBy && seen < 2; i++) {
        int column = info->aOrderBy[i].iColumn;
        if (column == 0 && one_key) continue; /* the same in every row */
        if (column == 0 && seen == 0 && keys_ordered(table) &&
            (i == 0 || (info->aOrderBy[i].desc != 0) == *backwards)) {
            seen = duplicates ? 1 : 2;
        } else if (column == 0 && seen == 1) {
            continue;
        } else if (column == 1 && seen == 1 && values_ordered(table)) {
            if ((info->aOrderBy[i].desc != 0) != *backwards) {
                if (!one_key || i == 0) return false;
                *backwards = info->aOrderBy[i].desc != 0;
            }
            seen = 2;
        } else {
            return false;
        }
    }
    return true;
}

static const char *operator_text(int operation) {
    switch (operation) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return "=";
    case SQLITE_INDEX_CONSTRAINT_GT: return ">";
    case SQLITE_INDEX_CONSTRAINT_GE: return ">=";
    case SQLITE_INDEX_CONSTRAINT_LT: return "<";
    default: return "<=";
    }
}

int kv_best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    kv_table *table = (kv_table *)base;
    rootstock_tree_statistics statistics;
    int key = -1, value = -1, lower = -1, upper = -1, arguments = 0;
    bool duplicates, backwards = false, listed = false;
    double rows;
    char *message = NULL, *text;
    int code = kv_use_file(table, &statistics, &message);
    if (rst_take_message(base, code, message) != SQLITE_OK) return code;
    duplicates = (table->tree.flags & ROOTSTOCK_KV_DUPLICATES) != 0;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        kv_type type = constraint->iColumn == 0 ? table->key_type : table->value_type;
        if (!constraint->usable || constraint->iColumn < 0 || constraint->iColumn > 1) continue;
        if ((type == KV_TEXT || type == KV_JSON) && sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
            continue;
        if (constraint->op == SQLITE_INDEX_CONSTRAINT_EQ) {
            /* `key IN (SELECT number ...)`: SQLite hands over the numbers one by one and then checks each row by the
            ** affinity of the key alone, though '05' equals 5 there. Where the list is taken whole, it checks the IN
            ** itself. */
            bool text = type == KV_TEXT || type == KV_JSON, list = text && sqlite3_vtab_in(info, i, -1);
            if ((text && rst_plan_is_untold_in(info, i)) || (list && constraint->iColumn == 1)) continue;
            if (constraint->iColumn == 0 && (key < 0 || (listed && !list))) {
                key = i;
                listed = list;
            }
            if (constraint->iColumn == 1 && value < 0) value = i;
        } else if (constraint->iColumn == 0 && keys_ordered(table)) {
            if ((constraint->op == SQLITE_INDEX_CONSTRAINT_GT || constraint->op == SQLITE_INDEX_CONSTRAINT_GE) &&
                lower < 0)
                lower = i;
            if ((constraint->op == SQLITE_INDEX_CONSTRAINT_LT || constraint->op == SQLITE_INDEX_CONSTRAINT_LE) &&
                upper < 0)
                upper = i;
        }
    }
    if (key >= 0) lower = upper = -1;
    if (key < 0 || !duplicates || listed) value = -1;
    if (listed) sqlite3_vtab_in(info, key, 1);
    info->idxNum = (listed ? LISTED_KEYS : 0) | (key >= 0 ? BY_KEY : 0) | (value >= 0 ? BY_PAIR : 0);
    if (lower >= 0) info->idxNum |= info->aConstraint[lower].op == SQLITE_INDEX_CONSTRAINT_GT ? BY_GT : BY_GE;
    if (upper >= 0) {
        sqlite3_value *constant = NULL;
        info->idxNum |= info->aConstraint[upper].op == SQLITE_INDEX_CONSTRAINT_LT ? BY_LT : BY_LE;
        if (sqlite3_vtab_rhs_value(info, upper, &constant) == SQLITE_OK && constant != NULL)
            info->idxNum |= PLAIN_UPPER;
    }
    for (int i = 0; i < 4; i++) {
        int used = i == 0 ? key : i == 1 ? value : i == 2 ? lower : upper;
        if (used >= 0) info->aConstraintUsage[used].argvIndex = ++arguments;
    }
    if (order_consumed(table, info, key >= 0 && !listed, &backwards)) {
        info->orderByConsumed = 1;
        if (backwards) info->idxNum |= BACKWARDS;
    }
    rows = (double)statistics.entries + 1;
    if (key >= 0)
        rows = (!duplicates || value >= 0 ? 1 : 10) * (listed ? LIST_GUESS : 1);
    else
        rows /= lower >= 0 && upper >= 0 ? 16 : lower >= 0 || upper >= 0 ? 4 : 1;
    if (key >= 0 && !listed && (!duplicates || value >= 0)) info->idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = (listed ? LIST_GUESS : 1) * 3 * (double)statistics.depth + rows;
    text = key >= 0 ? sqlite3_mprintf("%s", value >= 0 ? "key=? AND value=?" : "key=?")
                    : sqlite3_mprintf("%s%s%s%s%s", lower >= 0 ? "key" : "",
                                      lower >= 0 ? operator_text(info->aConstraint[lower].op) : "",
                                      lower >= 0 ? (upper >= 0 ? "? AND " : "?") : "", upper >= 0 ? "key" : "",
                                      upper >= 0 ? operator_text(info->aConstraint[upper].op) : "");
    if (text != NULL && upper >= 0) text = sqlite3_mprintf("%z?", text);
    if (text == NULL) return SQLITE_NOMEM;
    info->idxStr = text;
    info->needToFreeIdxStr = 1;
    return SQLITE_OK;
}
