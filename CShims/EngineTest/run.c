/*
** run.c - runs the rules, each in a process of its own, and tells how each ended.
**
** Invariant: this process never calls the engine.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "kit.h"

static const kit_rule *const groups[] = {
    rootstock_kit_tree_rules,    rootstock_kit_cursor_rules,      rootstock_kit_snapshot_rules,
    rootstock_kit_several_rules, rootstock_kit_environment_rules, rootstock_kit_random_rules,
    rootstock_kit_writer_rules,  rootstock_kit_process_rules,     rootstock_kit_power_rules,
    rootstock_kit_fault_rules,
};

static const kit_rule *rule_at(size_t n) {
    for (size_t group = 0; group < sizeof groups / sizeof *groups; group++)
        for (const kit_rule *rule = groups[group]; rule->name != NULL; rule++)
            if (n-- == 0) return rule;
    return NULL;
}

const char *rootstock_engine_test_rule(size_t n, const char **sentence) {
    const kit_rule *rule = rule_at(n);
    if (rule != NULL && sentence != NULL) *sentence = rule->sentence;
    return rule == NULL ? NULL : rule->name;
}

const char *rootstock_engine_test_sentence(size_t n) {
#define TEXT(name, text) text,
    static const char *const texts[] = {SENTENCES(TEXT)};
#undef TEXT
    return n < sizeof texts / sizeof *texts ? texts[n] : NULL;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)status, (void)kind, (void)place;
    return remove(path);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Reads until all processes of the rule have gone or time is over. */
static bool read_result(int results, double end, char *text, size_t size) {
    size_t length = 0;
    for (;;) {
        double left = end - now();
        struct pollfd wait = {.fd = results, .events = POLLIN};
        int code = left <= 0 ? 0 : poll(&wait, 1, (int)(left * 1000) + 1);
        if (code < 0 && errno == EINTR) continue;
        if (code <= 0) break;
        char rest[1600];
        ssize_t count = read(results, length < size - 1 ? text + length : rest,
                             length < size - 1 ? size - 1 - length : sizeof rest);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            text[length] = 0;
            return true;
        }
        if (length < size - 1) length += (size_t)count;
    }
    text[length] = 0;
    return false;
}

static _Noreturn void run_rule(kit *k, const kit_rule *rule, const int ends[2]) {
    close(ends[0]);
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    k->results = ends[1];
    k->random = k->seed;
    rule->run(k);
    _exit(0);
}

/* One run of a rule. False: it could not be run. */
static bool run_once(kit *k, const kit_rule *rule, rootstock_engine_test_result *result, char *text, size_t size) {
    int ends[2], status = 0;
    double begin = now();
    uint32_t seconds = k->options->seconds == 0 ? 120 : k->options->seconds;
    if (mkdir(k->directory, 0700) != 0 || pipe(ends) != 0) return false;
    fflush(NULL);
    pid_t process = fork();
    if (process < 0) return false;
    if (process == 0) run_rule(k, rule, ends);
    setpgid(process, process);
    close(ends[1]);
    bool ended = read_result(ends[0], begin + seconds, text, size);
    /* Whatever of the rule still runs: a process that it left behind holds no lock of the next one's stores. */
    if (!ended) kill(-process, SIGKILL);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    kill(-process, SIGKILL);
    close(ends[0]);
    nftw(k->directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    result->rule = rule->name;
    result->sentence = rule->sentence;
    result->words = "";
    result->outcome = ROOTSTOCK_ENGINE_TEST_PASSED;
    result->seconds += now() - begin;
    if (text[0] != 0) {
        /* The sentence, a line end, what was expected. */
        char *words = strchr(text, '\n');
        result->outcome = ROOTSTOCK_ENGINE_TEST_FAILED;
        if (words != NULL) {
            *words = 0;
            result->sentence = text;
            result->words = words + 1;
        }
    } else if (!ended) {
        result->outcome = ROOTSTOCK_ENGINE_TEST_FAILED;
        snprintf(text, size, "every call to return; after %u s one had not", seconds);
        result->words = text;
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        result->outcome = ROOTSTOCK_ENGINE_TEST_FAILED;
        if (WIFSIGNALED(status))
            snprintf(text, size, "every call to return; the process ended by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
        else
            snprintf(text, size, "every call to return; the process ended with status %d", WEXITSTATUS(status));
        result->words = text;
    }
    return true;
}

static const rootstock_engine_test_options defaults;

/* A new folder, for the folders of rules. */
static bool make_base(const rootstock_engine_test_options *options, char *base, size_t size) {
    const char *parent = options->directory != NULL ? options->directory : getenv("TMPDIR");
    if (parent == NULL || parent[0] == 0) parent = "/tmp";
    snprintf(base, size, "%s/rootstock-engine-test-XXXXXX", parent);
    return mkdtemp(base) != NULL;
}

static void remove_base(const char *base) {
    int error = errno;
    nftw(base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    errno = error;
}

static void run_check(kit *k) {
    const char *words = k->check(k->context, k->directory);
    if (words == NULL) return;
    if (dprintf(k->results, "%s\n%s", k->sentence, words) < 0) _exit(3);
}

int rootstock_engine_test_apart(const rootstock_engine_test_options *options, const char *name, const char *sentence,
                                const char *(*check)(void *context, const char *directory), void *context) {
    if (options == NULL) options = &defaults;
    char base[3000], directory[3200], text[8000];
    if (!make_base(options, base, sizeof base)) return -1;
    snprintf(directory, sizeof directory, "%s/check", base);
    kit_rule rule = {.name = name, .sentence = sentence, .run = run_check};
    kit k = {.options = options, .directory = directory, .check = check, .context = context, .sentence = sentence};
    rootstock_engine_test_result result = {0};
    bool able = run_once(&k, &rule, &result, text, sizeof text);
    if (able && options->report != NULL) options->report(options->context, &result);
    remove_base(base);
    return able ? result.outcome == ROOTSTOCK_ENGINE_TEST_FAILED : -1;
}

int rootstock_engine_test(const rootstock_engine *engine, const rootstock_engine_test_options *options) {
    if (options == NULL) options = &defaults;
    char base[3000], directory[3200], text[1700];
    int failures = 0, ran = 0;
    if (!make_base(options, base, sizeof base)) return -1;
    const kit_rule *rule;
    bool able = true;
    for (size_t n = 0; able && (rule = rule_at(n)) != NULL; n++) {
        if (options->only != NULL && strncmp(rule->name, options->only, strlen(options->only)) != 0) continue;
        ran++;
        rootstock_engine_test_result result = {.rule = rule->name, .sentence = rule->sentence, .words = ""};
        const char *reason = rule->skips == NULL ? NULL : rule->skips(engine);
        if (reason != NULL) {
            result.outcome = ROOTSTOCK_ENGINE_TEST_SKIPPED;
            result.words = reason;
        } else {
            uint32_t rounds = rule->random && options->rounds > 1 ? options->rounds : 1;
            for (uint32_t round = 0; able && round < rounds && result.outcome == ROOTSTOCK_ENGINE_TEST_PASSED;
                 round++) {
                snprintf(directory, sizeof directory, "%s/%s", base, rule->name);
                kit k = {.engine = engine,
                         .options = options,
                         .directory = directory,
                         .seed = (options->seed == 0 ? 1 : options->seed) + round};
                able = run_once(&k, rule, &result, text, sizeof text);
            }
        }
        failures += result.outcome == ROOTSTOCK_ENGINE_TEST_FAILED;
        if (able && options->report != NULL) options->report(options->context, &result);
    }
    if (ran == 0) errno = ENOENT;
    remove_base(base);
    return able && ran > 0 ? failures : -1;
}
