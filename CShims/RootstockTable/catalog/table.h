/*
** table.h - what a connection knows of the store's tables: columns, indexes, plans.
**
** Made by schema.c from the catalog's text, and thrown away whole when the schema changes.
*/
#ifndef ROOTSTOCK_TABLE_H
#define ROOTSTOCK_TABLE_H

typedef struct rst_column {
    char *name;
    char *type;         /* as declared, never null */
    char *default_text; /* the DEFAULT expression as SQL, or null */
    int default_judged; /* 1: what it calls may be called while schemas are trusted, 2: also while they are not */
    char *collation_name;
    uint8_t collation; /* rootstock_collation */
    char affinity;
    bool not_null;
    int not_null_conflict;   /* NOT NULL ON CONFLICT, or 0 */
    int size;                /* SQLite's estimate of its width */
    int generated;           /* 0, 2 (virtual) or 3 (stored), as table_xinfo's `hidden` */
    int primary_key;         /* place in the primary key from 1, or 0 */
    rootstock_value missing; /* what rows written before ADD COLUMN show here */
    rootstock_buffer missing_bytes;
} rst_column;

typedef struct rst_part {
    int column; /* column number, -1 for the rowid, -2 for an expression */
    rootstock_key_column key;
    char *collation_name;
    char *expression;              /* SQL text, for column -2 */
    uint64_t last_gap, last_label; /* hashes of where the last new label stands, and of itself (collated_key.c) */
    uint8_t last_place;            /* rootstock_label_place: how it was chosen */
} rst_part;

typedef struct rst_index {
    char *name;
    int64_t identifier; /* in the catalog */
    rst_tree tree;
    rst_part *parts; /* the declared columns, without the row's key that follows them */
    int part_count;
    bool unique;
    bool is_primary_key; /* origin `pk` */
    bool automatic;      /* made by UNIQUE or PRIMARY KEY in CREATE TABLE */
    int on_conflict;     /* of the constraint, or CONFLICT_DEFAULT */
    char *where;         /* of a partial index, or null */
    bool evaluated;      /* has expressions or a WHERE: its entries are computed by the schema database */
    uint64_t columns;    /* that its entries are made of (column_sets.h); all where a generated one is among them */
    struct rst_partial_predicate *predicate; /* the WHERE, or null where it is not understood (partial_predicate.c) */
    double *rows_per_prefix; /* rows per distinct value of the first 1..n columns, from ANALYZE; null without */
    double table_rows;       /* of a partial index: its entries, from ANALYZE, or 0 */
} rst_index;

enum { AUTOMATIC_COLUMNS = 8 };

/* A comparison with a literal or a parameter that leaves rows out of a walk (scan_filter.c). */
enum { REJECTING_TERMS = 4 };
typedef struct rst_rejecting_term {
    int16_t column;
    int16_t argument; /* number in xFilter's arguments */
    uint8_t operation;
    uint8_t literal; /* else the value says whether it is a parameter */
} rst_rejecting_term;

/* A foreign key, as it is declared. */
typedef enum rst_action {
    ACTION_NONE = 0,
    ACTION_RESTRICT,
    ACTION_SET_NULL,
    ACTION_SET_DEFAULT,
    ACTION_CASCADE
} rst_action;

/* Where the parent of a foreign key is looked for, as it was found last (rst_foreign_parent_columns): it holds for that
** table in that epoch of the schema. */
typedef struct rst_parent_key {
    const rst_table *parent; /* null: not found yet */
    uint64_t epoch;
    const rst_part *parts; /* of the parent's key, sought in the tree; null: by rowid, or only SQL finds it */
    rst_tree *tree;
    int columns[]; /* their numbers in the parent */
} rst_parent_key;

struct rst_foreign_key {
    char *parent; /* name of the parent table */
    int column_count;
    int *child_columns;
    char **parent_columns; /* names, or nulls: the parent's primary key */
    rst_parent_key *parent_key;
    rst_action on_update;
    rst_action on_delete;
    bool deferred;
};

/* A column that the rows of one group are sorted by (scan_groups.c). */
enum { GROUP_TERMS = 8 };
typedef struct rst_group_term {
    int16_t column;
    uint8_t descending;
} rst_group_term;

/* A row value that bounds a walk, (a, b) > (x, y). Of a plan it has the arguments of xFilter that the values are
** (row_bound.c), of a candidate the constraints that tell them. count: of columns; 0: there is none. */
enum { ROW_BOUND_TERMS = 4 };
typedef struct rst_row_bound {
    int count, at[ROW_BOUND_TERMS];
} rst_row_bound;

/* A way to reach rows; made by xBestIndex, found again by number in xFilter. See plan.c for the meaning. */
typedef struct rst_plan {
    uint64_t epoch;               /* of the connection's schema when it was made */
    int source;                   /* PLAN_... */
    int index;                    /* number in table->indexes, or -1 */
    int leading;                  /* columns of the index of which any value does (scan_leading.c) */
    int equals;                   /* key columns behind those that are held equal */
    unsigned char null_equal[64]; /* the k-th takes IS (NULL matches) */
    uint64_t one_value;           /* bits of those that are held equal to a literal which means one key */
    int in;                       /* the argument that is a whole IN list, from 1; or 0 */
    int lower;                    /* 0, or SQLITE_INDEX_CONSTRAINT_GT / GE / ISNOTNULL, on the column after those */
    int upper;                    /* 0, or SQLITE_INDEX_CONSTRAINT_LT / LE */
    bool lower_literal, upper_literal; /* the bound stands in the statement */
    rst_row_bound beyond[2];           /* what row values say of the bounded column and those behind it: below, above */
    bool rowid_bounds;                 /* they are of the rowid, which stands behind all columns of the index */
    bool descending;
    bool
        /* the order is that of the whole key: of columns, too, that are held equal to what may stand for several values
        */
        whole;
    bool unique;       /* at most one row */
    bool covering;     /* the index alone answers */
    bool count_only;   /* no column is read */
    int skips;         /* the argument of xFilter, from 1, that says how many rows are gone by; or 0 */
    bool exact;        /* each value held equal means one key, that of the column's affinity (one_row.c) */
    bool hinted;       /* the last argument is the hint: see rst_cursor_filter */
    double cost, rows; /* as rst_log_estimate says them */
    /* A scan whose rows a transient index may find (automatic.c): the columns held equal, and how text in them is
    ** compared. */
    int automatic;
    bool automatic_whole; /* the scan has bounds that are others each time: the index is of the scan without them */
    bool
        /* no scan, but a look-up that a number makes one through all texts (ranges.c): the index finds those that spell
        ** it */
        automatic_spelled;
    int16_t automatic_columns[AUTOMATIC_COLUMNS];
    uint8_t automatic_collations[AUTOMATIC_COLUMNS];
    int rejecting;
    rst_rejecting_term rejects[REJECTING_TERMS];
    /* How many leading columns of the index the walk has in the order that SQLite sorts by first. It may end once as
    ** many rows are sorted as a LIMIT says (scan_enough.c). 0: none. */
    int enough;
    bool nulls_apart; /* the walk has the column's NULLs at the other end than its tree */
    bool first_rows;  /* ... and any rows of one value are as good as others: there is no other term */
    bool distinct;    /* ... of which one row of each value is enough (plan_distinct.c) */
    bool passes;      /* ... once it has passed WHERE, as SQLite tells (distinct_hint.c) */
    bool sorted;      /* SQLite says which rows it sorts: these count (sort_hint.c) */
    int groups; /* how many leading columns the rows of a group share, which are sorted by group_terms; 0: none are */
    int group_term_count;
    rst_group_term group_terms[GROUP_TERMS]; /* column -1: the rowid */
    char *description;
    char *scan;                  /* of an automatic plan: what the scan is called where the index is not worth making */
    struct rst_automatic *state; /* of an automatic plan that has run */
} rst_plan;

/* idxNum: a plan's number in its table, and below the sign the end of the epoch that it was made in. A statement that
** was prepared for an earlier description of the table must not find another plan under its number. */
enum { PLAN_NUMBER_BITS = 16, PLAN_NUMBERS = 0xFFFF, PLAN_EPOCHS = 0x7FFF };

/* What the argument of a table begins with that stands for an index hint: INDEXED BY i is this and the name, NOT
** INDEXED this alone. */
#define ROOTSTOCK_INDEX_HINT "rootstock index "
/* The same of a table whose terms of WHERE and ON all choose rows (partial_terms.c). */
#define ROOTSTOCK_TERMS_HINT "rootstock terms"
/* The same of a table whose cursor may go by the rows of an OFFSET, alone or with " ordered" behind it
** (offset_hint.c). */
#define ROOTSTOCK_OFFSET_HINT "rootstock offset"
/* The same of a table by one of whose columns a join is sorted first. a or d: the direction; t or a blank: as
** ROOTSTOCK_TERMS_HINT, too; a colon, and the column's name (sort_hint.c). Before the colon: n where NULLs come at the
** other end than in SQLite's own order; o where the same is the only term. g for a or d, and no name: the table may
** sort groups of rows (plan_groups.c). u, and names with commas between them: each value of the columns is needed once
** (distinct_hint.c). */
#define ROOTSTOCK_ORDER_HINT "rootstock order "
/* The same of a table with terms that choose its rows and that xBestIndex is not shown. Their number (own_terms.c). */
#define ROOTSTOCK_OWN_HINT "rootstock own "
/* The same of a table whose columns are held equal with what has no affinity (one_row.c). */
#define ROOTSTOCK_EXACT_HINT "rootstock exact"

enum { PLAN_ROWID = 1, PLAN_KEY = 2, PLAN_INDEX = 3, PLAN_ROW = 4, PLAN_ENCODED = 5 };

/* Statements of a table's row validator on a schema database. */
typedef struct rst_validator {
    sqlite3_stmt *insert;
    int conflict; /* mode that insert was prepared with */
    sqlite3_stmt *insert_old;
    sqlite3_stmt *row;
    sqlite3_stmt *select;
    sqlite3_stmt *remove;
    sqlite3_stmt *loose, *loose_row, *loose_remove; /* validator_nullable.c */
} rst_validator;

/* Whom a table refers to that is not described yet. */
typedef struct rst_parent_name {
    const char *name;
    unsigned int hash;
} rst_parent_name;

struct rst_table {
    int references;
    rst_connection *connection;
    char *name;
    unsigned int hash;   /* of its name */
    char *declared_name; /* name in the SQLite connection (differs for sqlite_sequence, sqlite_stat1) */
    char *sql;
    int64_t identifier; /* in the catalog */
    rst_tree tree;
    bool described; /* what is not said below is unknown until then; see describe_late.c */
    bool without_rowid;
    bool strict;
    union { /* what a row's change has to reckon with, and all of it asked together: insert_fast.c */
        struct {
            bool autoincrement;
            bool internal;        /* sqlite_sequence, sqlite_stat1 */
            bool needs_validator; /* CHECK, STRICT, generated columns ...: the schema database judges each row */
            bool has_evaluated_index;
        };
        uint32_t row_concerns;
    };
    bool has_generated;
    bool has_defaults; /* a column has one */
    bool has_check;
    const char *missing_collation; /* of a column: declared without it, because nobody has registered it */
    bool has_conflict_clauses;     /* ON CONFLICT in CREATE TABLE */
    bool has_rowid_name;           /* a column is called rowid, oid or _rowid_ (bits unused) */
    int rowid_column;              /* the INTEGER PRIMARY KEY column, or -1 */
    int rowid_on_conflict;
    bool rowid_descends; /* PRIMARY KEY (column DESC), which counts WITHOUT ROWID */
    rst_column *columns;
    int column_count;
    int *slot; /* column -> place in the row's bytes, or -1 - k for the k-th key column */
    int slot_count;
    rst_part *key; /* WITHOUT ROWID: the primary key's columns */
    int key_count;
    double *rows_per_key_prefix; /* as rows_per_prefix of an index */
    int key_turn;                /* WITHOUT ROWID: how many indexes are checked before the primary key */
    rst_index *indexes;          /* in SQLite's order of checking: as created */
    int index_count;
    rst_foreign_key *foreign_keys; /* this table is the child */
    int foreign_key_count;
    struct rst_native_fk_table *shadows; /* of a sidecar's table: see native_fk_table.c */
    int shadow_count;
    bool shadows_known;
    bool is_parent;           /* some table of the store refers to this one */
    rst_parent_name *parents; /* not described: the names behind each REFERENCES, in one block with their texts */
    int parent_count;
    rst_trigger *triggers; /* list, in the order in which they fire */
    rst_plan **plans;
    int plan_count;
    double table_rows; /* from ANALYZE, or 0 */
    int pinned; /* rows that an UPDATE is replacing others for, and their triggers are running (rst_check_pinned) */
    int open_cursors;
    struct rst_cursor *spare_cursors;
    struct rst_automatic *automatics; /* what automatic plans hold as long as a cursor is open */
    /* automatic rowid: highest one known inside the live write transaction */
    bool last_rowid_known;
    int64_t last_rowid;
    uint64_t last_rowid_transaction;
    /* other writers insert here, too: rowids from `reserved` on, below `reserved_end`, are ours (many_writers.c) */
    bool contended;
    int64_t reserved, reserved_end, reserved_block;
    /* highest key known to be the tree's last, for appending */
    rootstock_buffer last_key;
    uint64_t last_key_transaction;
    /* schema database statements of this table */
    rst_validator validators[2]; /* [1]: on the schema database without CHECKs */
    int validator_used;          /* which one holds the row */
    /* rows that row-mode cursors show: [0] new, [1] old or excluded */
    struct rst_row_image *images[2];
    /* of each hidden column that shows an indexed expression (expression_column.c) */
    const struct rst_expression_column **shown;
    int shown_count;
};

/* What the tree of an index is sorted by; of index -1, the table's own, which WITHOUT ROWID is its primary key's. */
typedef struct rst_walked_key {
    const rst_part *parts;
    int part_count;
    const double *rows_per_prefix;
} rst_walked_key;

static inline rst_walked_key rst_walked_key_of(const rst_table *table, int number) {
    const rst_index *index = number < 0 ? NULL : &table->indexes[number];
    if (index == NULL) return (rst_walked_key){table->key, table->key_count, table->rows_per_key_prefix};
    return (rst_walked_key){index->parts, index->part_count, index->rows_per_prefix};
}

/* Whether it has foreign keys, or may have some, where it is not described yet. */
static inline bool rst_table_may_refer(const rst_table *table) {
    return table->described ? table->foreign_key_count > 0 : table->parents != NULL;
}

/* The plan that idxNum names, made in this epoch; or null. */
static inline const rst_plan *rst_plan_of(const rst_table *table, int number, uint64_t epoch) {
    int place = number & PLAN_NUMBERS;
    if (number < 0 || place >= table->plan_count || number >> PLAN_NUMBER_BITS != (int)(epoch & PLAN_EPOCHS) ||
        table->plans[place]->epoch != epoch)
        return NULL;
    return table->plans[place];
}

/* The constraint whose turn it is when a new row is checked: an index's number, or -1 for the rowid or the primary key.
** Turns go from 0 to index_count. */
static inline int rst_constraint_at(const rst_table *table, int turn) {
    return turn == table->key_turn ? -1 : turn < table->key_turn ? turn : turn - 1;
}

/* The table of that name, described; or null, also where there is no memory, which a watched call tells. */
rst_table *rst_table_find(rst_connection *c, const char *name);
/* The same, described or not. */
rst_table *rst_table_listed(rst_connection *c, const char *name);
/* The foreign keys that refer to the table, the newest table's first; null: none. */
const struct rst_child *rst_table_children(const rst_table *table);
void rst_table_release(rst_table *table);
/* ---- rowids.c ---- */
/* Of a table with rowids: the first of its words "rowid", "oid", "_rowid_" that no column has, or null. */
const char *rst_rowid_word(const rst_table *table);
/* The affinity of a column of that type; strict: of a STRICT table. */
char rst_type_affinity(const char *type, bool strict);
/* Appends the columns with commas between: all names, those that are not generated, or of these ?1, ?2 ... */
typedef enum rst_columns_shown { COLUMNS_ALL, COLUMNS_STORED, COLUMNS_BOUND } rst_columns_shown;
void rst_columns_append(sqlite3_str *out, const rst_table *table, rst_columns_shown shown);
/* The column of that name, or -1. */
int rst_column_called(const rst_table *table, const char *name);
int rst_column_named(const rst_table *table, const rst_token *name);
/* The name by which a statement reaches the rowid: the INTEGER PRIMARY KEY's, or the word; or null. */
const char *rst_rowid_name(const rst_table *table);

#endif
