/*
** engine_lmdb_slices.c - does what LMDB points to lie where a page keeps it?
**
** LMDB believes its pages: a changed byte in an entry's header makes it hand out a value of gigabytes, whose reading ends the process
** at the end of the map. Keys and short values lie inside their page, which the hot path sees by their address alone; a value that
** seems to leave its page must be an overflow run's: it starts behind a page's header, which says that it is one and of how many
** pages. Invariant: a slice that passes can be read to its end without leaving the pages of the file's last commit.
** In write transactions changed pages are copies in the heap, of which an address tells nothing; there a value as long as a page must
** follow an overflow run's header, and shorter ones are believed.
*/
#include <stdint.h>
#include <string.h>

#include "engine_lmdb.h"

#define OVERFLOW_PAGE_FLAG 0x04u
#define PAGE_HEADER 16 /* number (8), padding (2), flags (2), pages of the run (4) */

int rootstock_lmdb_check_run(rootstock_environment *environment, const MDB_val *value, int write) {
    const unsigned char *data = value->mv_data, *page;
    uint64_t number;
    uint32_t pages;
    uint16_t flags;
    MDB_envinfo info;
    if (environment->page_mask > SIZE_MAX >> 2) return MDB_SUCCESS;
    if (write && value->mv_size <= environment->page_mask) return MDB_SUCCESS;
    if (!write && ((uintptr_t)data & environment->page_mask) != PAGE_HEADER) return MDB_CORRUPTED;
    page = data - PAGE_HEADER;
    memcpy(&number, page, sizeof number);
    memcpy(&flags, page + 10, sizeof flags);
    memcpy(&pages, page + 12, sizeof pages);
    if (!(flags & OVERFLOW_PAGE_FLAG) || value->mv_size > pages * (environment->page_mask + 1) - PAGE_HEADER)
        return MDB_CORRUPTED;
    if (write) return MDB_SUCCESS;
    if (mdb_env_info(environment->env, &info) != MDB_SUCCESS) return MDB_CORRUPTED;
    return number <= info.me_last_pgno && pages <= info.me_last_pgno + 1 - number ? MDB_SUCCESS : MDB_CORRUPTED;
}
