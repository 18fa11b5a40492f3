/*
** table_names.c - the schema's tables by name: a statement, a foreign key or a declaration names its table, and there
** may be thousands. Invariant: made anew with the schema's list of tables, and freed with it.
*/
#include "catalog/catalog.h"

#include <string.h>

static rst_named_table *slot_of(const rst_table_names *names, const char *name, unsigned int hash) {
    unsigned int place = hash & names->mask;
    const rst_named_table *slot = &names->slots[place];
    while (slot->name != NULL && (slot->hash != hash || sqlite3_stricmp(slot->name, name) != 0)) {
        place = (place + 1) & names->mask;
        slot = &names->slots[place];
    }
    return &names->slots[place];
}

static void add(rst_table_names *names, const char *name, unsigned int hash, rst_table *table) {
    rst_named_table *slot = slot_of(names, name, hash);
    if (slot->name != NULL) return;
    slot->name = name;
    slot->hash = hash;
    slot->table = table;
}

int rst_table_names_make(rst_table **tables, int count, rst_table_names *out) {
    unsigned int room = 16;
    memset(out, 0, sizeof *out);
    while (room < (unsigned int)count * 4) room *= 2; /* half full */
    out->slots = sqlite3_malloc64(room * sizeof *out->slots);
    if (out->slots == NULL) return SQLITE_NOMEM;
    memset(out->slots, 0, room * sizeof *out->slots);
    out->mask = room - 1;
    for (int i = 0; i < count; i++) add(out, tables[i]->name, tables[i]->hash, tables[i]);
    for (int i = 0; i < count; i++) {
        const char *declared = tables[i]->declared_name;
        if (tables[i]->internal) add(out, declared, rst_name_hash(declared), tables[i]); /* else it is the same */
    }
    return SQLITE_OK;
}

/* The table whose own name it is; or null. */
static rst_named_table *parent_of(const rst_table_names *names, const char *name, unsigned int hash) {
    rst_named_table *slot = slot_of(names, name, hash);
    return slot->name == NULL || slot->name != slot->table->name ? NULL : slot;
}

int rst_table_names_refer(rst_table **tables, int count, rst_table_names *names) {
    int keys = 0;
    rst_child *child;
    names->children_wait = false;
    for (int i = 0; i < count; i++) {
        tables[i]->is_parent = false;
        keys += tables[i]->foreign_key_count;
    }
    for (int i = 0; i < count; i++) {
        if (tables[i]->described || tables[i]->parents == NULL) continue;
        names->children_wait = true;
        for (int k = 0; k < tables[i]->parent_count; k++) {
            const rst_parent_name *parent = &tables[i]->parents[k];
            rst_named_table *slot = parent_of(names, parent->name, parent->hash);
            if (slot != NULL) slot->table->is_parent = true;
        }
    }
    for (unsigned int i = 0; i <= names->mask && names->children != NULL; i++) names->slots[i].children = NULL;
    sqlite3_free(names->children);
    names->children = child = keys == 0 ? NULL : sqlite3_malloc64((sqlite3_uint64)keys * sizeof *child);
    if (child == NULL && keys > 0) return SQLITE_NOMEM;
    /* Each goes to the front: the oldest table's first, and its last key. */
    for (int i = 0; i < count; i++) {
        for (int k = tables[i]->foreign_key_count - 1; k >= 0; k--) {
            const rst_foreign_key *foreign = &tables[i]->foreign_keys[k];
            rst_named_table *slot = parent_of(names, foreign->parent, rst_name_hash(foreign->parent));
            if (slot == NULL) continue;
            *child = (rst_child){tables[i], foreign, slot->children};
            slot->children = child++;
            slot->table->is_parent = true;
        }
    }
    return SQLITE_OK;
}

void rst_table_names_free(rst_table_names *names) {
    sqlite3_free(names->slots);
    sqlite3_free(names->children);
    sqlite3_free(names->sound);
    memset(names, 0, sizeof *names);
}

const rst_named_table *rst_table_names_find(const rst_table_names *names, const char *name) {
    const rst_named_table *slot =
        names->slots == NULL || name == NULL ? NULL : slot_of(names, name, rst_name_hash(name));
    return slot == NULL || slot->name == NULL ? NULL : slot;
}
