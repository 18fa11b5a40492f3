/*
** rootstock_interpose.h - stores behind SQLite's own functions, in an executable that links this library (Linux).
**
** Nothing has to be called: a database goes to a store if it is one, or if its URI (`file:app.db?engine=lmdb`) or
** ROOTSTOCK_ENGINE says so. The article "Drop-in" has the rest. A program that calls nothing of SQLite itself may need
** a reference, for the linker to keep the library.
*/
#ifndef ROOTSTOCK_INTERPOSE_LINKED_H
#define ROOTSTOCK_INTERPOSE_LINKED_H

/* Makes new databases of this process stores on the engine; null or "" leaves them native. Before the first one is
** opened, in one thread. */
void rootstock_interpose(const char *engine);

#endif
