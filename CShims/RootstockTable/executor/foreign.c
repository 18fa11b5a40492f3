/*
** foreign.c - foreign keys between the tables of a store, while PRAGMA foreign_keys is on.
**
** As SQLite does it: each violation that a row's change makes is counted, and each that it cures is counted down. The
** count of immediate ones must be zero when the statement ends (runner.c, or the commit), that of deferred ones when
** the transaction does. RESTRICT fails at once. Actions run as statements on the child, so that its triggers, indexes
** and own foreign keys follow.
*/
#include "executor/executor.h"
#include "catalog/column_sets.h"
#include "executor/foreign_statements.h"
#include "executor/program_state.h"
#include "executor/trigger.h"

#include <string.h>

bool rst_foreign_any_deferred(const rst_table *table) {
    for (int i = 0; i < table->foreign_key_count; i++)
        if (table->foreign_keys[i].deferred) return true;
    return table->foreign_key_count > 0 && rst_foreign_all_deferred(table->connection);
}

static bool any_null(const rootstock_value *values, const int *columns, int count) {
    for (int k = 0; k < count; k++) {
        if (values[columns[k]].type == VALUE_NULL) return true;
    }
    return false;
}

bool rst_value_same(const rootstock_value *a, const rootstock_value *b) {
    if (a->type != b->type) return false;
    switch (a->type) {
    case VALUE_INTEGER: return a->as.integer == b->as.integer;
    case VALUE_REAL: return a->as.real == b->as.real;
    case VALUE_TEXT:
    case VALUE_BLOB: return a->size == b->size && (a->size == 0 || memcmp(a->as.data, b->as.data, a->size) == 0);
    default: return true;
    }
}

static bool same_at(const rootstock_value *a, const rootstock_value *b, const int *columns, int count) {
    for (int k = 0; k < count; k++) {
        if (!rst_value_same(&a[columns[k]], &b[columns[k]])) return false;
    }
    return true;
}

static void count_violations(rst_connection *c, const rst_foreign_key *foreign, int64_t change) {
    int64_t *counter;
    bool by_pragma;
    if (change == 0) return;
    by_pragma = rst_foreign_all_deferred(c);
    if (by_pragma) rst_foreign_count_by_pragma(c);
    counter = foreign->deferred || by_pragma ? &store_of(c)->deferred_violations : &store_of(c)->immediate_violations;
    *counter += change;
    if (*counter < 0) *counter = 0;
}

/* Whether two values are the same to a column of the parent: numbers by value, text by its collation. */
static int same_to(const rst_table *parent, int column, const rootstock_value *a, const rootstock_value *b,
                   bool *same) {
    rootstock_buffer left = {0}, right = {0};
    rootstock_key_column key = {0};
    int code, order;
    key.collation = parent->columns[column].collation;
    if (key.collation == ROOTSTOCK_COLLATION_OWN && a->type == VALUE_TEXT && b->type == VALUE_TEXT) {
        sqlite3_stmt *statement = NULL;
        code =
            rst_collation_compare(parent->connection, parent->columns[column].collation_name, &statement, a, b, &order);
        if (statement != NULL) rst_statement_done(parent->connection, statement);
        *same = code == SQLITE_OK && order == 0;
        return code;
    }
    code = rootstock_key_append(&left, a, &key);
    if (code == SQLITE_OK) code = rootstock_key_append(&right, b, &key);
    *same = code == SQLITE_OK && rootstock_key_compare(left.data, left.size, right.data, right.size) == 0;
    rootstock_buffer_free(&left);
    rootstock_buffer_free(&right);
    return code;
}

static bool is_number(const rootstock_value *value) {
    return value->type == VALUE_INTEGER || value->type == VALUE_REAL;
}

typedef enum likeness {
    LIKE_NOT,
    LIKE_UNSURE, /* a number stands beside a text: affinity decides */
    LIKE_FOUND,  /* the same to the parent's collations */
    LIKE_SAME    /* and also as they are */
} likeness;

/* What can be said of child values beside parent values. converts: the parent's affinity is the child values', too.
** Else where affinity would decide only SQLite can say. */
static int compare_key(const rst_foreign_key *foreign, const rst_table *parent, const int *columns,
                       const rootstock_value *child_row, const rootstock_value *parent_row, bool converts,
                       likeness *out) {
    rootstock_buffer hold = {0};
    int code = SQLITE_OK;
    *out = LIKE_SAME;
    for (int k = 0; k < foreign->column_count && code == SQLITE_OK; k++) {
        rootstock_value child = child_row[foreign->child_columns[k]];
        const rootstock_value *key = &parent_row[columns[k]];
        const bool alike = child.type == key->type || (is_number(&child) && is_number(key));
        bool same = false;
        if (child.type != VALUE_NULL && key->type != VALUE_NULL) {
            if (!alike && !converts) {
                *out = LIKE_UNSURE;
                continue;
            }
            hold.size = 0;
            if (!alike) code = rst_foreign_convert(parent, columns[k], &child, &hold);
            if (code == SQLITE_OK) code = same_to(parent, columns[k], &child, key, &same);
        }
        if (!same) {
            *out = LIKE_NOT;
            break;
        }
        if (*out == LIKE_SAME && (!alike || (!is_number(key) && !rst_value_same(&child, key)))) *out = LIKE_FOUND;
    }
    rootstock_buffer_free(&hold);
    return code;
}

/* SQLite keeps a whole number of a REAL column as an integer of few bytes. Of a new row it finds no rowid by that. */
static bool is_stored_as_integer(const rst_table *child, int column, const rootstock_value *value) {
    enum { STORED_BITS = 47 };
    const double bound = (double)((int64_t)1 << STORED_BITS);
    return child->columns[column].affinity == AFFINITY_REAL && value->type == VALUE_REAL && value->as.real >= -bound &&
           value->as.real < bound;
}

/*
** Whether the parent of the new row is there. own: the key refers to the table itself, and the change sets its columns.
** By now the row stands in the table, while SQLite asks before it does. To see whether the row is its own parent SQLite
** compares the values as they are, whatever the collation (a rowid it makes a number first).
*/
static int has_parent(rst_table *child, const rst_foreign_key *foreign, rst_table *parent, const int *columns,
                      const rootstock_value *values, bool own, bool *exists) {
    rst_connection *c = child->connection;
    const int first = foreign->child_columns[0];
    likeness like = LIKE_NOT;
    int code;
    *exists = false;
    if (foreign->parent_key->parts == NULL && is_stored_as_integer(child, first, &values[first])) return SQLITE_OK;
    code = own ? compare_key(foreign, parent, columns, values, values, true, &like) : SQLITE_OK;
    *exists = like == LIKE_SAME;
    if (code != SQLITE_OK || *exists) return code;
    code = rst_foreign_parent_exists(c, store_of(c)->writer, foreign, parent, columns, values, exists);
    /* Only one row has that key: this one. */
    if (like == LIKE_FOUND && foreign->parent_key->parts != NULL) *exists = false;
    return code;
}

/* Whether the new row is all that the statement can do: what it violates is refused at once, even if it cures as
** much. */
static bool is_single(const rst_table *table, const rootstock_value *old_values) {
    const rst_connection *c = table->connection;
    rst_schema *schema = schema_of(c);
    if (old_values != NULL || rewriter_of(c)->trigger_depth > 0 || executor_of(c)->settling > 0 || schema->sidecar)
        return false;
    return schema->program == NULL || (schema->program->table == table && schema->program->code->single_insert);
}

static int check_child(rst_connection *c, rst_table *table, const rootstock_value *old_values,
                       const rootstock_value *new_values, uint64_t changed, const uint64_t *beyond, char **message) {
    rst_executor *executor = executor_of(c);
    for (int i = 0; i < table->foreign_key_count; i++) {
        const rst_foreign_key *foreign = &table->foreign_keys[i];
        rst_table *parent = rst_table_find(c, foreign->parent);
        const int *columns;
        int code;
        bool exists = false, own = sqlite3_stricmp(foreign->parent, table->name) == 0, touched = true;
        /* Of a key into the table itself the old row was asked for while it stood (rst_foreign_before). */
        bool old_counts =
            !own && old_values != NULL && !any_null(old_values, foreign->child_columns, foreign->column_count);
        bool new_counts = new_values != NULL && !any_null(new_values, foreign->child_columns, foreign->column_count);
        if (old_values != NULL && new_values != NULL) {
            /* As SQLite: a column that is set counts as changed, whatever its value. Of a generated one its values
            ** tell. */
            touched = false;
            for (int k = 0; k < foreign->column_count; k++) {
                const int column = foreign->child_columns[k];
                touched |=
                    rst_columns_has(changed, beyond, column) ||
                    (table->columns[column].generated && !rst_value_same(&old_values[column], &new_values[column]));
            }
            if (!touched && (!own || !rst_foreign_sets_any(table, changed, beyond))) continue;
        }
        if (parent == NULL) {
            if (executor->dropping_rows && old_counts) count_violations(c, foreign, -1); /* its parent went before it */
            /* a native one: native_fk_table.c */
            if (new_values == NULL || schema_of(c)->sidecar) continue;
            rst_set_message(message, "no such table: %s.%s", executor->schema, foreign->parent);
            return SQLITE_ERROR;
        }
        code = rst_foreign_parent_columns(table, foreign, parent, &columns, message);
        if (code == SQLITE_ERROR && executor->dropping_rows) {
            rst_forget_message(message);
            continue;
        }
        if (code != SQLITE_OK) return code;
        if (old_counts && (rst_foreign_deferred(c) > 0 || store_of(c)->immediate_violations > 0)) {
            code = rst_foreign_parent_exists(c, store_of(c)->writer, foreign, parent, columns, old_values, &exists);
            if (code != SQLITE_OK) return code;
            if (!exists) count_violations(c, foreign, -1);
        }
        if (new_counts) {
            code = has_parent(table, foreign, parent, columns, new_values, own && touched, &exists);
            if (code != SQLITE_OK) return code;
            if (!exists && is_single(table, old_values) && !foreign->deferred && !rst_foreign_all_deferred(c)) {
                executor->last_mode = SQLITE_ABORT; /* whatever the statement's OR */
                rst_set_message(message, "FOREIGN KEY constraint failed");
                return SQLITE_CONSTRAINT_FOREIGNKEY;
            }
            if (!exists) count_violations(c, foreign, 1);
        }
    }
    return SQLITE_OK;
}

/* How many children refer to the key, without the new row (or null) of a table that refers to itself: that was looked
** at as a child (check_child). */
static int count_others(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *table,
                        const int *columns, const rootstock_value *key, const rootstock_value *new_values,
                        sqlite3_int64 *count, char **message) {
    likeness like;
    bool itself;
    int code = rst_foreign_child_count(c, child, foreign, table, columns, key, false, count, message);
    if (code != SQLITE_OK || *count == 0 || child != table || new_values == NULL) return code;
    code = compare_key(foreign, table, columns, new_values, key, false, &like);
    itself = like >= LIKE_FOUND;
    if (code == SQLITE_OK && like == LIKE_UNSURE)
        code = rst_foreign_is_child(c, foreign, table, columns, new_values, key, &itself, message);
    if (code == SQLITE_OK && itself) --*count;
    return code;
}

/* What a change of the parent's row leaves behind, for one key that refers to it. Every child that loses its parent is
** counted, whatever the action: what that does to the child is counted down again as any other change of it. */
static int count_orphans(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *table,
                         const int *columns, const rootstock_value *old_values, const rootstock_value *new_values,
                         char **message) {
    sqlite3_int64 count;
    int code;
    if (old_values != NULL && !any_null(old_values, columns, foreign->column_count)) {
        code = count_others(c, child, foreign, table, columns, old_values, new_values, &count, message);
        if (code != SQLITE_OK) return code;
        count_violations(c, foreign, count);
    }
    if (new_values != NULL && !any_null(new_values, columns, foreign->column_count) &&
        (rst_foreign_deferred(c) > 0 || store_of(c)->immediate_violations > 0)) {
        code = count_others(c, child, foreign, table, columns, new_values, new_values, &count, message);
        if (code != SQLITE_OK) return code;
        count_violations(c, foreign, -count);
    }
    return SQLITE_OK;
}

static int act_on(rst_connection *c, rst_table *child, const rst_foreign_key *foreign, rst_table *table,
                  const int *columns, const rootstock_value *old_values, const rootstock_value *new_values,
                  char **message) {
    rst_action action = new_values == NULL ? foreign->on_delete : foreign->on_update;
    sqlite3_int64 count;
    int code;
    if (old_values == NULL || any_null(old_values, columns, foreign->column_count)) return SQLITE_OK;
    if (action == ACTION_NONE) return SQLITE_OK;
    if (new_values != NULL) {
        /* The same key to the parent's collations: ON UPDATE does nothing. */
        bool same = true;
        for (int k = 0; k < foreign->column_count && same; k++) {
            code = same_to(table, columns[k], &old_values[columns[k]], &new_values[columns[k]], &same);
            if (code != SQLITE_OK) return code;
        }
        if (same) return SQLITE_OK;
    }
    if (action != ACTION_RESTRICT)
        return rst_foreign_act(c, child, foreign, table, columns, action, old_values, new_values, message);
    code = rst_foreign_child_count(c, child, foreign, table, columns, old_values, true, &count, message);
    if (code != SQLITE_OK || count == 0 || rst_foreign_all_deferred(c)) return code;
    rst_set_message(message, "FOREIGN KEY constraint failed");
    return SQLITE_CONSTRAINT_TRIGGER; /* as SQLite, whose actions are triggers */
}

static bool sets_child_key(const rst_table *table, const rst_foreign_key *foreign, uint64_t changed) {
    bool touched = sqlite3_stricmp(foreign->parent, table->name) == 0;
    for (int k = 0; k < foreign->column_count && !touched; k++)
        touched = rst_columns_has(changed, NULL, foreign->child_columns[k]);
    return touched;
}

/* computed: so may a generated column be, by what it is computed of. */
static bool may_set(const rst_table *table, uint64_t changed, const uint64_t *beyond, int column, bool computed) {
    return rst_columns_has(changed, beyond, column) || (computed && table->columns[column].generated);
}

static bool sets_parent_key(const rst_table *table, const rst_foreign_key *foreign, uint64_t changed,
                            const uint64_t *beyond, bool computed) {
    bool touched = false;
    for (int n = 0; n < table->column_count && !touched; n++) {
        if (!may_set(table, changed, beyond, n, computed)) continue;
        for (int k = 0; k < foreign->column_count && !touched; k++) {
            touched = foreign->parent_columns[0] == NULL
                          ? table->columns[n].primary_key > 0
                          : sqlite3_stricmp(foreign->parent_columns[k], table->columns[n].name) == 0;
        }
    }
    return touched;
}

/* Whether one of the columns is of a foreign key of the table, or to it. */
static bool sets_any(const rst_table *table, uint64_t changed, const uint64_t *beyond, bool computed) {
    for (int i = 0; i < table->foreign_key_count; i++) {
        const rst_foreign_key *foreign = &table->foreign_keys[i];
        for (int k = 0; k < foreign->column_count; k++)
            if (may_set(table, changed, beyond, foreign->child_columns[k], computed)) return true;
    }
    for (const rst_child *child = rst_table_children(table); child != NULL; child = child->next) {
        if (sets_parent_key(table, child->foreign, changed, beyond, computed)) return true;
    }
    return false;
}

bool rst_foreign_sets_any(const rst_table *table, uint64_t changed, const uint64_t *beyond) {
    return sets_any(table, changed, beyond, true);
}

uint64_t rst_foreign_child_set(const rst_foreign_key *foreign) {
    uint64_t set = 0;
    for (int k = 0; k < foreign->column_count; k++) {
        const int column = foreign->child_columns[k];
        set |= (uint64_t)1 << (column < 63 ? column : 63);
    }
    return set;
}

/* As rst_foreign_acts_on_itself; table: `first`, or what its actions have come to. */
static bool acts_on(const rst_table *first, const rst_table *table, uint64_t changed, const uint64_t *beyond,
                    int depth) {
    enum { DEEPEST = 16 };
    for (const rst_child *child = rst_table_children(table); child != NULL; child = child->next) {
        const rst_foreign_key *foreign = child->foreign;
        if (foreign->on_update == ACTION_NONE || foreign->on_update == ACTION_RESTRICT ||
            !sets_parent_key(table, foreign, changed, beyond, true))
            continue;
        if (child->table == first || rst_trigger_any(child->table, TRIGGER_UPDATE) || depth == DEEPEST) return true;
        if (acts_on(first, child->table, rst_foreign_child_set(foreign), NULL, depth + 1)) return true;
    }
    return false;
}

bool rst_foreign_acts_on_itself(const rst_table *table, uint64_t changed, const uint64_t *beyond) {
    return acts_on(table, table, changed, beyond, 0);
}

/* As SQLite: all keys that refer to the table are counted first, then acted for, the newest first in both. */
static int check_parent(rst_connection *c, rst_table *table, const rootstock_value *old_values,
                        const rootstock_value *new_values, uint64_t changed, const uint64_t *beyond, char **message) {
    for (int turn = 0; turn < 2; turn++) {
        for (const rst_child *key = rst_table_children(table); key != NULL; key = key->next) {
            const rst_foreign_key *foreign = key->foreign;
            rst_table *child = key->table;
            const int *columns;
            int code = rst_foreign_parent_columns(child, foreign, table, &columns, message);
            if (code != SQLITE_OK) {
                /* A key that fits no index is told of where it counts: not of an INSERT, nor of an UPDATE of other
                ** columns. */
                if (old_values == NULL ||
                    (new_values != NULL && !sets_parent_key(table, foreign, changed, beyond, false)) ||
                    (code == SQLITE_ERROR && executor_of(c)->dropping_rows)) {
                    rst_forget_message(message);
                    continue;
                }
                return code;
            }
            if (old_values != NULL && new_values != NULL &&
                same_at(old_values, new_values, columns, foreign->column_count)) {
                continue;
            }
            code = turn == 0 ? count_orphans(c, child, foreign, table, columns, old_values, new_values, message)
                             : act_on(c, child, foreign, table, columns, old_values, new_values, message);
            if (code != SQLITE_OK) return code;
        }
    }
    return SQLITE_OK;
}

int rst_foreign_before(rst_table *table, const rootstock_value *old_values, uint64_t changed, const uint64_t *beyond,
                       char **message) {
    rst_connection *c = table->connection;
    if (rst_foreign_deferred(c) == 0 && store_of(c)->immediate_violations == 0) return SQLITE_OK;
    if (!rst_foreign_enabled(c)) return SQLITE_OK;
    if (changed != UINT64_MAX && !rst_foreign_sets_any(table, changed, beyond)) return SQLITE_OK;
    for (int i = 0; i < table->foreign_key_count; i++) {
        const rst_foreign_key *foreign = &table->foreign_keys[i];
        const int *columns;
        int code;
        bool exists = false;
        if (sqlite3_stricmp(foreign->parent, table->name) != 0) continue;
        if (any_null(old_values, foreign->child_columns, foreign->column_count)) continue;
        code = rst_foreign_parent_columns(table, foreign, table, &columns, message);
        if (code == SQLITE_ERROR) { /* a key that fits no index: told of where it counts (check_child) */
            rst_forget_message(message);
            continue;
        }
        if (code == SQLITE_OK)
            code = rst_foreign_parent_exists(c, store_of(c)->writer, foreign, table, columns, old_values, &exists);
        if (code != SQLITE_OK) return code;
        if (!exists) count_violations(c, foreign, -1);
    }
    return SQLITE_OK;
}

int rst_foreign_after(rst_table *table, const rootstock_value *old_values, const rootstock_value *new_values,
                      uint64_t changed, const uint64_t *beyond, char **message) {
    rst_connection *c = table->connection;
    int code;
    if (!rst_foreign_enabled(c)) return SQLITE_OK;
    code = check_child(c, table, old_values, new_values, changed, beyond, message);
    if (code == SQLITE_OK && table->is_parent)
        code = check_parent(c, table, old_values, new_values, changed, beyond, message);
    return code;
}

/* Faults of the schema that SQLite finds when it compiles a statement on the table. */
int rst_foreign_check_schema(rst_table *table, uint64_t changed, bool deferred_only, char **message) {
    rst_connection *c = table->connection;
    const int *columns;
    bool all = changed == UINT64_MAX;
    if (!all && !sets_any(table, changed, NULL, false)) return SQLITE_OK;
    for (int i = 0; i < table->foreign_key_count; i++) {
        const rst_foreign_key *foreign = &table->foreign_keys[i];
        rst_table *parent = rst_table_find(c, foreign->parent);
        int code;
        if (!all && !sets_child_key(table, foreign, changed)) continue;
        if (parent == NULL) {
            if (rst_catalog_find(&schema_of(c)->loaded, "view", foreign->parent) != NULL)
                rst_set_message(message, "foreign key mismatch - \"%w\" referencing \"%w\"", table->name,
                                foreign->parent);
            else
                rst_set_message(message, "no such table: main.%s", foreign->parent);
            return SQLITE_ERROR;
        }
        code = rst_foreign_parent_columns(table, foreign, parent, &columns, message);
        if (code != SQLITE_OK) return code;
    }
    /* The newest is looked at first. An UPDATE that has to look at one foreign key, of the table or to it, looks up the
    ** parent key of every one that refers to the table. */
    for (const rst_child *child = rst_table_children(table); child != NULL; child = child->next) {
        int code;
        if (all && deferred_only && !child->foreign->deferred && !rst_foreign_all_deferred(c)) continue;
        code = rst_foreign_parent_columns(child->table, child->foreign, table, &columns, message);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}
