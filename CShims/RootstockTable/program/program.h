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

#endif
