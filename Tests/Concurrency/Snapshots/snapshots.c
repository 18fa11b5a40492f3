/*
** snapshots.c - what others see of a reader, a writer and an opener that is stopped at any one instruction.
**
**   snapshots FOLDER SECONDS
**
** A debugger's means (ptrace) stop a process where no luck would: behind each instruction of a renew, a begin or a
** commit, and at each system call of an opening. There the others do what would harm it. Each transaction puts one
** more key, so of a snapshot the number of entries, which liblmdb tells, and the last key, which is read from the
** pages, are the same number.
**
**   reader    stopped in renew or begin while others commit: its snapshot is of one commit
**   writer    stopped in commit: each snapshot of others is of one commit, and none is older than one before it
**   opener    killed: no commit is lost, numbers go on. Also a read-only one, and a program with plain LMDB
**   numbers   meta pages that do not fit the lock file: nothing is read or written
**
** Exits with 1 and a line `WRONG: ...` at the first fault.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rootstock_lmdb.h"

static char path[4096];
static double seconds;

typedef struct board {
    int over; /* what is to be stopped has ended */
    uint64_t last, count;
} board;
static volatile board *shared;

static _Noreturn void wrong(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("WRONG: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    fflush(stdout);
    _exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/*
** A STORE
*/

typedef struct store {
    const rootstock_engine *engine;
    rootstock_shared *shared;
    rootstock_environment *environment;
    rootstock_transaction *reader;
    rootstock_tree tree;
} store;

static void must(store *of, int code, const char *what) {
    if (code != ROOTSTOCK_OK)
        wrong("%s: %s: %s", what, rootstock_code_name(code), of->engine->describe(of->environment, code));
}

static void open_store(store *of, rootstock_durability durability, int read_only) {
    rootstock_options options = {.durability = durability, .maximum_trees = 16, .read_only = read_only};
    char *message = NULL;
    of->engine = &rootstock_engine_lmdb;
    of->reader = NULL;
    if (rootstock_environment_acquire(of->engine, path, &options, &of->shared, &message) != ROOTSTOCK_OK)
        wrong("open: %s", message != NULL ? message : "?");
    of->environment = of->shared->environment;
}

static void close_store(store *of) {
    if (of->reader != NULL) of->engine->abort(of->reader);
    rootstock_environment_release(of->shared);
}

static void to_bytes(uint64_t number, unsigned char bytes[8]) {
    for (int i = 7; i >= 0; i--, number >>= 8) bytes[i] = (unsigned char)number;
}

static rootstock_transaction *begin_writing(store *of) {
    rootstock_transaction *transaction;
    must(of, of->engine->begin(of->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &transaction), "begin");
    must(of, of->engine->tree_open(transaction, "t", ROOTSTOCK_TREE_CREATE, &of->tree), "tree");
    return transaction;
}

static void put_next(store *of, rootstock_transaction *transaction) {
    rootstock_tree_statistics statistics;
    unsigned char bytes[8];
    must(of, of->engine->tree_statistics(transaction, of->tree, &statistics), "count");
    to_bytes(statistics.entries + 1, bytes);
    rootstock_slice key = {sizeof bytes, bytes}, value = {sizeof bytes, bytes};
    must(of, of->engine->put(transaction, of->tree, &key, &value, 0), "put");
}

static void commit_next(store *of, int times) {
    for (int i = 0; i < times; i++) {
        rootstock_transaction *transaction = begin_writing(of);
        put_next(of, transaction);
        must(of, of->engine->commit(transaction), "commit");
    }
}

/* Of a live reader. */
static void look(store *of, uint64_t *last, uint64_t *count) {
    rootstock_tree_statistics statistics;
    rootstock_cursor *cursor;
    rootstock_slice key, value;
    *last = 0;
    must(of, of->engine->tree_open(of->reader, "t", 0, &of->tree), "tree");
    must(of, of->engine->cursor_open(of->reader, of->tree, &cursor), "cursor");
    must(of, of->engine->cursor_move(cursor, ROOTSTOCK_LAST, &key, &value), "last");
    for (size_t i = 0; i < key.size; i++) *last = *last << 8 | ((const unsigned char *)key.data)[i];
    of->engine->cursor_close(cursor);
    must(of, of->engine->tree_statistics(of->reader, of->tree, &statistics), "count");
    *count = statistics.entries;
}

static void begin_reading(store *of) {
    must(of, of->engine->begin(of->environment, 0, NULL, NULL, &of->reader), "begin");
}

static void remove_store(void) {
    char lock[4200];
    snprintf(lock, sizeof lock, "%s-lock", path);
    unlink(path);
    unlink(lock);
}

static void make_store(int commits) {
    store of;
    remove_store();
    open_store(&of, ROOTSTOCK_DURABILITY_FULL, 0);
    commit_next(&of, commits);
    close_store(&of);
}

/*
** STOPPING
*/

/* The child comes to where it is to be stopped from. */
static void stand_still(void) {
    raise(SIGSTOP);
}

/* A child that runs `run` and is traced; it stands still when this returns. */
static pid_t start_traced(void (*run)(int), int how) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(300);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) wrong("ptrace: %s", strerror(errno));
        run(how);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        wrong("the traced process did not start");
    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
    return child;
}

/* One instruction or system call. False: the child has ended. */
static int step(pid_t child, enum __ptrace_request request) {
    int status;
    if (ptrace(request, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child)
        wrong("a step: %s", strerror(errno));
    if (WIFSIGNALED(status)) wrong("the traced process got signal %d", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) exit(1);
    return WIFSTOPPED(status);
}

/* On to where it stands still again. */
static void finish_round(pid_t child) {
    if (!step(child, PTRACE_CONT)) wrong("the traced process ended too soon");
}

static void end_traced(pid_t child) {
    int status;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
}

/*
** READER
*/

enum { RENEW = 1, BEGIN = 2 };

static void read_on(int how) {
    store of;
    uint64_t last, count;
    open_store(&of, ROOTSTOCK_DURABILITY_OFF, 0);
    begin_reading(&of);
    for (;;) {
        if (how == RENEW)
            of.engine->reset(of.reader);
        else
            of.engine->abort(of.reader);
        shared->over = 0;
        stand_still();
        if (how == RENEW)
            must(&of, of.engine->renew(of.reader), "renew");
        else
            begin_reading(&of);
        shared->over = 1;
        look(&of, &last, &count);
        shared->last = last;
        shared->count = count;
    }
}

static void stop_reader(int how, rootstock_durability durability, int commits, int stride) {
    store of;
    long places = 0;
    double end = now() + seconds;
    make_store(20);
    pid_t child = start_traced(read_on, how);
    open_store(&of, durability, 0);
    for (long place = 0; now() < end; place += stride) {
        long steps = 0;
        while (steps < place && !shared->over) {
            if (!step(child, PTRACE_SINGLESTEP)) wrong("the reader ended");
            steps++;
        }
        int over = shared->over;
        commit_next(&of, commits);
        finish_round(child);
        if (shared->last != shared->count)
            wrong("a reader stopped %ld instructions into its %s, %d commits meanwhile: the last key is %llu, entries "
                  "are %llu",
                  steps, how == RENEW ? "renew" : "begin", commits, (unsigned long long)shared->last,
                  (unsigned long long)shared->count);
        places++;
        if (over) break;
    }
    printf("reader, %s, class %d, %d commits meanwhile: stopped at %ld places%s\n", how == RENEW ? "renew" : "begin",
           (int)durability, commits, places, now() < end ? "" : ", out of time");
    end_traced(child);
    close_store(&of);
}

/*
** WRITER
*/

static void write_on(int how) {
    store of;
    open_store(&of, (rootstock_durability)how, 0);
    for (;;) {
        rootstock_transaction *transaction = begin_writing(&of);
        put_next(&of, transaction);
        shared->over = 0;
        stand_still();
        must(&of, of.engine->commit(transaction), "commit");
        shared->over = 1;
        stand_still();
    }
}

static void stop_writer(rootstock_durability durability) {
    store of;
    uint64_t last, count, before = 0;
    long places = 0, commits = 0;
    double end = now() + seconds / 3;
    make_store(20);
    pid_t child = start_traced(write_on, durability);
    open_store(&of, ROOTSTOCK_DURABILITY_FULL, 0);
    begin_reading(&of);
    for (; commits < 5 && now() < end; commits++) {
        do {
            of.engine->reset(of.reader);
            must(&of, of.engine->renew(of.reader), "renew");
            look(&of, &last, &count);
            if (last != count || last < before)
                wrong("beside a commit of class %d, stopped at its instruction %ld: the last key is %llu, entries are "
                      "%llu, before it "
                      "was %llu",
                      (int)durability, places, (unsigned long long)last, (unsigned long long)count,
                      (unsigned long long)before);
            before = last;
            places++;
        } while (step(child, PTRACE_SINGLESTEP) && !shared->over);
        finish_round(child); /* behind the commit */
        of.engine->reset(of.reader);
        must(&of, of.engine->renew(of.reader), "renew");
        look(&of, &last, &count);
        if (last != 21 + (uint64_t)commits || count != last)
            wrong("behind commit %ld: last key %llu", commits + 1, (unsigned long long)last);
        finish_round(child); /* before the next */
    }
    printf("writer, class %d: %ld commits, looked at from %ld places\n", (int)durability, commits, places);
    end_traced(child);
    close_store(&of);
}

/*
** OPENER
*/

enum { WRITES, READS, PLAIN };

static void open_and_stay(int how) {
    store of;
    MDB_env *env;
    shared->over = 0;
    stand_still();
    if (how != PLAIN)
        open_store(&of, ROOTSTOCK_DURABILITY_FULL, how == READS);
    else if (mdb_env_create(&env) != 0 || mdb_env_set_maxreaders(env, 510) != 0 ||
             mdb_env_open(env, path, MDB_NOSUBDIR, 0644) != 0)
        wrong("plain LMDB does not open it");
    shared->over = 1;
    pause();
}

static uint64_t last_number(void) {
    uint64_t numbers[2] = {0, 0};
    int file = open(path, O_RDONLY);
    for (int i = 0; i < 2; i++)
        if (pread(file, &numbers[i], 8, i * 4096 + 144) != 8) wrong("no meta page");
    close(file);
    return numbers[0] > numbers[1] ? numbers[0] : numbers[1];
}

static void kill_opener(int how) {
    const char *names[] = {"for writing", "read-only", "by plain LMDB"};
    double end = now() + seconds;
    long place = 0;
    int over = 0, status;
    uint64_t rows = 20;
    make_store((int)rows);
    for (; !over && now() < end; place++) {
        uint64_t number = last_number();
        pid_t first = start_traced(open_and_stay, how);
        for (long i = 0; i < place && !shared->over; i++)
            if (!step(first, PTRACE_SYSCALL)) wrong("the opener ended");
        over = shared->over;
        fflush(stdout);
        pid_t second = fork();
        if (second == 0) {
            store of;
            alarm(60);
            open_store(&of, ROOTSTOCK_DURABILITY_FULL, 0);
            commit_next(&of, 3);
            close_store(&of);
            _exit(0);
        }
        usleep(4000);
        end_traced(first);
        if (waitpid(second, &status, 0) != second || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
            wrong("the second opener failed: first one, %s, killed at stop %ld", names[how], place);
        rows += 3;
        store of;
        uint64_t last, count;
        open_store(&of, ROOTSTOCK_DURABILITY_FULL, 0);
        begin_reading(&of);
        look(&of, &last, &count);
        close_store(&of);
        if (last != rows || count != rows || last_number() != number + 3)
            wrong("an opener %s was killed at stop %ld of its system calls: last key %llu, entries %llu of %llu, "
                  "commit %llu after %llu",
                  names[how], place, (unsigned long long)last, (unsigned long long)count, (unsigned long long)rows,
                  (unsigned long long)last_number(), (unsigned long long)number);
    }
    printf("opener %s: killed at %ld places%s\n", names[how], place, over ? "" : ", out of time");
}

/*
** NUMBERS
*/

static void add_to_numbers(int file, int64_t more) {
    for (int i = 0; i < 2; i++) {
        uint64_t number;
        if (pread(file, &number, 8, i * 4096 + 144) != 8) wrong("no meta page");
        number += (uint64_t)more;
        if (pwrite(file, &number, 8, i * 4096 + 144) != 8) wrong("a meta page cannot be written");
    }
}

static void check_refused(store *of, int code, const char *what, int64_t more) {
    const char *text = of->engine->describe(of->environment, code);
    if (code != ROOTSTOCK_CORRUPT || strstr(text, "counts other commits") == NULL)
        wrong("%s with meta pages %+lld commits from what they were: %s: %s", what, (long long)more,
              rootstock_code_name(code), text);
}

static void change_numbers(int64_t more, int read_first) {
    store of;
    rootstock_transaction *transaction;
    uint64_t last, count;
    make_store(20);
    open_store(&of, ROOTSTOCK_DURABILITY_FULL, 0);
    commit_next(&of, 1);
    begin_reading(&of);
    of.engine->reset(of.reader);
    int file = open(path, O_RDWR);
    add_to_numbers(file, more);
    if (read_first) check_refused(&of, of.engine->renew(of.reader), "a renew", more);
    check_refused(&of, of.engine->begin(of.environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &transaction), "a write",
                  more);
    check_refused(&of, of.engine->renew(of.reader), "a renew", more);
    add_to_numbers(file, -more);
    close(file);
    /* Whoever has met that writes no more, though it may read. */
    check_refused(&of, of.engine->begin(of.environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &transaction),
                  "a later write", more);
    must(&of, of.engine->renew(of.reader), "renew");
    look(&of, &last, &count);
    close_store(&of);
    open_store(&of, ROOTSTOCK_DURABILITY_FULL, 0);
    commit_next(&of, 1);
    close_store(&of);
    if (last != 21 || count != 21) wrong("meta pages changed and put back: last key %llu", (unsigned long long)last);
}

int main(int count, char **arguments) {
    char folder[3000];
    if (count != 3 || realpath(arguments[1], folder) == NULL) {
        fputs("usage: snapshots FOLDER SECONDS\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    seconds = atof(arguments[2]);
    snprintf(path, sizeof path, "%s/store", folder);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) wrong("no memory");
    alarm(600);
    stop_reader(RENEW, ROOTSTOCK_DURABILITY_OFF, 2, 1);
    stop_reader(RENEW, ROOTSTOCK_DURABILITY_OFF, 3, 1);
    stop_reader(RENEW, ROOTSTOCK_DURABILITY_FULL, 2, 1);
    stop_reader(BEGIN, ROOTSTOCK_DURABILITY_OFF, 2, 7);
    stop_writer(ROOTSTOCK_DURABILITY_OFF);
    stop_writer(ROOTSTOCK_DURABILITY_NORMAL);
    stop_writer(ROOTSTOCK_DURABILITY_FULL);
    kill_opener(WRITES);
    kill_opener(READS);
    kill_opener(PLAIN);
    for (int more = -6; more <= 6; more += 2) /* an odd one gives each page the other's place */
        if (more != 0) change_numbers(more, more % 4 == 0);
    change_numbers(-21, 1);
    change_numbers(1 << 20, 0);
    printf("numbers: nothing read or written where they do not fit\n");
    return 0;
}
