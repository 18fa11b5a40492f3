/*
** program_part.h - the programs' part of a connection: compiled statements, triggers of temp.
*/
#ifndef ROOTSTOCK_PROGRAM_PROGRAM_PART_H
#define ROOTSTOCK_PROGRAM_PROGRAM_PART_H

#include "executor/executor.h"

typedef struct rst_programs {
    rst_executor executor;        /* must be first */
    struct rst_bulk_change *bulk; /* the rows being gathered, innermost statement's; or null (bulk_change.c) */
    int trigger_objects;          /* views and triggers made for triggers */
    struct rst_made *made;        /* those of main, by number (trigger.c) */
    int made_count, made_next;
    bool made_wait;         /* they are made, and put into main together */
    bool temporary_used;    /* there has been one: temp may hold their texts (temporary.c) */
    int64_t hidden_version; /* of temp's schema, when the triggers were made */
    uint64_t hidden_tables; /* which of the store's tables it hid then, hashed */
    int64_t upsert_count;
    struct rst_code *codes; /* compiled front-door statements */
    int code_count;
} rst_programs;

static inline rst_programs *programs_of(const rst_connection *c) {
    return (rst_programs *)(uintptr_t)c;
}

#endif
