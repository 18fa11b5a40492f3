/*
** catalog_tree.c - the store's own record of its schema, in the tree "rootstock". It is written in the transaction of
** the change that it describes.
**
** Keys, whose values are rows as rows.h lays them out:
**   'M'                     the meta row: format, generation, next tree, next object, user_version, application_id,
**                           magic text
**   'O', 8-byte identifier  an object: type, name, tbl_name, sql, tree
**   'F', 8-byte number      an emptied tree for reuse
**   'R', 8-byte tree        the next rowid of that table which no connection has reserved (many_writers.c)
**
** Invariant: the generation grows with every change of the schema.
*/
#include "storage/storage.h"

#include <string.h>

static const char magic[] = "Rootstock store";

void rst_catalog_key(unsigned char key[9], char kind, int64_t number) {
    key[0] = (unsigned char)kind;
    for (int i = 0; i < 8; i++) key[1 + i] = (unsigned char)((uint64_t)number >> (56 - 8 * i));
}

static int64_t catalog_number(const rootstock_slice *key) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | ((const unsigned char *)key->data)[1 + i];
    return (int64_t)number;
}

static rootstock_value integer_value(int64_t integer) {
    rootstock_value value = {.type = VALUE_INTEGER};
    value.as.integer = integer;
    return value;
}

static rootstock_value text_value(const char *text) {
    rootstock_value value = {.type = text == NULL ? VALUE_NULL : VALUE_TEXT};
    if (text != NULL) {
        value.size = strlen(text);
        value.as.data = text;
    }
    return value;
}

static int write_row(rst_connection *c, char kind, int64_t number, const rootstock_value *values, int count) {
    rst_store *store = store_of(c);
    unsigned char key[9];
    rootstock_slice key_slice = {kind == 'M' ? 1 : sizeof key, key}, value;
    size_t size = rootstock_row_size(values, count);
    unsigned char *bytes;
    int code;
    if (size == 0) return SQLITE_TOOBIG;
    bytes = sqlite3_malloc64(size);
    if (bytes == NULL) return SQLITE_NOMEM;
    rootstock_row_write(bytes, values, count, false);
    rst_catalog_key(key, kind, number);
    value.size = size;
    value.data = bytes;
    code = rst_tree_ready(c, store->writer, &store->catalog, true);
    if (code == SQLITE_OK) code = rst_put(c, &store->catalog, &key_slice, &value, 0);
    sqlite3_free(bytes);
    return code;
}

int rst_catalog_write_meta(rst_connection *c, const rst_catalog *catalog) {
    rootstock_value values[8] = {
        integer_value(catalog->features != 0 ? ROOTSTOCK_FORMAT : ROOTSTOCK_FORMAT_PLAIN),
        integer_value(catalog->generation),
        integer_value(catalog->next_tree),
        integer_value(catalog->next_object),
        integer_value(catalog->user_version),
        integer_value(catalog->application_id),
        text_value(magic),
        integer_value(catalog->features),
    };
    return write_row(c, 'M', 0, values, catalog->features != 0 ? 8 : 7);
}

int rst_catalog_write_object(rst_connection *c, const rst_object *object) {
    rootstock_value values[5] = {text_value(object->type), text_value(object->name), text_value(object->table_name),
                                 text_value(object->sql), integer_value(object->tree)};
    return write_row(c, 'O', object->identifier, values, 5);
}

int rst_catalog_remove_object(rst_connection *c, int64_t identifier) {
    unsigned char key[9];
    rootstock_slice slice = {sizeof key, key};
    int code;
    rst_catalog_key(key, 'O', identifier);
    code = rst_remove(c, &store_of(c)->catalog, &slice, NULL);
    return code == SQLITE_DONE ? SQLITE_CORRUPT_VTAB : code;
}

static int read_integer(const rootstock_row *row, int column, int64_t *out) {
    rootstock_value value;
    int code = rootstock_row_column(row, column, &value, NULL);
    if (code != SQLITE_OK) return code;
    if (value.type != VALUE_INTEGER) return SQLITE_CORRUPT;
    *out = value.as.integer;
    return SQLITE_OK;
}

/* The object's four texts, in one block that begins with its type. */
static int read_texts(const rootstock_row *row, rst_object *object) {
    char **texts[4] = {&object->type, &object->name, &object->table_name, &object->sql}, *block;
    rootstock_value values[4];
    size_t size = 0;
    for (int i = 0; i < 4; i++) {
        int code = rootstock_row_column(row, i, &values[i], NULL);
        if (code != SQLITE_OK) return code;
        if (values[i].type != VALUE_TEXT && (i < 3 || values[i].type != VALUE_NULL)) return SQLITE_CORRUPT;
        if (values[i].type == VALUE_TEXT) size += values[i].size + 1;
    }
    block = sqlite3_malloc64(size);
    if (block == NULL) return SQLITE_NOMEM;
    for (int i = 0; i < 4; i++) {
        if (values[i].type != VALUE_TEXT) continue;
        memcpy(block, values[i].as.data, values[i].size);
        block[values[i].size] = '\0';
        *texts[i] = block;
        block += values[i].size + 1;
    }
    return SQLITE_OK;
}

/* The meta row ends in the text that marks a store: another program's tree may have our name, too. */
static bool has_magic(const rootstock_row *row) {
    rootstock_value text;
    return rootstock_row_column(row, 6, &text, NULL) == SQLITE_OK && text.type == VALUE_TEXT &&
           text.size == sizeof magic - 1 && memcmp(text.as.data, magic, text.size) == 0;
}

size_t rst_catalog_write_number(unsigned char bytes[16], int64_t number) {
    rootstock_value value = integer_value(number);
    return rootstock_row_write(bytes, &value, 1, false), rootstock_row_size(&value, 1);
}

bool rst_catalog_read_number(const rootstock_slice *bytes, int64_t *number) {
    rootstock_row row;
    return rootstock_row_open(&row, bytes->data, bytes->size) == SQLITE_OK && row.count == 1 &&
           read_integer(&row, 0, number) == SQLITE_OK;
}

/* The tree is there and no meta row: that is what a first CREATE leaves that was rolled back to a savepoint, if nothing
** else is in it. */
static int check_without_meta(rst_connection *c, rootstock_transaction *transaction, char **message) {
    rst_store *store = store_of(c);
    rootstock_tree_statistics statistics;
    int code = store->engine->tree_statistics(transaction, store->catalog.handle, &statistics);
    if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
    if (statistics.entries == 0 || transaction == store->writer)
        return SQLITE_OK; /* the writer may be making the first object */
    rst_set_message(message, "%s: its tree \"rootstock\" is not a store's: the catalog's meta row is missing",
                    store->shared->path);
    return SQLITE_NOTADB;
}

/* What the store has besides, and whether this connection can do with it. Its checksums are kept from here on. */
static int read_features(rst_connection *c, const rootstock_row *row, rst_catalog *catalog, char **message) {
    rst_store *store = store_of(c);
    int code = SQLITE_OK;
    catalog->features = 0;
    if (catalog->format < ROOTSTOCK_FORMAT_PLAIN) return SQLITE_CORRUPT;
    if (catalog->format >= ROOTSTOCK_FORMAT)
        code = row->count < 8 ? SQLITE_CORRUPT : read_integer(row, 7, &catalog->features);
    if (code == SQLITE_OK && catalog->format >= ROOTSTOCK_FORMAT && catalog->features == 0) code = SQLITE_CORRUPT;
    if (code != SQLITE_OK) return code;
    if ((catalog->features & ~(int64_t)CATALOG_FEATURES) != 0) {
        rst_set_message(message, "%s: written by a newer Rootstock (store features %lld, this one knows %d)",
                        store->shared->path, (long long)catalog->features, CATALOG_FEATURES);
        return SQLITE_NOTADB;
    }
    if (store->wants_checksums && (catalog->features & CATALOG_CHECKSUMS) == 0) {
        rst_set_message(message,
                        "%s: was made without checksums, and the option checksum asks for them: open it without the "
                        "option, or copy its content into a store that is made with it",
                        store->shared->path);
        return SQLITE_ERROR;
    }
    rst_checksums_keep(c, (catalog->features & CATALOG_CHECKSUMS) != 0);
    return SQLITE_OK;
}

int rst_catalog_read_meta(rst_connection *c, rootstock_transaction *transaction, rst_catalog *catalog, char **message) {
    rst_store *store = store_of(c);
    rootstock_slice key = {1, "M"}, value;
    rootstock_row row;
    int code;
    memset(catalog, 0, sizeof *catalog);
    /* As the first CREATE makes it. */
    catalog->features = store->wants_checksums ? CATALOG_CHECKSUMS : 0;
    catalog->format = catalog->features != 0 ? ROOTSTOCK_FORMAT : ROOTSTOCK_FORMAT_PLAIN;
    catalog->next_tree = 1;
    catalog->next_object = 1;
    if (!store->catalog.open) {
        code = store->engine->tree_open(transaction, "rootstock", 0, &store->catalog.handle);
        if (code == ROOTSTOCK_NOT_FOUND) { /* nothing was ever created */
            rst_checksums_keep(c, store->wants_checksums);
            return SQLITE_OK;
        }
        if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
        store->catalog.open = true;
        store->catalog_is_new = transaction == store->writer;
    }
    code = store->engine->get(transaction, store->catalog.handle, &key, &value);
    if (code == ROOTSTOCK_NOT_FOUND) {
        rst_checksums_keep(c, store->wants_checksums);
        return check_without_meta(c, transaction, message);
    }
    if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
    code = rootstock_row_open(&row, value.data, value.size); /* a checksum behind it does no harm */
    if (code == SQLITE_OK && row.count < 7) code = SQLITE_CORRUPT;
    if (code == SQLITE_OK && !has_magic(&row)) {
        rst_set_message(message, "%s: its tree \"rootstock\" is not a store's: the catalog's mark is missing",
                        store->shared->path);
        return SQLITE_NOTADB;
    }
    if (code == SQLITE_OK) code = read_integer(&row, 0, &catalog->format);
    if (code == SQLITE_OK && catalog->format > ROOTSTOCK_FORMAT) {
        rst_set_message(message, "%s: written by a newer Rootstock (store format %lld, this one reads up to %d)",
                        store->shared->path, (long long)catalog->format, ROOTSTOCK_FORMAT);
        return SQLITE_NOTADB;
    }
    if (code == SQLITE_OK) {
        code = read_features(c, &row, catalog, message);
        if (code == SQLITE_NOTADB || code == SQLITE_ERROR) return code;
    }
    if (code == SQLITE_OK && rst_checked(c, &store->catalog, ROOTSTOCK_OK, &key, &value) != ROOTSTOCK_OK) {
        rst_damage_tell(c, SQLITE_CORRUPT_VTAB, message);
        return SQLITE_CORRUPT;
    }
    if (code == SQLITE_OK) code = read_integer(&row, 1, &catalog->generation);
    if (code == SQLITE_OK) code = read_integer(&row, 2, &catalog->next_tree);
    if (code == SQLITE_OK) code = read_integer(&row, 3, &catalog->next_object);
    if (code == SQLITE_OK) code = read_integer(&row, 4, &catalog->user_version);
    if (code == SQLITE_OK) code = read_integer(&row, 5, &catalog->application_id);
    if (code == SQLITE_OK && (catalog->next_tree < 1 || catalog->next_tree > INT32_MAX || catalog->next_object < 1))
        code = SQLITE_CORRUPT;
    if (code != SQLITE_OK) rst_set_message(message, "%s: the catalog's meta row is malformed", store->shared->path);
    return code;
}

int rst_catalog_read(rst_connection *c, rootstock_transaction *transaction, rst_catalog *catalog, char **message) {
    rst_store *store = store_of(c);
    rootstock_cursor *cursor;
    unsigned char start[9];
    rootstock_slice key = {sizeof start, start}, value;
    int code = rst_catalog_read_meta(c, transaction, catalog, message);
    if (code != SQLITE_OK || !store->catalog.open) return code;
    code = store->engine->cursor_open(transaction, store->catalog.handle, &cursor);
    if (code != ROOTSTOCK_OK) return rst_map_error(c, code, message);
    rst_catalog_key(start, 'O', 0);
    code =
        rst_checked(c, &store->catalog, store->engine->cursor_move(cursor, ROOTSTOCK_SEEK, &key, &value), &key, &value);
    while (code == ROOTSTOCK_OK && key.size == 9 && ((const char *)key.data)[0] == 'O') {
        rootstock_row row;
        rst_object object = {0};
        int64_t tree = 0;
        int result = rootstock_row_open(&row, value.data, value.size);
        object.identifier = catalog_number(&key);
        if (result == SQLITE_OK && row.count < 5) result = SQLITE_CORRUPT;
        if (result == SQLITE_OK) result = read_texts(&row, &object);
        if (result == SQLITE_OK) result = read_integer(&row, 4, &tree);
        if (result == SQLITE_OK && (tree < 0 || tree >= catalog->next_tree || tree > INT32_MAX))
            result = SQLITE_CORRUPT;
        object.tree = (int)tree;
        if (result == SQLITE_OK) result = rst_catalog_place(catalog, &object);
        if (result != SQLITE_OK) {
            sqlite3_free(object.type);
            store->engine->cursor_close(cursor);
            if (result != SQLITE_NOMEM) {
                rst_set_message(message, "%s: catalog entry %lld is malformed", store->shared->path,
                                (long long)object.identifier);
            }
            return result;
        }
        code = rst_checked(c, &store->catalog, store->engine->cursor_move(cursor, ROOTSTOCK_NEXT, &key, &value), &key,
                           &value);
    }
    store->engine->cursor_close(cursor);
    if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_map_error(c, code, message);
    return rst_catalog_index(catalog);
}

void rst_catalog_free(rst_catalog *catalog) {
    for (int i = 0; i < catalog->count; i++) sqlite3_free(catalog->objects[i].type); /* the texts' block */
    sqlite3_free(catalog->objects);
    sqlite3_free(catalog->slots);
    catalog->objects = NULL;
    catalog->slots = NULL;
    catalog->count = catalog->capacity = 0;
}

int rst_catalog_take_tree(rst_connection *c, rst_catalog *catalog, rst_tree *tree, char **message) {
    rst_store *store = store_of(c);
    unsigned char start[9];
    rootstock_slice key = {sizeof start, start}, value;
    rootstock_cursor *cursor;
    int code = rst_tree_ready(c, store->writer, &store->catalog, true);
    memset(tree, 0, sizeof *tree);
    if (code != SQLITE_OK) return code;
    code = store->engine->cursor_open(store->writer, store->catalog.handle, &cursor);
    if (code != ROOTSTOCK_OK) return rst_map_code(c, code);
    rst_catalog_key(start, 'F', 0);
    code =
        rst_checked(c, &store->catalog, store->engine->cursor_move(cursor, ROOTSTOCK_SEEK, &key, &value), &key, &value);
    if (code == ROOTSTOCK_OK && key.size == 9 && ((const char *)key.data)[0] == 'F') {
        unsigned char free_key[9];
        rootstock_slice slice = {sizeof free_key, free_key};
        if (catalog_number(&key) < 1 || catalog_number(&key) >= catalog->next_tree) {
            store->engine->cursor_close(cursor);
            return SQLITE_CORRUPT_VTAB;
        }
        tree->number = (int)catalog_number(&key);
        rst_catalog_key(free_key, 'F', tree->number);
        store->engine->cursor_close(cursor);
        code = rst_remove(c, &store->catalog, &slice, NULL);
        if (code != SQLITE_OK) return code == SQLITE_DONE ? SQLITE_CORRUPT_VTAB : code;
    } else {
        store->engine->cursor_close(cursor);
        if (code != ROOTSTOCK_OK && code != ROOTSTOCK_NOT_FOUND) return rst_map_code(c, code);
        tree->number = (int)catalog->next_tree++;
    }
    store->wrote = true;
    return rst_tree_open(c, store->writer, tree, true, message);
}

int rst_catalog_free_tree(rst_connection *c, rst_tree *tree) {
    rootstock_value nothing[1] = {{.type = VALUE_NULL}};
    int code = rst_clear(c, tree);
    if (code == SQLITE_OK && rst_many_writers(store_of(c))) {
        unsigned char key[9];
        rootstock_slice slice = {sizeof key, key};
        rst_catalog_key(key, 'R', tree->number);
        code = rst_remove(c, &store_of(c)->catalog, &slice, NULL);
        if (code == SQLITE_DONE) code = SQLITE_OK;
    }
    if (code != SQLITE_OK) return code;
    return write_row(c, 'F', tree->number, nothing, 1);
}
