/*
** leaves_probe.h - random changes of engine lmdb's trees held against a list in memory, and its pages against what
** LMDB's pages must be.
*/
#ifndef ROOTSTOCK_LEAVES_PROBE_H
#define ROOTSTOCK_LEAVES_PROBE_H

#include "rootstock_engine.h"

#define LEAVES_PROBE_MESSAGE 200

/* Makes so many write transactions on the store at path (a new one), of random puts, overwrites, appends, removes, gets
** and cursor moves in several trees, most of them near each other. Every get and move, and after every commit each
** tree, is compared with the list; after commits all pages of the file are gone through, and each tree by LMDB's own
** functions. The store is opened anew now and then with these options. 0; or 1 and in message, which has room for
** LEAVES_PROBE_MESSAGE bytes, what was wrong and where. */
int leaves_probe_run(const char *path, const rootstock_options *options, uint64_t seed, int transactions,
                     char *message);

#endif
