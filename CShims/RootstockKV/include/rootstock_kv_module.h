/*
** rootstock_kv_module.h - module kv: tables over other programs' LMDB files. What it is and does: rootstock.h.
*/
#ifndef ROOTSTOCK_KV_MODULE_H
#define ROOTSTOCK_KV_MODULE_H

struct rst_connection;

/* Registers the module on the connection. SQLITE_OK or SQLITE_NOMEM. */
int rst_kv_register(struct rst_connection *c);

#endif
