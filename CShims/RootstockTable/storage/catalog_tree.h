/*
** catalog_tree.h - the store's own record of its tables, indexes, views and triggers, as it stands in the catalog's
** tree.
*/
#ifndef ROOTSTOCK_CATALOG_TREE_H
#define ROOTSTOCK_CATALOG_TREE_H

#include "storage/tree.h"

#include <string.h>

typedef struct rst_object {
    int64_t identifier;
    char *type, *name, *table_name, *sql; /* in a catalog, one block that begins with the type */
    int tree;
    unsigned int hash; /* of its name, in a catalog */
} rst_object;
/* Whether it is of that type. In place: asked of every object of a schema. */
static inline bool rst_object_is(const rst_object *object, const char *type) {
    return object->type[0] == type[0] && strcmp(object->type, type) == 0;
}

typedef struct rst_catalog {
    int64_t format, features /* CATALOG_... */, generation, next_tree, next_object, user_version, application_id;
    rst_object *objects; /* in the order of their identifiers */
    int count, capacity;
    int *slots; /* by name, see catalog_names.c: an object's place and 1, or 0 */
    unsigned int mask;
} rst_catalog;

/* A store without features is of format 1, byte for byte; one with any is of format 2, which older versions refuse. */
#define ROOTSTOCK_FORMAT_PLAIN 1
#define ROOTSTOCK_FORMAT 2
enum { CATALOG_CHECKSUMS = 1, CATALOG_FEATURES = CATALOG_CHECKSUMS /* all that are known */ };

int rst_catalog_read(rst_connection *c, rootstock_transaction *transaction, rst_catalog *catalog, char **message);
int rst_catalog_read_meta(rst_connection *c, rootstock_transaction *transaction, rst_catalog *catalog, char **message);
int rst_catalog_write_meta(rst_connection *c, const rst_catalog *catalog);
int rst_catalog_write_object(rst_connection *c, const rst_object *object);
int rst_catalog_remove_object(rst_connection *c, int64_t identifier);
/* A tree for a new table or index: an emptied one, or a new name. */
int rst_catalog_take_tree(rst_connection *c, rst_catalog *catalog, rst_tree *tree, char **message);
int rst_catalog_free_tree(rst_connection *c, rst_tree *tree);
void rst_catalog_free(rst_catalog *catalog);
/* The key of an entry, and the value of one that is a number alone: its size. */
void rst_catalog_key(unsigned char key[9], char kind, int64_t number);
size_t rst_catalog_write_number(unsigned char bytes[16], int64_t number);
bool rst_catalog_read_number(const rootstock_slice *bytes, int64_t *number);

/* ---- catalog_names.c ---- */
/* Of a name, without regard to the case of ASCII letters. */
unsigned int rst_name_hash(const char *name);
/* Makes its objects known by name. SQLITE_OK or SQLITE_NOMEM. */
int rst_catalog_index(rst_catalog *catalog);
/* Puts the object behind the last one, or in the place of the one of its identifier; its texts belong to the catalog
** then. SQLITE_OK, or SQLITE_NOMEM, which leaves all as it was. Names are known again after rst_catalog_index. */
int rst_catalog_place(rst_catalog *catalog, const rst_object *object);
/* Takes the object of that identifier out. Names are known again after rst_catalog_index. */
void rst_catalog_take_out(rst_catalog *catalog, int64_t identifier);
/* The object of that identifier, or null. */
const rst_object *rst_catalog_identified(const rst_catalog *catalog, int64_t identifier);
/* The first object of the type and name in a catalog that was read; or null. */
const rst_object *rst_catalog_find(const rst_catalog *catalog, const char *type, const char *name);

#endif
