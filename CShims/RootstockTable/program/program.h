/*
** program.h - statements that the front door runs itself: UPSERT, RETURNING, triggers, changes of many rows.
**
** Circle: returning.c runner.c
**   (a program returns rows while it runs).
*/
#ifndef ROOTSTOCK_PROGRAM_PROGRAM_H
#define ROOTSTOCK_PROGRAM_PROGRAM_H

#include "executor/executor.h"
#include "program/program_part.h"

void rst_programs_free(rst_connection *c);
int rst_runner_register(rst_connection *c);

/* Runs the SAVEPOINT, as a statement that is kept or not. Within a statement that writes (a module's own work, a
** function of the program's) SQLite takes no savepoint: then it sets a mark. *savepoint: it did the former. */
int rst_savepoint_or_mark(rst_connection *c, const char *sql, bool kept, bool *savepoint, rst_mark *mark,
                          char **message);

#endif
