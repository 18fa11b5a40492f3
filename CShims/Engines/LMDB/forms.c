/*
** forms.c - the engine "lmdb" and its forms: tables of the plug's functions, one for each page access and way to commit.
**
** | name        | pageAccess | commit | what it has more than the one above                              |
** |-------------|------------|--------|------------------------------------------------------------------|
** | lmdb:plain  | none       | plain  | liblmdb's public calls                                           |
** | lmdb:read   | read       | plain  | pages read where they lie                                        |
** | lmdb:write  | write      | plain  | leaves edited where they lie, the write map                      |
** | lmdb        | write      | sealed | commits of one flush and less                                    |
**
** Invariant: all forms read and write the same files.
*/
#include "sync/flush.h"

#define TEXT_OF(number) TEXT(number)
#define TEXT(number) #number
#define LMDB_VERSION TEXT_OF(MDB_VERSION_MAJOR) "." TEXT_OF(MDB_VERSION_MINOR) "." TEXT_OF(MDB_VERSION_PATCH)

static const lmdb_layers layers[] = {
    {ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_PLAIN, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_SEALED, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_READ, ROOTSTOCK_COMMIT_PLAIN, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_READ, ROOTSTOCK_COMMIT_SEALED, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_WRITE, ROOTSTOCK_COMMIT_PLAIN, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_WRITE, ROOTSTOCK_COMMIT_SEALED, &rootstock_lmdb_hooks},
};

static const rootstock_engine *choose(const rootstock_engine *engine, const rootstock_options *options);

/* Not STABLE_WRITE_VALUES: a put may move what shares its page. */
#define COMMON(NAME, LAYERS)                                                                                           \
    .abi_version = ROOTSTOCK_ENGINE_ABI,                                                                               \
    .capabilities = ROOTSTOCK_CAPABILITY_FILE | ROOTSTOCK_CAPABILITY_THREAD_BOUND_WRITER |                             \
                    ROOTSTOCK_CAPABILITY_RESERVE | ROOTSTOCK_CAPABILITY_DURABLE,                                       \
    .name = NAME, .version = LMDB_VERSION, .context = (void *)&layers[LAYERS], .choose = choose,                       \
    .open = rootstock_lmdb_open, .close = rootstock_lmdb_close, .commit = rootstock_lmdb_commit,                       \
    .abort = rootstock_lmdb_abort, .transaction_identifier = rootstock_lmdb_transaction_identifier,                    \
    .last_commit = rootstock_lmdb_last_commit, .commit_words = rootstock_lmdb_commit_words,                            \
    .tree_open = rootstock_lmdb_tree_open, .tree_clear = rootstock_lmdb_tree_clear,                                    \
    .tree_statistics = rootstock_lmdb_tree_statistics, .cursor_close = rootstock_lmdb_cursor_close,                    \
    .maximum_key_size = rootstock_lmdb_maximum_key_size, .environment_statistics = rootstock_lmdb_statistics,          \
    .check_readers = rootstock_lmdb_check_readers, .copy = rootstock_lmdb_copy, .describe = rootstock_lmdb_describe,   \
    .compact = rootstock_lmdb_compact, .sync = rootstock_lmdb_sync

/* pageAccess */
#define NONE                                                                                                           \
    .begin = rootstock_lmdb_txn_begin, .reset = rootstock_lmdb_reset, .renew = rootstock_lmdb_renew,                   \
    .get = rootstock_lmdb_get, .put = rootstock_lmdb_put, .remove = rootstock_lmdb_remove,                             \
    .cursor_open = rootstock_lmdb_cursor_open, .cursor_renew = rootstock_lmdb_cursor_renew,                            \
    .cursor_move = rootstock_lmdb_cursor_move
#define READ                                                                                                           \
    .begin = rootstock_lmdb_read_begin, .reset = rootstock_lmdb_read_reset, .renew = rootstock_lmdb_read_renew,        \
    .cursor_open = rootstock_lmdb_read_cursor_open, .cursor_renew = rootstock_lmdb_read_cursor_renew,                  \
    .cursor_peek = rootstock_lmdb_cursor_peek, .cursor_skip = rootstock_lmdb_cursor_skip,                              \
    .get_several = rootstock_lmdb_get_several, .verify = rootstock_lmdb_verify
#define READ_ONLY                                                                                                      \
    READ, .get = rootstock_lmdb_read_get, .cursor_move = rootstock_lmdb_read_cursor_move, .put = rootstock_lmdb_put,   \
          .remove = rootstock_lmdb_remove
#define READ_AND_WRITE                                                                                                 \
    READ, .get = rootstock_lmdb_write_get, .cursor_move = rootstock_lmdb_write_cursor_move,                            \
          .put = rootstock_lmdb_write_put, .remove = rootstock_lmdb_write_remove

/* commit */
#define SEALED .publish = rootstock_lmdb_publish, .settle = rootstock_lmdb_settle

const rootstock_engine rootstock_engine_lmdb = {COMMON("lmdb", 5), READ_AND_WRITE, SEALED};
static const rootstock_engine write_plain = {COMMON("lmdb:write", 4), READ_AND_WRITE};
static const rootstock_engine read_sealed = {COMMON("lmdb:read,sealed", 3), READ_ONLY, SEALED};
static const rootstock_engine read_plain = {COMMON("lmdb:read", 2), READ_ONLY};
static const rootstock_engine none_sealed = {COMMON("lmdb:sealed", 1), NONE, SEALED};
static const rootstock_engine plain = {COMMON("lmdb:plain", 0), NONE};

/* In the order of layers. */
static const rootstock_engine *const forms[] = {&plain,       &none_sealed, &read_plain,
                                                &read_sealed, &write_plain, &rootstock_engine_lmdb};
enum { FORMS = sizeof forms / sizeof *forms };

/* Is this liblmdb one whose structs write/ knows? */
static int is_known(void) {
    int major, minor, patch;
    mdb_version(&major, &minor, &patch);
    return major == 0 && minor == 9;
}

static const rootstock_engine *choose(const rootstock_engine *engine, const rootstock_options *options) {
    lmdb_layers wanted = *(const lmdb_layers *)engine->context;
    if (options->page_access != ROOTSTOCK_PAGE_ACCESS_AUTOMATIC) wanted.page_access = options->page_access;
    if (options->commit != ROOTSTOCK_COMMIT_AUTOMATIC) wanted.commit = options->commit;
    if (wanted.page_access == ROOTSTOCK_PAGE_ACCESS_WRITE && !is_known())
        wanted.page_access = ROOTSTOCK_PAGE_ACCESS_READ;
    for (int i = 0; i < FORMS; i++)
        if (layers[i].page_access == wanted.page_access && layers[i].commit == wanted.commit) return forms[i];
    return engine;
}

int rootstock_lmdb_register(void) {
    int code = rootstock_engine_register(&rootstock_engine_lmdb);
    for (int i = 0; code == ROOTSTOCK_OK && i < FORMS; i++) code = rootstock_engine_register(forms[i]);
    return code;
}
