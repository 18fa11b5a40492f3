/*
** kit.h - what the rules are written with.
**
** Invariant: a rule that finds a sentence broken ends its process at once (kit_broken). So no rule has to clean up
** after a failure, and no call of the engine goes unchecked: what a rule does not ask about, kit_... asks for it.
*/
#ifndef ROOTSTOCK_ENGINE_TEST_KIT_H
#define ROOTSTOCK_ENGINE_TEST_KIT_H

#include <stdbool.h>

#include "rootstock_engine_test.h"
#include "sentences.h"

typedef struct kit {
    const rootstock_engine *engine;
    const rootstock_engine_test_options *options;
    const char *directory; /* of this rule alone */
    int results;           /* where kit_broken writes to */
    uint64_t random;       /* state of kit_random */
    uint64_t seed;
    const char *(*check)(void *context, const char *directory); /* of the caller's; null in a rule of ours */
    void *context;                                              /* of check */
    const char *sentence;                                       /* of check */
} kit;

typedef struct kit_store {
    rootstock_shared *shared;
    rootstock_environment *environment;
    const rootstock_engine *engine; /* whose functions serve it */
} kit_store;

typedef struct kit_rule {
    const char *name;
    const char *sentence;
    void (*run)(kit *k);
    /* Null: for every engine. Else why it is not for this one, or null. */
    const char *(*skips)(const rootstock_engine *engine);
    bool random; /* runs `rounds` times, with a seed each */
} kit_rule;

extern const kit_rule rootstock_kit_tree_rules[], rootstock_kit_cursor_rules[], rootstock_kit_snapshot_rules[],
    rootstock_kit_several_rules[], rootstock_kit_environment_rules[], rootstock_kit_process_rules[],
    rootstock_kit_fault_rules[], rootstock_kit_random_rules[], rootstock_kit_writer_rules[],
    rootstock_kit_power_rules[]; /* each ends with a null name */

/* Tells that the sentence is broken, and ends the process. */
_Noreturn void kit_broken(kit *k, const char *sentence, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* EXPECT(k, S_ORDER, condition, "key %d first, found %d", ...) */
#define EXPECT(k, sentence, condition, ...)                                                                            \
    do {                                                                                                               \
        if (!(condition)) kit_broken((k), (sentence), __VA_ARGS__);                                                    \
    } while (0)

/* The code is one of a call that must succeed. */
void kit_check(kit *k, kit_store *s, const char *sentence, int code, const char *call);

uint64_t kit_random(kit *k, uint64_t below);

/* "directory/name"; the text lives as long as the process. */
const char *kit_path(kit *k, const char *name);

int kit_try_open(kit *k, const char *path, rootstock_options options, kit_store *s, char **message);
/* Opens with durability off, which suffices for what is not about durability. */
kit_store kit_open(kit *k, const char *name);
kit_store kit_open_with(kit *k, const char *name, rootstock_durability durability);
void kit_close(kit_store *s);

rootstock_transaction *kit_read(kit *k, kit_store *s);
rootstock_transaction *kit_write(kit *k, kit_store *s);
void kit_commit(kit *k, kit_store *s, rootstock_transaction *t);
/* The same; false where another writer was in the way, on an engine on which several write. */
bool kit_commits(kit *k, kit_store *s, rootstock_transaction *t);
void kit_abort(kit_store *s, rootstock_transaction *t);
void kit_renew(kit *k, kit_store *s, rootstock_transaction *t);
rootstock_tree kit_create(kit *k, kit_store *s, rootstock_transaction *t, const char *name);
rootstock_tree kit_tree(kit *k, kit_store *s, rootstock_transaction *t, const char *name);
/* A new tree of that name, committed. */
rootstock_tree kit_new_tree(kit *k, kit_store *s, const char *name);

rootstock_slice kit_slice(const void *data, size_t size);
rootstock_slice kit_text(const char *text);
/* A key of 8 bytes in the order of the numbers, in a buffer that the call names. */
rootstock_slice kit_number(unsigned char buffer[8], uint64_t number);
#define KEY(n) kit_number((unsigned char[8]){0}, (uint64_t)(n))
uint64_t kit_number_of(rootstock_slice slice);
bool kit_equal(rootstock_slice a, rootstock_slice b);
/* "16 bytes, 00 01 .. 0f", for messages; a few live at a time. */
const char *kit_shown(rootstock_slice slice);

/* put without flags, which must succeed. */
void kit_put(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key,
             rootstock_slice value);
int kit_put_flags(kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key,
                  rootstock_slice value, uint32_t flags);
int kit_remove(kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key);
/* Whether the key is there; other codes end the rule. */
bool kit_get(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree, rootstock_slice key,
             rootstock_slice *value);
/* get gives this value, or with null that there is none; else the sentence is broken. */
void kit_has(kit *k, const char *sentence, kit_store *s, rootstock_transaction *t, rootstock_tree tree,
             rootstock_slice key, const rootstock_slice *value, const char *when);
rootstock_cursor *kit_cursor(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree);
/* Whether there was an entry; *key and *value are it then. For SEEK and EXACT *key is sought. */
bool kit_move(kit *k, kit_store *s, rootstock_cursor *c, rootstock_move move, rootstock_slice *key,
              rootstock_slice *value);
/* Entries by a cursor from the first on; each key and value is held against what the number at its place says. */
uint64_t kit_count(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree);
uint64_t kit_entries(kit *k, kit_store *s, rootstock_transaction *t, rootstock_tree tree);

/* Runs body in a process of its own, which may end the rule by kit_broken, and waits for it. */
void kit_apart(kit *k, void (*body)(kit *k, void *context), void *context);
/* The same without waiting; kit_join waits. A process killed on purpose is waited for with waitpid. */
int kit_start(kit *k, void (*body)(kit *k, void *context), void *context);
void kit_join(kit *k, int process);

/* A pipe between processes of a rule: words of a byte each. */
typedef struct kit_pipe {
    int ends[2];
} kit_pipe;
kit_pipe kit_pipe_open(kit *k);
void kit_tell(kit_pipe *p);
/* False where the others have gone. */
bool kit_hear(kit_pipe *p);
/* For ever: sleeps a little and says try again; *context counts the questions as an int. */
int kit_patience(void *context, int attempts);

/* A writer that tells of each commit when it has returned, and is ended somehow. */
typedef struct kit_commits_told {
    const char *sentence; /* broken where one is lost */
    rootstock_durability durability;
    kit_pipe commits;
    uint64_t first, most; /* numbers of the commits that it makes */
    uint64_t told;        /* the last that must be there */
} kit_commits_told;
/* Makes them; context is a kit_commits_told, of both. */
void kit_commit_on(kit *k, void *context);
/* Looks for them in the store, and tells of each that is there. */
void kit_look_after(kit *k, void *context);

/* Why a rule is not for an engine. */
const char *kit_needs_files(const rootstock_engine *engine);
/* A store that another process can open: in files, or in a server. */
const char *kit_needs_kept(const rootstock_engine *engine);
const char *kit_needs_file(const rootstock_engine *engine);
const char *kit_needs_durable(const rootstock_engine *engine);
const char *kit_needs_processes(const rootstock_engine *engine);
/* Several processes of which one writes at a time. */
const char *kit_needs_one_writer(const rootstock_engine *engine);

#endif
