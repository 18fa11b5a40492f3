/*
** ddl.h - changes of the schema: CREATE, DROP, ALTER, VACUUM, ANALYZE, objects of temp.
**
** Circle: create_as.c ddl.c declare.c declare_at_once.c load.c maintain.c refresh.c schema_change.c temporary.c
**   (a change of the schema declares, and a declaration may have to change the schema).
*/
#ifndef ROOTSTOCK_DDL_DDL_H
#define ROOTSTOCK_DDL_DDL_H

#include "program/program.h"
#include "ddl/ddl_part.h"

int rst_maintain_register(rst_connection *c);
int rst_vacuum_register(rst_connection *c);
/* vacuum.c: a copy of the store, as of now, into a new file at path. */
int rst_store_copy(rst_connection *c, const char *path, char **message);

#endif
