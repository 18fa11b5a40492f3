/*
** postgres_table.h - the functions of the engine's table, which environment.c puts together: see rootstock_engine.h.
*/
#ifndef POSTGRES_TABLE_H
#define POSTGRES_TABLE_H

int postgres_begin(rootstock_environment *environment, uint32_t flags, rootstock_busy busy, void *context,
                   rootstock_transaction **out);
int postgres_commit(rootstock_transaction *transaction);
void postgres_abort(rootstock_transaction *transaction);
void postgres_reset(rootstock_transaction *transaction);
int postgres_restart(rootstock_transaction *transaction);
int postgres_renew(rootstock_transaction *transaction);
uint64_t postgres_identifier(rootstock_transaction *transaction);
int postgres_tree_open(rootstock_transaction *transaction, const char *name, uint32_t flags, rootstock_tree *tree);
int postgres_tree_clear(rootstock_transaction *transaction, rootstock_tree tree);
int postgres_tree_statistics(rootstock_transaction *transaction, rootstock_tree tree,
                             rootstock_tree_statistics *statistics);
int postgres_get(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                 rootstock_slice *value);
int postgres_get_several(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *keys,
                         rootstock_slice *values, uint32_t count);
int postgres_put(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key,
                 rootstock_slice *value, uint32_t flags);
int postgres_remove(rootstock_transaction *transaction, rootstock_tree tree, const rootstock_slice *key);
int postgres_cursor_open(rootstock_transaction *transaction, rootstock_tree tree, rootstock_cursor **out);
int postgres_cursor_renew(rootstock_transaction *transaction, rootstock_cursor *cursor);
void postgres_cursor_close(rootstock_cursor *cursor);
int postgres_cursor_move(rootstock_cursor *cursor, rootstock_move move, rootstock_slice *key, rootstock_slice *value);
uint32_t postgres_cursor_peek(rootstock_cursor *cursor, rootstock_move direction, rootstock_slice *keys,
                              uint32_t limit);

#endif
