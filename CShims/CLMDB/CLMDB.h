/*
** CLMDB.h - the system's LMDB library as a module. Nothing is added here: version and quirks of what is found are in
** Vendor-notes/lmdb.md.
*/
#include <lmdb.h>
