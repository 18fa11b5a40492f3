/*
** bulk_apply.h - the rows that an UPDATE or DELETE of many has gathered, packed (program/bulk_change.c), and their
** change.
*/
#ifndef ROOTSTOCK_EXECUTOR_BULK_APPLY_H
#define ROOTSTOCK_EXECUTOR_BULK_APPLY_H

#include "executor/change_steps.h"
#include "rewriter/bulk_text.h"

#include <string.h>

/* One such statement that is running. */
typedef struct rst_bulk_change {
    struct rst_bulk_change *outer; /* it runs inside of that one, in a function that its WHERE or SET calls */
    rst_connection *connection;
    rst_table *table;
    bool deletes;
    bool clears; /* all rows go at once: SQLite only counts them */
    bool singly; /* they were to, but each of them means something to others */
    int count;   /* columns that an UPDATE sets */
    int columns[BULK_COLUMNS];
    uint64_t changed;      /* their bits */
    rootstock_buffer rows; /* packed: see bulk_change.c */
    uint64_t gathered;     /* rows in it; once they are changed, each is there once */
    bool ascending;        /* the rows came in the order of their keys */
    bool matches;          /* a row may come several times, and its last values count */
    bool judged;           /* the program's OR says what becomes of each row; one may be gone by its turn */
    uint64_t counted;      /* in both cases, the rows that SQLite has counted as they came */
    uint64_t done;         /* rows that were changed, and not passed over */
    bool in_turns;         /* a part of the rows may be changed before the others are read */
    bool last;             /* all rows are there: nothing of the statement comes behind their change */
    bool null;             /* a NULL came for a NOT NULL column */
    uint64_t last_place;   /* of the last row in `rows` */
} rst_bulk_change;

/* What is packed of one row. */
typedef struct rst_bulk_row {
    rootstock_slice key;
    int64_t rowid;
    unsigned char rowid_key[8];
    rootstock_value values[BULK_COLUMNS];
} rst_bulk_row;

/* Bytes behind their length, as they are packed; what stands behind them. */
static inline const unsigned char *rst_bulk_unpack_sized(const unsigned char *at, const void **bytes, size_t *size) {
    uint32_t count;
    memcpy(&count, at, sizeof count);
    *size = count;
    *bytes = at + sizeof count;
    return at + sizeof count + count;
}
/* Changes the rows that were gathered. SQLITE_OK, or an extended code with *message; what was changed before it is the
** statement's to undo. */
int rst_bulk_apply(rst_bulk_change *bulk, char **message);

#endif
