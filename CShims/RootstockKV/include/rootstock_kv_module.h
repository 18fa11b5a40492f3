/*
** rootstock_kv_module.h - module kv, tables over other programs' LMDB files (what it is and does: rootstock.h). And
** which files the schema of a native database may make a connection open.
*/
#ifndef ROOTSTOCK_KV_MODULE_H
#define ROOTSTOCK_KV_MODULE_H

#include "common/common.h"

/* Registers the module on the connection. SQLITE_OK or SQLITE_NOMEM. */
int rst_kv_register(rst_connection *c);

/* ---- path_allowlist.c ---- */
/* A native file's schema names a sidecar by having a table of ours. The sidecar must be there already unless a table is
** being created, and be a file of its own rather than a link to another. SQLITE_OK or SQLITE_CANTOPEN. */
int rst_sidecar_check(const char *path, bool create, char **message);

/* Paths in a native file's schema (module kv) are opened if the application has created a table with that path on this
** connection, or has named it: SELECT rootstock_allow('path'). */
int rst_path_allow(rst_connection *c, const char *path);
bool rst_path_allowed(const rst_connection *c, const char *path);
void rst_paths_free(rst_connection *c);
void rst_allow_function(sqlite3_context *context, int count, sqlite3_value **values);

#endif
