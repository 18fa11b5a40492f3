/*
** engine_lmdb_seal.h - commits of one flush, and what tells after a power loss whether one of them reached the disk.
**
** engine_lmdb_changed.c finds the pages that a commit wrote, engine_lmdb_seal.c says so in the file and believes it or not,
** engine_lmdb_flush.c commits.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_SEAL_H
#define ROOTSTOCK_ENGINE_LMDB_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "engine_lmdb_format.h"

/* Pages that one seal can name on meta pages of 4096 bytes. */
enum { LMDB_SEALED_PAGES = 440 };

/* Where the pages of a commit are looked for; made once for an environment. */
typedef struct lmdb_changes lmdb_changes;
/* Null: no memory. */
lmdb_changes *rootstock_lmdb_changes_new(void);
void rootstock_lmdb_changes_free(lmdb_changes *changes);

/* The numbers of all pages that `after` sees and `before`, the commit before it, does not; *count of them, LMDB_SEALED_PAGES at most. `base`: the
** map. Null if they are too many, or of a kind that it does not know, or contradict each other. */
const uint32_t *rootstock_lmdb_changes_find(lmdb_changes *changes, const unsigned char *base, size_t page_bytes,
                                            const lmdb_meta_page *before, const lmdb_meta_page *after, size_t *count);

/* What to say of a file that cannot be opened. why is null where the errno says it all. */
typedef struct lmdb_advice {
    const char *why, *remedy;
} lmdb_advice;

/* What tells this run of the system from every other; zeroes where it does not say. */
void rootstock_lmdb_read_boot(uint64_t boot[2]);
/* Before LMDB opens the file: undoes its last commit if that is broken. *endured: it is, but others have the file open and see it whole. Returns
** 0 or an errno, with *advice: EBUSY, EROFS (it is to be opened for writing), EILSEQ (damaged). Meta pages that are none are left for rootstock_lmdb_check_file
** to judge. */
int rootstock_lmdb_mend(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice);
/* The same question once more, among the openers. */
int rootstock_lmdb_is_broken(int descriptor);

struct rootstock_environment;
struct rootstock_transaction;

/* Can the commit of this write transaction do with one flush? */
int rootstock_lmdb_can_seal(const struct rootstock_transaction *transaction);
/* Commits it so. Returns LMDB's code or an errno; where *published is set the commit is in the file whatever the
** code says. LMDB's transaction is gone. Under the writer's lock, which is kept. */
int rootstock_lmdb_commit_sealed(struct rootstock_transaction *transaction, int *published);
/* Before a commit of another kind: takes back what an attempt that failed announced under its number. Returns an errno. */
int rootstock_lmdb_withdraw(const struct rootstock_environment *environment, uint64_t commit);
/* Has the file's last commit been told lost by a flush? Then its pages are to be written anew before the next commit. */
int rootstock_lmdb_is_lost(struct rootstock_environment *environment);
/* Writes every page of the last commit anew and flushes. Under the writer's lock. Returns an errno. */
int rootstock_lmdb_write_anew(struct rootstock_environment *environment);

#endif
