/*
** commit_record.c - synced commits of one flush, or of one flush for several.
**
** LMDB makes a commit durable by two flushes, its pages before the meta page that names them, because it takes the
** newest meta page for whole. Here both go in one flush, and the commit says in the file which pages are its own, with
** a checksum of each: its seal. After a power loss a last commit whose pages are not all there is told by that, and
** undone (sync/recovery.c). LMDB leaves the rest of a meta page's 4096 bytes alone; there stand, behind what it writes,
**
**   at 256       the announcement  the commit's number: it is to be believed by its seal only. And the meta page of the
**                                  last durable commit, D
**   at 424       the confirmation  the number once more, when the commit is durable: that ends what the announcement
**                                  says of it. And a checksum of the meta page
**   at 440       what was undone   see sync/recovery.c
**   512 to 4080  seals             the number again, the pages that it sees and D does not, with their checksums, and a
**                                  checksum of all that
**
** A commit of this kind, N:
**   1. N is announced            in the page that its meta page is, in the same sector
**   2. LMDB commits, MDB_NOSYNC  its pages, then its meta page, to the system's memory
**   3. N is sealed
**   4. one flush
**   5. N is confirmed            in the system's memory; then the writer's lock is given up
**
** If its pages are too many for a seal, it becomes a common commit: a flush, the announcement's end and another flush.
** While others wait to write, and in class normal, there are no steps 4 and 5: N is published, and the next one stands
** on the same D. Such a row of commits, a chain, is flushed once, by its last, or by one of those who wait for it
** (sync/flush.c).
**
** What a power loss leaves. The disk holds any of what was written since the last flush, by sectors. A commit after D
** is never there without an announcement, which is older and in its meta page's sector. If the newest one's seal is
** whole and every page has its checksum, so is the commit, with all before it. If not, the one before it may be by its
** own seal, which stands in the other meta page: a process that was killed between 2 and 3 leaves that. If that is not,
** either, nothing since D was acknowledged, since no flush that began after a 3 ended well; and D is whole:
**  - Its pages are not written to. LMDB gives transaction N pages that N-2 did not see any more, and none that a reader
**    sees: one stands at D from the chain's second commit on.
**  - D's meta page is written over by D+2. So it stands in the announcements.
**  - Where D was itself sealed and nothing newer is there, its seal must be: that of D+2, in the same page, is put
**    beside it.
**
** Invariants
**  1. A commit is sealed only on top of one that this environment knows durable, or of a chain that it has published on
**     one, with nobody between.
**  2. A commit that is not sealed is not announced: what an attempt that failed has announced is withdrawn before its
**     number is used.
**  3. Nobody writes to the file while the last commit is announced and not known to be durable, but for the chain's
**     next one, and that one not before its commit, as LMDB does in large transactions (rootstock_lmdb_prepare_spill).
**  4. No commit of a chain is published while a flush is under way: what that acknowledges would be undone with it.
**  5. No commit is confirmed that is announced and not durable. A confirmation that comes late, when the page is
**     another commit's, says nothing of that one.
**  6. A flush that failed may have lost pages that the system now takes for clean. They are all written anew before a
**     commit is believed; that this is due stands in the announcement, for other processes.
**  7. An announcement that was cut short, because its writer was killed, names no last durable commit and is none, or
**     names the right one. The rest is what stood there: D's page was cleared before, since without an announcement D
**     is believed; D+1's page is never the newest on the disk, where D is; a later one's names D already.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sync/flush.h"
#include "rootstock_crc.h"

/* Changes of a transaction whose pages a seal will likely hold. */
#define MANY_CHANGES 100

void rootstock_lmdb_read_boot(uint64_t boot[2]) {
    char text[64] = "";
    int digits = 0;
    boot[0] = boot[1] = 0;
    int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    ssize_t got = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    for (ssize_t i = 0; i < got && digits < 32; i++) {
        const char *hexadecimal = "0123456789abcdef", *digit = strchr(hexadecimal, text[i]);
        if (digit == NULL || *digit == 0) continue;
        boot[digits / 16] = boot[digits / 16] << 4 | (uint64_t)(digit - hexadecimal);
        digits++;
    }
}

/*
** ANNOUNCEMENTS
*/

static off_t page_start(const rootstock_environment *environment, uint64_t commit) {
    return (off_t)((commit & 1) * environment->page_bytes);
}

static int write_announcement(const rootstock_environment *environment, uint64_t commit,
                              const lmdb_announcement *says) {
    return rootstock_lmdb_write_all(environment->lock_descriptor, says, sizeof *says,
                                    page_start(environment, commit) + LMDB_ANNOUNCEMENT_AT);
}

lmdb_confirmation rootstock_lmdb_confirmation_of(const lmdb_meta_content *content) {
    lmdb_confirmation says = {content->commit, rootstock_crc_best()(0, content, sizeof *content), 0};
    says.own = rootstock_crc_best()(0, &says, offsetof(lmdb_confirmation, own));
    return says;
}

int rootstock_lmdb_read_confirmation(const unsigned char *page, lmdb_confirmation *says) {
    memcpy(says, page + LMDB_CONFIRMATION_AT, sizeof *says);
    return says->commit != 0 && says->own == rootstock_crc_best()(0, says, offsetof(lmdb_confirmation, own));
}

int rootstock_lmdb_is_confirmed(const unsigned char *page, uint64_t commit) {
    lmdb_confirmation says;
    return rootstock_lmdb_read_confirmation(page, &says) && says.commit == commit;
}

int rootstock_lmdb_contradicts(const unsigned char *page, uint64_t other) {
    lmdb_confirmation says;
    lmdb_meta_content content;
    memcpy(&content, page + offsetof(lmdb_meta_page, map_size), sizeof content);
    if (!rootstock_lmdb_read_confirmation(page, &says)) return 0;
    uint64_t commit = content.commit;
    content.commit = says.commit;
    int same = rootstock_lmdb_confirmation_of(&content).checksum == says.checksum;
    if (commit <= says.commit) return !same;
    /* Another commit has written it, and not only its number: LMDB gives it none of the pages of the one two before.
    ** The fourth one may have the same roots again; beside it is its neighbour then, as no number that changed by
    ** itself has it. */
    return same && (commit == says.commit + 2 || (commit != other + 1 && commit + 1 != other));
}

static int write_confirmation(const rootstock_environment *environment, const lmdb_meta_content *content) {
    lmdb_confirmation says = rootstock_lmdb_confirmation_of(content);
    return rootstock_lmdb_write_all(environment->lock_descriptor, &says, sizeof says,
                                    page_start(environment, content->commit) + (off_t)LMDB_CONFIRMATION_AT);
}

/* Has the file room for that, and is it a store's? */
static int can_confirm(const rootstock_environment *environment) {
    return environment->first_page != NULL && environment->commits[0] != NULL && environment->page_bytes >= 4096 &&
           !environment->options.foreign;
}

void rootstock_lmdb_confirm(rootstock_environment *environment, uint64_t commit) {
    lmdb_meta_content content;
    if (!can_confirm(environment)) return;
    memcpy(&content, (const char *)lmdb_meta_of(environment, commit) + offsetof(lmdb_meta_page, map_size),
           sizeof content);
    /* If it cannot be written the commit stays announced. */
    if (content.commit == commit) (void)write_confirmation(environment, &content);
}

void rootstock_lmdb_confirm_tip(rootstock_environment *environment) {
    lmdb_meta_content content;
    memcpy(&content, &lmdb_flushes_of(environment)->chain.after.map_size, sizeof content);
    /* If another process has committed there meanwhile, that commit's own confirmation may stand there. */
    if (can_confirm(environment) && lmdb_meta_of(environment, content.commit)->commit == content.commit)
        (void)write_confirmation(environment, &content);
}

/* Was the commit made so that its seal told whether it was whole? *stands: what its meta page says of that. */
static int was_announced(const rootstock_environment *environment, uint64_t commit, lmdb_announcement *stands) {
    if (environment->first_page == NULL || environment->commits[0] == NULL) return 0;
    memcpy(stands, (const char *)lmdb_meta_of(environment, commit) + LMDB_ANNOUNCEMENT_AT, sizeof *stands);
    return stands->mark == LMDB_ANNOUNCED && stands->commit == commit;
}

/* Is the commit to be believed by its seal only? */
static int read_announcement(const rootstock_environment *environment, uint64_t commit, lmdb_announcement *stands) {
    return was_announced(environment, commit, stands) &&
           !rootstock_lmdb_is_confirmed((const unsigned char *)lmdb_meta_of(environment, commit), commit);
}

int rootstock_lmdb_may_confirm(rootstock_environment *environment, uint64_t commit) {
    lmdb_announcement stands;
    return !was_announced(environment, commit, &stands);
}

int rootstock_lmdb_needs_confirmation(rootstock_environment *environment, uint64_t commit) {
    lmdb_announcement stands;
    if (!can_confirm(environment)) return 0;
    if (was_announced(environment, commit, &stands)) return read_announcement(environment, commit, &stands);
    return environment->made == commit &&
           !rootstock_lmdb_is_confirmed((const unsigned char *)lmdb_meta_of(environment, commit), commit);
}

static int withdraw(const rootstock_environment *environment, uint64_t commit) {
    static const lmdb_announcement nothing;
    lmdb_announcement stands;
    return read_announcement(environment, commit, &stands) ? write_announcement(environment, commit, &nothing) : 0;
}

int rootstock_lmdb_is_lost(rootstock_environment *environment) {
    lmdb_announcement stands;
    return read_announcement(environment, rootstock_lmdb_last_commit(environment), &stands) && stands.lost != 0;
}

int rootstock_lmdb_tell_lost(rootstock_environment *environment, uint64_t commit) {
    lmdb_announcement stands;
    const uint64_t lost = 1;
    if (!read_announcement(environment, commit, &stands)) return 0;
    /* This word alone: by now another process may have announced a later commit there. */
    return rootstock_lmdb_write_all(environment->lock_descriptor, &lost, sizeof lost,
                                    page_start(environment, commit) + LMDB_ANNOUNCEMENT_AT +
                                        (off_t)offsetof(lmdb_announcement, lost));
}

/*
** WHAT AN EARLIER COMMIT LEFT
*/

/* Writes every page of the last commit anew and flushes. With `ours` held. Returns an errno. */
static int write_anew_locked(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    struct stat status;
    MDB_envinfo info;
    rootstock_lmdb_learn_map(environment);
    const unsigned char *base = atomic_load_explicit(&lmdb_reading(environment)->map, memory_order_relaxed);
    if (base == NULL || mdb_env_info(environment->env, &info) != MDB_SUCCESS) return EIO;
    if (fstat(environment->lock_descriptor, &status) != 0) return errno;
    uint64_t pages = (uint64_t)status.st_size / environment->page_bytes;
    if (pages > (uint64_t)info.me_last_pgno + 1) pages = (uint64_t)info.me_last_pgno + 1;
    for (uint64_t page = 0; page < pages; page++) {
        size_t at = page * environment->page_bytes;
        int error =
            rootstock_lmdb_write_all(environment->lock_descriptor, base + at, environment->page_bytes, (off_t)at);
        if (error != 0) return error;
    }
    int error = rootstock_lmdb_flush_ours(environment);
    if (error == 0) flushes->anew = flushes->told;
    return error;
}

/* A flush under the writer's lock. If it fails, once more, with everything: what the system could not write it may have
** forgotten. So, too, where a flush failed since everything was last written: a failure is told once to a descriptor,
** to another thread perhaps, and a flush behind it succeeds. */
static int flush_or_write_anew_locked(rootstock_environment *environment) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    int error = rootstock_lmdb_flush_ours(environment);
    if (flushes->told != flushes->anew) {
        int again = write_anew_locked(environment);
        if (again == 0 || error == 0) error = again;
    }
    return error;
}

/* Runs a flush alone. */
static int alone(rootstock_environment *environment, int (*flush)(rootstock_environment *)) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    pthread_mutex_lock(&flushes->ours);
    int error = flush(environment);
    pthread_mutex_unlock(&flushes->ours);
    return error;
}

static int write_anew(rootstock_environment *environment) {
    return alone(environment, write_anew_locked);
}

static int flush_or_write_anew(rootstock_environment *environment) {
    return alone(environment, flush_or_write_anew_locked);
}

/* Where there is nothing to write anew: the commit is not sealed, and fails with it. */
static int flush_once(rootstock_environment *environment) {
    return alone(environment, rootstock_lmdb_flush_ours);
}

/* Makes the last commit durable that somebody else announced, or this environment before a failure. Returns an
** errno. */
static int settle_last(rootstock_environment *environment, uint64_t last) {
    lmdb_announcement stands;
    lmdb_seal says;
    int error = flush_or_write_anew(environment);
    if (error != 0 || !read_announcement(environment, last, &stands) ||
        rootstock_lmdb_read_seal((const unsigned char *)lmdb_meta_of(environment, last), &stands, &says))
        return error;
    /* Its writer was killed before he could seal it. */
    error = withdraw(environment, last);
    return error != 0 ? error : flush_or_write_anew(environment);
}

int rootstock_lmdb_clear_the_way(rootstock_environment *environment, uint64_t commit) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    lmdb_announcement stands;
    int error = 0, settled = 1;
    int left_over = read_announcement(environment, commit, &stands);
    if (environment->options.durability != ROOTSTOCK_DURABILITY_OFF) {
        pthread_mutex_lock(&flushes->mutex);
        int lost = flushes->lost, durable = flushes->known + 1 == commit;
        /* In doubt a failure may have been the chain's, told to LMDB's descriptor: ours is asked. */
        int chained = flushes->chain.pinned && flushes->chain.tip + 1 == commit && !flushes->doubt;
        pthread_mutex_unlock(&flushes->mutex);
        if (lost || rootstock_lmdb_is_lost(environment))
            error = write_anew(environment);
        else if (!durable && (left_over || !chained) && read_announcement(environment, commit - 1, &stands))
            error = settle_last(environment, commit - 1);
        else
            settled = 0;
        if (settled) rootstock_lmdb_settled(environment, commit - 1, error);
        if (settled && error == 0) rootstock_lmdb_confirm(environment, commit - 1);
    }
    return error == 0 && left_over ? withdraw(environment, commit) : error;
}

/*
** COMMITTING
*/

int rootstock_lmdb_is_sealable(const rootstock_transaction *transaction) {
    const rootstock_environment *environment = transaction->environment;
    const lmdb_flushes *flushes = lmdb_flushes_of(environment);
    if (!transaction->dirty || transaction->changes > MANY_CHANGES || environment->options.foreign) return 0;
    /* Without locks of ours: LMDB gives its mutex up before a sealed commit is flushed. */
    if ((flushes->boot[0] | flushes->boot[1]) == 0 || environment->lacks_locks) return 0;
    return environment->first_page != NULL && environment->commits[0] != NULL && environment->page_bytes >= 4096;
}

int rootstock_lmdb_can_seal(rootstock_transaction *transaction) {
    rootstock_environment *environment = transaction->environment;
    const lmdb_flushes *flushes = lmdb_flushes_of(environment);
    uint64_t before = mdb_txn_id(transaction->txn) - 1;
    if (!rootstock_lmdb_is_sealable(transaction)) return 0;
    if (before == 0) return 0; /* an announcement names its durable commit (invariant 7) */
    if (flushes->known != before && flushes->chain.tip != before) return 0;
    rootstock_lmdb_learn_map(environment);
    return atomic_load_explicit(&lmdb_reading(environment)->map, memory_order_relaxed) != NULL;
}

/* A chain begins on the commit, which is durable. */
static int begin_chain(rootstock_environment *environment, uint64_t commit) {
    lmdb_chain *chain = &lmdb_flushes_of(environment)->chain;
    lmdb_announcement stands;
    lmdb_seal says;
    memcpy(&chain->before, lmdb_meta_of(environment, commit), sizeof chain->before);
    chain->after = chain->before;
    chain->count = 0;
    chain->seal_bytes = 0;
    if (chain->before.commit != commit) return EIO;
    /* Also where it is confirmed: the disk need not know that. */
    if (was_announced(environment, commit, &stands) &&
        rootstock_lmdb_read_seal((const unsigned char *)lmdb_meta_of(environment, commit), &stands, &says)) {
        chain->seal_at = (size_t)stands.seal_at;
        chain->seal_bytes = lmdb_seal_bytes(says.count);
    }
    return 0;
}

/* Where the commit's seal may lie in its page: [*from, *to). */
static void find_room(const lmdb_chain *chain, uint64_t commit, size_t *from, size_t *to) {
    *from = LMDB_SEALS_FROM;
    *to = LMDB_SEALS_TO;
    if (chain->seal_bytes == 0 || (commit & 1) != (chain->before.commit & 1)) return;
    if (chain->seal_at - *from > *to - chain->seal_at - chain->seal_bytes)
        *to = chain->seal_at;
    else
        *from = chain->seal_at + chain->seal_bytes;
}

static int announce(const rootstock_environment *environment, uint64_t commit, size_t seal_at) {
    static const lmdb_announcement nothing;
    const lmdb_flushes *flushes = lmdb_flushes_of(environment);
    lmdb_announcement says = {
        .mark = LMDB_ANNOUNCED, .commit = commit, .boot = {flushes->boot[0], flushes->boot[1]}, .seal_at = seal_at};
    memcpy(&says.whole, &flushes->chain.before.map_size, sizeof says.whole);
    /* In D's page: D's own announcement, with an older commit for the last durable one, goes first (invariant 7). */
    int error = commit == flushes->chain.before.commit + 2 ? write_announcement(environment, commit, &nothing) : 0;
    return error != 0 ? error : write_announcement(environment, commit, &says);
}

static int is_among(uint32_t number, const uint32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number) return 1;
    return 0;
}

/* Seals the commit that LMDB has just published: its seal names what that of the chain's commit before did, less what
** it has done away with, and its own pages. Nobody has written to the others since they were summed up. Returns 0,
** E2BIG if that cannot be, or an errno; then the chain goes no further. */
static int put_seal(rootstock_environment *environment, uint64_t commit, size_t from, size_t to) {
    lmdb_flushes *flushes = lmdb_flushes_of(environment);
    lmdb_chain *chain = &flushes->chain;
    const unsigned char *base = atomic_load_explicit(&lmdb_reading(environment)->map, memory_order_relaxed);
    lmdb_meta_page after;
    lmdb_seal says = {.mark = LMDB_SEALED, .commit = commit};
    size_t count, gone_count, total = 0;
    const unsigned char *where[LMDB_SEALED_PAGES];
    uint32_t sums[LMDB_SEALED_PAGES];
    memcpy(&after, lmdb_meta_of(environment, commit), sizeof after);
    if (flushes->changes == NULL) flushes->changes = rootstock_lmdb_changes_new();
    if (flushes->changes == NULL || base == NULL || after.commit != commit) return E2BIG;
    const uint32_t *pages =
        rootstock_lmdb_changes_find(flushes->changes, base, environment->page_bytes, &chain->after, &after, &count);
    if (pages == NULL) return E2BIG;
    const uint32_t *gone = rootstock_lmdb_changes_gone(flushes->changes, &gone_count);
    for (size_t i = 0; i < chain->count; i++)
        if (!is_among(chain->pages[i].number, gone, gone_count)) says.pages[total++] = chain->pages[i];
    if (lmdb_seal_bytes(total + count) > to - from) return E2BIG;
    for (size_t i = 0; i < count; i++) where[i] = base + pages[i] * environment->page_bytes;
    rootstock_crc_of_pieces(where, count, environment->page_bytes, sums);
    for (size_t i = 0; i < count; i++) says.pages[total++] = (lmdb_sealed_page){pages[i], sums[i]};
    says.count = (uint32_t)total;
    says.checksum = rootstock_crc_best()(0, &says, lmdb_seal_bytes(total));
    int error = rootstock_lmdb_write_all(environment->lock_descriptor, &says, lmdb_seal_bytes(total),
                                         page_start(environment, commit) + (off_t)from);
    if (error != 0) return error;
    chain->after = after;
    chain->count = total;
    memcpy(chain->pages, says.pages, total * sizeof *says.pages);
    return 0;
}

/* A commit that was announced could not be made. Under its announcement the chain's commit in the same page is not
** believed: that is flushed first. */
static void take_back(rootstock_environment *environment, uint64_t commit) {
    int error = lmdb_flushes_of(environment)->chain.tip + 1 == commit ? flush_or_write_anew(environment) : 0;
    if (error == 0)
        (void)withdraw(environment, commit);
    else
        rootstock_lmdb_settled(environment, commit - 1, error);
}

void rootstock_lmdb_save_chain(rootstock_environment *environment, uint64_t tip) {
    int error = write_anew(environment);
    if (error == 0) rootstock_lmdb_confirm(environment, tip);
    rootstock_lmdb_settled(environment, tip, error);
}

int rootstock_lmdb_commit_sealed(rootstock_transaction *transaction, int *deferred, int *published) {
    rootstock_environment *environment = transaction->environment;
    uint64_t commit = mdb_txn_id(transaction->txn);
    lmdb_chain *chain = &lmdb_flushes_of(environment)->chain;
    size_t from, to;
    *published = 0;
    int error = chain->tip + 1 == commit ? 0 : begin_chain(environment, commit - 1);
    find_room(chain, commit, &from, &to);
    if (error == 0) error = announce(environment, commit, from);
    if (error != 0) {
        mdb_txn_abort(transaction->txn);
        take_back(environment, commit);
        return error;
    }
    mdb_env_set_flags(environment->env, MDB_NOSYNC, 1);
    int code = rootstock_lmdb_commit_changes(transaction);
    mdb_env_set_flags(environment->env, MDB_NOSYNC, 0);
    if (code != MDB_SUCCESS) {
        take_back(environment, commit);
        return code;
    }
    *published = 1;
    int sealed = put_seal(environment, commit, from, to) == 0;
    if (!sealed) *deferred = 0;
    if (*deferred) return MDB_SUCCESS;
    error = sealed ? flush_or_write_anew(environment) : flush_once(environment);
    if (error == 0 && !sealed) {
        error = withdraw(environment, commit);
        if (error == 0) error = flush_once(environment);
    }
    if (error != 0) (void)rootstock_lmdb_tell_lost(environment, commit);
    return error;
}
