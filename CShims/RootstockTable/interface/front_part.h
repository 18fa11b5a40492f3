/*
** front_part.h - the front door's part of a connection.
*/
#ifndef ROOTSTOCK_INTERFACE_FRONT_PART_H
#define ROOTSTOCK_INTERFACE_FRONT_PART_H

#include "ddl/ddl.h"

typedef struct rst_front {
    rst_definitions definitions; /* must be first */
    struct rst_told *told;       /* what rootstock_column_fact_of gave, see statement_info.c */
    /* what texts become, see rewrite_cache.c; or null */
    struct rst_rewrite_cache *rewrite_cache;
    bool lasts;                                  /* what the last text became it becomes until the schema changes */
    const struct rootstock_attaching *attaching; /* see hosting.h */
    struct rst_attached *attached;               /* the stores that ATTACH has attached */
} rst_front;

static inline rst_front *front_of(const rst_connection *c) {
    return (rst_front *)(uintptr_t)c;
}

#endif
