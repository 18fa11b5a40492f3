/* harness.h - the parts of the harness, and what they share. */
#ifndef HARNESS_H
#define HARNESS_H

#include "interpose.h"
#include "session.h"

typedef struct settings {
    const char *folder;  /* an empty directory of ours, resolved */
    double seconds;      /* how long to take at most */
    uint64_t seed;       /* of what is chosen by chance */
    const char *options; /* of the store: JSON */
} settings;

/* Each prints one line of figures and returns 0, or ends the program with status 1 and a line beginning WRONG. */
int run_allocations(const settings *how, const expectation *expected);
int run_calls(const settings *how, const expectation *expected);
int run_kills(const settings *how, const expectation *expected);
int run_chances(const settings *how, const expectation *expected);
int run_power(const settings *how, const expectation *expected, const char *durability);
int run_disk(const settings *how, const expectation *expected);
int run_group(const settings *how);
int run_later(const settings *how);
int run_seals(const settings *how);
int run_processes(const settings *how);

/* A store at path with the setup and the first count units run. */
void make_store(const char *path, const char *options, int count);
uint64_t random_number(uint64_t *state);
/* When flushes fail, if they do, beside a transaction that has LMDB write pages: before it may, all of them or the
** first; once it may. */
typedef enum spill_fault {
    SPILL_AT_ONCE,
    SPILL_FAILS_BEFORE,
    SPILL_FAILS_ONCE_BEFORE,
    SPILL_FAILS_BEHIND,
    SPILL_FAULTS
} spill_fault;
/* Such a transaction of the store at path, which this process has open; it is aborted. False where it was refused since
** all flushes failed before. Ends the program where it fails otherwise. */
bool spill_pages(const char *path, spill_fault fault, uint64_t *seed);

/* Shared by processes: a writer was killed, or none will be; the watcher has its snapshot; nobody writes any more. */
typedef struct watching {
    int killed, looked, over;
} watching;
/* Has the store of the connection open meanwhile (tables of run_processes.c). Ends the program where what it saw is
** gone. */
void watch(sqlite3 *db, watching *state);

#endif
