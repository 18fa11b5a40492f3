/*
** counts.c - sqlite3_changes, sqlite3_total_changes and their 64-bit forms.
**
** A write through a blob handle puts a row, which SQLite counts. Natively the handle writes into the row, and nothing
** is counted. So these rows are left out here. The total leaves out those of a change that a foreign key has refused.
*/
#include "interpose.h"

sqlite3_int64 rsti_changes_of(rsti_database *d) {
    sqlite3_int64 changes;
    if (__atomic_load_n(&d->uncounted, __ATOMIC_RELAXED) == 0) return sqlite3_changes64(d->db);
    rsti_enter(d);
    changes = sqlite3_total_changes64(d->db) == d->counted_at ? d->changes_then : sqlite3_changes64(d->db);
    rsti_leave(d);
    return changes;
}

INTERPOSED(sqlite3_int64, changes64, (sqlite3 * db)) {
    rsti_database *d = RSTI_FIND(db);
    return d == NULL ? sqlite3_changes64(db) : rsti_changes_of(d);
}

INTERPOSED(int, changes, (sqlite3 * db)) {
    rsti_database *d = RSTI_FIND(db);
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
