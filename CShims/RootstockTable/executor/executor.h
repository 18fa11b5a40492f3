/*
** executor.h - cursors, and a row's change with all that it brings along: constraints, foreign keys, triggers.
**
** Circle: automatic.c automatic_hash.c cursor.c cursor_column.c cursor_entry.c cursor_filter.c cursor_list.c
**   cursor_walk.c scan_filter.c scan_groups.c scan_leading.c scan_offset.c scan_sort.c
**   (the parts of one cursor).
** Circle: change.c foreign.c foreign_statements.c native_fk_table.c program_state.c row_check.c trigger_fire.c
**   (a change fires triggers and foreign-key actions, which change rows).
*/
#ifndef ROOTSTOCK_EXECUTOR_EXECUTOR_H
#define ROOTSTOCK_EXECUTOR_EXECUTOR_H

#include "planner/planner.h"
#include "executor/executor_part.h"

/* ---- cursor.c and scan_*.c ---- */
int rst_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out);
int rst_cursor_close(sqlite3_vtab_cursor *base);
int rst_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values);
int rst_cursor_next(sqlite3_vtab_cursor *base);
int rst_cursor_eof(sqlite3_vtab_cursor *base);
int rst_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column);
int rst_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid);
void rst_cursors_drop_spare(rst_table *table);
void rst_cursors_detach(rst_connection *c);
/* From here on their statements fail with SQLITE_ABORT_ROLLBACK, where they go on. */
void rst_cursors_abort(rst_connection *c);
/* Before a change in the write transaction, while c->writer_cursors is not null: what cursors show of the engine's
** bytes they copy. SQLITE_OK or SQLITE_NOMEM. */
int rst_cursors_keep(rst_connection *c);

/* ---- automatic.c ---- */
void rst_automatic_free(struct rst_automatic *automatic);
/* The last program has run: what is left of indexes that no cursor is open for. */
void rst_automatics_rest_all(rst_connection *c);
/* PRAGMA automatic_index. */
bool rst_automatic_pragma(rst_connection *c);

/* ---- update.c, indexes.c ---- */
int rst_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid);
/* The row's own key. */
int rst_row_key(rst_table *table, const rootstock_value *values, int64_t rowid, rootstock_buffer *key);
int rst_index_fill(rst_table *table, int number, char **message);

/* automatic_hash.c: what numeric affinity makes of a text: SQLite says, by way of *asks, a statement of the
** connection's, null at first. */
int rst_text_number(rst_connection *c, sqlite3_stmt **asks, rootstock_value *value);

int rst_native_fk_register(rst_connection *c);
/* scan_enough.c: the function by which SQLite tells of the rows that it sorts. */
int rst_sorted_register(rst_connection *c);
/* Whether a read that begins now is a statement's first, with nothing else under way: then the schema may be declared
** anew. */
static inline bool rst_reads_first(const rst_connection *c) {
    return (store_of(c)->writer == NULL || store_of(c)->writer_unseen) && !store_of(c)->reader_live &&
           store_of(c)->open_cursors == 0 && !executor_of(c)->refreshing && rewriter_of(c)->trigger_depth == 0 &&
           schema_of(c)->program == NULL && !schema_of(c)->sidecar;
}
/* The same where a statement reads first. If another connection changed the schema, it is declared anew before
** SQLITE_SCHEMA is returned, so that SQLite finds it when it prepares the statement again. No row was given yet, and no
** cursor holds a table. If that fails, its code: tables that a caller found before are gone by then. */
int rst_read_begin_renewing(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message);
/* Begins as one of both does, and holds the snapshot (rst_snapshot_hold) of what reads without cursors of the store. */
int rst_snapshot_take(rst_connection *c, int (*begin)(rst_connection *, rootstock_transaction **, bool *, char **),
                      char **message);

#endif
