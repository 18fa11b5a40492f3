/*
** table_names.h - the schema's tables by name, and the foreign keys that refer to each.
*/
#ifndef ROOTSTOCK_TABLE_NAMES_H
#define ROOTSTOCK_TABLE_NAMES_H

#include "storage/storage.h"

/* A foreign key of `table` that refers to the table under whose name it was found. */
typedef struct rst_child {
    struct rst_table *table;
    const struct rst_foreign_key *foreign;
    struct rst_child *next;
} rst_child;

typedef struct rst_named_table {
    const char *name; /* the table's own or declared one */
    unsigned int hash;
    struct rst_table *table;
    rst_child *children; /* the newest table's first, each table's in their order; under the own name only */
} rst_named_table;

typedef struct rst_table_names {
    rst_named_table *slots; /* a hash table; null: no tables */
    unsigned int mask;
    rst_child *children; /* all of them */
    bool children_wait;  /* of tables that are not described yet, which may refer to others, none is listed */
    /* Tables with foreign keys, in the order of SQLite's list, once PRAGMA foreign_key_check found their declarations
    ** sound; null before. */
    struct rst_table **sound;
    int sound_count;
} rst_table_names;

/* The names of the tables, which must outlive them. SQLITE_OK or SQLITE_NOMEM. */
int rst_table_names_make(struct rst_table **tables, int count, rst_table_names *out);
/* Lists the foreign keys of the tables under their parents' names, and says of each table whether it is a parent.
** Tables that are not described yet are judged by their texts. SQLITE_OK or SQLITE_NOMEM. */
int rst_table_names_refer(struct rst_table **tables, int count, rst_table_names *names);
void rst_table_names_free(rst_table_names *names);
/* The slot of the name, letters of either case; or null. */
const rst_named_table *rst_table_names_find(const rst_table_names *names, const char *name);

#endif
