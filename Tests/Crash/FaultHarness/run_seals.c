/*
** run_seals.c - a sealed commit names all of its pages, and they have the checksums that it says.
**
** Random statements run on a store: values on pages of their own, rows and whole tables that come and go, indexes.
** After each, every page that the file's last commit reaches and the one before did not is found by walking both files
** whole, and compared with what the seal names. Any one of these pages as it was before, or cut off, undoes the commit
** when the file is opened next.
**
** Then a row is inserted after another while flushes fail, once or for good, and lose what they were to write. Whenever
** the power fails after that, the file has every row whose INSERT was acknowledged.
*/
#define _GNU_SOURCE
#include "harness.h"
#include "images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, HEADER = 16, SEALS_ROOM = 440 };

typedef struct file {
    unsigned char *bytes;
    size_t pages;
    unsigned char *reached; /* a byte a page */
} file;

static uint64_t word(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static unsigned half(const unsigned char *at) {
    return at[0] | (unsigned)at[1] << 8;
}

static void read_file(const char *path, file *to) {
    struct stat status;
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) wrong("cannot read %s", path);
    to->pages = (size_t)status.st_size / PAGE;
    to->bytes = realloc(to->bytes, to->pages * PAGE);
    to->reached = realloc(to->reached, to->pages);
    if (to->bytes == NULL || to->reached == NULL) abort();
    memset(to->reached, 0, to->pages);
    if (read(descriptor, to->bytes, to->pages * PAGE) != (ssize_t)(to->pages * PAGE)) wrong("cannot read %s", path);
    close(descriptor);
}

/* All that a tree's root leads to. */
static void reach(file *in, uint64_t number) {
    if (number == UINT64_MAX) return;
    if (number >= in->pages) wrong("page %llu of %zu", (unsigned long long)number, in->pages);
    const unsigned char *page = in->bytes + number * PAGE;
    unsigned flags = half(page + 10), entries = (half(page + 12) - HEADER) / 2;
    in->reached[number] = 1;
    for (unsigned i = 0; i < entries; i++) {
        const unsigned char *entry = page + half(page + HEADER + 2 * i), *value = entry + 8 + half(entry + 6);
        if (flags & 1)
            reach(in, word(entry) & 0xffffffffffff);
        else if (half(entry + 4) & 1)
            for (uint32_t part = 0, run = *(const uint32_t *)(in->bytes + word(value) * PAGE + 12); part < run; part++)
                in->reached[word(value) + part] = 1;
        else if (half(entry + 4) & 2)
            reach(in, word(value + 40));
    }
}

static const unsigned char *newest(const file *in) {
    return word(in->bytes + PAGE + 144) > word(in->bytes + 144) ? in->bytes + PAGE : in->bytes;
}

static uint64_t walk(file *in) {
    const unsigned char *meta = newest(in);
    reach(in, word(meta + 40 + 40));
    reach(in, word(meta + 88 + 40));
    return word(meta + 144);
}

static void say(char *sql, size_t room, uint64_t *seed) {
    unsigned table = (unsigned)(random_number(seed) % 4), row = (unsigned)(random_number(seed) % 300);
    unsigned size = (unsigned)(random_number(seed) % (random_number(seed) % 4 == 0 ? 30000 : 400));
    switch (random_number(seed) % 12) {
    case 0: snprintf(sql, room, "CREATE TABLE IF NOT EXISTS t%u (i INTEGER PRIMARY KEY, a, b)", table); return;
    case 1: snprintf(sql, room, "CREATE INDEX IF NOT EXISTS x%u ON t0 (a, b)", table % 2); return;
    case 2: snprintf(sql, room, "DELETE FROM t0 WHERE i BETWEEN %u AND %u", row, row + row % 40); return;
    case 3:
        if (random_number(seed) % 8 == 0)
            snprintf(sql, room, "DELETE FROM t0");
        else if (table != 0)
            snprintf(sql, room, "DROP TABLE IF EXISTS t%u", table);
        else
            snprintf(sql, room, "UPDATE t0 SET a = a || 'more' WHERE i %% 50 = %u", row % 50);
        return;
    case 4: snprintf(sql, room, "UPDATE t0 SET b = zeroblob(%u) WHERE i = %u", size, row); return;
    default:
        snprintf(sql, room, "INSERT OR REPLACE INTO t0 VALUES (%u, '%.*s', randomblob(%u))", row, (int)(size % 90),
                 "a key that is as long as the number of its row and some chance would have it, and not any longer "
                 "than that",
                 size);
    }
}

/* With that one page as it was before, or cut off, the commit before is what the next one to open it sees. */
static void lose_page(const char *path, const file *before, const file *after, uint32_t page, uint64_t commit) {
    static file mended;
    sqlite3 *db;
    remove_store(path);
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(descriptor, after->bytes, after->pages * PAGE) != (ssize_t)(after->pages * PAGE)) wrong("no room");
    if (page < before->pages) {
        if (memcmp(before->bytes + (size_t)page * PAGE, after->bytes + (size_t)page * PAGE, PAGE) == 0) {
            close(descriptor);
            return;
        }
        if (pwrite(descriptor, before->bytes + (size_t)page * PAGE, PAGE, (off_t)page * PAGE) != PAGE) wrong("no room");
    } else if (ftruncate(descriptor, (off_t)page * PAGE) != 0)
        wrong("cannot cut");
    /* It was flushed and confirmed since. */
    off_t confirmation = (off_t)(commit & 1) * PAGE + 424;
    if (pwrite(descriptor, (uint64_t[2]){0, 0}, 16, confirmation) != 16) wrong("no room");
    image_reboot(descriptor);
    close(descriptor);
    int code = session_open(path, "{\"readOnly\":true}", &db);
    if (code != SQLITE_CANTOPEN || strstr(session_message(), "power loss") == NULL)
        wrong("commit %llu without page %u, to be read only: %d %s", (unsigned long long)commit, page, code,
              session_message());
    if (session_open(path, NULL, &db) != SQLITE_OK)
        wrong("commit %llu without page %u: %s", (unsigned long long)commit, page, session_message());
    if (session_check(db) != SQLITE_OK) wrong("commit %llu without page %u: damaged", (unsigned long long)commit, page);
    session_close(db);
    read_file(path, &mended);
    if (walk(&mended) != commit - 1) wrong("commit %llu without page %u is believed", (unsigned long long)commit, page);
}

static void compare_seals(const settings *how, double seconds) {
    char path[4096], tried[4096], sql[512];
    static file files[2];
    sqlite3 *db;
    uint64_t seed = how->seed, pages = 0, lost = 0;
    double start = seconds_now();
    long commits = 0, sealed = 0;
    snprintf(path, sizeof path, "%s/sealed", how->folder);
    snprintf(tried, sizeof tried, "%s/tried", how->folder);
    remove_store(path);
    if (session_open(path, "{\"durability\":\"full\"}", &db) != SQLITE_OK) wrong("%s", session_message());
    if (session_run(db, "CREATE TABLE t0 (i INTEGER PRIMARY KEY, a, b)", NULL) != SQLITE_OK)
        wrong("%s", session_message());
    file *before = &files[0], *after = &files[1];
    read_file(path, before);
    uint64_t last = walk(before);
    while (seconds_now() - start < seconds || sealed < 20) {
        say(sql, sizeof sql, &seed);
        if (session_run(db, sql, NULL) != SQLITE_OK) wrong("%s: %s", sql, session_message());
        read_file(path, after);
        uint64_t commit = walk(after);
        if (commit == last) continue;
        commits++;
        const unsigned char *meta = newest(after);
        bool one = commit == last + 1 && word(meta + 256 + 8) == commit && word(meta + 512 + 8) == commit;
        if (one) {
            uint32_t count = *(const uint32_t *)(meta + 512 + 16);
            sealed++;
            pages += count;
            for (uint32_t i = 0; i < count; i++) {
                uint32_t page = *(const uint32_t *)(meta + 512 + 24 + 8 * i);
                if (page >= after->pages || after->reached[page] != 1) wrong("%s: the seal names page %u", sql, page);
                after->reached[page] = 2;
            }
            for (size_t page = 2; page < after->pages; page++) {
                bool old = page < before->pages && before->reached[page];
                if (after->reached[page] == 1 && !old) wrong("%s: the seal does not name page %zu", sql, page);
                if (after->reached[page] == 2 && old) wrong("%s: the seal names old page %zu", sql, page);
            }
            if (sealed % 8 == 0 && count > 0) {
                uint32_t chosen = (uint32_t)(random_number(&seed) % count);
                lose_page(tried, before, after, *(const uint32_t *)(meta + 512 + 24 + 8 * chosen), commit);
                lost++;
            }
        }
        file *spare = before;
        before = after, after = spare;
        for (size_t page = 0; page < before->pages; page++) before->reached[page] = before->reached[page] != 0;
        last = commit;
    }
    session_close(db);
    remove_store(path);
    remove_store(tried);
    printf("seals: %ld commits, %ld of them sealed with %llu pages, none missing; %llu times a page lost, %.0f s\n",
           commits, sealed, (unsigned long long)pages, (unsigned long long)lost, seconds_now() - start);
    if (sealed * 4 < commits) wrong("few commits are sealed");
}

enum { ROWS = 60 };

/* Has the store the rows that were acknowledged (context: bool[ROWS]), and is it whole? */
static const char *judge(sqlite3 *db, const void *context) {
    static char what[64];
    const bool *acknowledged = context;
    char sql[128];
    for (int row = 0; row < ROWS; row++) {
        if (!acknowledged[row]) continue;
        snprintf(sql, sizeof sql, "INSERT INTO t0 VALUES (%d, 0, 0)", row);
        if (session_run(db, sql, NULL) != SQLITE_OK) continue;
        snprintf(what, sizeof what, "row %d is missing", row);
        return what;
    }
    return session_check(db) == SQLITE_OK ? NULL : "damaged";
}

static void fail_flushes(const settings *how, double seconds) {
    char path[4096], tried[4096], sql[128];
    uint64_t seed = how->seed;
    double start = seconds_now();
    long files = 0, endured = 0, refused = 0, runs = 0;
    snprintf(path, sizeof path, "%s/failing", how->folder);
    snprintf(tried, sizeof tried, "%s/tried", how->folder);
    for (; runs < 1 || seconds_now() - start < seconds; runs++) {
        sqlite3 *db;
        bool acknowledged[ROWS] = {false};
        remove_store(path);
        record_start(path);
        if (session_open(path, "{\"durability\":\"full\"}", &db) != SQLITE_OK) wrong("%s", session_message());
        if (session_run(db, "CREATE TABLE t0 (i INTEGER PRIMARY KEY, a, b)", NULL) != SQLITE_OK)
            wrong("%s", session_message());
        size_t begin = recorded_count;
        for (int row = 0; row < ROWS; row++) {
            snprintf(sql, sizeof sql, "INSERT INTO t0 VALUES (%d, randomblob(%d), 'x')", row,
                     (int)(random_number(&seed) % 3000));
            bool failing = random_number(&seed) % 5 == 0, persistent = random_number(&seed) % 2 == 0;
            if (failing) io_arm(IO_ERROR, 1u << IO_FDATASYNC, 1, persistent, EIO);
            int code = session_run(db, sql, NULL);
            if (failing && io_disarm()) *(code == SQLITE_OK ? &endured : &refused) += 1;
            if (code == SQLITE_OK) record_acknowledged(row);
            if (code != SQLITE_OK && (!failing || (code & 0xff) != SQLITE_IOERR))
                wrong("%s: %d %s", sql, code, session_message());
        }
        record_stop();
        session_close(db);
        image trial = {0};
        disk disk = {0};
        for (size_t moment = 0; moment < recorded_count; moment++) {
            if (moment >= begin && random_number(&seed) % 12 == 0)
                for (int kind = 0; kind < VARIANTS; kind++, files++) {
                    image_make(&trial, &disk, moment, (variant)kind, &seed);
                    image_judge(&trial, tried, moment, (variant)kind, judge, acknowledged);
                }
            if (recorded[moment].kind == EVENT_ACKNOWLEDGED) acknowledged[recorded[moment].number] = true;
            disk_pass(&disk, moment);
        }
        disk_free(&disk);
        free(trial.bytes);
    }
    remove_store(path);
    remove_store(tried);
    printf("seals: failing flushes: %ld runs, %ld endured, %ld refused; %ld files after a power loss, none wrong, %.0f "
           "s\n",
           runs, endured, refused, files, seconds_now() - start);
}

int run_seals(const settings *how) {
    compare_seals(how, how->seconds * 0.4);
    fail_flushes(how, how->seconds * 0.6);
    return 0;
}
