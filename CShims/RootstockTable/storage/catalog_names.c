/*
** catalog_names.c - a catalog's objects by name: tables, indexes and views are looked up one by one, and there may be
** thousands. Invariant: made when the catalog has been read, and freed with it; letters' case makes no difference.
*/
#include "storage/storage.h"

#include <string.h>

unsigned int rst_name_hash(const char *name) {
    unsigned int hash = 2166136261u;
    for (; *name != '\0'; name++) {
        unsigned char letter = (unsigned char)*name;
        if (letter >= 'A' && letter <= 'Z') letter |= 0x20;
        hash = (hash ^ letter) * 16777619u;
    }
    return hash;
}

static void list(rst_catalog *catalog, int number) {
    unsigned int place = catalog->objects[number].hash & catalog->mask;
    while (catalog->slots[place] != 0) place = (place + 1) & catalog->mask;
    catalog->slots[place] = number + 1;
}

int rst_catalog_index(rst_catalog *catalog) {
    unsigned int room = 16;
    if (catalog->count == 0 && catalog->slots == NULL) return SQLITE_OK;
    while (room < (unsigned int)catalog->count * 2) room *= 2; /* half full */
    if (catalog->slots == NULL || catalog->mask != room - 1) {
        int *slots = sqlite3_realloc64(catalog->slots, room * sizeof *slots);
        if (slots == NULL) return SQLITE_NOMEM;
        catalog->slots = slots;
        catalog->mask = room - 1;
    }
    memset(catalog->slots, 0, room * sizeof *catalog->slots);
    for (int i = 0; i < catalog->count; i++) list(catalog, i);
    return SQLITE_OK;
}

/* The place of the identifier, or the one where it would be. */
static int place_of(const rst_catalog *catalog, int64_t identifier) {
    int low = 0, high = catalog->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (catalog->objects[middle].identifier < identifier)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int rst_catalog_place(rst_catalog *catalog, const rst_object *object) {
    int place = place_of(catalog, object->identifier);
    if (place < catalog->count && catalog->objects[place].identifier == object->identifier) {
        sqlite3_free(catalog->objects[place].type);
    } else {
        if (catalog->count == catalog->capacity) {
            int capacity = catalog->capacity == 0 ? 16 : catalog->capacity * 2;
            rst_object *more = sqlite3_realloc64(catalog->objects, (sqlite3_uint64)capacity * sizeof *more);
            if (more == NULL) return SQLITE_NOMEM;
            catalog->objects = more;
            catalog->capacity = capacity;
        }
        memmove(&catalog->objects[place + 1], &catalog->objects[place],
                (size_t)(catalog->count - place) * sizeof *catalog->objects);
        catalog->count++;
    }
    catalog->objects[place] = *object;
    catalog->objects[place].hash = rst_name_hash(object->name);
    return SQLITE_OK;
}

void rst_catalog_take_out(rst_catalog *catalog, int64_t identifier) {
    int place = place_of(catalog, identifier);
    if (place == catalog->count || catalog->objects[place].identifier != identifier) return;
    sqlite3_free(catalog->objects[place].type);
    memmove(&catalog->objects[place], &catalog->objects[place + 1],
            (size_t)(--catalog->count - place) * sizeof *catalog->objects);
}

const rst_object *rst_catalog_identified(const rst_catalog *catalog, int64_t identifier) {
    int place = place_of(catalog, identifier);
    return place < catalog->count && catalog->objects[place].identifier == identifier ? &catalog->objects[place] : NULL;
}

const rst_object *rst_catalog_find(const rst_catalog *catalog, const char *type, const char *name) {
    const unsigned int hash = rst_name_hash(name);
    if (catalog->slots == NULL) return NULL;
    for (unsigned int place = hash & catalog->mask; catalog->slots[place] != 0; place = (place + 1) & catalog->mask) {
        const rst_object *object = &catalog->objects[catalog->slots[place] - 1];
        if (object->hash == hash && strcmp(object->type, type) == 0 && sqlite3_stricmp(object->name, name) == 0)
            return object;
    }
    return NULL;
}
