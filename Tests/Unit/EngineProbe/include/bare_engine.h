/*
** bare_engine.h - the plain LMDB engine with no layer above it, for the contract's tests.
*/
#ifndef ROOTSTOCK_BARE_ENGINE_H
#define ROOTSTOCK_BARE_ENGINE_H

#include "rootstock_engine.h"

/* Registers "lmdb:bare": plain/'s functions and no hooks. A rootstock_code. */
int bare_engine_register(void);

#endif
