/*
** bare_engine.c - an engine made of the plain LMDB engine's functions alone: it needs nothing of the layers above.
*/
#include "bare_engine.h"

#include "plain/table.h"

static const lmdb_hooks no_hooks = {.environment_bytes = sizeof(rootstock_environment),
                                    .transaction_bytes = sizeof(rootstock_transaction),
                                    .cursor_bytes = sizeof(rootstock_cursor)};
static const lmdb_layers plain_alone = {ROOTSTOCK_PAGE_ACCESS_NONE, ROOTSTOCK_COMMIT_PLAIN, &no_hooks};

static const rootstock_engine bare_engine = {LMDB_PLAIN_ENVIRONMENT, LMDB_PLAIN_ACCESS, .form = "bare",
                                             .context = (void *)&plain_alone, .sync = rootstock_lmdb_sync};

int bare_engine_register(void) {
    return rootstock_engine_register(&bare_engine);
}
