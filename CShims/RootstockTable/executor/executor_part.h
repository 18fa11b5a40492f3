/*
** executor_part.h - the executor's part of a connection: rows in hand, the change under way.
*/
#ifndef ROOTSTOCK_EXECUTOR_EXECUTOR_PART_H
#define ROOTSTOCK_EXECUTOR_EXECUTOR_PART_H

#include "planner/planner.h"

/* An INSERT that leaves out no column with a DEFAULT (left_out.c), or nothing. */
typedef struct rst_whole_insert {
    int64_t table;
    uint64_t epoch;
    rootstock_buffer text;
} rst_whole_insert;

typedef struct rst_executor {
    rst_planner planner; /* must be first */
    char *schema;        /* its name; of a store "main" */
    bool shadow_upkeep;  /* a native foreign-key table is being brought in step */
    bool refreshing;
    struct rst_cursor *open_cursors;
    int all_cursors;             /* of all tables, those of an earlier schema and of attached stores among them */
    bool dropping_rows;          /* the rows of a table that is being dropped: keys that fit nothing are passed over */
    bool dropping_ends;          /* the transaction ends with that DROP */
    int64_t dropping_violations; /* deferred ones before it */
    rootstock_buffer key_scratch;
    rootstock_buffer row_scratch;
    rootstock_buffer spares[12]; /* of rows in hand, for the next ones */
    int spare_count;
    int last_mode;        /* conflict mode that the last refusal came from */
    uint32_t labels_made; /* new ones in primary keys (collated_key.c) */
    int settling;         /* rootstock_statement_constraints runs a statement of SQLite's own */
    int programs_running; /* their code must stay */
    int asides;           /* of rootstock_aside_begin: SQLite runs a statement that writes around them */
    bool aborted;         /* a function's ROLLBACK TO: the change under way goes no further */
    int moment;           /* of the trigger body under way: 1 begun, 2 ended */
    struct rst_upsert *upserts;
    struct rst_init_subquery **once; /* answers of subqueries that the running program runs once */
    int once_branch;                 /* what runs them: 0, or the DO UPDATE of a clause and key */
    bool upsert_updated;             /* the last INSERT ended in DO UPDATE */
    bool row_written;                /* the last row was changed before what refused it: an AFTER trigger */
    int override_conflict;           /* of the outer statement, for those in its triggers */
    int nested_error;                /* constraint that such a statement ran into */
    char *nested_message;
    int raised; /* conflict mode of the last RAISE */
    rst_whole_insert whole_insert;
} rst_executor;

static inline rst_executor *executor_of(const rst_connection *c) {
    return (rst_executor *)(uintptr_t)c;
}

#endif
