/*
** Databases that a user may only read: another's, in a folder that he may not write, marked as such, without bytes,
** beside a writer of another user. Natively the same program answers the same. It drops root's rights, and does nothing
** without them.
*/
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static char folder[] = "/tmp/only-readable-XXXXXX";

static const char *in_folder(const char *name) {
    static char path[4][256];
    static int next;
    char *to = path[next++ & 3];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static sqlite3 *opened(const char *name, int flags) {
    sqlite3 *db = NULL;
    int code = sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_URI, NULL);
    if (code != SQLITE_OK) printf("not opened: %d %s\n", code & 0xff, sqlite3_errmsg(db));
    return db;
}

static int row(void *context, int count, char **values, char **names) {
    (void)context, (void)count, (void)names;
    printf(" %s", values[0] == NULL ? "NULL" : values[0]);
    return 0;
}

static int run(sqlite3 *db, const char *sql) {
    printf("  %s:", sql);
    int code = sqlite3_exec(db, sql, row, NULL, NULL);
    if (code != SQLITE_OK) printf(" %d %s", code & 0xff, sqlite3_errmsg(db));
    printf("\n");
    return code;
}

static void quiet(sqlite3 *db, const char *sql) {
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) printf("%s: %s\n", sql, sqlite3_errmsg(db));
}

static void make(const char *name, mode_t mode) {
    sqlite3 *db = opened(in_folder(name), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    quiet(db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE INDEX i ON t (b);"
              "INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    sqlite3_close(db);
    if (chmod(in_folder(name), mode) != 0) perror(name);
}

/* In a process of its own, as nobody. */
static pid_t as_nobody(void (*what)(const char *), const char *name) {
    fflush(stdout);
    pid_t child = fork();
    if (child != 0) return child;
    if (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0) _exit(9);
    what(name);
    fflush(stdout);
    _exit(0);
}

static void wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) printf("status %d\n", status);
}

static void reads(const char *name) {
    static const struct {
        const char *parameters;
        int flags;
    } ways[] = {{"", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE},
                {"", SQLITE_OPEN_READWRITE},
                {"", SQLITE_OPEN_READONLY},
                {"?mode=ro", SQLITE_OPEN_READWRITE},
                {"?immutable=1", SQLITE_OPEN_READWRITE}};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char uri[300];
        snprintf(uri, sizeof uri, "file:%s%s", in_folder(name), ways[i].parameters);
        printf("%s%s, flags %d\n", name, ways[i].parameters, ways[i].flags);
        sqlite3 *db = opened(uri, ways[i].flags), *second = opened(uri, ways[i].flags);
        printf("  readonly %d\n", sqlite3_db_readonly(db, "main"));
        run(db, "SELECT b FROM t ORDER BY b");
        run(db, "INSERT INTO t VALUES (4, 'four')");
        run(db, "CREATE TABLE u (a)");
        run(db, "CREATE TEMP TABLE v AS SELECT count(*) AS n FROM main.t");
        run(db, "SELECT n FROM v");
        run(db, "BEGIN; SELECT max(a) FROM t");
        run(second, "SELECT min(a) FROM t");
        run(db, "DELETE FROM t");
        run(db, "COMMIT");
        run(db, "BEGIN IMMEDIATE; SELECT max(a) FROM t; COMMIT");
        run(db, "BEGIN EXCLUSIVE; SELECT max(a) FROM t");
        run(db, "UPDATE t SET b = NULL");
        run(db, "ROLLBACK");
        run(db, "VACUUM");
        run(db, "PRAGMA integrity_check");
        sqlite3_close(second);
        sqlite3_close(db);
    }
    for (int i = 0; i < 2; i++) {
        sqlite3 *db = opened(":memory:", SQLITE_OPEN_READWRITE);
        char sql[300];
        snprintf(sql, sizeof sql, "ATTACH 'file:%s%s' AS x", in_folder(name), i == 0 ? "" : "?mode=ro");
        quiet(db, sql);
        printf("attached, readonly %d %d %d\n", sqlite3_db_readonly(db, "x"), sqlite3_db_readonly(db, "main"),
               sqlite3_db_readonly(db, "y"));
        run(db, "SELECT b FROM x.t ORDER BY a");
        run(db, "DELETE FROM x.t");
        run(db, "CREATE TABLE x.u (a)");
        run(db, "BEGIN IMMEDIATE; CREATE TABLE kept AS SELECT a FROM x.t");
        run(db, "DELETE FROM x.t");
        run(db, "COMMIT; SELECT count(*) FROM kept");
        sqlite3_close(db);
    }
}

/* The folder tells what it may not be written, SQLite more exactly than by the primary code. */
static void reads_in_folder(const char *name) {
    sqlite3 *db = opened(in_folder(name), SQLITE_OPEN_READWRITE);
    printf("%s, in a folder that may not be written\n", name);
    run(db, "SELECT b FROM t ORDER BY a");
    run(db, "UPDATE t SET b = 'x'");
    run(db, "SELECT b FROM t ORDER BY a");
    sqlite3_close(db);
}

static void cannot(const char *name) {
    sqlite3 *db = NULL;
    printf("%s\n", name);
    db = opened(in_folder(name), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    run(db, "SELECT count(*) FROM sqlite_schema");
    run(db, "CREATE TABLE t (a)");
    sqlite3_close(db);
}

static int to_child[2], to_parent[2];

static void say(int descriptor) {
    fflush(stdout);
    if (write(descriptor, "", 1) != 1) abort();
}

static void hear(int descriptor) {
    char byte;
    if (read(descriptor, &byte, 1) != 1) abort();
}

static void reads_beside(const char *name) {
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = opened(in_folder(name), SQLITE_OPEN_READONLY);
    printf("beside a writer\n");
    run(db, "SELECT count(*), sum(length(b)) FROM t");
    for (int turn = 0; turn < 3; turn++) {
        say(to_parent[1]);
        hear(to_child[0]);
        run(db, "SELECT count(*) FROM t WHERE b LIKE 'row%'");
    }
    printf("  a statement is open\n");
    sqlite3_prepare_v2(db, "SELECT b FROM t ORDER BY a", -1, &statement, NULL);
    sqlite3_step(statement);
    say(to_parent[1]);
    hear(to_child[0]);
    int rows = 1;
    while (sqlite3_step(statement) == SQLITE_ROW) rows++;
    printf("  %d rows\n", rows);
    sqlite3_finalize(statement);
    say(to_parent[1]);
    hear(to_child[0]);
    run(db, "SELECT count(*) FROM t");
    sqlite3_close(db);
}

static void beside_a_writer(const char *name) {
    if (pipe(to_child) != 0 || pipe(to_parent) != 0) abort();
    pid_t child = as_nobody(reads_beside, name);
    sqlite3 *db = opened(in_folder(name), SQLITE_OPEN_READWRITE);
    for (int turn = 0; turn < 3; turn++) {
        hear(to_parent[0]);
        quiet(db, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
                  "INSERT INTO t (b) SELECT 'row ' || i FROM n; DELETE FROM t WHERE b LIKE '%7'");
        say(to_child[1]);
    }
    hear(to_parent[0]);
    run(db, "DELETE FROM t WHERE a > 3"); /* which the reader keeps waiting */
    run(db, "SELECT count(*) > 1000 FROM t");
    say(to_child[1]);
    hear(to_parent[0]);
    run(db, "DELETE FROM t WHERE a > 3");
    say(to_child[1]);
    wait_for(child);
    sqlite3_close(db);
}

/* The copy is its maker's to write. */
static void copies(const char *name) {
    char sql[300];
    sqlite3 *db = opened(in_folder(name), SQLITE_OPEN_READONLY);
    printf("%s copied\n", name);
    snprintf(sql, sizeof sql, "VACUUM INTO '%s'", in_folder("copy.db"));
    quiet(db, sql);
    sqlite3_close(db);
    db = opened(in_folder("copy.db"), SQLITE_OPEN_READWRITE);
    run(db, "INSERT INTO t VALUES (4, 'four'); SELECT b FROM t ORDER BY b");
    sqlite3_close(db);
}

static void unmarks(const char *name) {
    if (chmod(in_folder(name), 0644) != 0) perror(name);
    sqlite3 *db = opened(in_folder(name), SQLITE_OPEN_READWRITE);
    run(db, "INSERT INTO t VALUES (5, 'five'); SELECT b FROM t ORDER BY a");
    sqlite3_close(db);
}

/* Root writes to a marked one, and does not close it. Its owner may write once he has unmarked it. */
static void owner_after_root(const char *name) {
    make(name, 0444);
    if (chown(in_folder(name), NOBODY, NOBODY) != 0) abort();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run(opened(in_folder(name), SQLITE_OPEN_READWRITE), "INSERT INTO t VALUES (4, 'four')");
        fflush(stdout);
        _exit(0);
    }
    wait_for(child);
    wait_for(as_nobody(unmarks, name));
}

static void shown(const char *name) {
    printf("%s there: %d\n", name, access(in_folder(name), F_OK) == 0);
}

int main(void) {
    if (geteuid() != 0) {
        printf("skipped, for want of root's rights to drop\n");
        return 0;
    }
    umask(022);
    if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0) return 1;
    make("others.db", 0644);
    wait_for(as_nobody(reads, "others.db"));
    make("anybodys.db", 0666);
    wait_for(as_nobody(reads_in_folder, "anybodys.db"));
    make("secret.db", 0600);
    wait_for(as_nobody(cannot, "secret.db"));
    wait_for(as_nobody(cannot, "missing.db"));
    close(open(in_folder("empty.db"), O_CREAT | O_WRONLY, 0644));
    wait_for(as_nobody(cannot, "empty.db"));
    make("beside.db", 0644);
    beside_a_writer("beside.db");
    /* His own, marked; and another's, where he may make files: none is left there. */
    if (chmod(folder, 0777) != 0) return 1;
    make("marked.db", 0444);
    if (chown(in_folder("marked.db"), NOBODY, NOBODY) != 0) return 1;
    wait_for(as_nobody(reads, "marked.db"));
    wait_for(as_nobody(copies, "marked.db"));
    owner_after_root("left.db");
    wait_for(as_nobody(reads, "others.db"));
    shown("others.db-lock");
    sqlite3 *db = opened(in_folder("others.db"), SQLITE_OPEN_READWRITE);
    run(db, "INSERT INTO t VALUES (4, 'four')");
    sqlite3_close(db);
    static const char *const names[] = {"others.db", "anybodys.db", "secret.db", "empty.db",    "beside.db",
                                        "marked.db", "copy.db",     "left.db",   "left.db-lock"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unlink(in_folder(names[i]));
    printf("folder empty: %d\n", rmdir(folder) == 0);
    return 0;
}
