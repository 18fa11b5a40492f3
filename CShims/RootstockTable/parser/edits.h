/*
** edits.h - what is to be written otherwise in a text, collected in any order and written once. What no edit names
** stays as it stands, byte for byte.
*/
#ifndef ROOTSTOCK_PARSER_EDITS_H
#define ROOTSTOCK_PARSER_EDITS_H

#include <stdbool.h>

typedef struct rst_edit {
    const char *start, *end; /* what the new text takes the place of: nothing where both are one */
    char *text;
    int number;
} rst_edit;

/* Begins as {0}. */
typedef struct rst_edits {
    rst_edit *all;
    int count, capacity;
    bool no_memory;
} rst_edits;

/* Takes the text, which comes from sqlite3_malloc; null: there was no memory for it. No two edits overlap; at one place
** they stand in the order in which they came. */
void rst_edits_add(rst_edits *edits, const char *start, const char *end, char *text);
/* Writes [text, end) with its edits into *out, from sqlite3_malloc: null where there are none. SQLITE_NOMEM, with *out
** null. Leaves no edits. */
int rst_edits_apply(rst_edits *edits, const char *text, const char *end, char **out);
void rst_edits_free(rst_edits *edits);

#endif
