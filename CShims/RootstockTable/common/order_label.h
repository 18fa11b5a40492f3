/*
** order_label.h - labels for what has an order that only comparisons tell.
**
** A label is a byte string without NULs. Between any two there is room for another, however often one is put there: it
** gets longer then. In the literature this is order maintenance.
**
** Read as digits of a fraction (byte 1 is 0, byte 255 is 254) labels have the order of their bytes; so none ends with
** the digit 0. Pure functions.
*/
#ifndef ROOTSTOCK_ORDER_LABEL_H
#define ROOTSTOCK_ORDER_LABEL_H

#include "common/values.h"

/* Where between two others: as short as can be, for a search; in the middle; or near to one of them. Labels that are
** asked for in order stay short where each stands near to the one before. */
typedef enum rootstock_label_place { LABEL_SHORT, LABEL_MIDDLE, LABEL_NEAR_LOW, LABEL_NEAR_HIGH } rootstock_label_place;

/* A label between two others, which must rise; null: none on that side. SQLITE_OK, SQLITE_NOMEM, or SQLITE_CORRUPT if
** they do not rise. */
int rootstock_label_between(const rootstock_buffer *low, const rootstock_buffer *high, rootstock_label_place place,
                            rootstock_buffer *label);

#endif
