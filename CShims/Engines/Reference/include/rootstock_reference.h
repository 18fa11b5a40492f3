/*
** rootstock_reference.h - the reference engine: the file an engine author copies.
*/
#ifndef ROOTSTOCK_REFERENCE_H
#define ROOTSTOCK_REFERENCE_H

#include "rootstock_engine.h"

/* Stores in LMDB files of its own layout, by liblmdb's public calls alone. */
const rootstock_engine *rootstock_reference(void);

#endif
