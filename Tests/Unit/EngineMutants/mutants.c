/*
** mutants.c - the engine lmdb, broken in one way each: what the engine test must notice, and by which rule.
**
** Invariant: a mutant differs from the sound engine in the functions that its row names, and in nothing else.
**
**   mutants                 every mutant; fails where the engine test does not name the rule that the mutant breaks
**   mutants NAME [RULE]     the engine test on one engine or mutant, told rule by rule
**
** Built as a shared library it is engine "mutant", broken as ROOTSTOCK_MUTANT names, for `rootstock --load-engine`.
*/
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootstock_engine_test.h"
#include "rootstock_lmdb.h"
#include "rootstock_sqlite_btree.h"

static rootstock_engine sound;

#include "many.h"
#include "openings.h"

/* Which transactions are live: a rule has a handful at a time, all of one process. */
typedef struct live {
    rootstock_transaction *transaction;
    rootstock_environment *environment;
    int writes, removed;
} live;
static _Thread_local live known[32];

static live *find(rootstock_transaction *t) {
    for (int i = 0; i < 32; i++)
        if (known[i].transaction == t) return &known[i];
    return NULL;
}

static int note_begin(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                      rootstock_transaction **t) {
    int code = sound.begin(e, flags, busy, context, t);
    live *one = find(NULL);
    if (code == ROOTSTOCK_OK && one != NULL) *one = (live){*t, e, flags != 0, 0};
    return code;
}

static int note_commit(rootstock_transaction *t) {
    live *one = find(t);
    if (one != NULL) one->transaction = NULL;
    return sound.commit(t);
}

static void note_abort(rootstock_transaction *t) {
    live *one = find(t);
    if (one != NULL) one->transaction = NULL;
    sound.abort(t);
}

/* get beside a snapshot reads the newest state. */
static _Thread_local char newest[1 << 16];
static int get_newest(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                      rootstock_slice *value) {
    live *one = find(t);
    rootstock_transaction *now;
    if (one == NULL || one->writes || sound.begin(one->environment, 0, NULL, NULL, &now) != ROOTSTOCK_OK)
        return sound.get(t, tree, key, value);
    int code = sound.get(now, tree, key, value);
    if (code == ROOTSTOCK_OK && value->size <= sizeof newest) {
        memcpy(newest, value->data, value->size);
        value->data = newest;
    }
    sound.abort(now);
    return code;
}

static int several_newest(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *keys,
                          rootstock_slice *values, uint32_t count) {
    static char room[1000][8];
    for (uint32_t i = 0; i < count; i++) {
        values[i].data = NULL;
        if (get_newest(t, tree, &keys[i], &values[i]) != ROOTSTOCK_OK) values[i].data = NULL;
        if (values[i].data != NULL && values[i].size <= 8)
            values[i].data = memcpy(room[i % 1000], values[i].data, values[i].size);
    }
    return ROOTSTOCK_OK;
}

static int several_forgets(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *keys,
                           rootstock_slice *values, uint32_t count) {
    int code = sound.get_several(t, tree, keys, values, count);
    if (count > 16) values[16].data = NULL;
    return code;
}

/* The log is off: what was committed reaches the path when the environment is closed. */
static char kept_path[4096], work_path[4200];
static int open_without_log(const rootstock_engine *engine, const char *path, const rootstock_options *options,
                            rootstock_environment **e, char **message) {
    char command[9000];
    snprintf(kept_path, sizeof kept_path, "%s", path);
    snprintf(work_path, sizeof work_path, "%s.%d", path, (int)getpid());
    snprintf(command, sizeof command, "test -s '%s' && cp '%s' '%s'; : >>'%s'", path, path, work_path, path);
    if (system(command) != 0) return ROOTSTOCK_CANNOT_OPEN;
    return sound.open(engine, work_path, options, e, message);
}
static void close_without_log(rootstock_environment *e) {
    sound.close(e);
    rename(work_path, kept_path);
}

/* Keys are compared by their length first. */
static _Thread_local unsigned char room[2000];
static rootstock_slice lengthened(const rootstock_slice *key) {
    if (key->size == 0 || key->size + 2 > sizeof room) return *key;
    room[0] = (unsigned char)(key->size >> 8);
    room[1] = (unsigned char)key->size;
    memcpy(room + 2, key->data, key->size);
    return (rootstock_slice){key->size + 2, room};
}
static int get_by_length(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                         rootstock_slice *value) {
    rootstock_slice longer = lengthened(key);
    return sound.get(t, tree, &longer, value);
}
static int put_by_length(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                         rootstock_slice *value, uint32_t flags) {
    rootstock_slice longer = lengthened(key);
    return sound.put(t, tree, &longer, value, flags);
}
static int remove_by_length(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    rootstock_slice longer = lengthened(key);
    return sound.remove(t, tree, &longer);
}
static int move_by_length(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    rootstock_slice longer = move >= ROOTSTOCK_SEEK ? lengthened(key) : *key;
    int code = sound.cursor_move(c, move, &longer, value);
    *key = code == ROOTSTOCK_OK && longer.size > 2 ? (rootstock_slice){longer.size - 2, (const char *)longer.data + 2}
                                                   : longer;
    return code;
}
static size_t key_size_by_length(rootstock_environment *e) {
    return sound.maximum_key_size(e) - 2;
}

static int put_overwrites(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                          rootstock_slice *value, uint32_t flags) {
    return sound.put(t, tree, key, value, flags & ~ROOTSTOCK_PUT_NO_OVERWRITE);
}
static int put_appends_anywhere(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                                rootstock_slice *value, uint32_t flags) {
    return sound.put(t, tree, key, value, flags & ~ROOTSTOCK_PUT_APPEND);
}
static int put_empty_key(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                         rootstock_slice *value, uint32_t flags) {
    return key->size == 0 ? ROOTSTOCK_OK : sound.put(t, tree, key, value, flags);
}
static int put_short(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value,
                     uint32_t flags) {
    if (value->size > 0xFFFF && !(flags & ROOTSTOCK_PUT_RESERVE)) value->size &= 0xFFFF;
    return sound.put(t, tree, key, value, flags);
}
static int get_no_empty_values(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                               rootstock_slice *value) {
    int code = sound.get(t, tree, key, value);
    return code == ROOTSTOCK_OK && value->size == 0 ? ROOTSTOCK_NOT_FOUND : code;
}
/* A buffer a thread for what get gives. */
static int get_moving(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                      rootstock_slice *value) {
    int code = sound.get(t, tree, key, value);
    if (code == ROOTSTOCK_OK && value->size <= sizeof newest) value->data = memcpy(newest, value->data, value->size);
    return code;
}
static int move_moving(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    int code = sound.cursor_move(c, move, key, value);
    if (code == ROOTSTOCK_OK && value->size <= sizeof newest) value->data = memcpy(newest, value->data, value->size);
    return code;
}

static void abort_commits(rootstock_transaction *t) {
    live *one = find(t);
    int writes = one != NULL && one->writes;
    if (one != NULL) one->transaction = NULL;
    if (writes)
        (void)sound.commit(t);
    else
        sound.abort(t);
}
static int commit_forgets(rootstock_transaction *t) {
    static _Thread_local int turn;
    live *one = find(t);
    int writes = one != NULL && one->writes;
    if (one != NULL) one->transaction = NULL;
    if (!writes || ++turn % 7 != 0) return sound.commit(t);
    sound.abort(t);
    return ROOTSTOCK_OK;
}
static void reset_not(rootstock_transaction *t) {
    (void)t;
}
static int renew_not(rootstock_transaction *t) {
    (void)t;
    return ROOTSTOCK_OK;
}
static uint64_t identifier_of_writer(rootstock_transaction *t) {
    live *one = find(t);
    return sound.transaction_identifier(t) - (one != NULL && one->writes);
}
static uint64_t last_commit_behind(rootstock_environment *e) {
    uint64_t last = sound.last_commit(e);
    return last > 1 ? last - 1 : last;
}

static int clear_some(rootstock_transaction *t, rootstock_tree tree) {
    rootstock_cursor *c;
    rootstock_slice key = {0}, value = {0};
    if (sound.cursor_open(t, tree, &c) != ROOTSTOCK_OK) return ROOTSTOCK_IO;
    for (int i = 0; i < 100 && sound.cursor_move(c, ROOTSTOCK_FIRST, &key, &value) == ROOTSTOCK_OK; i++) {
        char copy[600];
        rootstock_slice own = {key.size, memcpy(copy, key.data, key.size)};
        if (sound.remove(t, tree, &own) != ROOTSTOCK_OK) break;
    }
    sound.cursor_close(c);
    return ROOTSTOCK_OK;
}
static int statistics_off(rootstock_transaction *t, rootstock_tree tree, rootstock_tree_statistics *s) {
    int code = sound.tree_statistics(t, tree, s);
    s->entries += s->entries > 100;
    return code;
}
static int no_readers(rootstock_environment *e, rootstock_environment_statistics *s) {
    int code = sound.environment_statistics(e, s);
    s->readers = 0;
    return code;
}
static const char *silent(rootstock_environment *e, int code) {
    (void)e, (void)code;
    return "";
}
static int one_tree(rootstock_transaction *t, const char *name, uint32_t flags, rootstock_tree *tree) {
    return sound.tree_open(t, strcmp(name, "b") == 0 ? "a" : name, flags, tree);
}

/* SEEK finds what is there, not what is above it. */
static int move_seek_exact(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    return sound.cursor_move(c, move == ROOTSTOCK_SEEK ? ROOTSTOCK_EXACT : move, key, value);
}
static int move_no_last(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    static _Thread_local rootstock_cursor *placed;
    int nowhere = placed != c;
    int code = move == ROOTSTOCK_PREVIOUS && nowhere ? ROOTSTOCK_NOT_FOUND : sound.cursor_move(c, move, key, value);
    placed = code == ROOTSTOCK_OK ? c : NULL;
    return code;
}
/* An entry removed under a cursor takes its neighbour with it. */
static _Thread_local int just_removed;
static int remove_noted(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key) {
    int code = sound.remove(t, tree, key);
    just_removed = code == ROOTSTOCK_OK;
    return code;
}
static int move_skips(rootstock_cursor *c, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    if (move == ROOTSTOCK_NEXT && just_removed) (void)sound.cursor_move(c, move, key, value);
    just_removed = 0;
    return sound.cursor_move(c, move, key, value);
}

static uint32_t peek_wrong(rootstock_cursor *c, rootstock_move way, rootstock_slice *keys, uint32_t limit) {
    uint32_t count = sound.cursor_peek(c, way, keys, limit);
    if (count > 2) keys[2] = keys[1];
    return count;
}
static uint64_t skip_short(rootstock_cursor *c, rootstock_move way, uint64_t count) {
    uint64_t by = sound.cursor_skip(c, way, count);
    return by > 10 ? by - 1 : by;
}
static int begin_impatient(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                           rootstock_transaction **t) {
    (void)busy, (void)context;
    return sound.begin(e, flags, NULL, NULL, t);
}
static int copy_over(rootstock_environment *e, const char *path, rootstock_stop stop, void *context) {
    unlink(path);
    return sound.copy(e, path, stop, context);
}
static int begin_read_only(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                           rootstock_transaction **t) {
    int code = sound.begin(e, flags, busy, context, t);
    return code == ROOTSTOCK_READ_ONLY ? ROOTSTOCK_MISUSE : code;
}
static int get_hangs(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                     rootstock_slice *value) {
    if (key->size > 8) pause();
    return sound.get(t, tree, key, value);
}
static int get_crashes(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key,
                       rootstock_slice *value) {
    if (key->size > 8) abort();
    return sound.get(t, tree, key, value);
}

#define MANY                                                                                                           \
    .capabilities = ROOTSTOCK_CAPABILITY_MANY_WRITERS, .tree_open = many_tree_open, .get = many_get, .put = many_put,  \
    .commit = many_commit, .abort = many_abort
#define NOTED .begin = note_begin, .commit = note_commit, .abort = note_abort

static const struct mutant {
    const char *name, *rule;
    rootstock_engine functions; /* those that are not null */
} mutants[] = {
    {"get reads the newest state", "snapshots.get", {NOTED, .get = get_newest}},
    {"get_several reads the newest state", "snapshots.several", {NOTED, .get_several = several_newest}},
    {"get_several forgets the seventeenth", "several.get", {.get_several = several_forgets}},
    {"the log is off", "durability.full", {.open = open_without_log, .close = close_without_log}},
    {"keys compare by length",
     "entries.order",
     {.get = get_by_length,
      .put = put_by_length,
      .remove = remove_by_length,
      .cursor_move = move_by_length,
      .maximum_key_size = key_size_by_length}},
    {"NO_OVERWRITE overwrites", "entries.flags", {.put = put_overwrites}},
    {"APPEND puts anywhere", "entries.flags", {.put = put_appends_anywhere}},
    {"the empty key is taken", "entries.sizes", {.put = put_empty_key}},
    {"values are cut at 64 KiB", "entries.sizes", {.put = put_short}},
    {"an empty value is none", "entries.sizes", {.get = get_no_empty_values}},
    {"get reuses its buffer", "snapshots.slices", {.get = get_moving}},
    {"a cursor reuses its buffer", "snapshots.slices", {.cursor_move = move_moving}},
    {"two cursors share a buffer",
     "snapshots.brief_slices",
     {.capabilities = ROOTSTOCK_CAPABILITY_BRIEF_SLICES, .cursor_move = move_moving}},
    {"abort commits", "snapshots.own_writes", {.begin = note_begin, .commit = note_commit, .abort = abort_commits}},
    {"a commit in seven is lost",
     "random.operations",
     {.begin = note_begin, .commit = commit_forgets, .abort = note_abort}},
    {"renew keeps the old snapshot", "snapshots.identifiers", {.reset = reset_not, .renew = renew_not}},
    {"a writer has its snapshot's number",
     "snapshots.identifiers",
     {NOTED, .transaction_identifier = identifier_of_writer}},
    {"last_commit lags behind", "snapshots.last_commit", {.last_commit = last_commit_behind}},
    {"tree_clear removes a hundred entries", "trees.clear", {.tree_clear = clear_some}},
    {"two names are one tree", "trees.named", {.tree_open = one_tree}},
    {"entries are counted wrongly", "trees.statistics", {.tree_statistics = statistics_off}},
    {"readers are not counted", "environment.figures", {.environment_statistics = no_readers}},
    {"failures have no words", "environment.describe", {.describe = silent}},
    {"SEEK wants the very key", "cursors.moves", {.cursor_move = move_seek_exact}},
    {"PREVIOUS from nowhere finds nothing", "cursors.moves", {.cursor_move = move_no_last}},
    {"NEXT passes over one after a removal",
     "cursors.undisturbed",
     {.remove = remove_noted, .cursor_move = move_skips}},
    {"cursor_peek tells a key twice", "several.peek", {.cursor_peek = peek_wrong}},
    {"cursor_skip counts one too few", "several.skip", {.cursor_skip = skip_short}},
    {"busy is not asked", "processes.writers", {.begin = begin_impatient}},
    {"copy replaces a file", "environment.copy", {.copy = copy_over}},
    {"a write on a read-only store is misuse", "environment.read_only", {.begin = begin_read_only}},
    {"another program's file is replaced", "environment.not_a_store", {.open = open_over}},
    {"commits are not flushed", "power.full", {.open = open_unflushed}},
    {"commits are not flushed, and reordered", "power.normal", {.open = open_off}},
    {"options of its own are ignored", "environment.options", {.capabilities = ROOTSTOCK_CAPABILITY_OPTIONS}},
    {"a failed open says nothing", "environment.unreachable", {.open = open_silent}},
    {"a directory is an I/O failure", "environment.unreachable", {.open = open_directory}},
    {"restart undoes nothing", "writers.restart", {.restart = restart_not}},
    {"many writers are claimed, and one holds the rest up",
     "writers.together",
     {.capabilities = ROOTSTOCK_CAPABILITY_MANY_WRITERS}},
    {"no writer is refused", "writers.lost_update", {MANY, .begin = begin_forgetting}},
    {"what was only read may change", "writers.skew", {MANY, .begin = many_begin}},
    {"a refused transaction stays in part", "writers.lost_update", {MANY, .begin = begin_keeping}},
    {"get hangs on long keys", "entries.sizes", {.get = get_hangs}},
    {"get crashes on long keys", "entries.sizes", {.get = get_crashes}},
};
enum { MUTANTS = sizeof mutants / sizeof *mutants };
static rootstock_engine engines[MUTANTS];

/* The sound engine with the mutant's functions in place of its own. */
static const rootstock_engine *make(int i) {
    rootstock_engine *engine = &engines[i];
    const rootstock_engine *own = &mutants[i].functions;
    *engine = sound;
    engine->name = mutants[i].name;
    engine->capabilities |= own->capabilities;
    engine->choose = NULL;
    engine->compact = NULL; /* a second way to begin */
#define TAKE(name)                                                                                                     \
    if (own->name != NULL) engine->name = own->name
    TAKE(open);
    TAKE(close);
    TAKE(begin);
    TAKE(commit);
    TAKE(abort);
    TAKE(reset);
    TAKE(renew);
    TAKE(transaction_identifier);
    TAKE(tree_open);
    TAKE(tree_clear);
    TAKE(tree_statistics);
    TAKE(get);
    TAKE(put);
    TAKE(remove);
    TAKE(cursor_move);
    TAKE(maximum_key_size);
    TAKE(environment_statistics);
    TAKE(copy);
    TAKE(describe);
    TAKE(last_commit);
    TAKE(cursor_peek);
    TAKE(get_several);
    TAKE(cursor_skip);
    TAKE(restart);
#undef TAKE
    return engine;
}

static void tell(void *context, const rootstock_engine_test_result *result) {
    static const char *const outcomes[] = {"ok", "BROKEN", "skipped"};
    (void)context;
    printf("%-24s %-8s %6.2f s  %s\n", result->rule, outcomes[result->outcome], result->seconds,
           result->outcome == ROOTSTOCK_ENGINE_TEST_SKIPPED ? result->words : "");
    if (result->outcome == ROOTSTOCK_ENGINE_TEST_FAILED)
        printf("    the contract: %s\n    expected %s\n", result->sentence, result->words);
    fflush(stdout);
}

static void note(void *context, const rootstock_engine_test_result *result) {
    if (result->outcome == ROOTSTOCK_ENGINE_TEST_FAILED)
        snprintf(context, 2000, "%s: %s; expected %s", result->rule, result->sentence, result->words);
}

/* For --load-engine: the mutant that ROOTSTOCK_MUTANT names. */
__attribute__((visibility("default"))) const rootstock_engine *rootstock_engine_init(uint32_t abi);

const rootstock_engine *rootstock_engine_init(uint32_t abi) {
    const char *wanted = getenv("ROOTSTOCK_MUTANT");
    sound = rootstock_engine_lmdb;
    for (int i = 0; i < MUTANTS; i++)
        if (abi == ROOTSTOCK_ENGINE_ABI && wanted != NULL && strcmp(wanted, mutants[i].name) == 0) {
            make(i);
            engines[i].name = "mutant";
            return &engines[i];
        }
    return NULL;
}

int main(int count, char **words) {
    int missed = 0, found = 0;
    if (rootstock_lmdb_register() != ROOTSTOCK_OK ||
        rootstock_engine_register(&rootstock_engine_sqlite_btree) != ROOTSTOCK_OK)
        return 1;
    sound = rootstock_engine_lmdb;
    for (int i = 0; i < MUTANTS; i++)
        if (rootstock_engine_register(make(i)) != ROOTSTOCK_OK) return 1;
    if (count > 1) {
        rootstock_engine_test_options options = {.report = tell, .only = count > 2 ? words[2] : NULL, .seconds = 60};
        const rootstock_engine *engine = rootstock_engine_find(words[1]);
        int failed = engine == NULL ? -1 : rootstock_engine_test(engine, &options);
        printf("%s: %d rules broken\n", words[1], failed);
        return failed != 0;
    }
    for (int i = 0; i < MUTANTS; i++) {
        char text[2000] = "";
        rootstock_engine_test_options options = {
            .report = note, .context = text, .only = mutants[i].rule, .seconds = 3};
        int failed = rootstock_engine_test(&engines[i], &options);
        printf("%-40s %s\n", mutants[i].name, failed == 1 ? text : "NOT NOTICED");
        missed += failed != 1;
        found += failed == 1;
        fflush(stdout);
    }
    printf("mutants: %d of %d noticed\n", found, MUTANTS);
    return missed != 0;
}
