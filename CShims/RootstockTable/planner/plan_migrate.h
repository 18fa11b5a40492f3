/*
** plan_migrate.h - plans across a change of the schema: see plan_migrate.c.
*/
#ifndef ROOTSTOCK_PLAN_CARRY_H
#define ROOTSTOCK_PLAN_CARRY_H

#include "planner/planner.h"

/* Before a schema's tables are replaced: which statements are under way. */
void rst_plans_note_running(rst_connection *c);
/* Gives the new description of an unchanged table its plans, if any statement is under way. SQLITE_OK or
** SQLITE_NOMEM. */
int rst_plans_carry(const rst_table *old, rst_table *fresh);
/* The plan of an earlier epoch that idxNum names, for a statement that has been under way since; or null. */
const rst_plan *rst_plan_carried(rst_connection *c, const rst_table *table, int number);

#endif
