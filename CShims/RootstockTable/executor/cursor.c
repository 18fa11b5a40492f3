/*
** cursor.c - a cursor's life: opened and closed with the statement, begun and stopped with its snapshot.
**
** Cursors and their engine cursors are kept with the table and used again. Invariant: from rst_cursor_begun to
** rst_cursor_stop a cursor holds its snapshot, or stands in the connection's list of cursors in the write transaction.
** The end of that transaction takes its engine cursor and leaves it `detached`: it goes on behind the key that it
** saved.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

static void cursor_dispose(rst_cursor *k) {
    if (k->walker_tree != NULL) rst_walker_close(&k->walker);
    rst_ranges_free(&k->ranges);
    rootstock_buffer_free(&k->hold);
    rootstock_buffer_free(&k->own);
    rootstock_buffer_free(&k->scratch);
    rootstock_buffer_free(&k->saved);
    rootstock_buffer_free(&k->hint);
    rootstock_buffer_free(&k->reject_texts);
    rootstock_buffer_free(&k->enough);
    rootstock_buffer_free(&k->leading);
    rootstock_buffer_free(&k->behind.low);
    rootstock_buffer_free(&k->behind.high);
    rootstock_buffer_free(&k->seek);
    rootstock_buffer_free(&k->repeat_text);
    sqlite3_free(k->list.rowids);
    sqlite3_free(k->ahead.far);
    sqlite3_free(k);
}

void rst_cursors_drop_spare(rst_table *table) {
    while (table->spare_cursors != NULL) {
        rst_cursor *k = table->spare_cursors;
        table->spare_cursors = k->next_spare;
        cursor_dispose(k);
    }
}

/*
** The first cursor of a statement finds a schema that another connection changed: declare it anew and let SQLite
** prepare the statement again. Here no row was given yet, and no cursor holds a table (see table_destroy for what
** SQLite still does with this one).
*/
static int renew_schema(rst_connection *c, rootstock_transaction **transaction) {
    bool is_writer;
    int code;
    *transaction = NULL;
    if (!rst_reads_first(c)) return SQLITE_OK;
    code = rst_read_begin_renewing(c, transaction, &is_writer, NULL);
    if (code == SQLITE_OK) return SQLITE_OK; /* the cursor keeps the snapshot */
    *transaction = NULL;
    /* Declared anew by half (an interrupt, no memory): the tables are others already, and nothing planned for the old
    ** ones may run. Any other failure the statement's own begin will say. */
    return code == SQLITE_SCHEMA || store_of(c)->schema_stale ? code : SQLITE_OK;
}

/*
** SQLite opens a cursor anew (a recursive step, a subquery of a row) before it closes the one before, which may be the
** last one that reads. So a cursor holds the snapshot from when it is opened: the statement goes on in it, and with the
** transient indexes made there. If that fails, the filter says why.
*/
static rootstock_transaction *join_snapshot(rst_connection *c) {
    rst_store *store = store_of(c);
    rootstock_transaction *transaction;
    bool is_writer;
    if (store->writer != NULL || !store->reader_live || store->open_cursors == 0) return NULL;
    return rst_read_begin(c, &transaction, &is_writer, NULL) == SQLITE_OK ? transaction : NULL;
}

/* A cursor that is not open. Null: out of memory. */
static rst_cursor *cursor_make(rst_table *table) {
    size_t columns = (size_t)table->column_count + HIDDEN_KEY + 1 + (size_t)table->shown_count;
    rst_cursor *k = sqlite3_malloc64(sizeof *k + 2 * columns * sizeof *k->reaches);
    if (k == NULL) return NULL;
    memset(k, 0, sizeof *k);
    k->table = table;
    k->connection = table->connection;
    rst_ahead_make(&k->ahead);
    k->places = k->reaches + columns;
    k->raw_key = table->key_count == 1 && table->key[0].key.final && !table->key[0].key.descending;
    for (int i = 0; i < (int)columns; i++) {
        if (i >= table->column_count)
            k->reaches[i] = PLACE_ELSEWHERE;
        else if (i == table->rowid_column)
            k->reaches[i] = PLACE_ROWID;
        else if (table->slot[i] >= 0)
            k->reaches[i] = (int16_t)table->slot[i];
        else
            k->reaches[i] = (int16_t)(k->raw_key ? PLACE_KEY : PLACE_PART + 1 + table->slot[i]);
    }
    k->usual_count = table->slot_count;
    k->usual_body = SIZE_MAX; /* of rows with more columns the header says less */
    if (table->slot_count >= 1 && table->slot_count <= 30) {
        k->usual_header = rootstock_row_usual_header(table->slot_count);
        k->usual_body = 1 + 2 * (size_t)table->slot_count;
    }
    return k;
}

void rst_cursor_aim(rst_cursor *k) {
    const rst_table *table = k->table;
    const rst_index *index;
    if (k->plan->source != PLAN_INDEX) {
        k->row_key = &k->entry_key;
        k->row_value = &k->entry_value;
        return;
    }
    k->row_key = &k->found_key;
    k->row_value = &k->found_value;
    k->exact_entry_size = table->without_rowid ? 4 : 0;
    if (k->placed == k->plan) return;
    k->placed = k->plan;
    index = &table->indexes[k->plan->index];
    for (int i = 0; i <= table->column_count + HIDDEN_KEY + table->shown_count; i++) {
        k->places[i] = i >= table->column_count ? PLACE_ELSEWHERE : i == table->rowid_column ? PLACE_ROWID : PLACE_ROW;
        if (k->places[i] == PLACE_ROW && table->without_rowid && table->slot[i] < 0) k->places[i] = PLACE_ELSEWHERE;
        for (int p = index->part_count - 1; p >= 0 && k->places[i] != PLACE_ROWID; p--) {
            if (index->parts[p].column == i) k->places[i] = (int16_t)p;
        }
    }
}

int rst_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    rootstock_transaction *transaction;
    rst_cursor *k;
    int code = renew_schema(table->connection, &transaction);
    if (code != SQLITE_OK) return code;
    if (transaction == NULL) transaction = join_snapshot(table->connection);
    k = table->spare_cursors;
    if (k != NULL) {
        table->spare_cursors = k->next_spare;
    } else {
        k = cursor_make(table);
        if (k == NULL) {
            if (transaction != NULL) rst_read_end(table->connection, false);
            return SQLITE_NOMEM;
        }
    }
    k->next_spare = NULL;
    table->references++;
    table->open_cursors++;
    executor_of(table->connection)->all_cursors++;
    k->open_link = &executor_of(table->connection)->open_cursors;
    k->open_next = *k->open_link;
    if (k->open_next != NULL) k->open_next->open_link = &k->open_next;
    *k->open_link = k;
    k->plan = NULL;
    k->repeated = NULL;
    k->repeat_misses = 0;
    k->ranges.disguised = k->ranges.declared = 0;
    k->rejecting = 0;
    k->may_have_enough = false;
    k->stepped = 0;
    k->began = transaction != NULL;
    k->transaction = transaction;
    k->on_writer = false;
    k->brief = (store_of(table->connection)->engine->capabilities & ROOTSTOCK_CAPABILITY_BRIEF_SLICES) != 0;
    k->detached = false;
    k->aborted = false;
    k->walker_fresh = false;
    k->opened_epoch = store_of(table->connection)->epoch;
    k->eof = true;
    *out = &k->base;
    return SQLITE_OK;
}

static void unlink_live(rst_cursor *k) {
    if (k->live_link == NULL) return;
    *k->live_link = k->live_next;
    if (k->live_next != NULL) k->live_next->live_link = k->live_link;
    k->live_link = NULL;
    k->live_next = NULL;
}

/* The write transaction ends: its cursors give their engine cursors back and remember where they stood. */
void rst_cursors_detach(rst_connection *c) {
    rst_store *store = store_of(c);
    while (store->writer_cursors != NULL) {
        rst_cursor *k = store->writer_cursors;
        unlink_live(k);
        if (k->borrowed && rst_cursor_keep_entry(k) != SQLITE_OK) {
            k->entry_key.size = k->entry_value.size = 0;
            k->eof = true;
        }
        if (k->borrowed) rst_cursor_noted(k);
        k->borrowed = false;
        k->detached = true;
        if (!k->holds) {
            k->holds = true;
            store->held++;
        }
        k->walking = false;
        k->began = false;
        k->saved.size = 0;
        if (!k->eof && k->walker_tree != NULL && k->entry_key.size > 0 &&
            rootstock_buffer_append(&k->saved, k->entry_key.data, k->entry_key.size) != SQLITE_OK) {
            k->saved.size = 0;
            k->eof = true;
        }
        if (k->walker_tree != NULL) rst_walker_close(&k->walker);
        k->walker_tree = NULL;
        k->walker_fresh = false;
    }
}

void rst_cursors_abort(rst_connection *c) {
    for (rst_cursor *k = executor_of(c)->open_cursors; k != NULL; k = k->open_next) {
        k->aborted = true;
        k->walking = false;
        k->repeated = k->plan; /* which has the next look-up see it */
    }
}

void rst_cursor_stop(rst_cursor *k) {
    unlink_live(k);
    k->repeated = NULL;
    k->walking = false;
    k->borrowed = false;
    k->detached = false;
    if (k->walker_tree != NULL &&
        (k->walker.run != NULL || k->on_writer || (k->began && k->transaction != store_of(k->connection)->reader))) {
        rst_walker_close(&k->walker);
        k->walker_tree = NULL;
    }
    if (k->began) {
        k->began = false;
        if (!k->on_writer) rst_read_end_of(k->connection, k->transaction);
    }
    if (k->holds) {
        k->holds = false;
        rst_read_unhold(k->connection);
    }
    if (k->candidates != NULL) rst_cursor_free_candidates(k);
    if (k->transient != NULL) rst_automatic_leave(k);
    if (k->stepped > 0) rst_automatic_count(k);
    k->walker_fresh = false;
    k->eof = true;
}

int rst_cursor_close(sqlite3_vtab_cursor *base) {
    rst_cursor *k = (rst_cursor *)base;
    rst_table *table = k->table;
    rst_cursor_stop(k);
    table->open_cursors--;
    executor_of(k->connection)->all_cursors--;
    *k->open_link = k->open_next;
    if (k->open_next != NULL) k->open_next->open_link = k->open_link;
    if (table->automatics != NULL && table->open_cursors == 0 && executor_of(k->connection)->programs_running == 0)
        rst_automatics_rest(table);
    if (table->references > 1 && k->hold.capacity < 65536 && k->own.capacity < 65536 && k->list.room <= 8192) {
        k->next_spare = table->spare_cursors;
        table->spare_cursors = k;
    } else {
        cursor_dispose(k);
    }
    rst_table_release(table);
    return SQLITE_OK;
}

int rst_cursor_fail(rst_cursor *k, int engine_code) {
    char *message = NULL;
    int code = rst_map_error(k->connection, engine_code, &message);
    return rst_take_message(k->base.pVtab, code, message);
}

int rst_cursor_corrupt(rst_cursor *k, const char *what) {
    sqlite3_free(k->base.pVtab->zErrMsg);
    k->base.pVtab->zErrMsg =
        sqlite3_mprintf("%s: table %s: %s", store_of(k->connection)->shared->path, k->table->name, what);
    return SQLITE_CORRUPT_VTAB;
}

int rst_cursor_attach(rst_cursor *k, rst_tree *tree) {
    int code;
    if (k->walker_tree == tree && k->walker_fresh) return SQLITE_OK;
    if (k->walker_tree == tree && !k->on_writer && k->walker.cursor != NULL) {
        code = rst_walker_renew(&k->walker, k->transaction);
    } else {
        if (k->walker_tree != NULL) rst_walker_close(&k->walker);
        k->walker_tree = NULL;
        code = rst_walker_open(k->connection, k->transaction, tree, &k->walker);
    }
    if (code != SQLITE_OK) {
        k->walker_tree = NULL;
        return code;
    }
    k->walker_tree = tree;
    k->walker_fresh = true;
    return SQLITE_OK;
}

void rst_cursor_begun(rst_cursor *k) {
    rst_connection *c = k->connection;
    rst_store *store = store_of(c);
    k->began = true;
    k->detached = false;
    k->walker_fresh = false;
    if (!k->on_writer) return;
    k->live_next = store->writer_cursors;
    k->live_link = &store->writer_cursors;
    if (k->live_next != NULL) k->live_next->live_link = &k->live_next;
    store->writer_cursors = k;
}

int rst_cursor_rejoin(rst_cursor *k) {
    int code = rst_read_begin(k->connection, &k->transaction, &k->on_writer, NULL);
    if (code != SQLITE_OK) return code;
    rst_cursor_begun(k);
    if (k->holds) {
        k->holds = false;
        rst_read_unhold(k->connection);
    }
    return SQLITE_OK;
}

int rst_cursor_reattach(rst_cursor *k) {
    rst_tree *tree = k->plan->source == PLAN_INDEX ? &k->table->indexes[k->plan->index].tree : &k->table->tree;
    int code = rst_cursor_rejoin(k);
    if (code == SQLITE_OK) code = rst_cursor_attach(k, tree);
    if (code != SQLITE_OK) return code;
    k->entry_key.size = k->saved.size;
    k->entry_key.data = k->saved.data;
    code = rst_walker_move(&k->walker, ROOTSTOCK_SEEK, &k->entry_key, &k->entry_value);
    if (code == ROOTSTOCK_OK && !k->plan->descending &&
        rootstock_key_compare(k->entry_key.data, k->entry_key.size, k->saved.data, k->saved.size) > 0) {
        return SQLITE_ROW; /* already on the next one */
    }
    if (code == ROOTSTOCK_NOT_FOUND) return k->plan->descending ? SQLITE_OK : SQLITE_DONE;
    return code == ROOTSTOCK_OK ? SQLITE_OK : rst_cursor_fail(k, code);
}

int rst_read_begin_renewing(rst_connection *c, rootstock_transaction **transaction, bool *is_writer, char **message) {
    bool first = rst_reads_first(c);
    int code = rst_read_begin(c, transaction, is_writer, message);
    if (code == SQLITE_SCHEMA && first) {
        int refreshed = schema_of(c)->schema_hooks->refresh(c, NULL);
        if (refreshed != SQLITE_OK) code = refreshed;
    }
    return code;
}

int rst_snapshot_take(rst_connection *c, int (*begin)(rst_connection *, rootstock_transaction **, bool *, char **),
                      char **message) {
    rootstock_transaction *transaction = NULL;
    bool is_writer = false;
    int code;
    if (store_of(c)->writer != NULL || store_of(c)->reader_pinned) return rst_snapshot_hold(c);
    code = begin(c, &transaction, &is_writer, message);
    if (code != SQLITE_OK) return code;
    code = rst_snapshot_hold(c);
    rst_read_end(c, is_writer);
    return code;
}
