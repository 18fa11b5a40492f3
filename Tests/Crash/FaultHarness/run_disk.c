/*
** run_disk.c - a disk that is full, and one that is read-only: a small file system in memory, mounted where nobody else
** sees it.
**
** Full: the statement says SQLITE_FULL, what was committed is there, the check finds no fault, and with room made the
** same connection goes on. Read-only: opening says so, unless reading alone was asked for, which works. Needs the right
** to mount, which a user namespace gives on most systems; without it the run says that it was skipped.
*/
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static bool mount_small(const char *folder) {
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
    return mount("tmpfs", folder, "tmpfs", 0, "size=3m") == 0;
}

static long count_rows(sqlite3 *db) {
    uint64_t answer, wanted;
    for (long rows = 0; rows < 1000; rows++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT %ld", rows);
        if (session_run(db, "SELECT count(*) FROM log", &answer) != SQLITE_OK) wrong("count: %s", session_message());
        if (session_run(db, sql, &wanted) != SQLITE_OK) wrong("%s", session_message());
        if (answer == wanted) return rows;
    }
    return -1;
}

static long fill(const char *folder, const char *path, const char *durability) {
    char options[64];
    sqlite3 *db;
    long rows = 0;
    int code;
    snprintf(options, sizeof options, "{\"durability\":\"%s\"}", durability);
    make_store(path, options, 0);
    if (session_open(path, options, &db) != SQLITE_OK) wrong("%s: %s", durability, session_message());
    while ((code = session_run(db, "INSERT INTO log VALUES (printf('%.*c', 50000, 'x'))", NULL)) == SQLITE_OK) rows++;
    if (code != SQLITE_FULL) wrong("%s: a full disk is %d %s", durability, code, session_message());
    if (rows < 10) wrong("%s: full after %ld rows", durability, rows);
    code = session_run(
        db, "BEGIN; INSERT INTO log VALUES ('a'); INSERT INTO log SELECT printf('%.*c', 2000000, 'x'); COMMIT", NULL);
    if (code != SQLITE_FULL) wrong("%s: in a transaction a full disk is %d %s", durability, code, session_message());
    if (!sqlite3_get_autocommit(db) && session_run(db, "ROLLBACK", NULL) != SQLITE_OK) wrong("%s", session_message());
    if (count_rows(db) != rows) wrong("%s: %ld rows instead of %ld", durability, count_rows(db), rows);
    if (session_check(db) != SQLITE_OK) wrong("%s: %s", durability, session_message());
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=16m") != 0) wrong("no room to be had");
    code = session_run(db, "INSERT INTO log VALUES ('more')", NULL);
    if (code != SQLITE_OK || count_rows(db) != rows + 1)
        wrong("%s: with room again %d %s", durability, code, session_message());
    session_close(db);
    remove_store(path);
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT, "size=3m") != 0) wrong("no smaller disk to be had");
    return rows;
}

static void read_only(const char *folder, const char *path, const expectation *expected) {
    sqlite3 *db;
    uint64_t content;
    make_store(path, NULL, 3);
    if (mount("tmpfs", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=3m") != 0) wrong("no read-only disk to be had");
    /* As SQLite opens a file for reading that it may not write. */
    static const char *const options[] = {NULL, "{\"readOnly\":true}"};
    for (int i = 0; i < 2; i++) {
        if (session_open(path, options[i], &db) != SQLITE_OK) wrong("read-only: %s", session_message());
        if (session_content(db, &content) != SQLITE_OK || content != expected->content[3])
            wrong("read-only: other content: %s", session_message());
        int code = session_run(db, "DELETE FROM log", NULL);
        if ((code & 0xff) != SQLITE_READONLY) wrong("a change on a read-only disk: %d %s", code, session_message());
        session_close(db);
    }
}

int run_disk(const settings *how, const expectation *expected) {
    char folder[4096], path[4112];
    snprintf(folder, sizeof folder, "%s/m", how->folder);
    snprintf(path, sizeof path, "%s/store", folder);
    if (mkdir(folder, 0700) != 0 || !mount_small(folder)) {
        printf("disk: skipped, for want of the right to mount a file system: %s\n", strerror(errno));
        return 0;
    }
    long full = fill(folder, path, "full"), normal = fill(folder, path, "normal"), off = fill(folder, path, "off");
    read_only(folder, path, expected);
    printf("disk: full after %ld, %ld and %ld rows (full, normal, off), nothing lost; read-only\n", full, normal, off);
    return 0;
}
