/*
** bounds.c - does what LMDB points to lie where a page keeps it?
**
** LMDB believes its pages. A changed byte in an entry's header makes it hand out a value of gigabytes, whose reading
** ends the process at the end of the map.
**   - Keys and short values lie inside their page. The hot path sees that by their address alone.
**   - A value that seems to leave its page must be an overflow run's. It starts behind a page's header, which says that
**     it is one and of how many pages.
**   - In write transactions without a write map, changed pages are copies in the heap, of which an address tells
**     nothing. There a value longer than LMDB keeps inside a page (somewhat less than half of one) must follow an
**     overflow run's header. The run fits into the file or, if the transaction appended it, into the map. Shorter
**     values are believed, and can be read past their page by half a page.
**
** Invariant: a slice that passes can be read to its end without leaving the pages of the file's last commit, or, under
** a write map, those reserved for the transaction.
*/
#include <stdint.h>
#include <string.h>

#include "plain/engine.h"

#define OVERFLOW_PAGE_FLAG 0x04u
#define DIRTY_PAGE_FLAG 0x10u /* of a page that the transaction allocated; never in the file */
#define PAGE_HEADER 16        /* number (8), padding (2), flags (2), pages of the run (4) */

int rootstock_lmdb_check_run(const rootstock_transaction *transaction, const MDB_val *value) {
    const rootstock_environment *environment = transaction->environment;
    const unsigned char *data = value->mv_data, *page;
    uint64_t number, end, page_bytes = (uint64_t)environment->page_mask + 1;
    uint32_t pages;
    uint16_t flags;
    MDB_envinfo info;
    if (value->mv_size > MAXIMUM_VALUE_SIZE) return MDB_CORRUPTED;
    if (environment->page_mask > SIZE_MAX >> 2) return MDB_SUCCESS;
    if (!lmdb_has_copies(transaction) && ((uintptr_t)data & environment->page_mask) != PAGE_HEADER)
        return MDB_CORRUPTED;
    page = data - PAGE_HEADER;
    memcpy(&number, page, sizeof number);
    memcpy(&flags, page + 10, sizeof flags);
    memcpy(&pages, page + 12, sizeof pages);
    if (!(flags & OVERFLOW_PAGE_FLAG) || pages == 0 || value->mv_size > pages * page_bytes - PAGE_HEADER)
        return MDB_CORRUPTED;
    if (mdb_env_info(environment->env, &info) != MDB_SUCCESS) return MDB_CORRUPTED;
    end = (uint64_t)info.me_last_pgno + 1;
    /* A run that this transaction appended, or put together from a free page and those that it appended and freed
    ** again. */
    if (transaction->write && (number >= end || flags & DIRTY_PAGE_FLAG))
        end = environment->mapped ? environment->reserved / page_bytes : info.me_mapsize / page_bytes;
    return number < end && pages <= end - number ? MDB_SUCCESS : MDB_CORRUPTED;
}
