/* page_audit.h - all pages of an lmdb store's last commit against what LMDB's pages must be. */
#ifndef ROOTSTOCK_PAGE_AUDIT_H
#define ROOTSTOCK_PAGE_AUDIT_H

#include "rootstock_engine.h"

/* The trees are named "t0", "t1" and so on, and are all that the store has. Each page belongs to one of them, or to
** LMDB's own two, or is free, and is used once; the counts of each tree are those of its pages. 0; or 1 and in message,
** which has room for LEAVES_PROBE_MESSAGE bytes, what was wrong and where. */
int page_audit(rootstock_environment *environment, const rootstock_tree *trees, int count, char *message);

#endif
