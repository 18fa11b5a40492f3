/*
** sqlite_tests.c - the part of SQLite's testfixture that its sources leave to a build of SQLite for tests.
**
** Linked with src/test*.c into a module for tclsh, whose SQLite is the system's libsqlite3. The counters below stay
** 0: what they count is built into SQLite with SQLITE_TEST alone. A test that asks them fails natively, too, and is
** left out.
*/
#include <stddef.h>

typedef struct Tcl_Interp Tcl_Interp;

int sqlite3TestInit(Tcl_Interp *interp);

int Fixture_Init(Tcl_Interp *interp) {
    return sqlite3TestInit(interp);
}

/* `package require sqlite3` has made the command. */
int Sqlite3_Init(Tcl_Interp *interp) {
    (void)interp;
    return 1;
}

int sqlite3PagerPagenumber(void *page) {
    (void)page;
    return 0;
}

int *sqlite3PagerStats(void *pager) {
    static int stats[16];
    (void)pager;
    return stats;
}

void sqlite3PcacheStats(int *current, int *most, int *least, int *recyclable) {
    *current = *most = *least = *recyclable = 0;
}

void sqlite3UtfSelfTest(void) {}

void *sqlite3SharedCacheList;

int sqlite3_current_time, sqlite3_diskfull, sqlite3_diskfull_pending, sqlite3_found_count;
int sqlite3_fts3_enable_parentheses, sqlite3_fullsync_count, sqlite3_interrupt_count, sqlite3_io_error_hardhit;
int sqlite3_io_error_hit, sqlite3_io_error_pending, sqlite3_io_error_persist, sqlite3_like_count;
int sqlite3_max_blobsize, sqlite3_memdebug_vfs_oom_test, sqlite3_open_file_count, sqlite3_opentemp_count;
int sqlite3_pager_readdb_count, sqlite3_pager_writedb_count, sqlite3_pager_writej_count, sqlite3_search_count;
int sqlite3_sort_count, sqlite3_sync_count, sqlite3_xferopt_count;
int test_fts3_node_chunk_threshold, test_fts3_node_chunksize;
