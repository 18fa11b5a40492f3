/*
** front_part.h - the front door's part of a connection.
*/
#ifndef ROOTSTOCK_INTERFACE_FRONT_PART_H
#define ROOTSTOCK_INTERFACE_FRONT_PART_H

#include "ddl/ddl.h"

/* How long the last text becomes what it became: no longer, or until the schema changes. Then all texts that differ in
** literals become the same, or this one alone is told of. */
typedef enum rst_lasts { RST_LASTS_NOT, RST_LASTS_AS_TEXT, RST_LASTS_AS_SHAPE } rst_lasts;

typedef struct rst_front {
    rst_definitions definitions; /* must be first */
    struct rst_told *told;       /* what rootstock_column_fact_of gave, see statement_info.c */
    /* what texts become, see rewrite_cache.c; or null */
    struct rst_rewrite_cache *rewrite_cache;
    rst_lasts lasts;
    const struct rootstock_attaching *attaching; /* see hosting.h */
    /* rootstock_observe_attached; or null */
    void (*attached_observer)(void *context, int operation, const char *schema, const char *table, sqlite3_int64 rowid);
    void *attached_context;
    struct rst_attached *attached; /* the stores that ATTACH has attached */
    uint64_t attached_changes;     /* how often a store was attached, or declared anew */
    uint64_t attached_state;       /* which they were, and their schemas; 0: none is attached */
} rst_front;

static inline rst_front *front_of(const rst_connection *c) {
    return (rst_front *)(uintptr_t)c;
}

/* Of the store's schema, and of those of the stores attached to it. */
static inline uint64_t rst_schemas_state(const rst_connection *c) {
    return planner_of(c)->schema_state + front_of(c)->attached_state;
}

#endif
