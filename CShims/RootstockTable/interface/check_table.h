/*
** check_table.h - the check of one table, between check.c and check_rows.c.
*/
#ifndef ROOTSTOCK_CHECK_TABLE_H
#define ROOTSTOCK_CHECK_TABLE_H

#include "executor/change.h"
#include "interface/check.h"

/* One index during the walk. */
typedef struct rst_index_check {
    rst_walker walker;
    bool open;
    bool damaged;      /* something was said of it already: walk it */
    bool incomparable; /* a row's entry could not be computed */
    uint64_t expected;
} rst_index_check;

typedef struct rst_table_check {
    rst_check *check;
    rst_table *table;
    rst_row_slot hand;
    rootstock_value *judged; /* the row as the row validator gives it back */
    rootstock_buffer key, value, row_key, previous, hold;
    rst_index_check *indexes;
    bool in_validator; /* the row in hand stands in the row validator */
    uint64_t row;      /* its number */
} rst_table_check;

/* One value of the row in hand: NOT NULL, STRICT, affinity. */
void rst_check_value(rst_table_check *s, int number);
/* Puts the row into the row validator, which judges it; `judge` false: only for the indexes' expressions. */
void rst_check_enter_validator(rst_table_check *s, bool judge);
void rst_check_leave_validator(rst_table_check *s);

#endif
