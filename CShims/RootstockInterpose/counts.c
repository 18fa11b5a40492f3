/*
** counts.c - sqlite3_changes, sqlite3_total_changes and their 64-bit forms.
**
** A write through a blob handle puts a row, which SQLite counts, and so does a copy into a store. Natively the handle
** writes into the row, the copy writes pages, and nothing is counted. So these rows are left out here. The
** total leaves out those of a change that a foreign key has refused. A statement that changes no row leaves changes()
** as it was, though its change of an attached store's schema has an INSERT of no row run.
*/
#include "interpose.h"

sqlite3_int64 rsti_changes_of(rsti_database *d) {
    sqlite3_int64 changes;
    if (__atomic_load_n(&d->counted_at, __ATOMIC_RELAXED) < 0) return sqlite3_changes64(d->db);
    rsti_enter(d);
    changes = sqlite3_total_changes64(d->db) == d->counted_at ? d->changes_then : sqlite3_changes64(d->db);
    rsti_leave(d);
    return changes;
}

rsti_counts rsti_counts_of(rsti_database *d) {
    return (rsti_counts){rsti_changes_of(d), sqlite3_total_changes64(d->db), sqlite3_last_insert_rowid(d->db)};
}

void rsti_counts_keep(rsti_database *d, rsti_counts before) {
    const sqlite3_int64 total = sqlite3_total_changes64(d->db);
    __atomic_store_n(&d->uncounted, d->uncounted + total - before.total, __ATOMIC_RELAXED);
    d->changes_then = before.changes;
    __atomic_store_n(&d->counted_at, total, __ATOMIC_RELAXED);
    sqlite3_set_last_insert_rowid(d->db, before.rowid);
}

INTERPOSED(sqlite3_int64, changes64, (sqlite3 * db)) {
    rsti_database *d = RSTI_FIND_ANY(db);
    return d == NULL ? sqlite3_changes64(db) : rsti_changes_of(d);
}

INTERPOSED(int, changes, (sqlite3 * db)) {
    rsti_database *d = RSTI_FIND_ANY(db);
    return d == NULL ? sqlite3_changes(db) : (int)rsti_changes_of(d);
}

INTERPOSED(sqlite3_int64, total_changes64, (sqlite3 * db)) {
    rsti_database *d = RSTI_FIND(db);
    return d == NULL ? sqlite3_total_changes64(db) : rootstock_total_changes(db) - d->uncounted;
}

INTERPOSED(int, total_changes, (sqlite3 * db)) {
    rsti_database *d = RSTI_FIND(db);
    return d == NULL ? sqlite3_total_changes(db) : (int)(rootstock_total_changes(db) - d->uncounted);
}
