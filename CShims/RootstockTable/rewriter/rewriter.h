/*
** rewriter.h - the tree of a statement in, text out: what SQLite refuses on virtual tables.
*/
#ifndef ROOTSTOCK_REWRITER_REWRITER_H
#define ROOTSTOCK_REWRITER_REWRITER_H

#include "catalog/catalog.h"
#include "rewriter/rewriter_part.h"

#endif
