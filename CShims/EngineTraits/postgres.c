/*
** postgres.c - engine "postgres", where the package trait Postgres is on.
*/
#define _GNU_SOURCE
#include "rootstock_engine_traits.h"

#ifdef ROOTSTOCK_TRAIT_POSTGRES
#define rootstock_engine_init rootstock_postgres_init
#include "../Engines/Postgres/address.c"
#include "../Engines/Postgres/commit.c"
#include "../Engines/Postgres/connection.c"
#include "../Engines/Postgres/cursors.c"
#include "../Engines/Postgres/entries.c"
#include "../Engines/Postgres/environment.c"
#include "../Engines/Postgres/overlay.c"
#include "../Engines/Postgres/transactions.c"
#include "../Engines/Postgres/windows.c"

const rootstock_engine *rootstock_trait_postgres(void) {
    return &postgres;
}
#else
const rootstock_engine *rootstock_trait_postgres(void) {
    return NULL;
}
#endif
