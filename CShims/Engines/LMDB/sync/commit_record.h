/*
** commit_record.h - commits that share a flush, or have one of their own, and what tells after a power loss whether the
** last of them reached the disk.
**
** sync/commit_pages.c finds the pages that a commit wrote, sync/commit_record.c says so in the file, sync/recovery.c
** believes it or not, sync/flush.c commits.
*/
#ifndef ROOTSTOCK_ENGINE_LMDB_SEAL_H
#define ROOTSTOCK_ENGINE_LMDB_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "read/read_layer.h"
#include "plain/format.h"

/*
** WHAT STANDS IN A META PAGE, behind what LMDB writes there
*/

#define LMDB_ANNOUNCEMENT_AT 256
/* A seal lies somewhere in [LMDB_SEALS_FROM, LMDB_SEALS_TO). The last 16 bytes of 4096 have a use already: see
** touch_meta_pages, and the mark of a file that moved. */
#define LMDB_SEALS_FROM 512
#define LMDB_SEALS_TO (4096 - 16)
#define LMDB_SECTOR 512
#define LMDB_ANNOUNCED UINT64_C(0x336c61655374736d) /* in the file: "mstSeal3" */
#define LMDB_SEALED UINT64_C(0x346c61655374736d)

/* Pages that one seal can name. */
enum { LMDB_SEALED_PAGES = (LMDB_SEALS_TO - LMDB_SEALS_FROM - 24) / 8 };

typedef struct lmdb_announcement {
    uint64_t mark;
    uint64_t commit;
    uint64_t boot[2];        /* zeroes: not known */
    uint64_t lost;           /* a flush of it failed */
    uint64_t seal_at;        /* of its seal in the page */
    lmdb_meta_content whole; /* what the last commit before it that was durable had written in its meta page */
} lmdb_announcement;

/* Behind the announcement: the meta page as that commit wrote it. Of an announced commit it says that it is durable: so
** the announcement is withdrawn. It lies about no other commit, whoever writes it when. */
#define LMDB_CONFIRMATION_AT (LMDB_ANNOUNCEMENT_AT + sizeof(lmdb_announcement))
typedef struct lmdb_confirmation {
    uint64_t commit;
    uint32_t checksum; /* of what it wrote */
    uint32_t own;      /* of these two: it is whole */
} lmdb_confirmation;

/* Behind that: the last commit that was undone after a power loss. It stays. */
#define LMDB_UNDONE_AT (LMDB_CONFIRMATION_AT + sizeof(lmdb_confirmation))
#define LMDB_UNDONE UINT64_C(0x316f646e5574736d)
typedef struct lmdb_undone {
    uint64_t mark;
    uint64_t commit;
    uint64_t seconds; /* when: since 1970 */
} lmdb_undone;

typedef struct lmdb_sealed_page {
    uint32_t number;
    uint32_t checksum;
} lmdb_sealed_page;

typedef struct lmdb_seal {
    uint64_t mark;
    uint64_t commit;
    uint32_t count;
    uint32_t checksum; /* of this struct, 0 here, and the pages that follow it */
    lmdb_sealed_page pages[LMDB_SEALED_PAGES];
} lmdb_seal;

_Static_assert(LMDB_ANNOUNCEMENT_AT >= sizeof(lmdb_meta_page) && LMDB_UNDONE_AT + sizeof(lmdb_undone) <= LMDB_SECTOR,
               "one sector");
_Static_assert(sizeof(lmdb_seal) <= LMDB_SEALS_TO - LMDB_SEALS_FROM, "room in a meta page");

static inline size_t lmdb_seal_bytes(size_t pages) {
    return offsetof(lmdb_seal, pages) + pages * sizeof(lmdb_sealed_page);
}

/* What the commit's confirmation says if that is its meta page. */
lmdb_confirmation rootstock_lmdb_confirmation_of(const lmdb_meta_content *content);
/* The page's; 0 if there is none. */
int rootstock_lmdb_read_confirmation(const unsigned char *page, lmdb_confirmation *says);
/* Does the page say that the commit of that number is durable, or its own? */
int rootstock_lmdb_is_confirmed(const unsigned char *page, uint64_t commit);
/* Is the meta page not as the commit wrote it that it confirms? `page`: LMDB_SECTOR bytes of it. `other`: the commit of
** the other meta page. */
int rootstock_lmdb_contradicts(const unsigned char *page, uint64_t other);
/* The seal that the announcement speaks of, if it is there and has its checksum. `page`: 4096 bytes of the meta
** page. */
int rootstock_lmdb_read_seal(const unsigned char *page, const lmdb_announcement *announced, lmdb_seal *says);

/*
** COMMITTING
*/

/* Where the pages of a commit are looked for; made once for an environment. */
typedef struct lmdb_changes lmdb_changes;
/* Null: no memory. */
lmdb_changes *rootstock_lmdb_changes_new(void);
void rootstock_lmdb_changes_free(lmdb_changes *changes);

/* The numbers of all pages that `after` sees and `before`, an earlier commit whose pages nobody has written to, does
** not; *count of them, LMDB_SEALED_PAGES at most. `base`: the map. Null if they are too many, or of a kind that it does
** not know, or contradict each other. */
const uint32_t *rootstock_lmdb_changes_find(lmdb_changes *changes, const unsigned char *base, size_t page_bytes,
                                            const lmdb_meta_page *before, const lmdb_meta_page *after, size_t *count);
/* After that: numbers of pages that `before` sees and `after` does not, though not all of them; *count of them. */
const uint32_t *rootstock_lmdb_changes_gone(const lmdb_changes *changes, size_t *count);

struct rootstock_environment;
struct rootstock_transaction;

/* Can the commit of this write transaction do with one flush, or none of its own? Under the mutex of the flushes. */
int rootstock_lmdb_can_seal(struct rootstock_transaction *transaction);
/* Could it, if what it stands on were durable, or of the chain? Under the same mutex. */
int rootstock_lmdb_is_sealable(const struct rootstock_transaction *transaction);
/* Commits it so; if *deferred is set, without a flush where that can be, else *deferred is unset. Returns LMDB's code
** or an errno; where *published is set the commit is in the file whatever the code says. LMDB's transaction is gone.
** Under the writer's lock, which is kept, and while no flush of the chain is under way. */
int rootstock_lmdb_commit_sealed(struct rootstock_transaction *transaction, int *deferred, int *published);
/* Before a commit: what an earlier one left behind, of this process or another, is made durable, and an announcement of
** its number by an attempt that failed taken back. Returns an errno. Under the writer's lock. */
int rootstock_lmdb_clear_the_way(struct rootstock_environment *environment, uint64_t commit);
/* A commit on top of the chain failed, and may have lost what the chain's wrote: LMDB's flush does not say. It is
** written anew, and flushed. Under the writer's lock. */
void rootstock_lmdb_save_chain(struct rootstock_environment *environment, uint64_t tip);
/* The commit's meta page is whole, and where it is announced it is durable: from now on damage to its pages is nothing
** that a power loss did. Under the writer's lock. */
void rootstock_lmdb_confirm(struct rootstock_environment *environment, uint64_t commit);
/* The same of the chain's tip, while no commit of it is made. */
void rootstock_lmdb_confirm_tip(struct rootstock_environment *environment);
/* Has the file's last commit no confirmation, though this environment made it or it is announced? */
int rootstock_lmdb_needs_confirmation(struct rootstock_environment *environment, uint64_t commit);
/* Is the commit not announced, so that a confirmation says nothing but that its meta page is whole? */
int rootstock_lmdb_may_confirm(struct rootstock_environment *environment, uint64_t commit);
/* Has the file's last commit been told lost by a flush? Then its pages are to be written anew before the next
** commit. */
int rootstock_lmdb_is_lost(struct rootstock_environment *environment);
/* Says so of that commit, if it is announced. Returns an errno. */
int rootstock_lmdb_tell_lost(struct rootstock_environment *environment, uint64_t commit);
/* What tells this run of the system from every other; zeroes where it does not say. */
void rootstock_lmdb_read_boot(uint64_t boot[2]);

/*
** AFTER A POWER LOSS
*/

/* Before LMDB opens the file: undoes its last commits if a power loss broke them. Where the system runs still that they
** were written under, or they are confirmed, nothing did but the disk: the file is refused. *endured: they are, but
** others have the file open and see them whole. Returns 0 or an errno, with *advice: EBUSY, EROFS (it is to be opened
** for writing). Meta pages that are none are left for rootstock_lmdb_check_file to judge. */
int rootstock_lmdb_mend(int descriptor, const char *lock_path, int read_only, int *endured, lmdb_advice *advice);
/* What was undone last of the open file; zeroes: nothing. 0 or an errno. */
int rootstock_lmdb_read_undone(int descriptor, size_t page_bytes, lmdb_undone *last);
/* Would it undo or refuse? Asked once more, among the openers. */
int rootstock_lmdb_is_broken(int descriptor);

#endif
