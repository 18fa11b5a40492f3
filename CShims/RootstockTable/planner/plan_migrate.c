/*
** plan_migrate.c - statements that are under way when the schema changes go on with the plans that they have.
**
** A plan is of one epoch of the schema. A statement that brings one of an earlier epoch gets SQLITE_SCHEMA, so that
** SQLite prepares it anew and begins it from the start, even if it has given rows already. The second part of a UNION
** ALL may open its table after a function of the statement has created something. Then the rows before would come
** again, and the function would run again. SQLite's own tables go on. So do a store's: if the table is still the one
** that was planned for, its plans are copied to its new description under their old numbers.
**
** Invariant: a copied plan is given only while a statement runs that ran when the schema changed; others are prepared
** anew.
*/
#include "planner/planner.h"
#include "planner/plan_migrate.h"

#include <string.h>

/* Where the index of the old description stands in the new one, or -1: it is gone. */
static int place_of_index(const rst_table *old, int number, const rst_table *fresh) {
    for (int i = 0; i < fresh->index_count; i++) {
        if (old->indexes[number].identifier == fresh->indexes[i].identifier &&
            strcmp(old->indexes[number].name, fresh->indexes[i].name) == 0)
            return i;
    }
    return -1;
}

void rst_plans_note_running(rst_connection *c) {
    rst_planner *planner = planner_of(c);
    planner->running_count = 0;
    for (sqlite3_stmt *s = sqlite3_next_stmt(c->db, NULL); s != NULL; s = sqlite3_next_stmt(c->db, s)) {
        if (!sqlite3_stmt_busy(s)) continue;
        if (planner->running_count == RUNNING_STATEMENTS) return;
        planner->running[planner->running_count++] = s;
    }
    /* The one that changes the schema, or finds it changed, is no matter. */
    if (planner->running_count < 2) planner->running_count = 0;
}

int rst_plans_carry(const rst_table *old, rst_table *fresh) {
    int room = (old->plan_count + 15) / 16 * 16;
    if (planner_of(old->connection)->running_count == 0 || old->plan_count == 0 || fresh->plan_count > 0 ||
        fresh->shown_count != old->shown_count)
        return SQLITE_OK;
    fresh->plans = sqlite3_malloc64((sqlite3_uint64)room * sizeof *fresh->plans);
    if (fresh->plans == NULL) return SQLITE_NOMEM;
    for (int i = 0; i < old->plan_count; i++) {
        rst_plan *copy = sqlite3_malloc64(sizeof *copy);
        if (copy == NULL) return SQLITE_NOMEM;
        *copy = *old->plans[i];
        copy->state = NULL;
        if (copy->source == PLAN_INDEX &&
            copy->index >= 0) { /* one whose index an earlier change took stays nobody's */
            copy->index = place_of_index(old, copy->index, fresh);
            if (copy->index < 0) copy->epoch = 0; /* nobody's */
        }
        copy->description = sqlite3_mprintf("%s", old->plans[i]->description);
        copy->scan = old->plans[i]->scan == NULL ? NULL : sqlite3_mprintf("%s", old->plans[i]->scan);
        fresh->plans[fresh->plan_count++] = copy;
        if (copy->description == NULL || (copy->scan == NULL && old->plans[i]->scan != NULL)) return SQLITE_NOMEM;
    }
    return SQLITE_OK;
}

const rst_plan *rst_plan_carried(rst_connection *c, const rst_table *table, int number) {
    rst_planner *planner = planner_of(c);
    int place = number & PLAN_NUMBERS;
    if (number < 0 || place >= table->plan_count || planner->running_count == 0 || table->plans[place]->epoch == 0 ||
        number >> PLAN_NUMBER_BITS != (int)(table->plans[place]->epoch & PLAN_EPOCHS))
        return NULL;
    for (sqlite3_stmt *s = sqlite3_next_stmt(c->db, NULL); s != NULL; s = sqlite3_next_stmt(c->db, s)) {
        if (!sqlite3_stmt_busy(s)) continue;
        for (int i = 0; i < planner->running_count; i++) {
            if (planner->running[i] == s) return table->plans[place];
        }
    }
    return NULL;
}
