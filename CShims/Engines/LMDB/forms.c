/*
** forms.c - the engine "lmdb" and its forms: tables of the plug's functions, one for each page access and way to
** commit.
**
** | name        | pageAccess | commit | what it has more than the one above                              |
** |-------------|------------|--------|------------------------------------------------------------------|
** | lmdb:plain  | none       | plain  | liblmdb's public calls                                           |
** | lmdb:read   | read       | plain  | pages read where they lie                                        |
** | lmdb:write  | write      | plain  | leaves edited where they lie, the write map                      |
** | lmdb        | write      | sealed | commits of one flush and less                                    |
**
** Invariants
**  1. All forms read and write the same files.
**  2. pageAccess write is had only where liblmdb's structs are as they are expected (write/layout_check.c). Elsewhere
**     the store is served by lmdb:plain, and a notice says why.
*/
#include "plain/table.h"
#include "sync/flush.h"
#include "write/layout_check.h"

static const lmdb_layers layers[] = {
    {ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_PLAIN, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_SEALED, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_READ, ROOTSTOCK_COMMIT_PLAIN, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_READ, ROOTSTOCK_COMMIT_SEALED, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_WRITE, ROOTSTOCK_COMMIT_PLAIN, &rootstock_lmdb_hooks},
    {ROOTSTOCK_PAGE_ACCESS_WRITE, ROOTSTOCK_COMMIT_SEALED, &rootstock_lmdb_hooks},
};

static const rootstock_engine *choose(const rootstock_engine *engine, const rootstock_options *options,
                                      const char **notice);

#define FORM(NAME, LAYERS)                                                                                             \
    LMDB_PLAIN_ENVIRONMENT, .form = NAME, .context = (void *)&layers[LAYERS], .choose = choose,                        \
                            .sync = rootstock_lmdb_sync_commits

/* pageAccess */
#define READ                                                                                                           \
    .reset = rootstock_lmdb_read_reset, .renew = rootstock_lmdb_read_renew,                                            \
    .cursor_open = rootstock_lmdb_read_cursor_open, .cursor_renew = rootstock_lmdb_read_cursor_renew,                  \
    .cursor_peek = rootstock_lmdb_cursor_peek, .cursor_skip = rootstock_lmdb_cursor_skip,                              \
    .get_several = rootstock_lmdb_get_several, .verify = rootstock_lmdb_verify
#define READ_ONLY                                                                                                      \
    READ, .capabilities = LMDB_CAPABILITIES, .begin = rootstock_lmdb_read_begin,                                       \
          .tree_clear = rootstock_lmdb_tree_clear, .get = rootstock_lmdb_read_get,                                     \
          .cursor_move = rootstock_lmdb_read_cursor_move, .put = rootstock_lmdb_put, .remove = rootstock_lmdb_remove
#define READ_AND_WRITE                                                                                                 \
    READ, .capabilities = LMDB_CAPABILITIES | ROOTSTOCK_CAPABILITY_CHECKS_PAGES, .begin = rootstock_lmdb_write_begin,  \
          .tree_clear = rootstock_lmdb_write_tree_clear, .get = rootstock_lmdb_write_get,                              \
          .cursor_move = rootstock_lmdb_write_cursor_move, .put = rootstock_lmdb_write_put,                            \
          .remove = rootstock_lmdb_write_remove

/* commit */
#define SEALED .publish = rootstock_lmdb_publish, .settle = rootstock_lmdb_settle

const rootstock_engine rootstock_engine_lmdb = {FORM(NULL, 5), READ_AND_WRITE, SEALED};
static const rootstock_engine write_plain = {FORM("write", 4), READ_AND_WRITE};
static const rootstock_engine read_sealed = {FORM("read,sealed", 3), READ_ONLY, SEALED};
static const rootstock_engine read_plain = {FORM("read", 2), READ_ONLY};
static const rootstock_engine none_sealed = {FORM("sealed", 1), LMDB_PLAIN_ACCESS, SEALED};
static const rootstock_engine plain = {FORM("plain", 0), LMDB_PLAIN_ACCESS};

/* In the order of layers. */
static const rootstock_engine *const forms[] = {&plain,       &none_sealed, &read_plain,
                                                &read_sealed, &write_plain, &rootstock_engine_lmdb};
enum { FORMS = sizeof forms / sizeof *forms };

/* One library serves a process: what is found of it for certain stays so. */
static pthread_mutex_t layout_mutex = PTHREAD_MUTEX_INITIALIZER;
static int layout_is_certain;
static const char *layout_fault;

static const char *check_layout(void) {
    pthread_mutex_lock(&layout_mutex);
    if (!layout_is_certain) layout_fault = rootstock_lmdb_layout_fault(&layout_is_certain);
    const char *fault = layout_fault;
    pthread_mutex_unlock(&layout_mutex);
    return fault;
}

static const rootstock_engine *choose(const rootstock_engine *engine, const rootstock_options *options,
                                      const char **notice) {
    lmdb_layers wanted = *(const lmdb_layers *)engine->context;
    if (options->page_access != ROOTSTOCK_PAGE_ACCESS_AUTOMATIC) wanted.page_access = options->page_access;
    if (options->commit != ROOTSTOCK_COMMIT_AUTOMATIC) wanted.commit = options->commit;
    *notice = NULL;
    if (wanted.page_access == ROOTSTOCK_PAGE_ACCESS_WRITE && (*notice = check_layout()) != NULL)
        wanted = (lmdb_layers){.page_access = ROOTSTOCK_PAGE_ACCESS_NONE, .commit = ROOTSTOCK_COMMIT_PLAIN};
    for (int i = 0; i < FORMS; i++)
        if (layers[i].page_access == wanted.page_access && layers[i].commit == wanted.commit) return forms[i];
    return engine;
}

int rootstock_lmdb_register(void) {
    int code = rootstock_engine_register(&rootstock_engine_lmdb);
    for (int i = 0; code == ROOTSTOCK_OK && i < FORMS; i++) code = rootstock_engine_register(forms[i]);
    return code;
}
