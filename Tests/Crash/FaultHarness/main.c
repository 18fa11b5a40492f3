/*
** main.c - what happens to a store when memory, files, the process or the power fail at any one moment.
**
**   rootstock-fault-harness allocations|calls|kills|chances|disk FOLDER SECONDS SEED [OPTIONS]
**   rootstock-fault-harness group|later|processes|seals FOLDER SECONDS SEED
**   rootstock-fault-harness power FOLDER SECONDS SEED CLASS
** CLASS is off, normal, mixed, full, normal-map, full-map, off-plain, normal-plain or full-plain.
** FOLDER is an empty directory. Prints figures; status 1 and a line `WRONG: ...` when a promise is broken. Each moment
** is tried in turn; when SECONDS are over, the rest are left out and the figures say so.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void make_store(const char *path, const char *options, int count) {
    sqlite3 *db;
    remove_store(path);
    if (session_open(path, options, &db) != SQLITE_OK) wrong("%s: %s", path, session_message());
    if (session_run(db, script_setup, NULL) != SQLITE_OK) wrong("setup: %s", session_message());
    for (int i = 0; i < count; i++) {
        int code = session_unit(db, i, NULL);
        if ((code != SQLITE_OK) != script[i].fails) wrong("unit %d: %d %s", i, code, session_message());
    }
    session_close(db);
}

uint64_t random_number(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Without any fault: the script is worth something only if the store agrees with native SQLite. */
static void check_script(const settings *how, const expectation *expected) {
    char path[4096];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/plain", how->folder);
    if (session_open(path, how->options, &db) != SQLITE_OK) wrong("%s: %s", path, session_message());
    if (session_run(db, script_setup, NULL) != SQLITE_OK) wrong("setup: %s", session_message());
    for (int i = 0; i < script_count; i++) {
        uint64_t output, content;
        int code = session_unit(db, i, &output);
        if ((code != SQLITE_OK) != script[i].fails) wrong("unit %d: %d %s", i, code, session_message());
        if (code == SQLITE_OK && output != expected->output[i]) wrong("unit %d gives other rows than native SQLite", i);
        if (session_content(db, &content) != SQLITE_OK) wrong("after unit %d: %s", i, session_message());
        if (content != expected->content[i + 1]) wrong("after unit %d the content is not native SQLite's", i);
    }
    session_close(db);
    remove_store(path);
}

int main(int count, char **arguments) {
    settings how = {NULL, 20, 1, "{\"durability\":\"full\"}"};
    static char folder[4096];
    if (count < 5) {
        fputs("usage: rootstock-fault-harness allocations|calls|kills|chances|disk|group|later|processes|seals|power "
              "FOLDER "
              "SECONDS "
              "SEED "
              "[OPTIONS]\n",
              stderr);
        return 2;
    }
    if (realpath(arguments[2], folder) == NULL) {
        perror(arguments[2]);
        return 2;
    }
    how.folder = folder;
    how.seconds = atof(arguments[3]);
    how.seed = strtoull(arguments[4], NULL, 10);
    const char *what = arguments[1];
    if (count > 5 && strcmp(what, "power") != 0) how.options = arguments[5];
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (sqlite_allocation_install() != SQLITE_OK) wrong("SQLite takes no allocator");
    io_watch(folder);
    expectation expected = expect_from_native();
    check_script(&how, &expected);
    int status = 2;
    if (strcmp(what, "allocations") == 0) status = run_allocations(&how, &expected);
    if (strcmp(what, "seals") == 0) status = run_seals(&how);
    if (strcmp(what, "calls") == 0) status = run_calls(&how, &expected);
    if (strcmp(what, "kills") == 0) status = run_kills(&how, &expected);
    if (strcmp(what, "chances") == 0) status = run_chances(&how, &expected);
    if (strcmp(what, "group") == 0) status = run_group(&how);
    if (strcmp(what, "later") == 0) status = run_later(&how);
    if (strcmp(what, "processes") == 0) status = run_processes(&how);
    if (strcmp(what, "disk") == 0) status = run_disk(&how, &expected);
    if (strcmp(what, "power") == 0) status = run_power(&how, &expected, count > 5 ? arguments[5] : "full");
    free(expected.content);
    free(expected.output);
    return status;
}
