/*
** rewriter_part.h - the rewriter's part of a connection: what it remembers from statement to statement.
*/
#ifndef ROOTSTOCK_REWRITER_REWRITER_PART_H
#define ROOTSTOCK_REWRITER_REWRITER_PART_H

#include "catalog/catalog.h"

typedef struct rst_rewriter {
    rst_schema schema; /* must be first */
    int trigger_depth;
    struct rst_changes {
        int kept_for;              /* the trigger_depth whose changes() is kept; -2: none is */
        int64_t kept, left, total; /* what it was; changes() and total_changes() when the trigger was done */
    } changes;                     /* see changes.c */
    char **temporary_triggers;     /* texts of CREATE TEMP TRIGGER on store tables */
    int temporary_trigger_count;
    bool temporary_names;                     /* temp may have tables or views of the application (names_meant.c) */
    bool names_in_main;                       /* what is transformed stands in main, whose names temp does not hide */
    bool has_expressions;                     /* some index is on an expression */
    bool has_conditions;                      /* some index has a WHERE */
    bool has_exclusions;                      /* some index has a WHERE with <>, IS NOT or IS NOT NULL */
    bool like_replaced;                       /* PRAGMA case_sensitive_like has set a LIKE of its own */
    struct rst_hint_function *hint_functions; /* registered, see expressions.c */
} rst_rewriter;

static inline rst_rewriter *rewriter_of(const rst_connection *c) {
    return (rst_rewriter *)(uintptr_t)c;
}

#endif
