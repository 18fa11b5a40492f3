/*
** change.h - rows in hand and one row's change, as update.c, triggers, foreign keys and UPSERT hand it to each other.
*/
#ifndef ROOTSTOCK_CHANGE_H
#define ROOTSTOCK_CHANGE_H

#include "catalog/column_sets.h"
#include "rewriter/trigger_text.h"

/* A row in hand: values (one per column), its rowid or key. The bytes are owned by hold, or by the caller. */
typedef struct rst_row_slot {
    rootstock_value *values;
    int64_t rowid;
    rootstock_buffer key;  /* logical key in the table's tree */
    rootstock_buffer hold; /* bytes that values point to */
    uint64_t *beyond;      /* of a row that an UPDATE writes: which columns it sets (column_sets.h) */
    int64_t marks;         /* and what its text says that SQLite does not hand on: UPDATE_... */
    rootstock_value small[24];
} rst_row_slot;

int rst_row_slot_begin(rst_table *table, rst_row_slot *hand);
void rst_row_slot_end(rst_table *table, rst_row_slot *hand);
/* Copies the row under key out of the write transaction. SQLITE_ROW, SQLITE_DONE (absent) or an error. */
int rst_row_slot_fetch(rst_table *table, const rootstock_slice *key, rst_row_slot *hand);
/* The same from an entry of the table's tree as a walker gives it; only the columns of these bits are read, the last
** bit standing for all behind it. SQLITE_OK or an error. */
int rst_row_slot_read(rst_table *table, const rootstock_slice *key, const rootstock_slice *value, uint64_t columns,
                      rst_row_slot *hand);
/* Column of a stored row: from the logical key or the row's bytes. */
int rst_stored_column(const rst_table *table, const rootstock_slice *key, const rootstock_row *row, int column,
                      rootstock_value *value, bool *has_nul, rootstock_buffer *scratch);

/* The three changes. conflict: SQLITE_ROLLBACK .. SQLITE_REPLACE, or CONFLICT_DEFAULT. Each is whole or not at all.
** An UPSERT has fired the BEFORE triggers, and found indexes free of the row (rst_free_bit).
** SQLITE_OK; SQLITE_DONE if IGNORE dropped it; an extended code with *message. */
int rst_row_insert_sought(rst_table *table, rst_row_slot *row, bool has_rowid, int conflict, bool fired, uint64_t free,
                          char **message);
static inline int rst_row_insert(rst_table *table, rst_row_slot *row, bool has_rowid, int conflict, char **message) {
    return rst_row_insert_sought(table, row, has_rowid, conflict, false, 0, message);
}
/* Fires the BEFORE INSERT triggers; then rst_row_insert_sought is told so (fired). */
int rst_before_insert(rst_table *table, rst_row_slot *row, bool has_rowid, char **message);
/* Releases the mark, having undone what came after it if `code` is a failure that leaves nothing. */
int rst_mark_finish(rst_connection *c, rst_mark mark, int conflict, int code);
int rst_row_update(rst_table *table, rst_row_slot *old, rst_row_slot *row, int conflict, uint64_t changed,
                   char **message);
int rst_row_delete(rst_table *table, rst_row_slot *old, bool replacing, char **message);

/* An automatic rowid, used up from now on. */
int rst_new_rowid(rst_table *table, int64_t *rowid, char **message);
/* SQLite enters an AUTOINCREMENT table into sqlite_sequence at its first INSERT, even of no rows. */
int rst_sequence_touch(rst_table *table);
/* An AUTOINCREMENT table's entry in sqlite_sequence. */
typedef struct rst_sequence {
    int64_t rowid, value;
    bool found;
} rst_sequence;
int rst_sequence_read(rst_table *table, rst_sequence *out);
/* Gives it back what it was. */
int rst_sequence_take_back(rst_table *table, const rst_sequence *before);
/* Affinity is done; NOT NULL, and what the schema database judges, for an UPDATE of these columns. SQLITE_DONE: IGNORE
** dropped the row. The values may move into row->hold. */
int rst_check_update(rst_table *table, const rst_row_slot *old, rst_row_slot *row, int conflict, uint64_t changed,
                     char **message);
/* The same for a new row. */
static inline int rst_check_row(rst_table *table, rst_row_slot *row, int conflict, char **message) {
    return rst_check_update(table, NULL, row, conflict, UINT64_MAX, message);
}

/* CREATE TABLE x AS SELECT (create_as.c). *done: it was one, and is done if SQLITE_OK is returned. */
int rst_create_as(rst_connection *c, const rst_schema_statement *s, const char *sql, int count, sqlite3_value **values,
                  bool *done, char **message);

/* A unique constraint's code and words: an index's, or -1: the key's. */
int rst_unique_failed(const rst_table *table, int number, char **message);
/* Conflicting row for UPSERT: key of the row that stands in the way of `row` on the primary key (index -1) or an index.
** SQLITE_ROW and *key, SQLITE_DONE if none. */
int rst_find_conflict(rst_table *table, int index, rst_row_slot *row, const rst_row_slot *except, rootstock_buffer *key,
                      char **message);

/* Entry of index `number` for the row in hand: key, value (may be null), length of the columns' part of the key. With
** an evaluated index the row must be in the row validator. *included: false where a partial index leaves the row
** out. */
int rst_index_entry(rst_table *table, int number, const rst_row_slot *hand, rootstock_buffer *key,
                    rootstock_buffer *value, size_t *prefix, bool *has_null, bool *included, char **message);

#endif
