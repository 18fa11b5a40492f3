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

int rst_catalog_index(rst_catalog *catalog) {
    unsigned int room = 16;
    if (catalog->count == 0) return SQLITE_OK;
    while (room < (unsigned int)catalog->count * 2) room *= 2; /* half full */
    catalog->slots = sqlite3_malloc64(room * sizeof *catalog->slots);
    if (catalog->slots == NULL) return SQLITE_NOMEM;
    memset(catalog->slots, 0, room * sizeof *catalog->slots);
    catalog->mask = room - 1;
    for (int i = 0; i < catalog->count; i++) {
        unsigned int place = rst_name_hash(catalog->objects[i].name) & catalog->mask;
        while (catalog->slots[place] != 0) place = (place + 1) & catalog->mask;
        catalog->slots[place] = i + 1;
    }
    return SQLITE_OK;
}

const rst_object *rst_catalog_find(const rst_catalog *catalog, const char *type, const char *name) {
    if (catalog->slots == NULL) return NULL;
    for (unsigned int place = rst_name_hash(name) & catalog->mask; catalog->slots[place] != 0;
         place = (place + 1) & catalog->mask) {
        const rst_object *object = &catalog->objects[catalog->slots[place] - 1];
        if (strcmp(object->type, type) == 0 && sqlite3_stricmp(object->name, name) == 0) return object;
    }
    return NULL;
}
