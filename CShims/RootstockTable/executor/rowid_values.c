/*
** rowid_values.c - what a value means beside a rowid: which one, or a bound. Invariant: as SQLite compares them, with
** the affinity of an INTEGER.
*/
#include "executor/executor.h"
#include "executor/ranges.h"

bool rst_rowid_bound(sqlite3_value *value, int op, int64_t *low, int64_t *high) {
    rootstock_value v;
    rootstock_buffer unused = {0};
    rst_value_from(value, &v);
    (void)rst_value_affinity(&v, value, AFFINITY_NUMERIC, &unused);
    if (v.type == VALUE_NULL) return false;
    if (v.type == VALUE_TEXT || v.type == VALUE_BLOB) {
        return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE; /* every integer is below */
    }
    if (v.type == VALUE_REAL) {
        double real = v.as.real;
        int64_t floor_value;
        bool exact;
        /* A whole one is an integer by now, but for -2^63, by which SQLite finds no row either. */
        if (op == SQLITE_INDEX_CONSTRAINT_EQ) return false;
        if (real >= 9223372036854775808.0) return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
        if (real < -9223372036854775808.0) return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
        floor_value = (int64_t)real;
        if ((double)floor_value > real) floor_value--;
        exact = (double)floor_value == real;
        if (exact) {
            v.as.integer = floor_value;
        } else if (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE) {
            if (floor_value >= *low) *low = floor_value + 1;
            return true;
        } else {
            if (floor_value < *high) *high = floor_value;
            return true;
        }
    }
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_GT:
        if (v.as.integer == INT64_MAX) return false;
        v.as.integer++;
        if (v.as.integer > *low) *low = v.as.integer;
        return true;
    case SQLITE_INDEX_CONSTRAINT_GE:
        if (v.as.integer > *low) *low = v.as.integer;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LT:
        if (v.as.integer == INT64_MIN) return false;
        v.as.integer--;
        if (v.as.integer < *high) *high = v.as.integer;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LE:
        if (v.as.integer < *high) *high = v.as.integer;
        return true;
    default:
        if (v.as.integer > *low) *low = v.as.integer;
        if (v.as.integer < *high) *high = v.as.integer;
        return true;
    }
}

bool rst_rowid_meant(sqlite3_value *value, int64_t *rowid) {
    int64_t low = INT64_MIN, high = INT64_MAX;
    if (sqlite3_value_type(value) == SQLITE_INTEGER)
        low = high = sqlite3_value_int64(value);
    else if (!rst_rowid_bound(value, SQLITE_INDEX_CONSTRAINT_EQ, &low, &high) || low != high)
        return false;
    *rowid = low;
    return true;
}
