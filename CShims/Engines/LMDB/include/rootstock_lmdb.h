/*
** rootstock_lmdb.h - the engine "lmdb": a store in one file of the system's liblmdb.
*/
#ifndef ROOTSTOCK_LMDB_H
#define ROOTSTOCK_LMDB_H

#include "rootstock_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const rootstock_engine rootstock_engine_lmdb;

/* Registers it and its forms (forms.c). */
int rootstock_lmdb_register(void);

#ifdef __cplusplus
}
#endif
#endif
