/*
** run_chances.c - the process is killed at each system call on the store's files with probability 1/N, again and again
** on one store.
**
** run_kills.c kills once, at every call, in a store that was closed well. Here a child goes through the script with an
** N of 2 to 64, all calls or those of one kind, and is killed before, halfway through or right after one of them; the
** next child opens what was left, lock file included, looks whether it is the content of before the unit or of after
** it, checks it now and then, and goes on from there, and any of that may be where it is killed in turn. What a child
** saw succeed is never lost.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct progress {
    volatile int done;   /* units that are known to be in the store */
    volatile long whole; /* units that were, though nobody saw them succeed */
} progress;

/* Never comes back. */
static void go_on(const char *path, const settings *how, const expectation *expected, progress *known, uint64_t seed) {
    static const io_fault moments[] = {IO_KILL_BEFORE, IO_KILL_HALF, IO_KILL_AFTER};
    uint64_t content, chance = UINT64_C(2) << random_number(&seed) % 6;
    unsigned kinds = random_number(&seed) % 4 == 0 ? 1u << random_number(&seed) % IO_CALLS : (1u << IO_CALLS) - 1;
    long nth = 1;
    sqlite3 *db;
    while (random_number(&seed) % chance != 0) nth++;
    io_arm(moments[random_number(&seed) % 3], kinds, nth, false, 0);
    if (session_open(path, how->options, &db) != SQLITE_OK) wrong("unit %d: %s", known->done, session_message());
    if (session_content(db, &content) != SQLITE_OK) wrong("unit %d: %s", known->done, session_message());
    if (content != expected->content[known->done]) {
        if (known->done == script_count || content != expected->content[known->done + 1])
            wrong("unit %d: content %d after a kill", known->done, content_number(expected, content));
        known->done++;
        known->whole++;
    }
    if (random_number(&seed) % 4 == 0 && session_check(db) != SQLITE_OK)
        wrong("unit %d, after a kill: %s", known->done, session_message());
    while (known->done < script_count) {
        int unit = known->done, code = session_unit(db, unit, NULL);
        if ((code != SQLITE_OK) != script[unit].fails) wrong("unit %d: %d %s", unit, code, session_message());
        known->done = unit + 1;
    }
    if (session_content(db, &content) != SQLITE_OK || content != expected->content[script_count])
        wrong("content %d at the end", content_number(expected, content));
    session_close(db);
    _exit(0);
}

int run_chances(const settings *how, const expectation *expected) {
    char path[4096];
    uint64_t seed = how->seed;
    double start = seconds_now();
    long kills = 0, rounds = 0, in_a_row = 0, longest = 0;
    int before = 0;
    progress *known = mmap(NULL, sizeof *known, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (known == MAP_FAILED) wrong("no shared memory");
    snprintf(path, sizeof path, "%s/store", how->folder);
    known->whole = 0;
    for (bool fresh = true; seconds_now() < start + how->seconds || !fresh;) {
        int status;
        if (fresh) {
            make_store(path, how->options, 0);
            known->done = before = 0;
            rounds++;
        }
        uint64_t chances = random_number(&seed);
        pid_t child = fork();
        if (child < 0) wrong("no fork");
        if (child == 0) go_on(path, how, expected, known, chances);
        if (waitpid(child, &status, 0) != child) wrong("no child");
        fresh = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (!fresh && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
            wrong("round %ld, unit %d: the child ended with %d", rounds, known->done, status);
        kills += !fresh;
        in_a_row = fresh || known->done != before ? 0 : in_a_row + 1;
        if (in_a_row > longest) longest = in_a_row;
        before = known->done;
    }
    printf("chances: %s: %ld killed, up to %ld in a row before a unit was done, %ld units done that nobody saw "
           "succeed, %ld rounds of %d units, "
           "%.0f s\n",
           how->options, kills, longest, known->whole, rounds, script_count, seconds_now() - start);
    munmap(known, sizeof *known);
    return 0;
}
