/*
** cursor.c - xOpen, xFilter, xNext, xColumn, xRowid: rows of a plan, from trees to results.
**
** A cursor walks one tree (the table's or an index's). Row bytes are decoded column by column, only those asked for. In a
** read snapshot results are handed to SQLite as pointers into the engine's memory (SQLITE_STATIC): the snapshot outlives
** the statement's last use of them. In a write transaction, and for keys that had to be put together, they are copied.
** Cursors and their engine cursors are kept with the table and used again.
*/
#include "internal.h"
#include "ranges.h"

#include <string.h>

typedef struct rst_candidate {
    unsigned char *bytes; /* key, then value */
    size_t key_size, value_size, order_from;
} rst_candidate;

typedef struct rst_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    rst_table *table;
    rst_connection *connection;
    struct rst_cursor *next_spare;
    rootstock_transaction *transaction;
    bool began; /* holds the snapshot */
    bool on_writer;
    const rst_plan *plan;
    rst_walker walker;     /* on the table's tree or the index's */
    rst_tree *walker_tree; /* null: no engine cursor is open */
    bool walker_fresh;     /* attached to the present transaction */
    bool single;           /* at most one row, and it is under the cursor */
    rootstock_buffer seek; /* key sought, kept for its memory */
    rst_ranges ranges;
    int range; /* the one under way */
    bool eof;
    bool stable;         /* key and value stay where they are as long as the snapshot does */
    bool walking;        /* the next row is the tree's next entry, in a read snapshot */
    rootstock_move move; /* ... by this move */
    bool unbounded;      /* the range under way ends where the tree does */
    bool quick;          /* row is open, compact and narrow, and its key short: rst_cursor_column may read them */
    sqlite3_destructor_type lifetime; /* of quick's bytes: static in a snapshot, else copied */
    bool quick_entry;                 /* the index entry is short, and its key gives its columns */
    bool raw_key; /* the primary key is one ascending column whose bytes stand in the key as they are */
    rootstock_slice entry_key, entry_value;
    rootstock_slice row_key, row_value; /* of the table's tree */
    bool row_located, row_open;
    rootstock_row row;
    bool entry_row_open;
    rootstock_row entry_row; /* exact values of an index entry that its key does not give */
    bool entry_exact;
    size_t exact_entry_size; /* bytes of the value of an index entry that is exact: see split_entry */
    int64_t rowid;
    uint64_t remaining; /* count_only: rows to come, this one included */
    uint64_t counted;   /* and rows gone by */
    rst_row_image *image;
    rst_candidate *candidates; /* ambiguous equality with an order: collected and sorted */
    int candidate_count, candidate;
    rootstock_buffer own;  /* the entry's bytes, in a write transaction */
    rootstock_buffer hold; /* value of a long key's row */
    rootstock_buffer scratch;
    /* cursors in the write transaction, so that its end can let go of them */
    struct rst_cursor *live_next, **live_link;
    uint64_t opened_epoch; /* the connection's when it was opened: `table` is the description of then */
    bool holds;            /* counted in the connection's `held`: open since before its last write transaction ended */
    bool
        row_gone; /* the entry's row was deleted in this write transaction since the cursor came here: its columns are NULL */
    bool detached; /* the transaction ended under the cursor: it goes on behind `saved` in a new snapshot */
    rootstock_buffer saved;
} rst_cursor;

static void cursor_dispose(rst_cursor *k) {
    if (k->walker_tree != NULL) rst_walker_close(&k->walker);
    rst_ranges_free(&k->ranges);
    rootstock_buffer_free(&k->hold);
    rootstock_buffer_free(&k->own);
    rootstock_buffer_free(&k->scratch);
    rootstock_buffer_free(&k->saved);
    rootstock_buffer_free(&k->seek);
    sqlite3_free(k);
}

void rst_cursors_drop_spare(rst_table *table) {
    while (table->spare_cursors != NULL) {
        rst_cursor *k = table->spare_cursors;
        table->spare_cursors = k->next_spare;
        cursor_dispose(k);
    }
}

static void candidates_free(rst_cursor *k) {
    for (int i = 0; i < k->candidate_count; i++) sqlite3_free(k->candidates[i].bytes);
    sqlite3_free(k->candidates);
    k->candidates = NULL;
    k->candidate_count = 0;
    k->candidate = -1; /* none is being given: collecting steps through the tree */
}

/*
** The first cursor of a statement finds a schema that another connection changed: declare it anew and let SQLite prepare the
** statement again. Here no row was given yet, and no cursor holds a table (see table_destroy for what SQLite still does
** with this one).
*/
static int renew_schema(rst_connection *c, rootstock_transaction **transaction) {
    bool is_writer;
    int code;
    *transaction = NULL;
    if (!rst_reads_first(c)) return SQLITE_OK;
    code = rst_read_begin_renewing(c, transaction, &is_writer, NULL);
    if (code == SQLITE_OK) return SQLITE_OK; /* the cursor keeps the snapshot */
    *transaction = NULL;
    /* Any other failure the statement's own begin will say. */
    return code == SQLITE_SCHEMA && !c->schema_stale ? SQLITE_SCHEMA : SQLITE_OK;
}

int rst_cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
    rst_table *table = ((rst_vtab *)vtab)->table;
    rootstock_transaction *transaction;
    rst_cursor *k;
    int code = renew_schema(table->connection, &transaction);
    if (code != SQLITE_OK) return code;
    k = table->spare_cursors;
    if (k != NULL) {
        table->spare_cursors = k->next_spare;
    } else {
        k = sqlite3_malloc64(sizeof *k);
        if (k == NULL) {
            if (transaction != NULL) rst_read_end(table->connection, false);
            return SQLITE_NOMEM;
        }
        memset(k, 0, sizeof *k);
        k->table = table;
        k->connection = table->connection;
    }
    k->next_spare = NULL;
    table->references++;
    table->open_cursors++;
    k->plan = NULL;
    k->began = transaction != NULL;
    k->transaction = transaction;
    k->on_writer = false;
    k->detached = false;
    k->walker_fresh = false;
    k->opened_epoch = table->connection->epoch;
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
    while (c->writer_cursors != NULL) {
        rst_cursor *k = c->writer_cursors;
        unlink_live(k);
        k->detached = true;
        if (!k->holds) {
            k->holds = true;
            c->held++;
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

static void stop(rst_cursor *k) {
    unlink_live(k);
    k->walking = false;
    k->detached = false;
    if (k->walker_tree != NULL &&
        (k->walker.run != NULL || k->on_writer || (k->began && k->transaction != k->connection->reader))) {
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
    if (k->candidates != NULL) candidates_free(k);
    k->walker_fresh = false;
    k->eof = true;
}

int rst_cursor_close(sqlite3_vtab_cursor *base) {
    rst_cursor *k = (rst_cursor *)base;
    rst_table *table = k->table;
    stop(k);
    table->open_cursors--;
    if (table->references > 1 && k->hold.capacity < 65536 && k->own.capacity < 65536) {
        k->next_spare = table->spare_cursors;
        table->spare_cursors = k;
    } else {
        cursor_dispose(k);
    }
    rst_table_release(table);
    return SQLITE_OK;
}

static int fail(rst_cursor *k, int engine_code) {
    char *message = NULL;
    int code = rst_map_error(k->connection, engine_code, &message);
    if (message != NULL) {
        sqlite3_free(k->base.pVtab->zErrMsg);
        k->base.pVtab->zErrMsg = message;
    }
    return code;
}

static int corrupt(rst_cursor *k, const char *what) {
    sqlite3_free(k->base.pVtab->zErrMsg);
    k->base.pVtab->zErrMsg = sqlite3_mprintf("%s: table %s: %s", k->connection->shared->path, k->table->name, what);
    return SQLITE_CORRUPT_VTAB;
}

/* An engine cursor on the tree, in the present transaction. */
static int attach(rst_cursor *k, rst_tree *tree) {
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

/*
** Makes ready what rst_cursor_column reads without looking further: a row of the common shape, laid open, where it stays until the
** cursor moves. Any other row, malformed ones too, is left to column_slowly.
*/
static inline void open_quickly(rst_cursor *k) {
    k->lifetime = k->stable && k->row_value.data != k->hold.data ? SQLITE_STATIC : SQLITE_TRANSIENT;
    k->quick = rootstock_row_open_narrow(&k->row, k->row_value.data, k->row_value.size) && k->row.compact;
    k->row_open = k->quick;
}

static inline void noted(rst_cursor *k) {
    k->stable = !k->on_writer && k->walker.run == NULL;
    k->row_open = false;
    k->quick = false;
    if (k->plan->source == PLAN_INDEX) {
        k->row_located = false;
        k->row_gone = false;
        k->entry_row_open = false;
        k->lifetime = k->stable ? SQLITE_STATIC : SQLITE_TRANSIENT;
        k->quick_entry = k->walker.run == NULL && k->entry_key.size < k->connection->long_key_limit &&
                         k->entry_value.size == k->exact_entry_size;
    } else {
        k->row_key = k->entry_key;
        k->row_value = k->entry_value;
        k->row_located = true;
        if (k->walker.run == NULL && k->row_key.size < k->connection->long_key_limit) open_quickly(k);
    }
}

/*
** What follows a new entry under the cursor. In a write transaction the engine's bytes hold only until the next write, and an outer
** cursor of a join is read again after writes: there the cursor keeps its own.
*/
static int arrived(rst_cursor *k) {
    if (k->on_writer) {
        size_t key_size = k->entry_key.size, value_size = k->entry_value.size;
        k->own.size = 0;
        if (rootstock_buffer_reserve(&k->own, key_size + value_size + 1) != SQLITE_OK) return SQLITE_NOMEM;
        memcpy(k->own.data, k->entry_key.data, key_size);
        if (value_size > 0) memcpy(k->own.data + key_size, k->entry_value.data, value_size);
        k->own.size = key_size + value_size;
        k->entry_key.data = k->own.data;
        k->entry_value.data = k->own.data + key_size;
    }
    noted(k);
    return SQLITE_OK;
}

/* The same for a row that was looked up by its key. */
static int keep_row(rst_cursor *k) {
    if (!k->on_writer || k->row_value.data == k->hold.data) return SQLITE_OK;
    k->hold.size = 0;
    if (rootstock_buffer_append(&k->hold, k->row_value.data, k->row_value.size) != SQLITE_OK) return SQLITE_NOMEM;
    k->row_value.data = k->hold.data;
    return SQLITE_OK;
}

static bool beyond(const rst_cursor *k) {
    const rst_range *range = &k->ranges.range[k->range];
    if (k->plan->descending) {
        return range->low.size > 0 &&
               rootstock_key_compare(k->entry_key.data, k->entry_key.size, range->low.data, range->low.size) < 0;
    }
    return range->has_high &&
           rootstock_key_compare(k->entry_key.data, k->entry_key.size, range->high.data, range->high.size) >= 0;
}

/* To the first entry of ranges.range[range], or of the next ones; eof if there is none. */
static int enter_range(rst_cursor *k) {
    for (;;) {
        const rst_range *range;
        int code;
        if (k->range < 0 || k->range >= k->ranges.count) {
            k->eof = true;
            return SQLITE_OK;
        }
        range = &k->ranges.range[k->range];
        if (!k->plan->descending) {
            if (range->low.size == 0) {
                code = rst_walker_move(&k->walker, ROOTSTOCK_FIRST, &k->entry_key, &k->entry_value);
            } else {
                k->entry_key.size = range->low.size;
                k->entry_key.data = range->low.data;
                code = rst_walker_move(&k->walker, ROOTSTOCK_SEEK, &k->entry_key, &k->entry_value);
            }
        } else if (!range->has_high) {
            code = rst_walker_move(&k->walker, ROOTSTOCK_LAST, &k->entry_key, &k->entry_value);
        } else {
            k->entry_key.size = range->high.size;
            k->entry_key.data = range->high.data;
            code = rst_walker_move(&k->walker, ROOTSTOCK_SEEK, &k->entry_key, &k->entry_value);
            if (code == ROOTSTOCK_OK) {
                code = rst_walker_move(&k->walker, ROOTSTOCK_PREVIOUS, &k->entry_key, &k->entry_value);
            } else if (code == ROOTSTOCK_NOT_FOUND) {
                code = rst_walker_move(&k->walker, ROOTSTOCK_LAST, &k->entry_key, &k->entry_value);
            }
        }
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return fail(k, code);
        if (code == ROOTSTOCK_OK && !beyond(k)) {
            k->eof = false;
            k->unbounded = k->plan->descending ? range->low.size == 0 : !range->has_high;
            return arrived(k);
        }
        k->range += k->plan->descending ? -1 : 1;
    }
}

static int give_candidate(rst_cursor *k) {
    const rst_candidate *candidate;
    if (k->candidate < 0 || k->candidate >= k->candidate_count) {
        k->eof = true;
        return SQLITE_OK;
    }
    candidate = &k->candidates[k->candidate];
    k->entry_key.size = candidate->key_size;
    k->entry_key.data = candidate->bytes;
    k->entry_value.size = candidate->value_size;
    k->entry_value.data = candidate->bytes + candidate->key_size;
    k->eof = false;
    noted(k); /* the candidates' bytes are the cursor's own already */
    k->stable = false;
    k->quick = false;
    k->quick_entry = false;
    return SQLITE_OK;
}

/* Merging keeps equal ones in key order. */
static int sort_candidates(rst_cursor *k) {
    size_t count = (size_t)k->candidate_count;
    rst_candidate *from = k->candidates, *to;
    if (count < 2) return SQLITE_OK;
    to = sqlite3_malloc64(count * sizeof *to);
    if (to == NULL) return SQLITE_NOMEM;
    for (size_t run = 1; run < count; run *= 2) {
        rst_candidate *swap;
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = start + run < count ? start + run : count;
            size_t end = middle + run < count ? middle + run : count;
            size_t a = start, b = middle;
            for (size_t at = start; at < end; at++) {
                bool first = b >= end;
                if (a < middle && b < end) {
                    const rst_candidate *one = &from[a], *other = &from[b];
                    int order =
                        rootstock_key_compare(one->bytes + one->order_from, one->key_size - one->order_from,
                                              other->bytes + other->order_from, other->key_size - other->order_from);
                    first = k->plan->descending ? order >= 0 : order <= 0;
                }
                to[at] = first ? from[a++] : from[b++];
            }
        }
        swap = from;
        from = to;
        to = swap;
    }
    k->candidates = from;
    sqlite3_free(to);
    return SQLITE_OK;
}

/* Rows of an ambiguous equality, in the order of the key columns after the equalities. */
static int collect(rst_cursor *k, const rst_part *parts) {
    int capacity = 0;
    int code;
    k->candidate = -1; /* none is given out yet: rst_cursor_next walks the tree */
    code = enter_range(k);
    while (code == SQLITE_OK && !k->eof) {
        rst_candidate *candidate;
        size_t offset = 0;
        if (k->candidate_count == capacity) {
            rst_candidate *more;
            capacity = capacity == 0 ? 16 : capacity * 2;
            more = sqlite3_realloc64(k->candidates, (sqlite3_uint64)capacity * sizeof *more);
            if (more == NULL) return SQLITE_NOMEM;
            k->candidates = more;
        }
        candidate = &k->candidates[k->candidate_count];
        candidate->key_size = k->entry_key.size;
        candidate->value_size = k->entry_value.size;
        candidate->bytes = sqlite3_malloc64(candidate->key_size + candidate->value_size + 1);
        if (candidate->bytes == NULL) return SQLITE_NOMEM;
        memcpy(candidate->bytes, k->entry_key.data, candidate->key_size);
        memcpy(candidate->bytes + candidate->key_size, k->entry_value.data, candidate->value_size);
        k->candidate_count++;
        for (int p = 0; p < k->plan->equals; p++) {
            if (rootstock_key_skip(candidate->bytes, candidate->key_size, &offset, &parts[p].key) != SQLITE_OK) {
                return corrupt(k, "malformed key");
            }
        }
        candidate->order_from = offset;
        code = rst_cursor_next(&k->base);
    }
    if (code != SQLITE_OK) return code;
    code = sort_candidates(k);
    if (code != SQLITE_OK) return code;
    k->candidate = 0;
    return give_candidate(k);
}

static bool rowid_bound(sqlite3_value *value, int op, int64_t *low, int64_t *high) {
    rootstock_value v;
    rootstock_buffer unused = {0};
    rst_value_from(value, &v);
    (void)rst_value_affinity(&v, value, AFFINITY_NUMERIC, &unused);
    if (v.type == VALUE_NULL) return false;
    if (v.type == VALUE_TEXT || v.type == VALUE_BLOB) {
        return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE; /* every integer is below */
    }
    if (v.type == VALUE_REAL) {
        double real = v.as.real;
        int64_t floor_value;
        bool exact;
        if (op == SQLITE_INDEX_CONSTRAINT_EQ) return false; /* a whole one would be an integer by now ... */
        if (real >= 9223372036854775808.0) return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
        if (real < -9223372036854775808.0) return op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
        floor_value = (int64_t)real;
        if ((double)floor_value > real) floor_value--;
        exact = (double)floor_value == real;
        if (exact) {
            v.as.integer = floor_value;
        } else if (op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE) {
            if (floor_value >= *low) *low = floor_value + 1;
            return true;
        } else {
            if (floor_value < *high) *high = floor_value;
            return true;
        }
    }
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_GT:
        if (v.as.integer == INT64_MAX) return false;
        v.as.integer++;
        if (v.as.integer > *low) *low = v.as.integer;
        return true;
    case SQLITE_INDEX_CONSTRAINT_GE:
        if (v.as.integer > *low) *low = v.as.integer;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LT:
        if (v.as.integer == INT64_MIN) return false;
        v.as.integer--;
        if (v.as.integer < *high) *high = v.as.integer;
        return true;
    case SQLITE_INDEX_CONSTRAINT_LE:
        if (v.as.integer < *high) *high = v.as.integer;
        return true;
    default:
        if (v.as.integer > *low) *low = v.as.integer;
        if (v.as.integer < *high) *high = v.as.integer;
        return true;
    }
}

/* One row by its rowid. */
static int filter_rowid_equal(rst_cursor *k, sqlite3_value *value) {
    int64_t low = INT64_MIN, high = INT64_MAX;
    unsigned char bytes[8];
    rootstock_slice key = {8, bytes};
    int code;
    /* The extreme reals that equal an integer limit stay reals under affinity. */
    if (sqlite3_value_type(value) == SQLITE_FLOAT && sqlite3_value_double(value) == -9223372036854775808.0)
        high = INT64_MIN;
    else if (!rowid_bound(value, SQLITE_INDEX_CONSTRAINT_EQ, &low, &high) || low != high) {
        k->eof = true;
        return SQLITE_OK;
    } else {
        high = low;
    }
    rootstock_rowid_encode(high, bytes);
    code = rst_get(k->connection, k->transaction, &k->table->tree, &key, &k->row_value);
    if (code == SQLITE_DONE) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (code != SQLITE_ROW) return code;
    code = keep_row(k);
    if (code != SQLITE_OK) return code;
    k->rowid = high;
    k->stable = !k->on_writer;
    k->quick = false;
    k->row_open = false;
    k->row_located = true;
    open_quickly(k);
    k->eof = false;
    return SQLITE_OK;
}

static int filter_rowid(rst_cursor *k, sqlite3_value **values) {
    int64_t low = INT64_MIN, high = INT64_MAX;
    unsigned char bytes[8];
    rst_range *range = &k->ranges.few[0];
    bool possible = true;
    int argument = 0, code;
    if (k->plan->lower != 0) possible = rowid_bound(values[argument++], k->plan->lower, &low, &high);
    if (k->plan->upper != 0 && possible) possible = rowid_bound(values[argument], k->plan->upper, &low, &high);
    if (!possible || low > high) {
        k->eof = true;
        return SQLITE_OK;
    }
    range->low.size = 0;
    range->high.size = 0;
    range->has_high = high != INT64_MAX;
    code = SQLITE_OK;
    if (low != INT64_MIN) {
        rootstock_rowid_encode(low, bytes);
        code = rootstock_buffer_append(&range->low, bytes, 8);
    }
    if (code == SQLITE_OK && range->has_high) {
        rootstock_rowid_encode(high + 1, bytes);
        code = rootstock_buffer_append(&range->high, bytes, 8);
    }
    if (code != SQLITE_OK) return code;
    k->ranges.range = k->ranges.few;
    k->ranges.count = 1;
    k->range = 0;
    return enter_range(k);
}

/* The whole primary key is given, by values that mean just one key: one look-up. SQLITE_NOTFOUND: not so simple. */
static int filter_key_equal(rst_cursor *k, sqlite3_value **values) {
    const rst_table *table = k->table;
    int code;
    k->seek.size = 0;
    for (int p = 0; p < table->key_count; p++) {
        const rst_part *part = &table->key[p];
        char affinity = table->columns[part->column].affinity;
        rootstock_value value;
        rst_value_from(values[p], &value);
        if (k->plan->null_equal[p]) return SQLITE_NOTFOUND;
        switch (value.type) {
        case VALUE_BLOB: break;
        case VALUE_TEXT:
            if (affinity != AFFINITY_TEXT) return SQLITE_NOTFOUND;
            break;
        case VALUE_INTEGER:
            if (affinity < AFFINITY_NUMERIC) return SQLITE_NOTFOUND;
            break;
        case VALUE_NULL: k->eof = true; return SQLITE_OK;
        default: return SQLITE_NOTFOUND;
        }
        code = rootstock_key_append(&k->seek, &value, &part->key);
        if (code != SQLITE_OK) return code;
    }
    k->entry_key.size = k->seek.size;
    k->entry_key.data = k->seek.data;
    code = rst_walker_move(&k->walker, ROOTSTOCK_EXACT, &k->entry_key, &k->entry_value);
    if (code == ROOTSTOCK_NOT_FOUND) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (code != ROOTSTOCK_OK) return fail(k, code);
    k->eof = false;
    k->single = true;
    return arrived(k);
}

static void begun(rst_cursor *k) {
    rst_connection *c = k->connection;
    k->began = true;
    k->detached = false;
    k->walker_fresh = false;
    if (!k->on_writer) return;
    k->live_next = c->writer_cursors;
    k->live_link = &c->writer_cursors;
    if (k->live_next != NULL) k->live_next->live_link = &k->live_next;
    c->writer_cursors = k;
}

/* Goes on after the transaction under the cursor ended. */
static int reattach(rst_cursor *k) {
    rst_tree *tree = k->plan->source == PLAN_INDEX ? &k->table->indexes[k->plan->index].tree : &k->table->tree;
    int code = rst_read_begin(k->connection, &k->transaction, &k->on_writer, NULL);
    if (code != SQLITE_OK) return code;
    begun(k);
    if (k->holds) {
        k->holds = false;
        rst_read_unhold(k->connection);
    }
    code = attach(k, tree);
    if (code != SQLITE_OK) return code;
    k->entry_key.size = k->saved.size;
    k->entry_key.data = k->saved.data;
    code = rst_walker_move(&k->walker, ROOTSTOCK_SEEK, &k->entry_key, &k->entry_value);
    if (code == ROOTSTOCK_OK && !k->plan->descending &&
        rootstock_key_compare(k->entry_key.data, k->entry_key.size, k->saved.data, k->saved.size) > 0) {
        return SQLITE_ROW; /* already on the next one */
    }
    if (code == ROOTSTOCK_NOT_FOUND) return k->plan->descending ? SQLITE_OK : SQLITE_DONE;
    return code == ROOTSTOCK_OK ? SQLITE_OK : fail(k, code);
}

/* DELETE without WHERE: empties the trees and shows as many rows as there were, for SQLite to count. */
static int clear_table(rst_cursor *k) {
    rst_table *table = k->table;
    rst_connection *c = k->connection;
    rootstock_tree_statistics statistics;
    int code;
    if (c->writer == NULL || !k->on_writer) return SQLITE_MISUSE;
    code = rst_tree_ready(c, c->writer, &table->tree, false);
    if (code != SQLITE_OK) return code;
    code = c->engine->tree_statistics(c->writer, table->tree.handle, &statistics);
    if (code != ROOTSTOCK_OK) return fail(k, code);
    code = rst_clear(c, &table->tree);
    for (int i = 0; i < table->index_count && code == SQLITE_OK; i++) code = rst_clear(c, &table->indexes[i].tree);
    if (code != SQLITE_OK) {
        c->writer_broken = true;
        return code;
    }
    table->last_rowid_known = false;
    table->last_key_transaction = 0;
    k->remaining = statistics.entries;
    table->clearing = statistics.entries;
    k->counted = 0;
    k->eof = k->remaining == 0;
    return SQLITE_OK;
}

int rst_cursor_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    rst_cursor *k = (rst_cursor *)base;
    rst_table *table = k->table;
    rst_connection *c = k->connection;
    const rst_plan *plan;
    const rst_part *parts;
    rst_tree *tree;
    int code;
    UNUSED(text);
    plan = rst_plan_of(table, number, k->opened_epoch);
    if (plan == NULL) return SQLITE_SCHEMA; /* of a statement prepared for another schema */
    k->plan = plan;
    k->single = false;
    k->walking = false;
    k->stable = false;
    k->quick = false;
    k->quick_entry = false;
    k->exact_entry_size = table->without_rowid ? 4 : 0;
    k->raw_key = table->key_count == 1 && table->key[0].key.final && !table->key[0].key.descending;
    k->row_located = false;
    k->row_gone = false;
    k->image = NULL;
    if (k->candidates != NULL) candidates_free(k);
    if (plan->source == PLAN_ROW) {
        int which = sqlite3_value_int(values[0]);
        k->image = which == 1 || which == 2 ? table->images[which - 1] : NULL;
        k->eof = k->image == NULL;
        if (k->image != NULL) k->rowid = k->image->rowid;
        return SQLITE_OK;
    }
    if (!k->began || (c->writer != NULL) != k->on_writer) {
        char *message = NULL;
        if (k->began) stop(k);
        if (k->walker_tree != NULL && c->writer != NULL) {
            /* The engine cursor belongs to the reader; a write transaction needs its own. */
            rst_walker_close(&k->walker);
            k->walker_tree = NULL;
        }
        code = rst_read_begin(c, &k->transaction, &k->on_writer, &message);
        if (code != SQLITE_OK) {
            if (message != NULL) {
                sqlite3_free(base->pVtab->zErrMsg);
                base->pVtab->zErrMsg = message;
            }
            return code;
        }
        begun(k);
    }
    table->clearing = 0;
    if (plan->source == PLAN_CLEAR) return clear_table(k);
    if (plan->source == PLAN_ROWID && plan->equals == 1) return filter_rowid_equal(k, values[0]);
    if (plan->count_only && plan->equals == 0 && plan->lower == 0 && plan->upper == 0) {
        rootstock_tree_statistics statistics;
        code = rst_tree_ready(c, k->transaction, &table->tree, false);
        if (code != SQLITE_OK) return code;
        code = c->engine->tree_statistics(k->transaction, table->tree.handle, &statistics);
        if (code != ROOTSTOCK_OK) return fail(k, code);
        k->remaining = statistics.entries;
        k->counted = 0;
        k->eof = k->remaining == 0;
        k->stable = false;
        return SQLITE_OK;
    }
    k->remaining = 0;
    tree = plan->source == PLAN_INDEX ? &table->indexes[plan->index].tree : &table->tree;
    code = attach(k, tree);
    if (code != SQLITE_OK) return code;
    k->move = plan->descending ? ROOTSTOCK_PREVIOUS : ROOTSTOCK_NEXT;
    if (plan->source == PLAN_ROWID) {
        k->walking = !k->on_writer;
        return filter_rowid(k, values);
    }
    if (plan->source == PLAN_KEY && plan->unique) {
        code = filter_key_equal(k, values);
        if (code != SQLITE_NOTFOUND) return code;
    }
    parts = plan->source == PLAN_INDEX ? table->indexes[plan->index].parts : table->key;
    code = plan->in > 0 ? rst_ranges_in(table, plan, parts, count, values, &k->ranges)
                        : rst_ranges_make(table, plan, parts, values, &k->ranges);
    if (code != SQLITE_OK) return code;
    k->range = plan->descending ? k->ranges.count - 1 : 0;
    if (k->ranges.ambiguous && k->ranges.count > 0) return collect(k, parts);
    k->walking = !k->on_writer;
    return enter_range(k);
}

/* The range under way has no more entries, as the engine's code or the entry under the cursor tells. */
static int leave_range(rst_cursor *k, int code) {
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return fail(k, code);
    k->range += k->plan->descending ? -1 : 1;
    return enter_range(k);
}

/* Rows that are not the tree's next entry, entries of long keys, write transactions. */
static int next_slowly(rst_cursor *k) {
    int code;
    if (k->remaining > 0) {
        k->counted++;
        k->eof = --k->remaining == 0;
        return SQLITE_OK;
    }
    if (k->single || k->image != NULL || (k->plan->source == PLAN_ROWID && k->plan->equals == 1)) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (k->candidates != NULL && k->candidate_count > 0 && k->ranges.ambiguous && k->candidate >= 0 &&
        k->entry_key.data == k->candidates[k->candidate].bytes) {
        k->candidate++;
        return give_candidate(k);
    }
    if (k->detached) {
        code = reattach(k);
        if (code == SQLITE_DONE) {
            k->eof = true;
            return SQLITE_OK;
        }
        if (code != SQLITE_OK && code != SQLITE_ROW) return code;
        code = code == SQLITE_ROW ? ROOTSTOCK_OK : 100;
    } else {
        code = 100;
    }
    if (code == 100) {
        code = rst_walker_move(&k->walker, k->plan->descending ? ROOTSTOCK_PREVIOUS : ROOTSTOCK_NEXT, &k->entry_key,
                               &k->entry_value);
    }
    if (code == ROOTSTOCK_OK && !beyond(k)) return arrived(k);
    return leave_range(k, code);
}

/* What next_slowly does after its move, for a move that the hot path made. */
static int moved(rst_cursor *k, int code) {
    if (code == ROOTSTOCK_OK && k->entry_key.size >= k->connection->long_key_limit) {
        code = rst_walker_slow_move(&k->walker, (rootstock_move)(k->plan->descending ? 101 : 100), &k->entry_key,
                                    &k->entry_value);
    }
    if (code == ROOTSTOCK_OK && !beyond(k)) return arrived(k);
    return leave_range(k, code);
}

/* What most rows of most scans come through: one call of the engine, and where the row's bytes are is noted. */
int rst_cursor_next(sqlite3_vtab_cursor *base) {
    rst_cursor *k = (rst_cursor *)base;
    int code;
    if (!k->walking || k->walker.run != NULL) return next_slowly(k);
    code = k->connection->engine->cursor_move(k->walker.cursor, k->move, &k->entry_key, &k->entry_value);
    if (code != ROOTSTOCK_OK || k->entry_key.size >= k->connection->long_key_limit || (!k->unbounded && beyond(k))) {
        return moved(k, code);
    }
    if (k->plan->source == PLAN_INDEX) {
        noted(k);
        return SQLITE_OK;
    }
    k->row_key = k->entry_key;
    k->row_value = k->entry_value;
    k->row_located = true;
    k->stable = true;
    open_quickly(k);
    return SQLITE_OK;
}

/*
** colUsed does not tell count(*) from a scan of rowids: a scan without columns counts, and is put where it stands when a row is
** asked for after all.
*/
static int stop_counting(rst_cursor *k) {
    rst_table *table = k->table;
    uint64_t steps = k->counted;
    int code;
    k->remaining = 0;
    if (k->detached) {
        code = rst_read_begin(k->connection, &k->transaction, &k->on_writer, NULL);
        if (code != SQLITE_OK) return code;
        begun(k);
    }
    code = attach(k, k->plan->source == PLAN_INDEX ? &table->indexes[k->plan->index].tree : &table->tree);
    if (code != SQLITE_OK) return code;
    k->ranges.range = k->ranges.few;
    k->ranges.count = 1;
    k->ranges.ambiguous = false;
    k->ranges.few[0].low.size = 0;
    k->ranges.few[0].has_high = false;
    k->range = 0;
    code = enter_range(k);
    while (code == SQLITE_OK && steps-- > 0 && !k->eof) code = rst_cursor_next(&k->base);
    if (code == SQLITE_OK && k->eof) return corrupt(k, "fewer entries than counted");
    return code;
}

int rst_cursor_eof(sqlite3_vtab_cursor *base) {
    return ((rst_cursor *)base)->eof;
}

/* Splits an index entry: bytes of its columns, bytes that reach the row, exact values if the key does not give them. */
static int split_entry(rst_cursor *k, rootstock_slice *row_key) {
    const unsigned char *bytes = k->entry_value.data;
    size_t offset = 0;
    k->entry_exact = true;
    if (!k->table->without_rowid) {
        if (k->entry_key.size < 8) return corrupt(k, "malformed index entry");
        row_key->size = 8;
        row_key->data = (const unsigned char *)k->entry_key.data + k->entry_key.size - 8;
    } else {
        uint32_t prefix;
        if (k->entry_value.size < 4) return corrupt(k, "malformed index entry");
        memcpy(&prefix, bytes, 4);
        if (prefix >= k->entry_key.size) return corrupt(k, "malformed index entry");
        row_key->size = k->entry_key.size - prefix;
        row_key->data = (const unsigned char *)k->entry_key.data + prefix;
        offset = 4;
    }
    if (k->entry_value.size > offset) {
        k->entry_exact = false;
        if (!k->entry_row_open) {
            if (rootstock_row_open(&k->entry_row, bytes + offset, k->entry_value.size - offset) != SQLITE_OK) {
                return corrupt(k, "malformed index entry");
            }
            k->entry_row_open = true;
        }
    }
    return SQLITE_OK;
}

/* The entry under the cursor was followed by a DELETE of its row: what SQLite shows of such a row is NULLs. */
static int lose_row(rst_cursor *k) {
    k->row_gone = true;
    k->row_located = true;
    k->quick = false;
    return SQLITE_OK;
}

/* The row of an entry whose write transaction is over, in the snapshot of now. */
static int locate_detached(rst_cursor *k) {
    rootstock_transaction *transaction;
    bool is_writer;
    int code = rst_read_begin(k->connection, &transaction, &is_writer, NULL);
    if (code != SQLITE_OK) return code;
    code = rst_tree_get(k->connection, transaction, &k->table->tree, &k->row_key, &k->row_value, &k->hold);
    if (code == SQLITE_ROW) {
        k->row_located = true;
        k->row_open = false;
        k->quick = false;
        code = keep_row(k); /* on_writer still: copied before the snapshot is given back */
    } else if (code == SQLITE_DONE) {
        code = lose_row(k);
    }
    rst_read_end(k->connection, is_writer);
    return code;
}

/* Reaches the table's row from the index entry. */
static int locate(rst_cursor *k) {
    int code = split_entry(k, &k->row_key);
    if (code != SQLITE_OK) return code;
    if (k->detached) return locate_detached(k);
    code = rst_tree_get(k->connection, k->transaction, &k->table->tree, &k->row_key, &k->row_value, &k->hold);
    if (code == SQLITE_DONE && k->on_writer) return lose_row(k);
    if (code == SQLITE_DONE) return corrupt(k, "an index entry without its row");
    if (code != SQLITE_ROW) return code;
    k->row_located = true;
    k->row_open = false;
    k->quick = false;
    code = keep_row(k);
    if (code == SQLITE_OK && k->row_key.size < k->connection->long_key_limit) open_quickly(k);
    return code;
}

/* terminated: a text that ends before a NUL and has none inside. Given by its terminator, SQLite need not copy it to put one there. */
static void result(sqlite3_context *context, const rootstock_value *value, bool stable, bool terminated) {
    switch (value->type) {
    case VALUE_INTEGER: sqlite3_result_int64(context, value->as.integer); break;
    case VALUE_REAL: sqlite3_result_double(context, value->as.real); break;
    case VALUE_TEXT:
        if (terminated) {
            sqlite3_result_text(context, value->as.data, -1, stable ? SQLITE_STATIC : SQLITE_TRANSIENT);
            break;
        }
        sqlite3_result_text64(context, value->as.data, value->size, stable ? SQLITE_STATIC : SQLITE_TRANSIENT,
                              SQLITE_UTF8);
        break;
    case VALUE_BLOB:
        if (value->size == 0)
            sqlite3_result_zeroblob(context, 0);
        else
            sqlite3_result_blob64(context, value->as.data, value->size, stable ? SQLITE_STATIC : SQLITE_TRANSIENT);
        break;
    default: sqlite3_result_null(context);
    }
}

int rst_stored_column(const rst_table *table, const rootstock_slice *key, const rootstock_row *row, int column,
                      rootstock_value *value, bool *has_nul, rootstock_buffer *scratch) {
    int slot = table->slot[column];
    if (column == table->rowid_column) {
        if (key->size != 8) return SQLITE_CORRUPT;
        value->type = VALUE_INTEGER;
        value->size = 0;
        value->as.integer = rootstock_rowid_decode(key->data);
        return SQLITE_OK;
    }
    if (!row->compact) {
        slot = column; /* every column stands in the row */
    } else if (slot < 0) {
        size_t offset = 0;
        int part = -1 - slot;
        for (int i = 0; i < part; i++) {
            int code = rootstock_key_skip(key->data, key->size, &offset, &table->key[i].key);
            if (code != SQLITE_OK) return code;
        }
        scratch->size = 0;
        return rootstock_key_decode(key->data, key->size, &offset, &table->key[part].key, value, scratch);
    }
    if (slot >= row->count) {
        *value = table->columns[column].missing;
        return SQLITE_OK;
    }
    return rootstock_row_column(row, slot, value, has_nul);
}

/* A column of the index entry, if it is there. SQLITE_NOTFOUND if not. */
static int entry_column(rst_cursor *k, int column, rootstock_value *value) {
    const rst_index *index = &k->table->indexes[k->plan->index];
    rootstock_slice row_key;
    size_t offset = 0;
    int code;
    for (int p = 0; p < index->part_count; p++) {
        if (index->parts[p].column != column) continue;
        code = split_entry(k, &row_key);
        if (code != SQLITE_OK) return code;
        if (!k->entry_exact) return rootstock_row_column(&k->entry_row, p, value, NULL);
        for (int i = 0; i < p; i++) {
            code = rootstock_key_skip(k->entry_key.data, k->entry_key.size, &offset, &index->parts[i].key);
            if (code != SQLITE_OK) return code;
        }
        k->scratch.size = 0;
        return rootstock_key_decode(k->entry_key.data, k->entry_key.size, &offset, &index->parts[p].key, value,
                                    &k->scratch);
    }
    return SQLITE_NOTFOUND;
}

/* Every other column: of images, index entries, wide rows, keys of several columns, write transactions. */
static int column_slowly(rst_cursor *k, sqlite3_context *context, int column);

/*
** A column of an index entry in a read snapshot: the rowid, and NULLs, numbers and texts that stand behind nothing but such. All that
** is longer to tell is left to column_slowly.
*/
static int column_of_entry(rst_cursor *k, sqlite3_context *context, int column) {
    const rst_index *index = &k->table->indexes[k->plan->index];
    const unsigned char *bytes = k->entry_key.data;
    size_t left = k->entry_key.size;
    double real = 0;
    if (column == k->table->rowid_column) {
        if (left < 8) return column_slowly(k, context, column);
        sqlite3_result_int64(context, rootstock_rowid_decode(bytes + left - 8));
        return SQLITE_OK;
    }
    for (int p = 0; p < index->part_count && left > 0; p++) {
        bool wanted = index->parts[p].column == column;
        if (index->parts[p].key.descending) break;
        if (bytes[0] == KEY_NULL) {
            if (wanted) return SQLITE_OK; /* NULL is what SQLite finds there */
            bytes++;
            left--;
        } else if (rootstock_key_small_number(bytes, left, &real)) {
            if (wanted) {
                int64_t integer = (int64_t)real;
                if (index->parts[p].key.real_affinity || (double)integer != real) {
                    sqlite3_result_double(context, real);
                } else {
                    sqlite3_result_int64(context, integer);
                }
                return SQLITE_OK;
            }
            bytes += KEY_NUMBER_SIZE;
            left -= KEY_NUMBER_SIZE;
        } else if (bytes[0] == KEY_RAW_TEXT && !index->parts[p].key.final) {
            /* Its first NUL is the terminator, unless it is an escaped one. */
            const unsigned char *end = memchr(bytes + 1, 0, left - 1);
            if (end == NULL || end + 1 == bytes + left || end[1] != KEY_TEXT_END) break;
            if (wanted) {
                sqlite3_result_text(context, (const char *)bytes + 1, -1, k->lifetime);
                return SQLITE_OK;
            }
            left -= (size_t)(end + 2 - bytes);
            bytes = end + 2;
        } else {
            break;
        }
    }
    return column_slowly(k, context, column);
}

/*
** The common column: of a row in a read snapshot, from its bytes or a key that is one raw blob or text. Nothing is live across the
** calls here, so that the compiler saves no register: this is called for every column of every row.
*/
int rst_cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    rst_cursor *k = (rst_cursor *)base;
    const unsigned char *data;
    size_t start, end;
    int slot;
    if (k->on_writer && (k->quick || k->quick_entry) && sqlite3_vtab_nochange(context)) return SQLITE_OK;
    if (!k->quick || column >= k->table->column_count) {
        if (k->quick_entry && !k->row_located && column < k->table->column_count) {
            return column_of_entry(k, context, column);
        }
        return column_slowly(k, context, column);
    }
    slot = k->table->slot[column];
    if (slot < 0) {
        data = k->row_key.data;
        end = k->row_key.size;
        if (!k->raw_key || end < 2) return column_slowly(k, context, column);
        if (data[0] == KEY_RAW_BLOB) {
            sqlite3_result_blob(context, data + 1, (int)(end - 1), k->lifetime);
            return SQLITE_OK;
        }
        if (data[0] == KEY_RAW_TEXT) {
            sqlite3_result_text(context, (const char *)data + 1, (int)(end - 1), k->lifetime);
            return SQLITE_OK;
        }
        return column_slowly(k, context, column);
    }
    if (slot >= k->row.count) return column_slowly(k, context, column);
    if (k->row.width == 1) {
        start = slot > 0 ? k->row.ends[slot - 1] : 0;
        end = k->row.ends[slot];
    } else {
        const unsigned char *ends = k->row.ends + (size_t)slot * 2;
        start = slot > 0 ? (size_t)(ends[-2] | ends[-1] << 8) : 0;
        end = (size_t)(ends[0] | ends[1] << 8);
    }
    if (start > end || end > k->row.body_size) return column_slowly(k, context, column);
    data = k->row.body + start;
    end -= start;
    switch (k->row.types[slot]) {
    case ROW_BLOB:
        if (end == 0) break;
        sqlite3_result_blob(context, data, (int)end, k->lifetime);
        return SQLITE_OK;
    case ROW_TEXT:
        if (end == 0 || data[end - 1] != 0) break;
        /* By its terminator, not by its length: else SQLite copies it to put one behind it when it is read as text. */
        sqlite3_result_text(context, (const char *)data, -1, k->lifetime);
        return SQLITE_OK;
    case ROW_NULL:
        if (end != 0) break;
        return SQLITE_OK;
    case ROW_INTEGER: {
        int64_t integer;
        switch (end) {
        case 0: integer = 0; break;
        case 1: integer = (int8_t)data[0]; break;
        case 2: integer = (int16_t)(data[0] | data[1] << 8); break;
        case 4: integer = (int32_t)(data[0] | data[1] << 8 | data[2] << 16 | (uint32_t)data[3] << 24); break;
        default: return column_slowly(k, context, column);
        }
        sqlite3_result_int64(context, integer);
        return SQLITE_OK;
    }
    default: break;
    }
    return column_slowly(k, context, column);
}

static int column_slowly(rst_cursor *k, sqlite3_context *context, int column) {
    const rst_table *table = k->table;
    rootstock_value value;
    bool has_nul;
    int code, slot;
    if (k->image != NULL) {
        if (column < table->column_count) result(context, &k->image->values[column], false, false);
        return SQLITE_OK;
    }
    if (k->plan->source == PLAN_CLEAR) {
        /* A row that is gone already: xUpdate only counts, but SQLite collects the keys in a set first. */
        if (column == table->column_count + HIDDEN_KEY) {
            sqlite3_result_blob(context, &k->counted, (int)sizeof k->counted, SQLITE_TRANSIENT);
        }
        return SQLITE_OK;
    }
    if (k->remaining > 0) {
        code = stop_counting(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->on_writer && sqlite3_vtab_nochange(context)) return SQLITE_OK; /* an UPDATE that leaves the column alone */
    if (column >= table->column_count) {
        if (column == table->column_count + HIDDEN_KEY && table->without_rowid) {
            if (!k->row_located) {
                code = locate(k);
                if (code != SQLITE_OK) return code;
            }
            sqlite3_result_blob64(context, k->row_key.data, k->row_key.size, SQLITE_TRANSIENT);
        }
        return SQLITE_OK;
    }
    if (column == table->rowid_column) {
        sqlite3_int64 rowid;
        code = rst_cursor_rowid(&k->base, &rowid);
        if (code == SQLITE_OK) sqlite3_result_int64(context, rowid);
        return code;
    }
    if (!k->row_located) {
        code = entry_column(k, column, &value);
        if (code == SQLITE_OK) {
            bool in_scratch = value.as.data >= (const void *)k->scratch.data &&
                              value.as.data <= (const void *)(k->scratch.data + k->scratch.size);
            bool data = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
            const unsigned char *end = (const unsigned char *)value.as.data + value.size;
            bool terminated = value.type == VALUE_TEXT && !in_scratch && k->entry_exact &&
                              end < (const unsigned char *)k->entry_key.data + k->entry_key.size && *end == 0;
            result(context, &value, data && k->stable && !in_scratch, terminated);
            return SQLITE_OK;
        }
        if (code != SQLITE_NOTFOUND) return code == SQLITE_CORRUPT ? corrupt(k, "malformed index entry") : code;
        code = locate(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->row_gone) return SQLITE_OK;
    if (!k->row_open) {
        code = rootstock_row_open(&k->row, k->row_value.data, k->row_value.size);
        if (code != SQLITE_OK) return corrupt(k, "malformed row");
        k->row_open = true;
    }
    slot = table->slot[column];
    if (slot >= 0 && k->row.compact && slot < k->row.count) {
        code = rootstock_row_column(&k->row, slot, &value, &has_nul);
        if (code != SQLITE_OK) return corrupt(k, "malformed row");
        result(context, &value, k->stable && k->row_value.data != k->hold.data, !has_nul);
        return SQLITE_OK;
    }
    has_nul = true; /* unless the row's bytes say otherwise */
    code = rst_stored_column(table, &k->row_key, &k->row, column, &value, &has_nul, &k->scratch);
    if (code != SQLITE_OK) return code == SQLITE_NOMEM ? code : corrupt(k, "malformed row");
    {
        bool data = value.type == VALUE_TEXT || value.type == VALUE_BLOB;
        bool copied = data && value.as.data >= (const void *)k->scratch.data &&
                      value.as.data <= (const void *)(k->scratch.data + k->scratch.size);
        bool ours = data && value.as.data == table->columns[column].missing.as.data;
        result(context, &value, data && k->stable && !copied && !ours && k->row_value.data != k->hold.data, !has_nul);
    }
    return SQLITE_OK;
}

int rst_cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    rst_cursor *k = (rst_cursor *)base;
    if (k->image != NULL || (k->plan->source == PLAN_ROWID && k->plan->equals == 1)) {
        *rowid = k->rowid;
        return SQLITE_OK;
    }
    if (k->plan->source == PLAN_CLEAR) {
        *rowid = (sqlite3_int64)k->counted + 1;
        return SQLITE_OK;
    }
    if (k->remaining > 0) {
        int code = stop_counting(k);
        if (code != SQLITE_OK) return code;
    }
    if (k->row_located) {
        if (k->row_key.size != 8) return corrupt(k, "malformed key");
        *rowid = rootstock_rowid_decode(k->row_key.data);
        return SQLITE_OK;
    }
    if (k->entry_key.size < 8) return corrupt(k, "malformed index entry");
    *rowid = rootstock_rowid_decode((const unsigned char *)k->entry_key.data + k->entry_key.size - 8);
    return SQLITE_OK;
}
