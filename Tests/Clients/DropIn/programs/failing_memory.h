/* SQLite's n-th allocation fails: for programs that try each n until there is none. */
#include <sqlite3.h>
#include <stddef.h>

static sqlite3_mem_methods real_memory;
static long allocations_left = -1; /* until the one that fails; negative: none does */

static int allocation_fails(void) {
    return allocations_left >= 0 && allocations_left-- == 0;
}

static int (*fails)(void) = allocation_fails; /* asked before each */

static void *failing_malloc(int size) {
    return fails() ? NULL : real_memory.xMalloc(size);
}

static void *failing_realloc(void *bytes, int size) {
    return fails() ? NULL : real_memory.xRealloc(bytes, size);
}

/* Before anything else of SQLite. */
static void memory_may_fail(void) {
    sqlite3_mem_methods methods;
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
    methods = real_memory;
    methods.xMalloc = failing_malloc;
    methods.xRealloc = failing_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}
