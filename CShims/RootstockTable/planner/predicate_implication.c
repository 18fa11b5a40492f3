/*
** predicate_implication.c - what the terms shown to xBestIndex tell of a row, and whether that implies a partial
** index's WHERE (partial_predicate.c, where the rules stand). Invariant: what is not understood is not implied.
*/
#include "planner/planner.h"
#include "catalog/partial_predicate.h"

#include <string.h>

static bool is_text(const rootstock_value *value) {
    return value->type == VALUE_TEXT;
}

/* Of 0x7fffffffffff sqlite3_vtab_rhs_value tells the text. */
static bool spells_hexadecimal(const rootstock_value *value) {
    const char *p;
    size_t size = value->size;
    if (!is_text(value)) return false;
    p = value->as.data;
    if (size > 0 && *p == '-') p++, size--;
    return size > 1 && p[0] == '0' && (p[1] | 0x20) == 'x';
}

int rst_known_from(const rst_table *table, sqlite3_index_info *info, bool trusted, rst_known *known, int room,
                   rootstock_buffer *hold) {
    int count = 0;
    /* What affinity makes of a number lies in here, and must not move. */
    if (rootstock_buffer_reserve(hold, (size_t)room * 64) != SQLITE_OK) return 0;
    for (int i = 0; i < info->nConstraint && count < room; i++) {
        const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
        rst_known *k = &known[count];
        sqlite3_value *value = NULL;
        int column = constraint->iColumn;
        char affinity;
        bool whole;
        if (!constraint->usable || column >= table->column_count) continue;
        if (column == table->rowid_column) column = -1;
        switch (constraint->op) {
        case SQLITE_INDEX_CONSTRAINT_EQ:
        case SQLITE_INDEX_CONSTRAINT_GT:
        case SQLITE_INDEX_CONSTRAINT_GE:
        case SQLITE_INDEX_CONSTRAINT_LT:
        case SQLITE_INDEX_CONSTRAINT_LE:
        case SQLITE_INDEX_CONSTRAINT_IS:
        case SQLITE_INDEX_CONSTRAINT_ISNULL: break;
        case SQLITE_INDEX_CONSTRAINT_NE:
        case SQLITE_INDEX_CONSTRAINT_ISNOT:
        case SQLITE_INDEX_CONSTRAINT_ISNOTNULL:
            if (!trusted) continue;
            break;
        default: continue;
        }
        memset(k, 0, sizeof *k);
        k->column = column;
        k->operation = constraint->op;
        k->constraint = i;
        count++;
        if (constraint->op == SQLITE_INDEX_CONSTRAINT_ISNULL || constraint->op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL)
            continue;
        if (!rst_collation_number(sqlite3_vtab_collation(info, i), &k->collation)) continue;
        if (sqlite3_vtab_rhs_value(info, i, &value) != SQLITE_OK || value == NULL) continue;
        k->constant = true;
        affinity = rst_partial_predicate_affinity(table, column);
        rst_value_from(value, &k->value);
        /* See the head of this file. */
        whole = affinity >= AFFINITY_NUMERIC || k->value.type == VALUE_BLOB || k->value.type == VALUE_TEXT;
        if (!whole || k->value.type == VALUE_NULL || spells_hexadecimal(&k->value)) continue;
        if (rst_value_affinity(&k->value, value, affinity >= AFFINITY_NUMERIC ? AFFINITY_NUMERIC : affinity, hold) !=
            SQLITE_OK)
            continue;
        k->has_value = true;
    }
    return count;
}

/* Order of two values under a collation: negative, 0, positive. False without memory. */
static bool order(const rootstock_value *left, const rootstock_value *right, uint8_t collation, int *result) {
    rootstock_key_column column = {.collation = collation};
    rootstock_buffer a = {0}, b = {0};
    bool done =
        rootstock_key_append(&a, left, &column) == SQLITE_OK && rootstock_key_append(&b, right, &column) == SQLITE_OK;
    if (done) *result = rootstock_key_compare(a.data, a.size, b.data, b.size);
    rootstock_buffer_free(&a);
    rootstock_buffer_free(&b);
    return done;
}

/* No row with a NULL there. */
static bool rejects_null(const rst_known *known) {
    switch (known->operation) {
    case SQLITE_INDEX_CONSTRAINT_ISNULL: return false;
    case SQLITE_INDEX_CONSTRAINT_IS: return known->has_value;
    case SQLITE_INDEX_CONSTRAINT_ISNOT: return false;
    default: return true;
    }
}

/* Whether the comparison holds for every row for which `known` does. */
static bool implies(const rst_known *known, const rst_partial_predicate *node) {
    int sign, wanted = node->operation;
    bool equal, above, from, below, upto; /* what `known` says of the column, against its value */
    bool like;                            /* it may come from LIKE: see the head of this file */
    if (wanted == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return rejects_null(known);
    if (wanted == SQLITE_INDEX_CONSTRAINT_ISNULL) return known->operation == SQLITE_INDEX_CONSTRAINT_ISNULL;
    if (known->operation == SQLITE_INDEX_CONSTRAINT_ISNULL) return wanted == SQLITE_INDEX_CONSTRAINT_ISNOT;
    if (!known->has_value || known->operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return false;
    if (is_text(&known->value) && is_text(&node->value) && known->collation != node->collation) return false;
    if (!order(&known->value, &node->value, node->collation, &sign)) return false;
    if (known->operation == SQLITE_INDEX_CONSTRAINT_NE)
        return sign == 0 && (wanted == SQLITE_INDEX_CONSTRAINT_NE || wanted == SQLITE_INDEX_CONSTRAINT_ISNOT);
    if (known->operation == SQLITE_INDEX_CONSTRAINT_ISNOT) return sign == 0 && wanted == SQLITE_INDEX_CONSTRAINT_ISNOT;
    equal = known->operation == SQLITE_INDEX_CONSTRAINT_EQ || known->operation == SQLITE_INDEX_CONSTRAINT_IS;
    above = known->operation == SQLITE_INDEX_CONSTRAINT_GT;
    from = known->operation == SQLITE_INDEX_CONSTRAINT_GE;
    below = known->operation == SQLITE_INDEX_CONSTRAINT_LT;
    upto = known->operation == SQLITE_INDEX_CONSTRAINT_LE;
    like = (below || upto) && is_text(&known->value);
    if (like && node->value.type == VALUE_BLOB) return false;
    switch (wanted) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS: return equal && sign == 0;
    case SQLITE_INDEX_CONSTRAINT_GT: return ((equal || from) && sign > 0) || (above && sign >= 0);
    case SQLITE_INDEX_CONSTRAINT_GE: return (equal || from || above) && sign >= 0;
    case SQLITE_INDEX_CONSTRAINT_LT:
        if (like) return false;
        return ((equal || upto) && sign < 0) || (below && sign <= 0);
    case SQLITE_INDEX_CONSTRAINT_LE:
        if (like) return false;
        return (equal || upto || below) && sign <= 0;
    case SQLITE_INDEX_CONSTRAINT_NE:
    case SQLITE_INDEX_CONSTRAINT_ISNOT:
        return (equal && sign != 0) || (from && sign > 0) || (above && sign >= 0) || (upto && sign < 0) ||
               (below && sign <= 0);
    default: return false;
    }
}

bool rst_predicate_is_implied(const rst_partial_predicate *node, const rst_known *known, int count, uint64_t *used) {
    if (node == NULL) return false;
    if (node->kind == NODE_AND) {
        return rst_predicate_is_implied(node->left, known, count, used) &&
               rst_predicate_is_implied(node->right, known, count, used);
    }
    if (node->kind == NODE_OR) {
        return rst_predicate_is_implied(node->left, known, count, used) ||
               rst_predicate_is_implied(node->right, known, count, used);
    }
    for (int i = 0; i < count; i++) {
        if (known[i].column != node->column || !implies(&known[i], node)) continue;
        *used |= (uint64_t)1 << i;
        return true;
    }
    return false;
}
