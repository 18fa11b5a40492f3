/*
** collated_key.h - the parts of a key, those under a collation of the application among them.
*/
#ifndef ROOTSTOCK_COLLATED_KEY_H
#define ROOTSTOCK_COLLATED_KEY_H

#include "catalog/catalog.h"

/* rst_part_append of a text under a collation of the application. */
int rst_collated_append(const rst_table *table, rootstock_buffer *key, const rootstock_value *text,
                        const rst_part *part);

/* Whether one of the parts is under a collation of the application. */
static inline bool rst_parts_collated(const rst_part *parts, int count) {
    for (int p = 0; p < count; p++) {
        if (parts[p].key.collation == ROOTSTOCK_COLLATION_OWN) return true;
    }
    return false;
}

/* Appends the value as a part of a key of the table: one of its primary key, or of an index. key holds the parts in
** front of it, from the key's first byte on. What a text under a collation of the application is appended as depends
** on what the tree holds: put it there before another is. SQLITE_OK or an error. */
static inline int rst_part_append(const rst_table *table, rootstock_buffer *key, const rootstock_value *value,
                                  const rst_part *part) {
    if (part->key.collation == ROOTSTOCK_COLLATION_OWN && value->type == VALUE_TEXT)
        return rst_collated_append(table, key, value, part);
    return rootstock_key_append(key, value, &part->key);
}

#endif
