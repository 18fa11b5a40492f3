/*
** pages_probe.h - the LMDB engine's reading of pages beside LMDB's own cursors, for its tests.
*/
#ifndef ROOTSTOCK_PAGES_PROBE_H
#define ROOTSTOCK_PAGES_PROBE_H

#include "rootstock_engine.h"

/* Scans the tree both ways, then makes so many random moves, seeks and gets, all with the plug and with LMDB's own
** functions in the same snapshot: the same entries, at the same addresses. *transaction*: a live read transaction of
** engine lmdb. Null if all agreed; else a static text that says what did not. */
const char *pages_probe_compare(rootstock_transaction *transaction, rootstock_tree tree, uint64_t seed, int steps);
/* Is the transaction's snapshot read from the pages? */
int pages_probe_walks(rootstock_transaction *transaction);

#endif
