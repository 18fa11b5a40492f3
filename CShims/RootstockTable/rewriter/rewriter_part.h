/*
** rewriter_part.h - the rewriter's part of a connection: what it remembers from statement to statement.
*/
#ifndef ROOTSTOCK_REWRITER_REWRITER_PART_H
#define ROOTSTOCK_REWRITER_REWRITER_PART_H

#include "catalog/catalog.h"

/* See trigger_list.h. */
struct rst_trigger_list {
    struct rst_listed_text *all; /* in the catalog's order */
    int count;
    int *heads; /* lists of triggers, by the hash of their table */
    unsigned int mask;
    uint64_t epoch; /* of the loaded schema that it is of */
    int64_t generation;
    /* Objects that came, went or changed since the triggers were made, hashed; unless all is in doubt. */
    unsigned int *doubts;
    int doubt_count;
    bool made;    /* all were, as far as doubts do not say otherwise */
    bool trusted; /* SQLITE_DBCONFIG_TRUSTED_SCHEMA, when they were */
};

/* Which joins the views of the store have (outer_sources.c). */
typedef enum rst_view_joins {
    VIEWS_INNER,  /* or there is none */
    VIEWS_LEFT,   /* some a LEFT JOIN, and none a RIGHT or FULL JOIN */
    VIEWS_RIGHT,  /* some a RIGHT or FULL JOIN */
    VIEWS_UNKNOWN /* since the schema was loaded nobody has asked */
} rst_view_joins;

typedef struct rst_rewriter {
    rst_schema schema; /* must be first */
    int trigger_depth;
    struct rst_changes {
        int kept_for;              /* the trigger_depth whose changes() is kept; -2: none is */
        int64_t kept, left, total; /* what it was; changes() and total_changes() when the trigger was done */
    } changes;                     /* see changes.c */
    char **temporary_triggers;     /* texts of CREATE TEMP TRIGGER on store tables */
    int temporary_trigger_count;
    struct rst_trigger_list triggers; /* the schema's, and its views */
    bool body_asks_more;              /* rst_trigger_asks_more */
    bool temporary_names;             /* temp may have tables or views of the application (scope.c) */
    bool names_in_main;               /* what is transformed stands in main, whose names temp does not hide */
    rst_view_joins view_joins;
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
