/*
** kit.c - calls of an engine for the rules: each asks for what every use of it relies on.
*/
#include "kit.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void kit_broken(kit *k, const char *sentence, const char *format, ...) {
    char words[1000];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    if (length < 0) length = 0;
    if (length >= (int)sizeof words) length = sizeof words - 1;
    /* One write: a pipe takes it whole, whichever process of the rule is first. */
    char line[1600];
    int size = snprintf(line, sizeof line, "%s\n%.*s", sentence, length, words);
    if (write(k->results, line, (size_t)size + 1) < 0) _exit(3);
    _exit(2);
}

void kit_check(kit *k, kit_store *s, const char *sentence, int code, const char *call) {
    if (code == ROOTSTOCK_OK) return;
    kit_broken(k, sentence, "%s to succeed; it gave \"%s\": %s", call, rootstock_code_name(code),
               s->engine->describe(s->environment, code));
}

uint64_t kit_random(kit *k, uint64_t below) {
    uint64_t x = k->random += 0x9E3779B97F4A7C15u; /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return below == 0 ? 0 : (x ^ (x >> 31)) % below;
}

const char *kit_path(kit *k, const char *name) {
    size_t size = strlen(k->directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path == NULL) kit_broken(k, S_CODES, "memory for a path");
    snprintf(path, size, "%s/%s", k->directory, name);
    return path;
}

int kit_try_open(kit *k, const char *path, rootstock_options options, kit_store *s, char **message) {
    rootstock_shared *shared = NULL;
    int code = rootstock_environment_acquire(k->engine, path, &options, &shared, message);
    if (code == ROOTSTOCK_OK) *s = (kit_store){shared, shared->environment, shared->engine};
    return code;
}

kit_store kit_open_with(kit *k, const char *name, rootstock_durability durability) {
    kit_store s = {0};
    char *message = NULL;
    rootstock_options options = k->options->store;
    options.durability = durability;
    int code = kit_try_open(k, kit_path(k, name), options, &s, &message);
    if (code != ROOTSTOCK_OK)
        kit_broken(k, S_CODES, "open to succeed; it gave \"%s\": %s", rootstock_code_name(code),
                   message == NULL ? "" : message);
    return s;
}

kit_store kit_open(kit *k, const char *name) {
    return kit_open_with(k, name, ROOTSTOCK_DURABILITY_OFF);
}

void kit_close(kit_store *s) {
    rootstock_environment_release(s->shared);
}

rootstock_transaction *kit_read(kit *k, kit_store *s) {
    rootstock_transaction *t = NULL;
    kit_check(k, s, S_SNAPSHOT, s->engine->begin(s->environment, 0, NULL, NULL, &t), "begin of a read transaction");
    return t;
}

rootstock_transaction *kit_write(kit *k, kit_store *s) {
    rootstock_transaction *t = NULL;
    int code = s->engine->begin(s->environment, ROOTSTOCK_BEGIN_WRITE, kit_patience, NULL, &t);
    kit_check(k, s, S_OWN_WRITES, code, "begin of the write transaction");
    return t;
}

void kit_commit(kit *k, kit_store *s, rootstock_transaction *t) {
    kit_check(k, s, S_ABORT, s->engine->commit(t), "commit");
}

bool kit_commits(kit *k, kit_store *s, rootstock_transaction *t) {
    int code = s->engine->commit(t);
    if (code == ROOTSTOCK_CONFLICT && (s->engine->capabilities & ROOTSTOCK_CAPABILITY_MANY_WRITERS)) return false;
    kit_check(k, s, S_ABORT, code, "commit");
    return true;
}

void kit_abort(kit_store *s, rootstock_transaction *t) {
    s->engine->abort(t);
}

void kit_renew(kit *k, kit_store *s, rootstock_transaction *t) {
    s->engine->reset(t);
    kit_check(k, s, S_RENEW, s->engine->renew(t), "renew");
}

rootstock_tree kit_create(kit *k, kit_store *s, rootstock_transaction *t, const char *name) {
    rootstock_tree tree = 0;
    kit_check(k, s, S_HANDLE, s->engine->tree_open(t, name, ROOTSTOCK_TREE_CREATE, &tree), "tree_open with CREATE");
    return tree;
}

rootstock_tree kit_tree(kit *k, kit_store *s, rootstock_transaction *t, const char *name) {
    rootstock_tree tree = 0;
    kit_check(k, s, S_HANDLE, s->engine->tree_open(t, name, 0, &tree), "tree_open of a tree that is there");
    return tree;
}

rootstock_tree kit_new_tree(kit *k, kit_store *s, const char *name) {
    for (;;) {
        rootstock_transaction *t = kit_write(k, s);
        rootstock_tree tree = kit_create(k, s, t, name);
        if (kit_commits(k, s, t)) return tree;
    }
}

rootstock_slice kit_slice(const void *data, size_t size) {
    return (rootstock_slice){.size = size, .data = data};
}

rootstock_slice kit_text(const char *text) {
    return kit_slice(text, strlen(text));
}

rootstock_slice kit_number(unsigned char buffer[8], uint64_t number) {
    for (int i = 0; i < 8; i++) buffer[i] = (unsigned char)(number >> (56 - 8 * i));
    return kit_slice(buffer, 8);
}

uint64_t kit_number_of(rootstock_slice slice) {
    uint64_t number = 0;
    for (size_t i = 0; i < slice.size && i < 8; i++) number = number << 8 | ((const unsigned char *)slice.data)[i];
    return number;
}

bool kit_equal(rootstock_slice a, rootstock_slice b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

const char *kit_shown(rootstock_slice slice) {
    static _Thread_local char texts[4][120];
    static _Thread_local int turn;
    char *text = texts[turn++ % 4];
    int at = snprintf(text, sizeof texts[0], "[%zu bytes:", slice.size);
    const unsigned char *bytes = slice.data;
    for (size_t i = 0; i < slice.size && i < 6; i++)
        at += snprintf(text + at, sizeof texts[0] - (size_t)at, " %02x", bytes[i]);
    if (slice.size > 12) at += snprintf(text + at, sizeof texts[0] - (size_t)at, " ..");
    for (size_t i = slice.size > 12 ? slice.size - 6 : 6; i < slice.size; i++)
        at += snprintf(text + at, sizeof texts[0] - (size_t)at, " %02x", bytes[i]);
    snprintf(text + at, sizeof texts[0] - (size_t)at, "]");
    return text;
}

int kit_put_flags(kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key,
                  rootstock_slice value, uint32_t flags) {
    return s->engine->put(t, tree, &key, &value, flags);
}

void kit_put(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key,
             rootstock_slice value) {
    int code = kit_put_flags(s, t, tree, key, value, 0);
    if (code != ROOTSTOCK_OK)
        kit_broken(k, S_SIZES, "put of key %s and a value of %zu bytes to succeed; it gave \"%s\": %s", kit_shown(key),
                   value.size, rootstock_code_name(code), s->engine->describe(s->environment, code));
}

int kit_remove(kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key) {
    return s->engine->remove(t, tree, &key);
}

bool kit_get(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key,
             rootstock_slice *value) {
    int code = s->engine->get(t, tree, &key, value);
    if (code == ROOTSTOCK_NOT_FOUND) return false;
    kit_check(k, s, S_CODES, code, "get");
    return true;
}

void kit_has(kit *k, const char *sentence, kit_store *s, rootstock_transaction *t, rootstock_tree tree,
             rootstock_slice key, const rootstock_slice *value, const char *when) {
    rootstock_slice found = {0};
    bool there = kit_get(k, s, t, tree, key, &found);
    if (value == NULL)
        EXPECT(k, sentence, !there, "get of key %s to give \"not found\" %s; it gave %s", kit_shown(key), when,
               kit_shown(found));
    else
        EXPECT(k, sentence, there && kit_equal(found, *value), "get of key %s to give %s %s; it gave %s",
               kit_shown(key), kit_shown(*value), when, there ? kit_shown(found) : "\"not found\"");
}

rootstock_cursor *kit_cursor(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree) {
    rootstock_cursor *c = NULL;
    kit_check(k, s, S_CODES, s->engine->cursor_open(t, tree, &c), "cursor_open");
    return c;
}

bool kit_move(kit *k, kit_store *s, rootstock_cursor *c, rootstock_move move, rootstock_slice *key,
              rootstock_slice *value) {
    int code = s->engine->cursor_move(c, move, key, value);
    if (code == ROOTSTOCK_NOT_FOUND) return false;
    kit_check(k, s, S_CODES, code, "cursor_move");
    return true;
}

uint64_t kit_count(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree) {
    rootstock_cursor *c = kit_cursor(k, s, t, tree);
    rootstock_slice key = {0}, value = {0};
    uint64_t count = 0;
    while (kit_move(k, s, c, ROOTSTOCK_NEXT, &key, &value)) count++;
    s->engine->cursor_close(c);
    return count;
}

uint64_t kit_entries(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree) {
    rootstock_tree_statistics statistics = {0};
    kit_check(k, s, S_ENTRIES, s->engine->tree_statistics(t, tree, &statistics), "tree_statistics");
    return statistics.entries;
}

/*
** PROCESSES
*/

int kit_start(kit *k, void (*body)(kit *k, void *context), void *context) {
    pid_t process = fork();
    if (process < 0) kit_broken(k, S_CODES, "a process more for the test");
    if (process == 0) {
        body(k, context);
        _exit(0);
    }
    return (int)process;
}

void kit_join(kit *k, int process) {
    int status = 0;
    while (waitpid(process, &status, 0) < 0)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFSIGNALED(status))
        kit_broken(k, S_CODES, "every call to return; a process of the rule ended by signal %d", WTERMSIG(status));
    _exit(2); /* it has told by itself */
}

void kit_apart(kit *k, void (*body)(kit *k, void *context), void *context) {
    kit_join(k, kit_start(k, body, context));
}

kit_pipe kit_pipe_open(kit *k) {
    kit_pipe p;
    if (pipe(p.ends) != 0) kit_broken(k, S_CODES, "a pipe for the test");
    return p;
}

void kit_tell(kit_pipe *p) {
    if (write(p->ends[1], "x", 1) != 1) _exit(3);
}

bool kit_hear(kit_pipe *p) {
    char word;
    return read(p->ends[0], &word, 1) == 1;
}

int kit_patience(void *context, int attempts) {
    (void)attempts;
    if (context != NULL) ++*(int *)context;
    poll(NULL, 0, 1);
    return 1;
}

/*
** WHAT AN ENGINE CLAIMS
*/

const char *kit_needs_files(const rootstock_engine *engine) {
    return engine->capabilities & (ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DIRECTORY)
               ? NULL
               : "the engine keeps no files";
}

const char *kit_needs_kept(const rootstock_engine *engine) {
    uint32_t any = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_DIRECTORY | ROOTSTOCK_CAPABILITY_DURABLE;
    return engine->capabilities & any ? NULL : "a store ends with its process";
}

const char *kit_needs_file(const rootstock_engine *engine) {
    return engine->capabilities & ROOTSTOCK_CAPABILITY_FILE ? NULL : "a store is not a file";
}

const char *kit_needs_durable(const rootstock_engine *engine) {
    return engine->capabilities & ROOTSTOCK_CAPABILITY_DURABLE ? NULL : "the engine does not claim durability";
}

const char *kit_needs_processes(const rootstock_engine *engine) {
    if (kit_needs_kept(engine) != NULL) return kit_needs_kept(engine);
    return engine->capabilities & ROOTSTOCK_CAPABILITY_ONE_PROCESS ? "the engine claims one process only" : NULL;
}

const char *kit_needs_one_writer(const rootstock_engine *engine) {
    if (kit_needs_processes(engine) != NULL) return kit_needs_processes(engine);
    return engine->capabilities & ROOTSTOCK_CAPABILITY_MANY_WRITERS ? "the engine claims MANY_WRITERS" : NULL;
}
