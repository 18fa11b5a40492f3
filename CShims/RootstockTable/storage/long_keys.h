/*
** long_keys.h - trees by logical keys of any length (long_keys.c).
*/
#ifndef ROOTSTOCK_TREES_H
#define ROOTSTOCK_TREES_H

typedef struct rst_run rst_run;
typedef struct rst_walker {
    rst_connection *connection;
    rst_tree *tree;
    rootstock_transaction *transaction;
    rootstock_cursor *cursor;
    rst_run *run; /* entries of the run of long keys under the cursor, sorted; or null */
    int run_position;
} rst_walker;

int rst_walker_open(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, rst_walker *walker);
int rst_walker_renew(rst_walker *walker, rootstock_transaction *transaction);
void rst_walker_close(rst_walker *walker);
int rst_walker_slow_move(rst_walker *walker, rootstock_move move, rootstock_slice *key, rootstock_slice *value);
int rst_tree_get(rst_connection *c, rootstock_transaction *transaction, rst_tree *tree, const rootstock_slice *key,
                 rootstock_slice *value, rootstock_buffer *hold);
int rst_tree_put(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value,
                 uint32_t flags);
int rst_tree_remove(rst_connection *c, rst_tree *tree, const rootstock_slice *key, const rootstock_slice *value);

/* Moves a walker; SEEK takes the key sought in *key. Rows with short keys cost one engine call. */
static inline int rst_walker_move(rst_walker *w, rootstock_move move, rootstock_slice *key, rootstock_slice *value) {
    if (w->run == NULL && (move == ROOTSTOCK_NEXT || move == ROOTSTOCK_PREVIOUS)) {
        int code = store_of(w->connection)->engine->cursor_move(w->cursor, move, key, value);
        if (code != ROOTSTOCK_OK || key->size < store_of(w->connection)->second_look) return code;
        return rst_walker_slow_move(w, (rootstock_move)(move == ROOTSTOCK_NEXT ? 100 : 101), key, value);
    }
    return rst_walker_slow_move(w, move, key, value);
}

#endif
