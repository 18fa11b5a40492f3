/*
** triggers.h - a table's triggers, as they were loaded.
*/
#ifndef ROOTSTOCK_CATALOG_TRIGGERS_H
#define ROOTSTOCK_CATALOG_TRIGGERS_H

#include "catalog/catalog.h"

enum { TRIGGER_INSERT = 1, TRIGGER_UPDATE = 2, TRIGGER_DELETE = 3 };

/* What a trigger asks of the row: the columns of its view, in order. */
typedef struct rst_trigger_value {
    int column; /* -1: the rowid */
    bool old;
} rst_trigger_value;
typedef struct rst_trigger_values {
    rst_trigger_value *all;
    int count;
} rst_trigger_values;

struct rst_trigger {
    struct rst_trigger *next;
    char *name;
    bool before;
    bool temporary;
    int event;
    bool listed;      /* UPDATE OF: */
    uint64_t columns; /* these (column_sets.h), */
    int rowid_names;  /* and these names of the rowid: rst_rowid_names_in */
    uint64_t *beyond;
    char *fire_sql;            /* statement on the view whose INSTEAD OF trigger has the body */
    rst_trigger_values values; /* its parameters */
    char *fire_or[4];          /* the same OR ABORT, IGNORE, REPLACE, FAIL; null until one is fired so */
    char *text;                /* WHEN and body as the catalog has them; null: they are the application's own */
    bool judged;               /* they were, since the schema changed last (schema_sandbox.h) */
    int references;            /* its table's, and trigger_list.h's */
    int firing;                /* 1 + executor->asides of the statement that fires it at the moment; 0: none does */
};

/* Whether the table has a trigger for the event. */
bool rst_trigger_any(const rst_table *table, int event);
/* Gives one reference back. */
void rst_trigger_free(rst_trigger *trigger);
void rst_triggers_free(rst_table *table);
/* Whether somebody outside wants to see each row before it changes. */
static inline bool rst_is_foretold(const rst_table *table) {
    return __builtin_expect(store_of(table->connection)->observer.change != NULL, false) && !table->internal;
}
/* Whether somebody outside wants to hear of each row. */
static inline bool rst_is_observed(const rst_table *table) {
    return (__builtin_expect(store_of(table->connection)->observer.changed != NULL, false) && !table->internal) ||
           rst_is_foretold(table);
}

static inline void rst_observe(const rst_table *table, int operation, int64_t rowid, int64_t before) {
    rst_connection *c = table->connection;
    if (rst_is_observed(table) && store_of(c)->observer.changed != NULL && (!table->without_rowid || operation == 0))
        store_of(c)->observer.changed(store_of(c)->observer.context, operation, table->name, rowid, before);
}

/* Whether nothing asks for the single rows of a DELETE of all of them. The front door has asked that of the statement;
** one that was kept since is asked again. */
static inline bool rst_clears_at_once(const rst_table *table) {
    return !rst_trigger_any(table, TRIGGER_DELETE) &&
           !(rst_is_observed(table) && store_of(table->connection)->observer.each_cleared) && !rst_is_foretold(table) &&
           ((table->foreign_key_count == 0 && !table->is_parent) || !rst_foreign_enabled(table->connection));
}

#endif
