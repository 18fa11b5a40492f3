/*
** run_kills.c - the process is killed at the nth system call on the store's files: instead of it, in the middle of its
** bytes, or right after it; for every n and every unit.
**
** Each time a child opens a copy of the store, is killed, and the store is opened again: it has the content of before
** the unit or of after it, that of after it if the child saw the unit succeed, and it passes the check. The unit is the
** first that the child runs, or one behind others, which class normal has not flushed then. A kill loses nothing that
** was acknowledged whatever the durability: what the process wrote stays with the system.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMMITS_BEFORE = 3 };
static const io_fault moments[] = {IO_KILL_BEFORE, IO_KILL_HALF, IO_KILL_AFTER};

int run_kills(const settings *how, const expectation *expected) {
    char path[4096], copy[4096];
    snprintf(path, sizeof path, "%s/store", how->folder);
    snprintf(copy, sizeof copy, "%s/copy", how->folder);
    unsigned all = (1u << IO_CALLS) - 1;
    uint64_t seed = how->seed;
    double start = seconds_now();
    long kills = 0, whole = 0, left_out = 0;
    volatile int *acknowledged =
        mmap(NULL, sizeof *acknowledged, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (acknowledged == MAP_FAILED) wrong("no shared memory");
    for (int i = 0; i < script_count; i++) {
        double end = start + how->seconds * (i + 1) / script_count;
        for (int variant = 0; variant < 6; variant++) {
            int moment = variant % 3, first = variant < 3 ? i : i < COMMITS_BEFORE ? 0 : i - COMMITS_BEFORE;
            if (moment == 0) make_store(copy, how->options, first);
            /* Without time for all of them, one by chance. */
            bool hurried = seconds_now() > end;
            for (long n = hurried ? 1 + (long)(random_number(&seed) % 32) : 1;; n++) {
                sqlite3 *db;
                uint64_t content;
                int status;
                /* The lock file stays as the last one killed has left it, its mutex held by the dead. */
                copy_file(copy, path);
                *acknowledged = 0;
                pid_t child = fork();
                if (child < 0) wrong("no fork");
                if (child == 0) {
                    if (first == i) io_arm(moments[moment], all, n, false, 0);
                    if (session_open(path, how->options, &db) != SQLITE_OK) wrong("child: %s", session_message());
                    for (int k = first; k < i; k++)
                        if ((session_unit(db, k, NULL) != SQLITE_OK) != script[k].fails)
                            wrong("child: %s", session_message());
                    if (first != i) io_arm(moments[moment], all, n, false, 0);
                    int code = session_unit(db, i, NULL);
                    if ((code != SQLITE_OK) != script[i].fails) wrong("child: %d %s", code, session_message());
                    *acknowledged = 1;
                    session_close(db);
                    _exit(0);
                }
                if (waitpid(child, &status, 0) != child) wrong("no child");
                bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
                if (!killed && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
                    wrong("unit %d, call %ld: the child ended with %d", i, n, status);
                if (session_open(path, how->options, &db) != SQLITE_OK)
                    wrong("unit %d, killed at call %ld: %s", i, n, session_message());
                if (session_content(db, &content) != SQLITE_OK) wrong("unit %d: %s", i, session_message());
                bool done = content == expected->content[i + 1];
                if (!done && (*acknowledged || content != expected->content[i]))
                    wrong("unit %d, killed at call %ld: content %d, %s", i, n, content_number(expected, content),
                          *acknowledged ? "though it was acknowledged" : "none of both");
                if (random_number(&seed) % 4 == 0 && session_check(db) != SQLITE_OK)
                    wrong("unit %d, killed at call %ld: %s", i, n, session_message());
                session_close(db);
                if (!killed) break;
                kills++;
                whole += done;
                if (hurried || seconds_now() > end) {
                    left_out++;
                    break;
                }
            }
        }
    }
    printf("kills: %s: %ld survived, %ld of them with the unit done, %d units, %ld series cut short by time, %.0f s\n",
           how->options, kills, whole, script_count, left_out, seconds_now() - start);
    munmap((void *)acknowledged, sizeof *acknowledged);
    return 0;
}
