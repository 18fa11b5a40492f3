/*
** text_arena.h - texts of rows that a write transaction shows, which hold only until its next change.
*/
#ifndef ROOTSTOCK_TEXTS_H
#define ROOTSTOCK_TEXTS_H

#include "executor/executor.h"

typedef struct rst_text_arena rst_text_arena;

/* The column's result: the text of these bytes, of which the last is a NUL and no other is one. They may go
** afterwards. */
void rst_text_arena_result(rst_connection *c, sqlite3_context *context, const void *text, size_t size);
/* The connection is about to be freed. What SQLite still holds stays until it lets go of it. */
void rst_text_arena_free(rst_connection *c);

#endif
