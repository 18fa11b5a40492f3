/*
** layout_check.h - is the liblmdb of this process one whose structs write/ knows?
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_LAYOUT_CHECK_H
#define ROOTSTOCK_ENGINE_LMDB_LAYOUT_CHECK_H

/* Null if it is; else what was not as expected, a static text. *certain: it will be the same another time. Takes about
** a millisecond. */
const char *rootstock_lmdb_layout_fault(int *certain);

#endif
