/*
** corrupt.c - a store's file damaged in every way and opened again, each time in a process of its own.
**
** Usage: corrupt FOLDER SECONDS SEED. First the file is cut at every page and at odd sizes, then page headers, sizes of
** keys and flags of entries are changed, then bits flip at random for SECONDS. Each child opens the damaged copy, reads
** every table in several ways, checks the store, writes to it, and tells how that went: sound (every answer as before),
** rows (answers that decode but are others, and the check finds it), refused (an error), or crashed, inside liblmdb or
** outside of it. Without checksums the check cannot know what the file holds once, as long as it decodes and keys stay
** in order: table w, which has no index, and the catalog's texts. Answers where nothing else differs are counted as
** unseen; where table t differs, whose values stand in indexes too, or sizes were changed, so that entries lie on each
** other, the check has missed it. Invariants tested: no child crashes in code of ours; a file that was cut is always
** refused; the check misses nothing. What LMDB itself does not survive (its assertions end the process, it checks no
** entry of a page against the page's size, and pages that lead to each other in a ring make a walk without end) is
** counted and told. Every other child writes without a write map: changed pages are then copies in the heap, and LMDB,
** which removes an entry of a damaged one, writes beyond it (mdb_cursor_del, seen with a watchpoint). What finds the
** heap broken later is whoever frees something next, or SQLite in a structure of its own: counted apart, and only in
** such a child. Whether it was our code that broke it is for AddressSanitizer to say. Under AddressSanitizer (run.sh
** with SANITIZE=1) a report counts as a crash of whoever the copying or reading was done for. With ENGINE=sqlite-btree
** in the environment the store is one of that engine: cuts and bit flips only, and no crash is excused. What ends in
** LMDB is tried again with the option verifyPages and with the option checkPages, with either of which nothing may end
** the process. With CHECKS in the environment every child has checkPages.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <rootstock.h>

enum { SOUND = 10, ROWS, UNSEEN, REFUSED, IN_LMDB, IN_HEAP, IN_OURS, HUNG, MISSED, OUTCOMES };
static const char *const names[OUTCOMES] = {[SOUND] = "sound",
                                            [ROWS] = "other rows",
                                            [UNSEEN] = "other rows unseen",
                                            [REFUSED] = "refused",
                                            [IN_LMDB] = "in LMDB",
                                            [IN_OURS] = "in our code",
                                            [IN_HEAP] = "heap found broken",
                                            [HUNG] = "hung",
                                            [MISSED] = "missed by the check"};
static unsigned long counts[OUTCOMES];
static uint64_t expected, expected_twice;
static char folder[512], original[600], damaged[600];
static unsigned long children;
static int checksums; /* the store keeps them */
static int verifies;  /* children open it with the option verifyPages */
static int checks;    /* with the option checkPages */
static const char *engine = "lmdb";

static const char *const queries[] = {
    "SELECT * FROM t",
    "SELECT * FROM t ORDER BY b, id DESC",
    "SELECT count(*), sum(length(c)) FROM t WHERE b BETWEEN 3 AND 60",
    "SELECT * FROM w ORDER BY k DESC",
    "SELECT v FROM w WHERE k >= 'k5'",
    "SELECT * FROM t JOIN w ON v = b",
    "SELECT name, sql FROM sqlite_master",
};

/* What the file holds twice: in a row and in indexes. */
static const char *const twice = "SELECT * FROM t";

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return hash;
}

/* SQLITE_DONE or the error that ended it. */
static int run(sqlite3 *db, const char *sql, uint64_t *hash) {
    sqlite3_stmt *statement = NULL;
    char *rewritten = NULL;
    int code = rootstock_rewrite(db, sql, -1, &rewritten, NULL, NULL);
    if (code == SQLITE_OK) code = sqlite3_prepare_v2(db, rewritten == NULL ? sql : rewritten, -1, &statement, NULL);
    sqlite3_free(rewritten);
    if (code != SQLITE_OK) return code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            int type = sqlite3_column_type(statement, i);
            const void *bytes = sqlite3_column_blob(statement, i);
            *hash = mix(*hash, &type, sizeof type);
            if (bytes != NULL) *hash = mix(*hash, bytes, (size_t)sqlite3_column_bytes(statement, i));
        }
    }
    sqlite3_finalize(statement);
    return code;
}

static int open_store(const char *path, sqlite3 **db) {
    int code = sqlite3_open(":memory:", db);
    char options[100];
    snprintf(options, sizeof options, "{\"durability\":\"off\"%s%s%s%s}", checks ? ",\"checkPages\":true" : "",
             verifies ? ",\"verifyPages\":true" : "",
             children % 2 && strcmp(engine, "lmdb") == 0 ? ",\"writeMap\":false" : "",
             checksums && strcmp(path, original) == 0 ? ",\"checksum\":true" : "");
    return code == SQLITE_OK ? rootstock_open(*db, path, engine, options, NULL, NULL) : code;
}

static int answers(sqlite3 *db, uint64_t *hash, int *check) {
    int result = SQLITE_DONE;
    uint64_t said = 14695981039346656037u, ok = said;
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        int code = run(db, queries[i], hash);
        if (code != SQLITE_DONE) result = code;
    }
    int type = SQLITE_TEXT;
    ok = mix(mix(ok, &type, sizeof type), "ok", 2);
    *check = run(db, "PRAGMA integrity_check", &said) == SQLITE_DONE && said == ok;
    return result;
}

static uint64_t answers_twice(sqlite3 *db) {
    uint64_t hash = 14695981039346656037u;
    (void)run(db, twice, &hash);
    return hash;
}

/* In the C library (a copy, an abort by LMDB's own assertions) the first frame that is not its own tells. */
static void blame(void **frames, int count, int from) {
    Dl_info where;
    for (int i = from; i < count; i++) {
        if (!dladdr(frames[i], &where) || where.dli_fname == NULL) continue;
        if (strstr(where.dli_fname, "liblmdb") != NULL) _exit(IN_LMDB);
        if (strstr(where.dli_fname, "libsqlite3") != NULL && children % 2 != 0) _exit(IN_HEAP);
        if (strstr(where.dli_fname, "libasan") == NULL && strstr(where.dli_fname, "libc.so") == NULL) break;
    }
    _exit(IN_OURS);
}

/* The C library ended the process because its own records of the heap made no sense. */
static int is_broken_heap(void **frames, int count) {
    static const char *const allocator[] = {"free", "cfree", "malloc", "calloc", "realloc"};
    Dl_info where;
    for (int i = 0; i < count; i++) {
        if (!dladdr(frames[i], &where) || where.dli_sname == NULL) continue;
        for (size_t k = 0; k < sizeof allocator / sizeof allocator[0]; k++) {
            if (strcmp(where.dli_sname, allocator[k]) == 0) return 1;
            if (strncmp(where.dli_sname, "__libc_", 7) == 0 && strcmp(where.dli_sname + 7, allocator[k]) == 0) return 1;
        }
    }
    return 0;
}

static void crashed(int number, siginfo_t *information, void *context) {
    const ucontext_t *machine = context;
    void *frames[64];
    int count = backtrace(frames, 64), from = 0;
    (void)information;
    if (number == SIGABRT && is_broken_heap(frames, count)) _exit(IN_HEAP);
#ifdef __x86_64__
    void *at = (void *)machine->uc_mcontext.gregs[REG_RIP];
#else
    void *at = (void *)machine->uc_mcontext.pc;
#endif
    while (from < count && frames[from] != at) from++;
    if (from == count) blame(&at, 1, 0);
    blame(frames, count, from);
}

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "handle_segv=0:handle_sigbus=0:handle_abort=0:detect_leaks=0";
}

static void reported(void) {
    void *frames[64];
    int count = backtrace(frames, 64), from = 0;
    while (from < count && frames[from] != __builtin_return_address(0)) from++;
    blame(frames, count, from);
}
#endif

static void child(void) {
    static char stack[1 << 18];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sqlite3 *db;
    uint64_t hash = 14695981039346656037u;
    int check = 0, code;
    sigaltstack(&alternative, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) sigaction(signals[i], &action, NULL);
    if (freopen("/dev/null", "w", stderr) == NULL) _exit(REFUSED);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_death_callback(reported);
    alarm(20);
#else
    alarm(5);
#endif
    code = open_store(damaged, &db);
    if (code != SQLITE_OK) {
        sqlite3_close(db);
        _exit(REFUSED);
    }
    code = answers(db, &hash, &check);
    uint64_t ignored = 0, hash_twice = answers_twice(db);
    int written = run(db, "INSERT INTO t(b, c) VALUES (7, 'seven')", &ignored);
    if (written == SQLITE_DONE) written = run(db, "UPDATE t SET b = b + 1 WHERE id % 7 = 0", &ignored);
    if (written == SQLITE_DONE) written = run(db, "DELETE FROM w WHERE v > 30", &ignored);
    sqlite3_close(db);
    _exit(code != SQLITE_DONE || written != SQLITE_DONE || (!check && hash == expected) ? REFUSED
          : hash == expected                                                            ? SOUND
          : !check                                                                      ? ROWS
          : hash_twice == expected_twice                                                ? UNSEEN
                                                                                        : MISSED);
}

static void write_damaged(size_t length);

static int run_child(void) {
    int status;
    static const char *const beside[] = {"-lock", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        char name[640];
        snprintf(name, sizeof name, "%s%s", damaged, beside[i]);
        unlink(name);
    }
    children++;
    pid_t pid = fork();
    if (pid == 0) child();
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) >= SOUND && WEXITSTATUS(status) < OUTCOMES ? WEXITSTATUS(status)
           : WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM                                ? HUNG
                                                                                               : IN_OURS;
}

static int try_it(const char *what, unsigned long where, size_t length) {
    static unsigned char told[OUTCOMES];
    int outcome = run_child();
    if (outcome == IN_OURS && children % 2 != 0 && strcmp(engine, "lmdb") == 0) {
        /* What LMDB wrote beyond a copy may have hit a struct of ours. Where there are no copies the same damage then
        ** ends in LMDB. */
        write_damaged(length);
        if (run_child() == IN_LMDB) outcome = IN_HEAP;
        children++;
    } else if (outcome == IN_HEAP && children % 2 == 0) {
        outcome = IN_OURS; /* no copies of pages there */
    }
    if (!checks && (outcome == IN_LMDB || outcome == IN_HEAP || outcome == HUNG)) {
        for (int option = 0; option < 2; option++) {
            int again = 0;
            verifies = option == 0;
            checks = option == 1;
            for (int way = 0; way < 2; way++) { /* with a write map and without */
                write_damaged(length);
                int looked_at = run_child();
                if (looked_at >= IN_LMDB && looked_at != MISSED) again = looked_at;
            }
            if (again != 0) {
                printf("%s at %lu, though its pages were %s: %s\n", what, where, verifies ? "verified" : "checked",
                       names[again]);
                outcome = IN_OURS;
            }
            verifies = checks = 0;
        }
    } else if (checks && (outcome == IN_LMDB || outcome == IN_HEAP || outcome == HUNG)) {
        printf("%s at %lu, though its pages were checked: %s\n", what, where, names[outcome]);
        outcome = IN_OURS;
    }
    counts[outcome]++;
    if (outcome >= IN_LMDB && told[outcome]++ < (outcome == IN_LMDB || outcome == IN_HEAP ? 1 : 5))
        printf("%s at %lu: %s\n", what, where, names[outcome]);
    return outcome;
}

static unsigned char *bytes;
static size_t size;

static void write_damaged(size_t length) {
    int descriptor = open(damaged, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (descriptor < 0 || write(descriptor, bytes, length) != (ssize_t)length) {
        perror(damaged);
        exit(2);
    }
    close(descriptor);
}

static uint64_t state;
static uint64_t draw(uint64_t below) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static void report(const char *what) {
    printf("%s:", what);
    for (int i = SOUND; i < OUTCOMES; i++) printf(" %s %lu%s", names[i], counts[i], i + 1 < OUTCOMES ? "," : "\n");
    fflush(stdout);
}

static void make_store(void) {
    static const char *const script[] = {
        "CREATE TABLE t(id INTEGER PRIMARY KEY, b INT, c TEXT CHECK (c <> ''), UNIQUE (b, id))",
        "CREATE INDEX i ON t(c, b)",
        "CREATE TABLE w(k TEXT PRIMARY KEY, v INT) WITHOUT ROWID",
        "CREATE VIEW vw AS SELECT b FROM t",
        "BEGIN",
        "INSERT INTO t(b, c) WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i % 70, hex(i "
        "* 7919) || "
        "substr('some text that fills the row a little', i % 9) FROM n",
        "INSERT INTO t(b, c) VALUES (71, hex(zeroblob(6000))), (72, hex(zeroblob(300))), (73, hex(zeroblob(9000)))",
        "INSERT INTO w WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90) SELECT 'k' || i, i % 70 FROM "
        "n",
        "COMMIT",
        "DELETE FROM t WHERE id % 11 = 0",
    };
    sqlite3 *db;
    int check = 0;
    unlink(original);
    if (open_store(original, &db) != SQLITE_OK) exit(2);
    for (size_t i = 0; i < sizeof script / sizeof script[0]; i++) {
        uint64_t ignored = 0;
        if (run(db, script[i], &ignored) != SQLITE_DONE) {
            fprintf(stderr, "%s: %s\n", script[i], sqlite3_errmsg(db));
            exit(2);
        }
    }
    expected = 14695981039346656037u;
    if (answers(db, &expected, &check) != SQLITE_DONE || !check) exit(2);
    expected_twice = answers_twice(db);
    sqlite3_close(db);
    struct stat status;
    int descriptor = open(original, O_RDONLY);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) exit(2);
    size = (size_t)status.st_size;
    bytes = malloc(size);
    if (bytes == NULL || read(descriptor, bytes, size) != (ssize_t)size) exit(2);
    close(descriptor);
}

/* A whole page becomes another's copy, with its number or without, nothing but zeros, or anything; or what pages lead
** to is exchanged. */
static void damage_page(void) {
    unsigned char saved[4096];
    uint64_t pages = size / 4096, page = 2 + draw(pages - 2), other = draw(pages);
    unsigned char *at = bytes + page * 4096;
    memcpy(saved, at, sizeof saved);
    switch (draw(5)) {
    case 0: memcpy(at, bytes + other * 4096, sizeof saved); break;
    case 1: memcpy(at + 8, bytes + other * 4096 + 8, sizeof saved - 8); break;
    case 2: memset(at, 0, sizeof saved); break;
    case 3:
        for (size_t i = 8 * draw(3); i < sizeof saved; i++) at[i] = (unsigned char)draw(256);
        break;
    default: { /* of a branch page: a child; of a list of free pages: a page; of a record: a root */
        size_t place = 16 + 2 * (size_t)draw(2032);
        uint64_t number = 2 + draw(pages - 2);
        memcpy(at + place, &number, 6);
    }
    }
    write_damaged(size);
    try_it("page", page, size);
    memcpy(at, saved, sizeof saved);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: corrupt FOLDER SECONDS SEED\n");
        return 2;
    }
    void *first; /* the unwinder is loaded now: not in a signal handler */
    (void)backtrace(&first, 1);
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    snprintf(original, sizeof original, "%s/original", folder);
    snprintf(damaged, sizeof damaged, "%s/damaged", folder);
    int seconds = atoi(arguments[2]);
    state = strtoull(arguments[3], NULL, 10) * 2 + 1;
    checksums = getenv("CHECKSUM") != NULL;
    checks = getenv("CHECKS") != NULL;
    if (getenv("ENGINE") != NULL) engine = getenv("ENGINE");
    printf("seed %s, engine %s\n", arguments[3], engine);
    make_store();
    write_damaged(size);
    if (try_it("nothing changed", 0, size) != SOUND) return 1;
    memset(counts, 0, sizeof counts);
    for (size_t length = 0; length < size; length += 4096) {
        static const int odd[] = {0, 1, 511, 2048, 4095};
        for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
            size_t cut = length + (size_t)odd[i] < size ? length + (size_t)odd[i] : size - 1;
            write_damaged(cut);
            int outcome = try_it("cut", length + (size_t)odd[i], cut);
            if (outcome == ROWS || outcome == UNSEEN || outcome == MISSED) {
                printf("cut at %zu: other rows\n", length + (size_t)odd[i]);
                return 1;
            }
        }
    }
    report("cuts");
    if (counts[IN_LMDB] != 0) return 1; /* sizes are checked before anything is mapped */
    unsigned long ours = counts[IN_OURS] + counts[MISSED];
    memset(counts, 0, sizeof counts);
    for (size_t page = 0; page < size / 4096 && strcmp(engine, "lmdb") == 0; page++) {
        static const size_t places[] = {0, 1, 10, 11, 12, 13, 14, 15}; /* number, flags, where entries begin and end */
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            size_t k = places[i];
            unsigned char saved = bytes[page * 4096 + k];
            bytes[page * 4096 + k] = (unsigned char)(k % 2 == 0 ? 0xFF : saved ^ (1u << draw(8)));
            for (int way = 0; way < 2; way++) {
                write_damaged(size);
                try_it("page header", page * 4096 + k, size);
            }
            bytes[page * 4096 + k] = saved;
        }
    }
    if (strcmp(engine, "lmdb") == 0) report("page headers");
    ours += counts[IN_OURS] + counts[MISSED];
    memset(counts, 0, sizeof counts);
    for (size_t page = 2; page < size / 4096 && strcmp(engine, "lmdb") == 0; page++) {
        /* Keys that reach into the entries behind: some are keys in their places still, with rows that decode. */
        unsigned char *at = bytes + page * 4096;
        size_t entries = at[10] == 2 && at[11] == 0 ? ((size_t)(at[12] | at[13] << 8) - 16) / 2 : 0;
        for (size_t i = 0; i < entries; i += 1 + entries / 4) {
            size_t entry = (size_t)(at[16 + 2 * i] | at[17 + 2 * i] << 8);
            if (entry + 8 > 4096) continue;
            at[entry + 6] ^= 0x40;
            write_damaged(size);
            try_it("key size", page * 4096 + entry, size);
            at[entry + 6] ^= 0x40;
            at[entry + 4] ^= 4; /* a store's trees hold no duplicates */
            write_damaged(size);
            try_it("entry flags", page * 4096 + entry, size);
            at[entry + 4] ^= 4;
        }
    }
    if (strcmp(engine, "lmdb") == 0) report("key sizes and entry flags");
    ours += counts[IN_OURS] + counts[MISSED] + counts[UNSEEN];
    memset(counts, 0, sizeof counts);
    time_t until = time(NULL) + seconds, bits_until = until - seconds / 3;
    while (time(NULL) < bits_until) {
        size_t at[4] = {0}, flips = 1 + draw(4);
        unsigned char bit[4];
        for (size_t i = 0; i < flips; i++) {
            at[i] = draw(size);
            bit[i] = (unsigned char)(1u << draw(8));
            bytes[at[i]] ^= bit[i];
        }
        write_damaged(size);
        try_it("bit flip", at[0], size);
        for (size_t i = flips; i-- > 0;) bytes[at[i]] ^= bit[i];
    }
    report("bit flips");
    ours += counts[IN_OURS] + counts[MISSED];
    memset(counts, 0, sizeof counts);
    while (time(NULL) < until && strcmp(engine, "lmdb") == 0) damage_page();
    if (strcmp(engine, "lmdb") == 0) report("pages");
    ours += counts[IN_OURS];
    return ours == 0 ? 0 : 1;
}
