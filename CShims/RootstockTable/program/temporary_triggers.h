/*
** temporary_triggers.h - temp triggers on store tables (ddl/temporary.c keeps their texts).
*/
#ifndef ROOTSTOCK_PROGRAM_TEMPORARY_TRIGGERS_H
#define ROOTSTOCK_PROGRAM_TEMPORARY_TRIGGERS_H

#include "catalog/catalog.h"

/* A number that changes when temp's objects do; 0 while there was no temp trigger on a table of the store. */
int64_t rst_temporary_version(rst_connection *c);
/* The triggers have been made: what temp hides of the store's tables is noted, for the bodies of temp triggers went by
** that. */
void rst_temporary_hidden_note(rst_connection *c);
/* Whether it hides others by now, so that they must be made anew. */
bool rst_temporary_hidden_changed(rst_connection *c);
/* Puts them on the schema database, where they must not be while rows are judged; and takes away all that are there. */
int rst_temporary_triggers_lend(rst_connection *c);
int rst_temporary_triggers_end(rst_connection *c);

#endif
