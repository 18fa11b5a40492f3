/*
** check.h - what a store can say about itself: its faults, its foreign key violations, its plans, its figures.
**
** Each is an eponymous table-valued function whose rows are made at once, when it is first read (listing.c). So a check
** sees one snapshot, and is over when its first row comes out.
*/
#ifndef ROOTSTOCK_CHECK_H
#define ROOTSTOCK_CHECK_H

#include "executor/change.h"

/* ---- listing.c ---- */
typedef struct rst_listing rst_listing;

/* A listing's columns: `columns` is the declaration, hidden ones last; arguments are the numbers of the columns whose
** equality is passed to fill, ended by -1. A hidden one must be given in a way that can be used; a visible one need not
** be. */
typedef struct rst_listing_definition {
    const char *name;
    const char *columns;
    int column_count;        /* visible ones */
    int argument, arguments; /* the column that the first one is, and how many there are: at most two */
    /* Adds every row. values[n] is the n-th argument, or null. SQLITE_OK, or a code with *message. */
    int (*fill)(rst_connection *c, sqlite3_value **values, rst_listing *listing, char **message);
} rst_listing_definition;

/* One row: format has a letter a column, 's' (const char *, null is NULL), 'i' (sqlite3_int64) or 'n' (NULL, no
** argument). */
int rst_listing_add(rst_listing *listing, const char *format, ...);

/* ---- the listings ---- */
extern const rst_listing_definition rst_integrity_listing; /* check.c */
extern const rst_listing_definition rst_foreign_listing;   /* foreign_check.c */
extern const rst_listing_definition rst_explain_listing;   /* explain.c */

/* ---- pages.c ---- */
int rst_pages_register(rst_connection *c);

/* ---- info.c ---- */
void rst_info_function(sqlite3_context *context, int count, sqlite3_value **values);

int rst_check_register(rst_connection *c);

/* ---- check.c, check_catalog.c ---- */
typedef struct rst_check {
    rst_connection *connection;
    rootstock_transaction *transaction;
    rst_listing *listing;
    int left;             /* faults that are still reported */
    bool quick;           /* rows only, not their index entries */
    int code;             /* what ended the check itself: no memory, a collation that is not registered */
    char **message;       /* its words */
    sqlite3_stmt *number; /* tells whether a text looks like a number */
} rst_check;

/* Reports a fault; printf-formatted as sqlite3_mprintf does. */
void rst_check_fault(rst_check *check, const char *format, ...);
/* Whether to go on: neither enough faults nor a failure. */
static inline bool rst_check_goes_on(const rst_check *check) {
    return check->left > 0 && check->code == SQLITE_OK;
}
/* The engine's words for a code other than ROOTSTOCK_OK. */
const char *rst_check_words(const rst_check *check, int code);
/* Objects and trees, each in its place. */
void rst_check_catalog(rst_check *check);

/* A row laid out in hand from the slices of a snapshot, whose bytes it goes on pointing to. SQLITE_OK, SQLITE_CORRUPT
** for bytes that no writer makes, SQLITE_NOMEM. */
int rst_row_slot_lay_open(rst_table *table, const rootstock_slice *key, const rootstock_slice *value,
                          rst_row_slot *hand);

#endif
