/*
** automatic.c - transient indexes, which SQLite calls automatic ones, on a store's tables.
**
** The first xFilter of an automatic plan scans. If the same statement comes again, one more scan goes from end to end
** and notes each row under a hash of the columns held equal. From then on a look-up gives the rows of one hash, in the
** order of the scan. A read snapshot notes the entry's bytes where the engine has them. A write transaction, and an
** engine with brief slices, notes its key, and the entry is read again. SQLite compares each row again (plan.c leaves
** omit at 0), so a row too many is harmless (automatic_hash.c).
**
**   - Where the index cannot be made (no memory, too large, keys longer than the engine's), the plan goes on scanning.
**   - A look-up by a number in an index of texts goes through all of them (ranges.c). It gets such an index, too, once
**     as many went by as the tree has.
**   - A scan whose bounds an outer loop gives goes on between them until as many rows went by as the tree has. The
**     index then has no bounds, and SQLite compares.
**
** Invariants: an index is used in the very snapshot that it was made in, or in the write transaction as long as the
** tree has not been written to since. It is gone when the last cursor on its table is closed and no program runs. (A
** program's statements of one row each open their cursors again.)
*/
#include "catalog/statement_check.h"
#include "executor/executor.h"
#include "executor/change.h"
#include "executor/cursor.h"

#include <string.h>

enum { NOWHERE = UINT32_MAX, WAIT_LIMIT = 1 << 20, STEPS_AT_LEAST = 256 };
#define TRANSIENT_BYTES ((sqlite3_uint64)1 << 30)

typedef struct transient_row {
    union {
        const void *data; /* the entry's key, not by_key */
        int64_t rowid;
        size_t place; /* the key's, in `keys` */
    } key;
    const void *value;
    uint32_t key_size, value_size;
    uint32_t hash;
    uint32_t next; /* with a hash of the same end, later in the scan */
} transient_row;

typedef struct rst_transient {
    int references; /* the plan's, and those of cursors in it */
    bool of_writer;
    bool by_key;  /* entries are read again */
    bool numbers; /* what is equal to no number is left out */
    const rootstock_transaction *transaction;
    uint64_t snapshot, epoch; /* a reader's: the connection's counters then */
    uint64_t rewinds, writes; /* the write transaction's: the connection's and the trees' */
    rootstock_buffer keys;    /* by_key, those of a tree without rowids */
    transient_row *rows;
    uint32_t count, capacity, mask;
    uint32_t *heads;
    rootstock_buffer low, high; /* the scan's bounds */
    bool has_high;
} rst_transient;

/* What a plan has come to since the table's first cursor was opened. */
typedef struct rst_automatic {
    struct rst_automatic *next; /* in the table's list */
    bool listed;
    bool refused;         /* not again before all cursors are closed */
    bool allowed;         /* PRAGMA automatic_index was asked */
    bool others;          /* more than one column, or more than numbers are looked up */
    uint32_t scans, wait; /* since the last index, and how many of them the next one is worth */
    /* The same of scans between bounds that are others each time: the rows that they went by. */
    uint64_t stepped, enough;
    rst_transient *transient;
} rst_automatic;

static void release(rst_transient *transient) {
    if (transient == NULL || --transient->references > 0) return;
    sqlite3_free(transient->rows);
    sqlite3_free(transient->heads);
    rootstock_buffer_free(&transient->keys);
    rootstock_buffer_free(&transient->low);
    rootstock_buffer_free(&transient->high);
    sqlite3_free(transient);
}

void rst_automatic_leave(rst_cursor *k) {
    if (k->transient != NULL) release(k->transient);
    k->transient = NULL;
}

void rst_automatics_rest(rst_table *table) {
    while (table->automatics != NULL) {
        rst_automatic *automatic = table->automatics;
        table->automatics = automatic->next;
        release(automatic->transient);
        memset(automatic, 0, sizeof *automatic);
    }
}

void rst_automatics_rest_all(rst_connection *c) {
    rst_schema *schema = schema_of(c);
    for (int i = 0; i < schema->table_count; i++) {
        if (schema->tables[i]->automatics != NULL && schema->tables[i]->open_cursors == 0)
            rst_automatics_rest(schema->tables[i]);
    }
}

void rst_automatic_free(struct rst_automatic *automatic) {
    if (automatic == NULL) return;
    release(automatic->transient);
    sqlite3_free(automatic);
}

/* The tree that the plan walks. */
static rst_tree *tree_of(const rst_cursor *k) {
    return k->plan->source == PLAN_INDEX ? &k->table->indexes[k->plan->index].tree : &k->table->tree;
}

/* How often the table and that tree were written to. */
static uint64_t writes_of(const rst_cursor *k) {
    return k->table->tree.writes + (k->plan->source == PLAN_INDEX ? tree_of(k)->writes : 0);
}

/* ---- making one ---- */

/* SQLITE_FULL, here and below: there is no room for one. */
static int add_key(rst_transient *t, const rst_cursor *k) {
    const size_t size = k->entry_key.size, needed = t->keys.size + size;
    if (size >= store_of(k->connection)->long_key_limit || needed > TRANSIENT_BYTES) return SQLITE_FULL;
    if (needed > t->keys.capacity) {
        unsigned char *more = rst_realloc64_unwatched(t->keys.data, 2 * (sqlite3_uint64)needed + 4096);
        if (more == NULL) return SQLITE_FULL;
        t->keys.data = more;
        t->keys.capacity = 2 * needed + 4096;
    }
    memcpy(t->keys.data + t->keys.size, k->entry_key.data, size);
    t->keys.size = needed;
    return SQLITE_OK;
}

static int add_row(rst_transient *t, const rst_cursor *k, uint32_t hash) {
    transient_row *row;
    if (t->count == t->capacity) {
        uint32_t capacity = t->capacity == 0 ? 256 : t->capacity * 2;
        /* With the heads, which are at most as many as four bytes for each two rows' places. */
        if ((sqlite3_uint64)capacity * (sizeof *row + 8) > TRANSIENT_BYTES) return SQLITE_FULL;
        row = rst_realloc64_unwatched(t->rows, (sqlite3_uint64)capacity * sizeof *row);
        if (row == NULL) return SQLITE_FULL;
        t->rows = row;
        t->capacity = capacity;
    }
    row = &t->rows[t->count++];
    row->hash = hash;
    row->next = NOWHERE;
    if (t->by_key) {
        row->value = NULL;
        row->key_size = row->value_size = 0;
        if (k->plan->source == PLAN_ROWID) {
            if (k->row_key->size != 8) return SQLITE_FULL;
            row->key.rowid = rootstock_rowid_decode(k->row_key->data);
            return SQLITE_OK;
        }
        row->key.place = t->keys.size;
        row->key_size = (uint32_t)k->entry_key.size;
        return add_key(t, k);
    }
    if (!k->stable || k->entry_key.size > UINT32_MAX || k->entry_value.size > UINT32_MAX) return SQLITE_FULL;
    row->key.data = k->entry_key.data;
    row->key_size = (uint32_t)k->entry_key.size;
    row->value = k->entry_value.data;
    row->value_size = (uint32_t)k->entry_value.size;
    return SQLITE_OK;
}

/* Rows of one head stand in the order of the scan. */
static int link_rows(rst_transient *t) {
    uint32_t heads = 16;
    while (heads < t->count && heads < (uint32_t)1 << 31) heads *= 2;
    t->heads = rst_realloc64_unwatched(NULL, (sqlite3_uint64)heads * sizeof *t->heads);
    if (t->heads == NULL) return SQLITE_FULL;
    memset(t->heads, 0xFF, heads * sizeof *t->heads);
    t->mask = heads - 1;
    for (uint32_t i = t->count; i-- > 0;) {
        uint32_t *head = &t->heads[t->rows[i].hash & t->mask];
        t->rows[i].next = *head;
        *head = i;
    }
    return SQLITE_OK;
}

/* The plan's scan from end to end, in the bounds that the cursor has. SQLITE_FULL: no index can be had. */
static int fill_scan(rst_cursor *k, rst_transient *t) {
    const rst_range *range = &k->ranges.range[0];
    sqlite3_stmt *asks = NULL;
    uint64_t step = 0;
    int code = rootstock_buffer_append(&t->low, range->low.data, range->low.size);
    t->has_high = range->has_high;
    if (code == SQLITE_OK && t->has_high) code = rootstock_buffer_append(&t->high, range->high.data, range->high.size);
    if (code != SQLITE_OK) return code;
    k->walking = !k->on_writer;
    for (code = rst_cursor_enter_range(k); code == SQLITE_OK && !k->eof; code = rst_cursor_next(&k->base)) {
        uint32_t hash;
        code = rst_interrupted(k->connection, ++step);
        if (code == SQLITE_OK) code = rst_automatic_hash_row(k, t->numbers, &asks, &hash);
        if (code == SQLITE_NOTFOUND) continue;
        if (code == SQLITE_OK) code = add_row(t, k, hash);
        if (code != SQLITE_OK) break;
    }
    if (asks != NULL) rst_statement_done(k->connection, asks);
    k->walking = false;
    k->range = 0;
    k->eof = true;
    return code == SQLITE_OK ? link_rows(t) : code;
}

/* The same without bounds, if these are others each time. */
static int fill(rst_cursor *k, rst_transient *t) {
    rst_range *range = &k->ranges.range[0];
    const size_t low = range->low.size;
    const bool has_high = range->has_high;
    int code;
    if (k->plan->automatic_whole || k->plan->automatic_spelled) {
        range->low.size = 0;
        range->has_high = false;
    }
    code = fill_scan(k, t);
    range->low.size = low;
    range->has_high = has_high;
    return code;
}

bool rst_automatic_pragma(rst_connection *c) {
    return rst_pragma_number(c, "PRAGMA automatic_index", 0) != 0;
}

static int make(rst_cursor *k, rst_automatic *automatic) {
    rst_connection *c = k->connection;
    rst_store *store = store_of(c);
    rst_transient *t;
    int code;
    if (!automatic->allowed && !rst_automatic_pragma(c)) {
        automatic->refused = true;
        return SQLITE_NOTFOUND;
    }
    automatic->allowed = true;
    t = rst_realloc64_unwatched(NULL, sizeof *t);
    if (t == NULL) return SQLITE_NOTFOUND;
    memset(t, 0, sizeof *t);
    t->references = 1;
    t->of_writer = k->on_writer;
    t->by_key = k->on_writer || k->brief;
    t->numbers = k->plan->automatic_spelled && !automatic->others;
    t->transaction = k->transaction;
    t->snapshot = store->snapshots;
    t->epoch = store->epoch;
    t->rewinds = store->rewinds;
    t->writes = writes_of(k);
    code = fill(k, t);
    if (code != SQLITE_OK) {
        release(t);
        automatic->refused = true;
        return code == SQLITE_FULL ? SQLITE_NOTFOUND : code;
    }
    automatic->scans = 0;
    automatic->stepped = 0;
    automatic->enough = STEPS_AT_LEAST;
    automatic->transient = t;
    return SQLITE_OK;
}

static bool same_bytes(const rootstock_buffer *a, const rootstock_buffer *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Whether it shows what the cursor must see. */
static bool holds(const rst_cursor *k, const rst_transient *t) {
    const rst_connection *c = k->connection;
    rst_store *store = store_of(c);
    const rst_range *range = &k->ranges.range[0];
    if (t->of_writer != k->on_writer || t->transaction != k->transaction) return false;
    if (!k->plan->automatic_whole && !k->plan->automatic_spelled &&
        (range->has_high != t->has_high || !same_bytes(&range->low, &t->low) ||
         (t->has_high && !same_bytes(&range->high, &t->high))))
        return false;
    if (t->of_writer) return t->rewinds == store->rewinds && t->writes == writes_of(k) && t->epoch == store->epoch;
    /* A cursor that is in it already keeps its snapshot alive; else the address may be another transaction's by now. */
    return k->transient == t || (k->transaction == store->reader && t->snapshot == store->snapshots);
}

/* ---- looking up ---- */

/* The row at the place, or the next one of its hash. */
static int give(rst_cursor *k, uint32_t hash) {
    const rst_transient *t = k->transient;
    k->eof = false;
    for (; k->transient_place != NOWHERE; k->transient_place = t->rows[k->transient_place].next) {
        const transient_row *row = &t->rows[k->transient_place];
        int code;
        if (row->hash != hash) continue;
        if (!t->by_key) {
            k->entry_key.size = row->key_size;
            k->entry_key.data = row->key.data;
            k->entry_value.size = row->value_size;
            k->entry_value.data = row->value;
            rst_cursor_noted(k);
            return SQLITE_OK;
        }
        if (k->plan->source == PLAN_ROWID) {
            rootstock_rowid_encode(row->key.rowid, k->rowid_bytes);
            k->entry_key.size = sizeof k->rowid_bytes;
            k->entry_key.data = k->rowid_bytes;
        } else {
            k->entry_key.size = row->key_size;
            k->entry_key.data = t->keys.data + row->key.place;
        }
        code = rst_get(k->connection, k->transaction, tree_of(k), &k->entry_key, &k->entry_value);
        if (code == SQLITE_ROW && k->brief && rst_cursor_keep_entry(k) != SQLITE_OK) return SQLITE_NOMEM;
        if (code == SQLITE_ROW) return rst_cursor_arrived(k);
        if (code != SQLITE_DONE) return code;
        /* It was deleted since the look-up. */
    }
    k->eof = true;
    return SQLITE_OK;
}

int rst_automatic_next(rst_cursor *k) {
    const transient_row *row = &k->transient->rows[k->transient_place];
    if (k->detached) {
        /* The write transaction has ended: the rows noted go on in a new snapshot. */
        int code = rst_cursor_rejoin(k);
        if (code != SQLITE_OK) return code;
    }
    k->transient_place = row->next;
    return give(k, row->hash);
}

void rst_automatic_count(rst_cursor *k) {
    rst_automatic *automatic = k->plan->state;
    if (automatic != NULL) automatic->stepped += k->stepped;
    k->stepped = 0;
}

/* Whether the scans between bounds have gone by as many rows as the whole one has. SQLITE_NOTFOUND: not yet, and this
** one is counted. */
static int has_stepped_enough(rst_cursor *k, rst_automatic *automatic) {
    rst_automatic_count(k);
    if (automatic->stepped >= automatic->enough) {
        rootstock_tree_statistics statistics;
        int code = store_of(k->connection)->engine->tree_statistics(k->transaction, tree_of(k)->handle, &statistics);
        if (code != ROOTSTOCK_OK) return rst_cursor_fail(k, code);
        automatic->enough = statistics.entries * automatic->wait;
        if (automatic->stepped >= automatic->enough) return SQLITE_OK;
    }
    k->walking = false; /* so that rows are counted */
    return SQLITE_NOTFOUND;
}

/* What the plan has come to. An index that does not show what the cursor must see is gone. Null: none can be had. */
static rst_automatic *state_of(rst_cursor *k) {
    rst_automatic *automatic = k->plan->state;
    if (automatic == NULL) {
        rst_plan *plan = k->table->plans[0];
        for (int i = 0; plan != k->plan; i++) plan = k->table->plans[i];
        automatic = rst_realloc64_unwatched(NULL, sizeof *automatic);
        if (automatic == NULL) return NULL;
        memset(automatic, 0, sizeof *automatic);
        plan->state = automatic;
    }
    if (!automatic->listed) {
        automatic->listed = true;
        automatic->wait = 1;
        automatic->enough = STEPS_AT_LEAST;
        automatic->next = k->table->automatics;
        k->table->automatics = automatic;
    }
    if (automatic->transient != NULL && !holds(k, automatic->transient)) {
        release(automatic->transient);
        automatic->transient = NULL;
        if (automatic->wait < WAIT_LIMIT) automatic->wait *= 2;
    }
    rst_automatic_leave(k);
    return automatic->refused ? NULL : automatic;
}

int rst_automatic_filter(rst_cursor *k, sqlite3_value **values) {
    const int bounds = (k->plan->lower != 0) + (k->plan->upper != 0);
    rst_automatic *automatic;
    uint32_t hash;
    int code;
    if (k->ranges.count != 1) {
        rst_automatic_leave(k);
        return SQLITE_NOTFOUND;
    }
    automatic = state_of(k);
    if (automatic == NULL) return SQLITE_NOTFOUND;
    code = rst_automatic_hash_arguments(k, values + bounds, &hash);
    if (code == SQLITE_DONE) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (code != SQLITE_OK) return code;
    if (automatic->transient == NULL) {
        code = k->plan->automatic_whole ? has_stepped_enough(k, automatic) : SQLITE_OK;
        if (code != SQLITE_OK) return code;
        if (!k->plan->automatic_whole && automatic->scans < automatic->wait) {
            automatic->scans++;
            return SQLITE_NOTFOUND;
        }
        code = make(k, automatic);
        if (code != SQLITE_OK) return code;
    }
    k->walking = false;
    k->transient = automatic->transient;
    k->transient->references++;
    k->transient_place = k->transient->heads[hash & k->transient->mask];
    return give(k, hash);
}

bool rst_automatic_is_number(const rst_cursor *k, sqlite3_value **values) {
    double real;
    if (!k->plan->automatic_spelled || k->plan->automatic != 1) return false;
    if (sqlite3_value_type(values[0]) != SQLITE_FLOAT) return sqlite3_value_type(values[0]) == SQLITE_INTEGER;
    real = sqlite3_value_double(values[0]);
    return real - real == 0; /* the text of an infinite one is no number */
}

/*
** Of a number that is looked up among texts. The rows of the number's hash are few; like the whole range they are
** copied and put in order, so no index is left under the cursor.
*/
int rst_automatic_candidates(rst_cursor *k, const rst_part *parts, sqlite3_value **values) {
    rst_automatic *automatic = state_of(k);
    const int count = k->ranges.count, range = k->range;
    uint32_t hash;
    int code;
    if (automatic == NULL) return SQLITE_NOTFOUND;
    automatic->others |= !rst_automatic_is_number(k, values);
    if (automatic->transient != NULL && automatic->transient->numbers && automatic->others) {
        release(automatic->transient);
        automatic->transient = NULL;
    }
    code = rst_automatic_hash_arguments(k, values, &hash);
    if (code == SQLITE_DONE) {
        k->eof = true;
        return SQLITE_OK;
    }
    if (code != SQLITE_OK) return code;
    if (automatic->transient == NULL) {
        code = has_stepped_enough(k, automatic);
        if (code != SQLITE_OK) return code;
        k->ranges.count = 1;
        k->range = 0;
        code = make(k, automatic);
        k->ranges.count = count;
        k->range = range;
        if (code != SQLITE_OK) return code;
    }
    k->walking = false;
    k->transient = automatic->transient;
    k->transient->references++;
    k->transient_place = k->transient->heads[hash & k->transient->mask];
    k->candidate = -1;
    for (code = give(k, hash); code == SQLITE_OK && !k->eof; code = rst_automatic_next(k)) {
        code = rst_cursor_add_candidate(k, parts);
        if (code != SQLITE_OK) break;
    }
    rst_automatic_leave(k);
    k->borrowed = false; /* what is under the cursor from now on is its own */
    return code == SQLITE_OK ? rst_cursor_candidates_known(k) : code;
}
