/*
** cursor.h - what the files of the table's cursors share: the cursor, and the inline steps of the rows that most scans
** give.
**
**   cursor.c         opens, closes and detaches
**   cursor_filter.c  finds the first row
**   cursor_walk.c    goes from row to row
**   scan_sort.c      sorts where the tree's order is not the one asked for
**   scan_groups.c    sorts group by group
**   scan_leading.c   looks up behind columns that may have any value
**   cursor_entry.c   reads index entries
**   cursor_column.c  gives the columns
**
** What runs once a row stands in one file with its caller, or inline here.
*/
#ifndef ROOTSTOCK_CURSOR_H
#define ROOTSTOCK_CURSOR_H

#include "executor/executor.h"
#include "executor/ranges.h"

typedef struct rst_candidate {
    unsigned char *bytes; /* key, value, and what else it is sorted by */
    size_t key_size, value_size, behind_size;
    size_t order_from, order_to; /* what of the key it is sorted by first */
} rst_candidate;

/* Rows found ahead of the walk through an index (scan_prefetch.c). */
enum { AHEAD_LIMIT = 16, AHEAD_LIMIT_FAR = 1024 };
typedef struct rst_ahead {
    uint32_t count, at; /* keys[at], the next one's: its rowid, where it stands in the index entry */
    uint32_t used;      /* of keys, as far as they went */
    uint32_t wait;      /* rows that are still looked up one by one before several are */
    uint32_t last;      /* how many were looked up at once last time */
    uint32_t fitting;   /* of a store on a server: how many rows of this size make a megabyte */
    uint32_t room;      /* of what follows: their own, or of `far` */
    rootstock_slice *keys, *values;
    unsigned char (*rowids)[8]; /* that the keys of a list lie in */
    rootstock_slice near_keys[AHEAD_LIMIT], near_values[AHEAD_LIMIT];
    unsigned char near_rowids[AHEAD_LIMIT][8];
    void *far; /* AHEAD_LIMIT_FAR of each, or null */
} rst_ahead;

/* The rowids of an IN list, in the order in which their rows are given (cursor_list.c). */
typedef struct rst_rowid_list {
    int64_t *rowids;
    int count, room, at;
} rst_rowid_list;

/* What leaves a row out of the walk: its value beside one of xFilter's (scan_filter.c). */
typedef struct rst_reject {
    int place;           /* the value's slot in a row, or its part of an index entry */
    unsigned char keeps; /* KEEPS_... */
    bool is_text, is_integer;
    bool is_pattern; /* of LIKE: its bytes in small letters, and as many that tell of letters */
    bool has_real;   /* the number is `real` exactly, too */
    bool keeps_null; /* IS NULL */
    int64_t integer;
    double real;
    size_t from, size; /* a text, in reject_texts */
} rst_reject;

typedef struct rst_cursor {
    sqlite3_vtab_cursor base; /* must be first */
    rst_table *table;
    rst_connection *connection;
    struct rst_cursor *next_spare;
    rootstock_transaction *transaction;
    bool began; /* holds the snapshot */
    bool on_writer;
    bool brief; /* of an engine with ROOTSTOCK_CAPABILITY_BRIEF_SLICES: what is looked up is copied */
    const rst_plan *plan;
    rst_walker walker;     /* on the table's tree or the index's */
    rst_tree *walker_tree; /* null: no engine cursor is open */
    bool walker_fresh;     /* attached to the present transaction */
    bool single;           /* at most one row, and it is under the cursor */
    rootstock_buffer seek; /* key sought, kept for its memory */
    rst_ranges ranges;
    int range; /* the one under way */
    /* Of a plan with leading columns: what the entries under way begin with, where the others lie, and whether any are
    ** to be looked for (scan_leading.c). */
    rootstock_buffer leading;
    rst_range behind;
    bool more_values;
    uint32_t leading_count; /* values that were found */
    bool eof;
    bool stable; /* key and value stay where they are as long as the snapshot does */
    /* What the last look-up of at most one row was for (scan_memo.c). */
    const rst_plan *repeated; /* null: it cannot be repeated */
    uint32_t repeat_misses;   /* look-ups in a row that were not for the same */
    bool repeat_found, repeat_is_text;
    int64_t repeat_integer;
    rootstock_buffer repeat_text;
    bool borrowed;       /* of a table's tree, in a write transaction: the entry lies where the engine has it */
    bool walking;        /* the next row is the tree's next entry */
    rootstock_move move; /* ... by this move */
    bool unbounded;      /* the range under way ends where the tree does */
    int rejecting;       /* comparisons that leave rows out; 0: SQLite sees all */
    unsigned char shape; /* COLUMNS_...: what rst_cursor_column may read of what is under the cursor */
    bool raw_key;        /* the primary key is one ascending column whose bytes stand in the key as they are */
    sqlite3_destructor_type lifetime; /* of the shape's bytes: static in a snapshot, else copied */
    const unsigned char *row_bytes;   /* COLUMNS_USUAL: the row */
    size_t body_size;                 /* ... and how much of it stands behind its offsets */
    rootstock_slice entry_key, entry_value;
    /* Of the table's tree: the entry itself, or what was looked up. */
    rootstock_slice *row_key, *row_value;
    rootstock_slice found_key, found_value;
    rst_ahead ahead;
    rst_rowid_list list;          /* count 0: there is none */
    unsigned char rowid_bytes[8]; /* the key of a row that was looked up by its rowid */
    bool row_located, row_open;
    rootstock_row row;
    bool entry_row_open;
    rootstock_row entry_row; /* exact values of an index entry that its key does not give */
    bool entry_exact;
    size_t exact_entry_size; /* bytes of the value of an index entry that is exact: see split_entry */
    uint64_t remaining;      /* count_only: rows to come, this one included */
    uint64_t counted;        /* and rows gone by */
    rst_row_image *image;
    rst_candidate *candidates; /* ambiguous equality with an order, or a group: collected and sorted */
    int candidate_count, candidate;
    rootstock_buffer own;  /* the entry's bytes, in a write transaction */
    rootstock_buffer hold; /* value of a long key's row */
    rootstock_buffer scratch;
    /* cursors in the write transaction, so that its end can let go of them */
    struct rst_cursor *live_next, **live_link;
    uint64_t opened_epoch; /* the connection's when it was opened: `table` is the description of then */
    bool holds;            /* counted in the connection's `held`: open since before its last write transaction ended */
    bool
        /* the entry's row was deleted in this write transaction since the cursor came here: its columns are NULL */
        row_gone;
    struct rst_transient *transient; /* the transient index that gives the rows, or null */
    uint32_t transient_place;        /* ... and the row's place in it */
    uint32_t stepped;                /* rows gone by between bounds that a transient index would do without */
    bool aborted;                    /* a ROLLBACK took the schema back under it: it goes no further */
    bool detached; /* the transaction ended under the cursor: it goes on behind `saved` in a new snapshot */
    rootstock_buffer saved;
    rootstock_buffer hint; /* what a plan with a hint was given */
    rst_reject rejects[REJECTING_TERMS];
    bool likes_unasked; /* among what rejects are patterns of a LIKE that may be the application's own function */
    uint32_t looked_at, rejected; /* rows, of less than a hundred or so */
    uint32_t rest;                /* how many are not looked at where hardly any is rejected */
    uint32_t unlooked;            /* ... and how many of these are to come */
    rootstock_buffer reject_texts;
    struct rst_cursor *open_next, **open_link; /* of the connection's */
    bool may_have_enough;                      /* scan_enough.c looks at each row */
    bool rowid_asked;                          /* of the row under the cursor; only plan->distinct looks */
    bool passed;                               /* the row under the cursor has passed WHERE; of plan->passes */
    int64_t enough_left;     /* rows until there are enough; below 0: not known yet, of those that SQLite sorts */
    rootstock_buffer enough; /* what the key of the first row begins with, or of the one that was the last needed */
    /* Where each column stands, hidden ones included: of the table, and of the index of `placed`. */
    unsigned char usual_header; /* first byte of a row of the usual shape ... */
    int usual_count;            /* ... its columns, ... */
    size_t usual_body;          /* ... and where its body begins */
    const rst_plan *placed;
    int16_t *places;   /* in an index entry: the part, or PLACE_... */
    int16_t reaches[]; /* in a row: the slot, or PLACE_... */
} rst_cursor;

/* A column that stands elsewhere: the rowid; in the row (of an index entry); in the key; or where column_slowly finds
** it. From PLACE_PART downwards it is a part of the key, whose first is PLACE_PART. */
enum { PLACE_ROWID = -1, PLACE_ROW = -2, PLACE_KEY = -3, PLACE_ELSEWHERE = -4, PLACE_PART = -5 };

/*
** What is under the cursor, for rst_cursor_column. USUAL: a compact row with as many columns as the table writes now
** and offsets of one byte, whose parts stand at fixed distances. NARROW: another compact row of at most 30 columns,
** laid open in `row`. ENTRY: an index entry whose key gives its columns. COPIED beside one of these: in a write
** transaction. UNKNOWN: column_slowly finds out.
*/
enum { COLUMNS_UNKNOWN = 0, COLUMNS_USUAL = 1, COLUMNS_NARROW = 2, COLUMNS_ENTRY = 3, COLUMNS_COPIED = 4 };

/* ---- cursor.c ---- */
/* The engine's code as SQLite's, with its words as the statement's error. */
int rst_cursor_fail(rst_cursor *k, int engine_code);
/* SQLITE_CORRUPT_VTAB, naming the store, the table and what. */
int rst_cursor_corrupt(rst_cursor *k, const char *what);
/* Before a walk through the plan's tree: where its entries have their row and, of an index, their columns. */
void rst_cursor_aim(rst_cursor *k);
/* An engine cursor on the tree, in the present transaction. */
int rst_cursor_attach(rst_cursor *k, rst_tree *tree);
/* The cursor holds a snapshot, or reads in the write transaction, from here to rst_cursor_stop. */
void rst_cursor_begun(rst_cursor *k);
void rst_cursor_stop(rst_cursor *k);
/* Goes on after the transaction under the cursor ended. SQLITE_OK: the next row is a step away; SQLITE_ROW: the cursor
** is on it already; SQLITE_DONE: there is none. */
int rst_cursor_reattach(rst_cursor *k);
/* The part of it that begins the new snapshot. */
int rst_cursor_rejoin(rst_cursor *k);

/* ---- cursor_walk.c ---- */
/* In a write transaction the engine's bytes hold only until the next write, and an outer cursor of a join is read again
** after writes. So there the cursor keeps its own bytes of the entry under it, at once or before the write
** (rst_cursors_keep). SQLITE_OK or SQLITE_NOMEM. */
int rst_cursor_keep_entry(rst_cursor *k);
/* The same for a row that was looked up by its key, in a snapshot of an engine with brief slices, too. */
int rst_cursor_keep_row(rst_cursor *k);
/* To the first entry of ranges.range[range], or of the next ones; eof if there is none. */
int rst_cursor_enter_range(rst_cursor *k);
/* To the entry with which the walk through the range begins, perhaps beyond it. The engine's code. */
int rst_cursor_to_edge(rst_cursor *k, const rst_range *range);
/* A scan without columns only counted: it is put where it stands, because a row is asked for after all. */
int rst_cursor_stop_counting(rst_cursor *k);

/* ---- scan_filter.c ---- */
/* The walk has its first row: from here on rows are left out. Moves on from this one if it is to be. A code of
** SQLite's. */
int rst_cursor_reject_from(rst_cursor *k, sqlite3_value **values);
/* Whether a comparison is false of the row under the cursor, or NULL, for certain. */
bool rst_cursor_is_rejected(const rst_cursor *k);
/* In cursor_walk.c: moves on, and on while rows are rejected, some hundred at most. */
int rst_cursor_next_kept(rst_cursor *k);
/* Asks whose LIKE it is, and leaves its patterns out of `rejects` unless it is SQLite's own (scan_filter.c). */
void rst_cursor_ask_like(rst_cursor *k);

/* Reaches the table's row from the index entry (cursor_entry.c). */
int rst_cursor_locate(rst_cursor *k);

/* ---- scan_leading.c ---- */
/* The ranges of the cursor are those behind leading columns: they will be walked for each value of these. */
int rst_cursor_begin_leading(rst_cursor *k);
/* While k->more_values: to the next value of the leading columns. The ranges become those of it; none is entered. */
int rst_cursor_next_leading(rst_cursor *k);

/* ---- scan_enough.c ---- */
/* How many bytes of the entry's key so many leading columns take; or 0: that is not known. */
size_t rst_cursor_leading_bytes(const rst_cursor *k, int columns);
/* The walk is on its first row, and has the order of the first column that SQLite sorts by, or that is wanted once. It
** may end early, or go by rows. */
void rst_cursor_count_from(rst_cursor *k);
/* Keeps what the key of the row under the cursor begins with, its leading columns. False: that is not known. */
bool rst_cursor_keep_leading(rst_cursor *k);
/* Whether the row under the cursor is like it there. */
bool rst_cursor_is_like_kept(const rst_cursor *k);
/* What rootstock_sorted is given as a row: its cursor. */
#define ROOTSTOCK_CURSOR_POINTER "rootstock cursor"
/* The row under the cursor is left: it is the last one that was needed, if SQLite has sorted enough. */
void rst_cursor_leave_sorted(rst_cursor *k);
/* A row was stepped to; it is the end where it comes behind what was the last one needed. */
void rst_cursor_reach_sorted(rst_cursor *k);

/* ---- scan_memo.c ---- */
enum { REPEAT_MISSES = 16 };
/* Whether the look-up that begins is for what k->repeated was for. */
bool rst_cursor_repeats(rst_cursor *k, sqlite3_value *value);
/* A look-up of at most one row ended, the second or a later one of its plan: the next one may be for the same. */
void rst_cursor_may_repeat(rst_cursor *k, sqlite3_value *value);

/* ---- scan_offset.c ---- */
/* From the first row on, goes by as many as an OFFSET says. A code of SQLite's. */
int rst_cursor_skip(rst_cursor *k, sqlite3_value *offset);

/* ---- scan_sort.c ---- */
/* Rows of an ambiguous equality, in the order of the key columns after the equalities. numbers: only those of which
** the value looked up, a number, may be equal to the row's. */
int rst_cursor_collect(rst_cursor *k, const rst_part *parts, bool numbers);
/* The entry under the cursor is one of them; all are known, and the first one is due. */
int rst_cursor_add_candidate(rst_cursor *k, const rst_part *parts);
int rst_cursor_candidates_known(rst_cursor *k);
/* The candidate that is due is put under the cursor; eof after the last one. */
int rst_cursor_give_candidate(rst_cursor *k);
void rst_cursor_free_candidates(rst_cursor *k);

/* ---- scan_groups.c ---- */
/* The cursor is on the first entry of a group, or at the end: to the first row of the group. */
int rst_cursor_enter_group(rst_cursor *k);
/* The last row of a group is left: to the first one of the next. */
int rst_cursor_next_group(rst_cursor *k);
/* Appends what the row under the cursor is sorted by within its group. */
int rst_cursor_group_key(rst_cursor *k, rootstock_buffer *out);

/* ---- automatic.c ---- */
/* The first row of an automatic plan by its transient index. SQLITE_NOTFOUND: there is none, scan. */
int rst_automatic_filter(rst_cursor *k, sqlite3_value **values);
int rst_automatic_next(rst_cursor *k);
/* The rows that the cursor has gone by are its plan's. */
void rst_automatic_count(rst_cursor *k);
/* The candidates of an ambiguous equality, by a transient index. SQLITE_NOTFOUND: there is none, collect them. */
int rst_automatic_candidates(rst_cursor *k, const rst_part *parts, sqlite3_value **values);
/* The cursor leaves its index. */
void rst_automatic_leave(rst_cursor *k);
/* The last cursor on the table was closed, and no program runs. */
void rst_automatics_rest(rst_table *table);

/* ---- automatic_hash.c ---- */
/* Of the values that arrived. SQLITE_DONE: nothing equals them; SQLITE_NOTFOUND: they may equal values of another hash.
** That is a real of more than 15 digits against a TEXT column: without an affinity of its own it becomes the text of
** the first of them. */
int rst_automatic_hash_arguments(const rst_cursor *k, sqlite3_value **values, uint32_t *hash);
/* Whether a number alone is looked up, where texts may be equal to it. */
bool rst_automatic_is_number(const rst_cursor *k, sqlite3_value **values);
/* Of the row under the cursor. *asks: a statement for numbers, null at first, the connection's. SQLITE_NOTFOUND: only
** `numbers` are looked up, and the row's value is equal to none, whatever affinity applies. */
int rst_automatic_hash_row(rst_cursor *k, bool numbers, sqlite3_stmt **asks, uint32_t *hash);

/* ---- scan_prefetch.c ---- */
/* Nothing is known ahead: a filter begins. */
static inline void rst_ahead_reset(rst_ahead *ahead) {
    ahead->count = ahead->at = ahead->last = 0;
    ahead->wait = 2;
}
/* Of an index entry in a read snapshot of a table with rowids: found_value is the row that found_key is the rowid of.
** SQLITE_ROW, SQLITE_DONE if there is none, or a code. */
int rst_cursor_find(rst_cursor *k);
/* Whether several rows are found at once for this cursor. */
static inline bool rst_ahead_can(const rst_cursor *k) {
    return !k->on_writer && store_of(k->connection)->engine->get_several != NULL &&
           store_of(k->connection)->second_look > 0;
}
/* How many are due next; those before are used up. */
uint32_t rst_ahead_step(rst_cursor *k);
void rst_ahead_make(rst_ahead *ahead);
/* ahead.keys[0 to count) are looked up, and the first is due. SQLITE_OK or a code. */
int rst_ahead_fetch(rst_cursor *k, uint32_t count);

/* ---- cursor_list.c ---- */
/* To the first row of an IN list of rowids. */
int rst_cursor_list(rst_cursor *k, sqlite3_value *whole);
/* To the next one. */
int rst_cursor_list_next(rst_cursor *k);

/* ---- cursor_entry.c ---- */
/* A column of the primary key WITHOUT ROWID, from the row's key behind the entry's columns. SQLITE_NOTFOUND if only the
** row can tell. */
int rst_cursor_entry_key(rst_cursor *k, int column, rootstock_value *value);
/* What the index entry holds of a part of the index. */
int rst_cursor_entry_part(rst_cursor *k, int part, rootstock_value *value);
/* The column, not the rowid, of the row under the cursor. */
int rst_cursor_value(rst_cursor *k, int column, rootstock_value *value);
/* A column of the index entry, if it is there. SQLITE_NOTFOUND if not. */
int rst_cursor_entry_column(rst_cursor *k, int column, rootstock_value *value);

/*
** Makes ready what rst_cursor_column reads without looking further: a row of the common shape, where it stays until the
** cursor moves. Any other row, malformed ones too, is left to column_slowly. `lifetime` is known.
*/
__attribute__((always_inline)) static inline void rst_cursor_look(rst_cursor *k, bool copied) {
    const unsigned char *bytes = k->row_value->data;
    size_t size = k->row_value->size;
    k->row_open = false;
    if (size >= k->usual_body && bytes[0] == k->usual_header && bytes[k->usual_body - 1] <= size - k->usual_body) {
        k->row_bytes = bytes;
        k->body_size = size - k->usual_body;
        k->shape = COLUMNS_USUAL;
    } else {
        k->row_open = rootstock_row_open_narrow(&k->row, bytes, size) && k->row.compact;
        k->shape = k->row_open ? COLUMNS_NARROW : COLUMNS_UNKNOWN;
    }
    if (copied && k->shape != COLUMNS_UNKNOWN) k->shape |= COLUMNS_COPIED;
}

/* The same for a row that may have been copied, or may lie in the cursor's own memory. */
static inline void rst_cursor_open_quickly(rst_cursor *k) {
    k->lifetime = k->stable && k->row_value->data != k->hold.data ? SQLITE_STATIC : SQLITE_TRANSIENT;
    rst_cursor_look(k, k->on_writer);
}

/* A part of the row under the cursor, if its shape lays it open. */
static inline bool rst_cursor_row_part(const rst_cursor *k, int place, int *type, const unsigned char **data,
                                       size_t *size) {
    const unsigned char *ends;
    size_t start = 0, end, all;
    switch (k->shape & ~COLUMNS_COPIED) {
    case COLUMNS_USUAL:
        ends = k->row_bytes + 1 + k->usual_count + place;
        if (place > 0) start = ends[-1];
        end = ends[0];
        *type = k->row_bytes[1 + place];
        *data = k->row_bytes + k->usual_body + start;
        all = k->body_size;
        break;
    case COLUMNS_NARROW:
        if (place >= k->row.count) return false;
        ends = k->row.ends + place * k->row.width;
        if (k->row.width == 1) {
            if (place > 0) start = ends[-1];
            end = ends[0];
        } else {
            if (place > 0) start = (size_t)(ends[-2] | ends[-1] << 8);
            end = (size_t)(ends[0] | ends[1] << 8);
        }
        *type = k->row.types[place];
        *data = k->row.body + start;
        all = k->row.body_size;
        break;
    default: return false;
    }
    *size = end - start;
    return start <= end && end <= all;
}

/* Whatever was known of the entry before is forgotten, and the row of a table's own tree is laid open. */
static inline void rst_cursor_noted(rst_cursor *k) {
    k->stable = !k->on_writer && !k->brief && k->walker.run == NULL;
    k->row_open = false;
    k->shape = COLUMNS_UNKNOWN;
    if (k->plan->source == PLAN_INDEX) {
        k->row_located = false;
        k->row_gone = false;
        k->entry_row_open = false;
        k->lifetime = k->stable ? SQLITE_STATIC : SQLITE_TRANSIENT;
        if (k->walker.run == NULL && k->entry_key.size < store_of(k->connection)->long_key_limit &&
            k->entry_value.size == k->exact_entry_size) {
            k->shape = k->on_writer ? COLUMNS_ENTRY | COLUMNS_COPIED : COLUMNS_ENTRY;
        }
    } else {
        k->row_located = true;
        if (k->walker.run == NULL && k->entry_key.size < store_of(k->connection)->long_key_limit)
            rst_cursor_open_quickly(k);
    }
}

/* What follows a new entry under the cursor. */
static inline int rst_cursor_arrived(rst_cursor *k) {
    k->borrowed = k->on_writer && k->plan->source != PLAN_INDEX;
    if (k->on_writer && !k->borrowed) {
        int code = rst_cursor_keep_entry(k);
        if (code != SQLITE_OK) return code;
    }
    rst_cursor_noted(k);
    return SQLITE_OK;
}

/* Whether left stands before right. Bounds are short and most keys differ early: in place, eight bytes at a time. */
static inline bool rst_key_before(const unsigned char *left, size_t left_size, const unsigned char *right,
                                  size_t right_size) {
    size_t common = left_size < right_size ? left_size : right_size;
    for (; common >= 8; common -= 8, left += 8, right += 8) {
        uint64_t a = rootstock_big_endian(left), b = rootstock_big_endian(right);
        if (a != b) return a < b;
    }
    for (; common > 0; common--, left++, right++) {
        if (*left != *right) return *left < *right;
    }
    return left_size < right_size;
}

/* Whether an entry of that key lies behind the range under way. */
static inline bool rst_key_beyond(const rst_cursor *k, const rootstock_slice *key) {
    const rst_range *range = &k->ranges.range[k->range];
    if (k->plan->descending) {
        return range->low.size > 0 && rst_key_before(key->data, key->size, range->low.data, range->low.size);
    }
    return range->has_high && !rst_key_before(key->data, key->size, range->high.data, range->high.size);
}

/* Whether the entry under the cursor does. */
static inline bool rst_cursor_beyond(const rst_cursor *k) {
    return rst_key_beyond(k, &k->entry_key);
}

#endif
