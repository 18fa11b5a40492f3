/*
** overlay.c - what the write transaction knows of entries, in the order of their keys: a skip list.
**
** Invariant: a node that is not changed says what the server's rows say to this transaction.
*/
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

int postgres_compare(const void *a, size_t a_size, const void *b, size_t b_size) {
    size_t common = a_size < b_size ? a_size : b_size;
    int order = common == 0 ? 0 : memcmp(a, b, common);
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare_node(const node *n, rootstock_tree tree, const void *key, size_t size) {
    if (n->tree != tree) return n->tree < tree ? -1 : 1;
    return postgres_compare(n->key, n->size, key, size);
}

/* Sets before[level] to the place of the pointer to the first node that is not below the key (with `at`: above it).
** Returns the last node that is, or null. A null key stands for the end of the tree. */
static node *descend(overlay *o, rootstock_tree tree, const void *key, size_t size, bool at, node **before[LEVELS]) {
    node *last = NULL;
    for (int level = LEVELS - 1; level >= 0; level--) {
        node **link = last == NULL ? &o->first[level] : &last->next[level];
        while (level < o->levels && *link != NULL) {
            int order = key != NULL ? compare_node(*link, tree, key, size) : (*link)->tree <= tree ? -1 : 1;
            if (order > 0 || (order == 0 && !at)) break;
            last = *link;
            link = &last->next[level];
        }
        if (before != NULL) before[level] = link;
    }
    return last;
}

node *postgres_overlay_below(const overlay *o, rootstock_tree tree, const void *key, size_t size, bool at) {
    node *found = descend((overlay *)o, tree, key, size, at, NULL);
    return found != NULL && found->tree == tree ? found : NULL;
}

node *postgres_overlay_above(const overlay *o, rootstock_tree tree, const void *key, size_t size, bool at) {
    node *below = descend((overlay *)o, tree, key, size, !at, NULL);
    node *found = below == NULL ? o->first[0] : below->next[0];
    return found != NULL && found->tree == tree ? found : NULL;
}

node *postgres_overlay_get(const overlay *o, rootstock_tree tree, const void *key, size_t size) {
    if (o->count == 0) return NULL;
    node *found = postgres_overlay_above(o, tree, key, size, true);
    return found != NULL && compare_node(found, tree, key, size) == 0 ? found : NULL;
}

static int draw_levels(overlay *o) {
    int levels = 1;
    o->random = o->random * 6364136223846793005u + 1442695040888963407u;
    for (uint64_t bits = o->random >> 20; (bits & 3) == 0 && levels < LEVELS; bits >>= 2) levels++;
    return levels;
}

static node *insert(overlay *o, rootstock_tree tree, const rootstock_slice *key) {
    node **before[LEVELS];
    int levels = draw_levels(o);
    size_t links = (size_t)levels * sizeof(node *);
    node *n = malloc(sizeof *n + links + key->size);
    if (n == NULL) return NULL;
    *n = (node){.tree = tree, .size = key->size};
    n->key = (unsigned char *)n + sizeof *n + links;
    memcpy(n->key, key->data, key->size);
    if (levels > o->levels) o->levels = levels;
    descend(o, tree, key->data, key->size, false, before);
    for (int level = 0; level < levels; level++) {
        n->next[level] = *before[level];
        *before[level] = n;
    }
    o->count++;
    o->bytes += sizeof *n + links + key->size;
    return n;
}

bool postgres_overlay_set(overlay *o, rootstock_tree tree, const rootstock_slice *key, const rootstock_slice *value,
                          bool changed) {
    /* The value may be one that lies in the node. */
    void *copy = value == NULL ? NULL : malloc(value->size + 1);
    if (value != NULL && copy == NULL) return false;
    if (value != NULL && value->size > 0) memcpy(copy, value->data, value->size);
    node *n = postgres_overlay_get(o, tree, key->data, key->size);
    if (n == NULL) n = insert(o, tree, key);
    if (n == NULL) {
        free(copy);
        return false;
    }
    o->bytes -= n->value.size;
    free((void *)n->value.data);
    n->value = (rootstock_slice){value == NULL ? 0 : value->size, copy};
    o->bytes += n->value.size;
    n->there = value != NULL;
    o->changed += changed && !n->changed;
    n->changed = n->changed || changed;
    return true;
}

void postgres_overlay_forget(overlay *o, rootstock_tree tree) {
    node **before[LEVELS];
    descend(o, tree, tree == 0 ? NULL : "", 0, false, before);
    if (tree == 0)
        for (int level = 0; level < LEVELS; level++) before[level] = &o->first[level];
    while (*before[0] != NULL && (tree == 0 || (*before[0])->tree == tree)) {
        node *n = *before[0];
        for (int level = 0; level < LEVELS && *before[level] == n; level++) *before[level] = n->next[level];
        o->changed -= n->changed;
        o->count--;
        o->bytes -= n->value.size;
        free((void *)n->value.data);
        free(n);
    }
    if (o->count == 0) o->bytes = 0;
}
