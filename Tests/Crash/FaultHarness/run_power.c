/*
** run_power.c - the power goes off, at the file: every write and sync of a run is recorded, and files are made of what
** could be on the disk at each moment.
**
** What a disk may hold at a moment: all that was written before the last sync that ended before it, every write through
** O_DSYNC, and of the other writes since then any choice, each whole or in part by sectors of 512 bytes. Made of each
** moment:
**   ordered    all of them (the next call had not begun)
**   dropped    none of them; and no file where its name in the directory was not synced
**   torn       all of them, the last one in part
**   chosen     a random choice of them, some in part; several draws
** Promises:
**   full    each content is that of the last acknowledged unit or a later one
**   normal  the content is whole, one that the store had, and at most the last 32 commits are missing (run_later.c says
**     more)
**   normal-map  at most the last one
**   mixed   the store is of class full, and four units of five commit as class normal does: as normal for those. What
**     another unit changed is there, and all before it
**   full-plain, normal-plain and off-plain: as full, normal-map and off, with LMDB's public calls and commits alone
**   full-map, and that one: the same with the write map, where the pages stored since the last msync are what may be
**     missing
**   off     without the write map, ordered: as full. Otherwise nothing is promised: the file may be refused, found
**     damaged by the check, or wrong in a way that
**           nothing can see, since there is nothing to check by; how often each happens is printed.
** Each file is opened in a child, so that a crash is seen and counted; none is allowed except with off.
*/
#define _GNU_SOURCE
#include "harness.h"
#include "images.h"

#include "interface/hosting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Commits of class normal that share a flush. */
enum { MOST_LOST = 32 };

static const char *const variant_names[VARIANTS] = {"ordered", "dropped", "torn", "chosen", "alone"};

/* What a child found; its exit status. */
enum {
    FOUND_REFUSED = 250,
    FOUND_DAMAGED = 251,
    FOUND_WRONG = 252,
    FOUND_EMPTY = 253 /* some of the setup */,
    FOUND_FAILED = 254
};

static int look(const char *path, const expectation *expected) {
    sqlite3 *db;
    uint64_t content;
    int code = session_open(path, NULL, &db);
    if (code != SQLITE_OK) return FOUND_REFUSED;
    code = session_content(db, &content);
    if (code != SQLITE_OK)
        return (code & 0xff) == SQLITE_CORRUPT || code == SQLITE_NOTADB ? FOUND_DAMAGED : FOUND_FAILED;
    int number = content_number(expected, content);
    code = session_check(db);
    if (code != SQLITE_OK) return FOUND_DAMAGED;
    if (number >= 0) return number;
    for (int i = 0; i < expected->setup_count; i++)
        if (expected->setup[i] == content) return FOUND_EMPTY;
    return FOUND_WRONG;
}

/* The number of the content; a FOUND_; or minus the signal that ended the child. */
static int ask_child(const char *path, const image *file, const expectation *expected, bool quiet) {
    int status;
    image_write(file, path);
    pid_t child = fork();
    if (child < 0) wrong("no fork");
    if (child == 0) {
        /* What damage may do under `off` is told by the status alone. */
        alarm(20);
        if (quiet && freopen("/dev/null", "w", stderr) == NULL) _exit(FOUND_FAILED);
        _exit(look(path, expected));
    }
    if (waitpid(child, &status, 0) != child) wrong("no child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Which units of class mixed commit so. */
static bool is_normal(int unit) {
    return unit % 5 != 0;
}

/* Runs the whole script on a new store, recording. Acknowledgement 0 is that of the setup, k that of unit k - 1. */
static void record(const char *path, const char *options, bool mixed) {
    sqlite3 *db;
    remove_store(path);
    record_start(path);
    if (session_open(path, options, &db) != SQLITE_OK) wrong("%s: %s", path, session_message());
    if (session_run(db, script_setup, NULL) != SQLITE_OK) wrong("setup: %s", session_message());
    record_acknowledged(0);
    for (int i = 0; i < script_count; i++) {
        if (mixed) (void)rootstock_host_synchronous(db, "main", is_normal(i));
        int code = session_unit(db, i, NULL);
        if ((code != SQLITE_OK) != script[i].fails) wrong("unit %d: %d %s", i, code, session_message());
        record_acknowledged(i + 1);
    }
    record_stop();
    session_close(db);
}

/* The lowest content that is allowed where unit `acknowledged` was the last acknowledged one. */
static int lowest(const expectation *expected, const char *durability, bool sealed, int acknowledged) {
    const bool mixed = strcmp(durability, "mixed") == 0;
    if ((strcmp(durability, "normal") != 0 && !mixed) || acknowledged < 0) return acknowledged;
    /* Some commits may be missing; units that changed nothing made none. Each unit makes one commit at most. */
    int least = acknowledged;
    for (int missing = sealed ? MOST_LOST : 1; missing > 0; missing--) {
        int before = least;
        while (before > 0 && expected->content[before] == expected->content[least]) before--;
        if (before == least) return -1;
        /* What a commit of class full changed is there, and all before it. */
        if (mixed && !is_normal(before)) return least;
        least = before;
    }
    return least;
}

/* Contents may repeat: is number as good as one not below the lowest? */
static bool reaches(const expectation *expected, int number, int least) {
    for (int i = least < 0 ? 0 : least; i <= script_count; i++)
        if (number >= 0 && number <= script_count && expected->content[i] == expected->content[number]) return true;
    return false;
}

int run_power(const settings *how, const expectation *expected, const char *class) {
    char path[4096], tried[4096], options[128];
    snprintf(path, sizeof path, "%s/recorded", how->folder);
    snprintf(tried, sizeof tried, "%s/tried", how->folder);
    /* With a write map what is stored is seen when it is synced: nothing of class off is. */
    bool mapped = strstr(class, "-map") != NULL, plain = strstr(class, "-plain") != NULL;
    char durability[16];
    snprintf(durability, sizeof durability, "%.*s", (int)strcspn(class, "-"), class);
    snprintf(options, sizeof options, "{\"durability\":\"%s\",\"writeMap\":%s%s}",
             strcmp(durability, "mixed") == 0 ? "full" : durability, mapped ? "true,\"mapSize\":2097152" : "false",
             plain ? ",\"pageAccess\":\"none\",\"commit\":\"plain\"" : "");
    uint64_t seed = how->seed;
    double start = seconds_now();
    bool off = strcmp(durability, "off") == 0;
    record(path, options, strcmp(durability, "mixed") == 0);
    image trial = {0};
    disk disk = {0};
    long files[VARIANTS] = {0}, refused = 0, damaged = 0, unseen = 0, crashed = 0, prefixes = 0, behind = 0, unborn = 0;
    int acknowledged = -1;
    size_t moments = recorded_count + 1, stride = 1;
    /* Some 5 ms a file and 6 files a moment. */
    if (how->seconds < 300) stride = 1 + (size_t)((double)moments * 6 * 0.008 / how->seconds);
    size_t next = (size_t)(random_number(&seed) % stride);
    for (size_t moment = 0; moment <= recorded_count; moment++) {
        if (moment == next || moment == recorded_count) {
            next += stride;
            prefixes++;
            for (int kind = 0; kind < VARIANTS; kind++) {
                for (int draw = 0; draw < (kind == CHOSEN ? DRAWS : 1); draw++) {
                    image_make(&trial, &disk, moment, (variant)kind, &seed);
                    int found = ask_child(tried, &trial, expected, off);
                    int least = lowest(expected, durability, !mapped && !plain, acknowledged);
                    bool promised = !off || kind == ORDERED;
                    files[kind]++;
                    if (found < 0) {
                        crashed++;
                        if (promised)
                            wrong("%s, moment %zu, %s: signal %d", durability, moment, variant_names[kind], -found);
                    } else if (found == FOUND_REFUSED && acknowledged < 0) {
                        unborn++;
                    } else if (found == FOUND_EMPTY && least < 0) {
                        unborn++;
                    } else if (found == FOUND_REFUSED || found == FOUND_DAMAGED || found == FOUND_FAILED) {
                        if (promised)
                            wrong("%s, moment %zu, %s: %s", durability, moment, variant_names[kind],
                                  found == FOUND_REFUSED ? "refused" : "damaged");
                        refused += found == FOUND_REFUSED;
                        damaged += found != FOUND_REFUSED;
                    } else if (found == FOUND_WRONG) {
                        if (promised)
                            wrong("%s, moment %zu, %s: a content that never was", durability, moment,
                                  variant_names[kind]);
                        unseen++;
                    } else if (found == FOUND_EMPTY) {
                        if (promised) wrong("%s, moment %zu, %s: no content", durability, moment, variant_names[kind]);
                        behind++;
                    } else if (!reaches(expected, found, least)) {
                        if (promised)
                            wrong("%s, moment %zu, %s: content %d, acknowledged %d", durability, moment,
                                  variant_names[kind], found, acknowledged);
                        behind++;
                    } else if (!reaches(expected, found, acknowledged)) {
                        behind++;
                    }
                }
            }
        }
        if (moment == recorded_count) break;
        if (recorded[moment].kind == EVENT_ACKNOWLEDGED) acknowledged = recorded[moment].number;
        disk_pass(&disk, moment);
    }
    printf("power: %s: %zu events recorded, %ld moments; files:", class, recorded_count, prefixes);
    for (int kind = 0; kind < VARIANTS; kind++) printf(" %s %ld", variant_names[kind], files[kind]);
    printf("; before the first commit %ld, missing the last commits %ld, refused %ld, damaged %ld, damaged unseen %ld, "
           "crashed %ld, %.0f s\n",
           unborn, behind, refused, damaged, unseen, crashed, seconds_now() - start);
    disk_free(&disk);
    free(trial.bytes);
    remove_store(path);
    remove_store(tried);
    return 0;
}
