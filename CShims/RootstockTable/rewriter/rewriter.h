/*
** rewriter.h - the tree of a statement in, text out: what SQLite refuses on virtual tables.
**
** Circle: result_names.c transform.c
**   (names of result columns are asked for in the middle of a rewrite).
** Circle: key_order.c transform_insert.c trigger_text.c trigger_update.c
**   (an INSERT in a trigger's body is rewritten as any other).
*/
#ifndef ROOTSTOCK_REWRITER_REWRITER_H
#define ROOTSTOCK_REWRITER_REWRITER_H

#include "catalog/catalog.h"
#include "rewriter/rewriter_part.h"

#endif
