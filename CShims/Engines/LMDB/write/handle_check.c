/*
** handle_check.c - are the handles of liblmdb's trees laid out as write/tree_handles.c makes them?
**
** Invariant: as of write/layout_check.c, of which this is a part.
*/
#include <stdlib.h>
#include <string.h>

#include "write/layout_scratch.h"
#include "write/transaction_layout.h"

/* LMDB has just opened the tree of that name and record as the last one; `others` is of a transaction that began before
** that. */
static const char *check_handle(scratch *s, const MDB_txn *txn, const MDB_txn *others, MDB_dbi tree,
                                const MDB_val *name, const MDB_val *record) {
    lmdb_transaction_layout layout, other;
    lmdb_named named[2];
    lmdb_tree_record read;
    unsigned openings[2];
    unsigned char state, text[READABLE];
    EXPECT(fetch(s, txn, &layout, sizeof layout) && fetch(s, others, &other, sizeof other), TRANSACTION);
    EXPECT(layout.env == s->env && layout.handles == tree + 1 && other.handles == tree, HANDLES);
    EXPECT(layout.names == other.names && layout.openings == other.openings, HANDLES);
    EXPECT(layout.records != other.records && layout.states != other.states, HANDLES);
    EXPECT(fetch(s, layout.names + tree, named, sizeof named) && named[0].name.mv_size == name->mv_size, HANDLES);
    EXPECT(name->mv_size < sizeof text && fetch(s, named[0].name.mv_data, text, name->mv_size + 1), HANDLES);
    EXPECT(memcmp(text, name->mv_data, name->mv_size) == 0 && text[name->mv_size] == 0, HANDLES);
    EXPECT(named[1].name.mv_size == 0 && named[1].name.mv_data == NULL, HANDLES);
    EXPECT(named[0].compare_keys != NULL && named[0].relocate == NULL, HANDLES);
    EXPECT(fetch(s, layout.records + tree, &read, sizeof read) && record->mv_size == sizeof read, HANDLES);
    EXPECT(memcmp(&read, record->mv_data, sizeof read) == 0, HANDLES);
    EXPECT(fetch(s, layout.openings + tree, openings, sizeof openings) && openings[0] == openings[1] + 1, HANDLES);
    EXPECT(fetch(s, layout.states + tree, &state, sizeof state) && state != 0, HANDLES);
    return NULL;
}

/* All trees, in the order of their names: LMDB opens the first one. */
static const char *open_trees(scratch *s, MDB_txn *txn, const MDB_txn *others, MDB_cursor *cursor) {
    static const char *const names[] = {"another", "one more", "tree"};
    lmdb_write_environment *environment = make_scratch_environment(s);
    const char *fault = environment == NULL ? LIBRARY : NULL;
    MDB_val key, record;
    for (size_t i = 0; i < sizeof names / sizeof *names && fault == NULL; i++) {
        if (mdb_cursor_get(cursor, &key, &record, MDB_NEXT) != MDB_SUCCESS)
            fault = LIBRARY;
        else if (i == 0)
            fault = mdb_dbi_open(txn, names[0], 0, &s->tree) == MDB_SUCCESS
                        ? check_handle(s, txn, others, s->tree, &key, &record)
                        : LIBRARY;
        else if (!rootstock_lmdb_open_tree_alike(&environment->below.below, txn, &key, &record, &s->tree))
            fault = HANDLES;
    }
    free(environment);
    return fault;
}

/* They are the trees that LMDB finds by these names, and each holds what was stored. */
static const char *check_trees(const scratch *s, MDB_txn *txn) {
    static const struct {
        const char *name;
        unsigned entries;
    } trees[] = {{"another", 1}, {"one more", 2}, {"tree", KEYS}};
    for (unsigned i = 0; i < 3; i++) {
        const MDB_dbi expected = s->tree - 2 + i;
        MDB_dbi found;
        MDB_stat says;
        MDB_val key, value;
        unsigned char bytes[KEY];
        EXPECT(mdb_stat(txn, expected, &says) == MDB_SUCCESS && says.ms_entries == trees[i].entries, HANDLES);
        make_key(bytes, trees[i].entries - 1);
        key = (MDB_val){KEY, bytes};
        EXPECT(mdb_get(txn, expected, &key, &value) == MDB_SUCCESS && value.mv_size == 4, HANDLES);
        EXPECT(mdb_dbi_open(txn, trees[i].name, 0, &found) == MDB_SUCCESS && found == expected, HANDLES);
    }
    return NULL;
}

static const char *open_all(scratch *s) {
    MDB_txn *txn, *others = NULL;
    MDB_cursor *cursor = NULL;
    MDB_dbi unnamed;
    s->readable = 0;
    EXPECT(mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn) == MDB_SUCCESS, LIBRARY);
    const char *fault = LIBRARY;
    if (mdb_txn_begin(s->env, NULL, MDB_RDONLY, &others) == MDB_SUCCESS &&
        mdb_dbi_open(txn, NULL, 0, &unnamed) == MDB_SUCCESS && mdb_cursor_open(txn, unnamed, &cursor) == MDB_SUCCESS)
        fault = open_trees(s, txn, others, cursor);
    if (cursor != NULL) mdb_cursor_close(cursor);
    if (others != NULL) mdb_txn_abort(others);
    if (fault == NULL) return mdb_txn_commit(txn) == MDB_SUCCESS ? NULL : LIBRARY;
    mdb_txn_abort(txn);
    return fault;
}

/* The next write transaction's copy of the counts is made where this one's was put, and there its own is put back. */
static const char *check_copy(scratch *s, lmdb_write_environment *environment) {
    MDB_txn *txn;
    EXPECT(mdb_txn_begin(s->env, NULL, 0, &txn) == MDB_SUCCESS, LIBRARY);
    lmdb_transaction_layout *layout = (lmdb_transaction_layout *)txn;
    unsigned *own = layout->openings;
    rootstock_lmdb_place_openings(&environment->below.below, txn);
    unsigned *placed = layout->openings;
    if (placed != own) memset(placed, 0, (s->tree + 1) * sizeof *placed);
    mdb_txn_abort(txn);
    if (placed == own) return LIBRARY; /* no memory */
    EXPECT(mdb_txn_begin(s->env, NULL, 0, &txn) == MDB_SUCCESS, LIBRARY);
    int kept = layout == (lmdb_transaction_layout *)txn && layout->openings == placed && placed[s->tree] != 0 &&
               memcmp(placed, own, (s->tree + 1) * sizeof *placed) == 0;
    ((lmdb_transaction_layout *)txn)->openings = own;
    mdb_txn_abort(txn);
    return kept ? NULL : HANDLES;
}

const char *rootstock_lmdb_check_handles(scratch *s) {
    MDB_txn *txn;
    CHECK(open_all(s));
    EXPECT(mdb_txn_begin(s->env, NULL, MDB_RDONLY, &txn) == MDB_SUCCESS, LIBRARY);
    const char *fault = check_trees(s, txn);
    mdb_txn_abort(txn);
    lmdb_write_environment *environment = fault != NULL ? NULL : make_scratch_environment(s);
    if (environment == NULL) return fault != NULL ? fault : LIBRARY;
    fault = check_copy(s, environment);
    rootstock_lmdb_free_openings(&environment->below.below);
    free(environment);
    return fault;
}
