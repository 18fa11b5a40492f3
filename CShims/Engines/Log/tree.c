/*
** tree.c - a treap of counted nodes, shared between the commits that see them (log.h).
*/
#include <stdlib.h>
#include <string.h>

#include "log.h"

int key_order(const rootstock_slice *a, const void *data, size_t size) {
    size_t common = a->size < size ? a->size : size;
    int order = memcmp(a->data, data, common);
    return order != 0 ? order : (a->size > size) - (a->size < size);
}

/* Spreads the keys' hash over the heap; the same key has the same priority always. */
static uint32_t priority_of(const rootstock_slice *key) {
    const unsigned char *bytes = key->data;
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < key->size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return (uint32_t)(hash >> 32);
}

node *node_retain(node *n) {
    if (n != NULL) atomic_fetch_add_explicit(&n->references, 1, memory_order_relaxed);
    return n;
}

void node_release(node *n) {
    /* The right side by the loop: the treap is as deep as its logarithm, and so is the recursion. */
    while (n != NULL && atomic_fetch_sub_explicit(&n->references, 1, memory_order_acq_rel) == 1) {
        node *right = n->right;
        node_release(n->left);
        free(n);
        n = right;
    }
}

static node *node_new(const rootstock_slice *key, uint64_t offset, uint32_t value_size) {
    node *n = malloc(sizeof *n + key->size);
    if (n == NULL) return NULL;
    *n = (node){.priority = priority_of(key), .count = 1, .offset = offset, .value_size = value_size};
    atomic_init(&n->references, 1);
    n->key_size = (uint32_t)key->size;
    memcpy(n->key, key->data, key->size);
    return n;
}

static uint64_t count_of(const node *n) {
    return n == NULL ? 0 : n->count;
}

/* Makes the node in the slot the slot's own, so that it may be changed. False: no memory, nothing changed. */
static bool own(node **slot) {
    node *shared = *slot, *copy;
    if (atomic_load_explicit(&shared->references, memory_order_acquire) == 1) return true;
    copy = malloc(sizeof *copy + shared->key_size);
    if (copy == NULL) return false;
    memcpy(copy, shared, sizeof *copy + shared->key_size);
    atomic_init(&copy->references, 1);
    node_retain(copy->left);
    node_retain(copy->right);
    node_release(shared);
    *slot = copy;
    return true;
}

node *tree_find(node *n, const rootstock_slice *key) {
    while (n != NULL) {
        int order = key_order(key, n->key, n->key_size);
        if (order == 0) return n;
        n = order < 0 ? n->left : n->right;
    }
    return NULL;
}

node *tree_above(node *n, const rootstock_slice *key, bool or_equal) {
    node *best = NULL;
    while (n != NULL) {
        int order = key == NULL ? -1 : key_order(key, n->key, n->key_size);
        if (order == 0 && or_equal) return n;
        if (order < 0) best = n;
        n = order < 0 ? n->left : n->right;
    }
    return best;
}

node *tree_below(node *n, const rootstock_slice *key) {
    node *best = NULL;
    while (n != NULL) {
        int order = key == NULL ? 1 : key_order(key, n->key, n->key_size);
        if (order > 0) best = n;
        n = order > 0 ? n->right : n->left;
    }
    return best;
}

/* Both nodes are their slots' own: the child takes its parent's place. */
static void rotate(node **slot, node **child_slot) {
    node *parent = *slot, *child = *child_slot;
    if (child_slot == &parent->left) {
        parent->left = child->right;
        child->right = parent;
    } else {
        parent->right = child->left;
        child->left = parent;
    }
    parent->count = 1 + count_of(parent->left) + count_of(parent->right);
    child->count = 1 + count_of(child->left) + count_of(child->right);
    *slot = child;
}

bool tree_put(node **slot, const rootstock_slice *key, uint64_t offset, uint32_t value_size) {
    node *n = *slot, **child;
    int order;
    if (n == NULL) return (*slot = node_new(key, offset, value_size)) != NULL;
    if (!own(slot)) return false;
    n = *slot;
    order = key_order(key, n->key, n->key_size);
    if (order == 0) {
        n->offset = offset;
        n->value_size = value_size;
        return true;
    }
    child = order < 0 ? &n->left : &n->right;
    if (!tree_put(child, key, offset, value_size)) return false;
    n->count = 1 + count_of(n->left) + count_of(n->right);
    if ((*child)->priority > n->priority) rotate(slot, child);
    return true;
}

bool tree_remove(node **slot, const rootstock_slice *key) {
    for (;;) {
        node *n;
        int order;
        if (!own(slot)) return false;
        n = *slot;
        order = key_order(key, n->key, n->key_size);
        if (order != 0) {
            n->count--;
            slot = order < 0 ? &n->left : &n->right;
            continue;
        }
        if (n->left == NULL || n->right == NULL) {
            *slot = n->left != NULL ? n->left : n->right;
            free(n);
            return true;
        }
        /* The child that stands higher in the heap takes its place, and it goes on down. */
        node **child = n->left->priority > n->right->priority ? &n->left : &n->right;
        if (!own(child)) return false;
        rotate(slot, child);
        (*slot)->count--;
        slot = (*slot)->left == n ? &(*slot)->left : &(*slot)->right;
    }
}
