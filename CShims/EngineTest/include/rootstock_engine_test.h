/*
** rootstock_engine_test.h - holds an engine against the contract of rootstock_engine.h, rule by rule.
**
** Each rule runs in a process of its own on fresh stores. An engine that crashes, hangs or leaves threads behind fails
** that rule and disturbs no other. Call it before the process has opened a store of the engine: some libraries do not
** survive a fork.
*/
#ifndef ROOTSTOCK_ENGINE_TEST_H
#define ROOTSTOCK_ENGINE_TEST_H

#include "rootstock_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rootstock_engine_test_outcome {
    ROOTSTOCK_ENGINE_TEST_PASSED = 0,
    ROOTSTOCK_ENGINE_TEST_FAILED = 1,
    ROOTSTOCK_ENGINE_TEST_SKIPPED = 2 /* the engine does not claim what the rule is about */
} rootstock_engine_test_outcome;

typedef struct rootstock_engine_test_result {
    const char *rule; /* "snapshots.get" */
    rootstock_engine_test_outcome outcome;
    const char *sentence; /* of rootstock_engine.h: the one broken, or the one that the rule is about */
    const char *words;    /* what was expected and what was found; or why the rule was skipped; or "" */
    double seconds;
} rootstock_engine_test_result;

/* A zeroed struct asks for the defaults. */
typedef struct rootstock_engine_test_options {
    const char *directory;   /* an existing folder, in which the test makes and removes its own; null: that of TMPDIR */
    const char *only;        /* rules whose name starts so; null: all */
    uint64_t seed;           /* of the random rules; 0: a fixed one */
    uint32_t rounds;         /* how often each random rule runs, each time with the next seed; 0: once */
    uint32_t seconds;        /* after which a rule counts as hung; 0: 120 */
    rootstock_options store; /* options of every store, but for durability and read_only */
    /* Called for each rule when it has ended. The strings are the callee's for the time of the call. May be null. */
    void (*report)(void *context, const rootstock_engine_test_result *result);
    void *context;
} rootstock_engine_test_options;

/* Runs the rules on a registered engine. Returns how many failed, or -1 if they could not be run: errno says why,
** ENOENT also where no rule's name starts with only. */
int rootstock_engine_test(const rootstock_engine *engine, const rootstock_engine_test_options *options);

/* A check of the caller's, run as a rule is: in a process of its own, in a new folder, under the same limit of time.
** check gives null where all is well, or else the words that are reported. sentence may be "". Returns 1 where it
** failed, 0 where it did not, and -1 if it could not be run. */
int rootstock_engine_test_apart(const rootstock_engine_test_options *options, const char *name, const char *sentence,
                                const char *(*check)(void *context, const char *directory), void *context);

/* The name of the n-th rule from 0 and, if not null, its sentence; null past the last. */
const char *rootstock_engine_test_rule(size_t n, const char **sentence);

/* The n-th sentence of the contract that a failure may name, from 0; null past the last. All are in the header's
** words. */
const char *rootstock_engine_test_sentence(size_t n);

#ifdef __cplusplus
}
#endif
#endif
