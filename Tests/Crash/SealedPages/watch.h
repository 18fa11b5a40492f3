/*
** watch.h - what watch.c tells of the pages that liblmdb writes.
*/
#ifndef ROOTSTOCK_SEALED_PAGES_WATCH_H
#define ROOTSTOCK_SEALED_PAGES_WATCH_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_WATCHED = 1 << 16 };

/* From now on the thread's writes to the descriptor are noted. */
void watch_pages(int descriptor, size_t page_bytes);
/* How many pages were written since, and which; the end of it. */
size_t pages_watched(const uint64_t **pages);

#endif
