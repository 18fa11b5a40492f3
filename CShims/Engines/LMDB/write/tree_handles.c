/*
** tree_handles.c - a store's trees opened without a search among those that are open.
**
** mdb_dbi_open compares the name with that of every open tree: to open all trees of a store takes a time that grows
** with the square of their number. Where a cursor goes through the records there is nothing to search for. So LMDB
** opens the first tree. Each that follows gets the next handle, with the same entries that LMDB made for the one before
** it. LMDB's commit of the transaction publishes them.
**
** And the copy of their counts, which LMDB makes at each begin of a write transaction, lies where it is made fast.
**
** Invariant: a handle is made only behind one that LMDB or this file made in the same transaction, and which reads as
** it was made. Its tree has no flags, and LMDB takes its record for a tree's, too.
*/
#include <stdlib.h>
#include <string.h>

#include "read/entries.h"
#include "write/transaction_layout.h"
#include "write/write_layer.h"

/* Of an entry: it is a tree's record. Its flags stand two halves before its key. */
#define IS_TREE 2u
#define HAS_DUPLICATES 4u
#define FLAGS_BEFORE_KEY 4

int rootstock_lmdb_open_tree_alike(rootstock_environment *environment, MDB_txn *txn, const MDB_val *name,
                                   const MDB_val *record, MDB_dbi *handle) {
    lmdb_transaction_layout *layout = (lmdb_transaction_layout *)txn;
    const MDB_dbi last = *handle, next = last + 1;
    lmdb_tree_record copy;
    if (!lmdb_edits_pages(environment) || last <= environment->unnamed || record->mv_size != sizeof copy) return 0;
    if (layout->env != environment->env || layout->handles != next || next >= environment->most_trees) return 0;
    memcpy(&copy, record->mv_data, sizeof copy);
    if (copy.flags != 0 || layout->records[last].flags != 0 || layout->names[last].name.mv_data == NULL) return 0;
    if ((half((const unsigned char *)name->mv_data - FLAGS_BEFORE_KEY) & (IS_TREE | HAS_DUPLICATES)) != IS_TREE)
        return 0;
    char *text = malloc(name->mv_size + 1); /* LMDB's to free */
    if (text == NULL) return 0;
    memcpy(text, name->mv_data, name->mv_size);
    text[name->mv_size] = '\0';
    layout->names[next] = layout->names[last];
    layout->names[next].name = (MDB_val){name->mv_size, text};
    layout->records[next] = copy;
    layout->openings[next]++;
    layout->states[next] = layout->states[last];
    layout->handles = next + 1;
    *handle = next;
    return 1;
}

/* For each handle that there may be LMDB counts its openings, and a write transaction begins with a copy of the counts:
** 16 KiB for 4,096 handles. Where the copy lies 1 to 31 bytes behind the counts, modulo 4096, memcpy takes 5.5 us
** instead of 0.2 on AMD's processors. LMDB takes the places as malloc gives them. So the copy is put elsewhere, once
** for an environment of LMDB's: the write transaction's struct, which all of them have in turn, keeps the pointer. */
#define ALIASED 4096u
#define APART (ALIASED / 2)

void rootstock_lmdb_place_openings(rootstock_environment *environment, MDB_txn *txn) {
    lmdb_openings *copy = &lmdb_writing_environment(environment)->openings;
    MDB_txn *others;
    if (copy->placed || !lmdb_edits_pages(environment)) return;
    if (mdb_txn_begin(environment->env, NULL, MDB_RDONLY, &others) != MDB_SUCCESS) return;
    const unsigned *counts = ((const lmdb_transaction_layout *)others)->openings;
    mdb_txn_abort(others);
    copy->placed = 1;
    /* LMDB has two handles of its own. */
    const size_t bytes = ((size_t)environment->most_trees + 2) * sizeof *counts;
    unsigned char *memory = malloc(bytes + ALIASED);
    if (memory == NULL) return; /* it is only slower */
    unsigned char *place = memory + (size_t)((uintptr_t)counts + APART - (uintptr_t)memory) % ALIASED;
    lmdb_transaction_layout *layout = (lmdb_transaction_layout *)txn;
    memcpy(place, layout->openings, bytes);
    layout->openings = (unsigned *)(void *)place;
    copy->memory = memory;
}

void rootstock_lmdb_free_openings(rootstock_environment *environment) {
    lmdb_openings *copy = &lmdb_writing_environment(environment)->openings;
    free(copy->memory);
    *copy = (lmdb_openings){0};
}
