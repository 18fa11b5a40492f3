/*
** many.h - engines for several writers that are broken, on the sound engine (mutants.c includes this).
**
** A write transaction is a snapshot and a list of changes, which a transaction of the sound engine takes at the commit.
** A mutant forgets to look whether there is a place for it.
*/
typedef struct change {
    unsigned char key[8];
    uint64_t value, read; /* read: what the snapshot has for the key; 0 nothing */
} change;
typedef struct many {
    rootstock_transaction *snapshot;
    rootstock_environment *environment;
    rootstock_tree tree;
    int changes;
    change list[16];
} many;
static _Thread_local many *manies[16];
static _Thread_local struct { bool forgets_all, stays_in_part; } lax;

static many **many_of(const rootstock_transaction *t) {
    for (int i = 0; i < 16; i++)
        if ((const void *)manies[i] == (const void *)t) return &manies[i];
    return NULL;
}

static int many_begin(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                      rootstock_transaction **t) {
    if (flags == 0) return sound.begin(e, flags, busy, context, t);
    many *made = calloc(1, sizeof *made), **place = many_of(NULL);
    int code = made == NULL || place == NULL ? ROOTSTOCK_NO_MEMORY : sound.begin(e, 0, NULL, NULL, &made->snapshot);
    if (code != ROOTSTOCK_OK) return code;
    made->environment = e;
    *place = made;
    *t = (rootstock_transaction *)made;
    return code;
}

static int many_tree_open(rootstock_transaction *t, const char *name, uint32_t flags, rootstock_tree *tree) {
    many **one = many_of(t);
    if (one == NULL) return sound.tree_open(t, name, flags, tree);
    rootstock_transaction *own;
    int code = sound.begin((*one)->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &own);
    if (code != ROOTSTOCK_OK) return code;
    code = sound.tree_open(own, name, flags, tree);
    (*one)->tree = *tree;
    if (code == ROOTSTOCK_OK) return sound.commit(own);
    sound.abort(own);
    return code;
}

static uint64_t number_at(rootstock_transaction *t, rootstock_tree tree, const void *key) {
    rootstock_slice sought = {8, key}, value;
    uint64_t number = 0;
    if (sound.get(t, tree, &sought, &value) != ROOTSTOCK_OK) return 0;
    memcpy(&number, value.data, 8);
    return number;
}

static int many_get(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value) {
    many **one = many_of(t);
    if (one == NULL) return sound.get(t, tree, key, value);
    for (int i = (*one)->changes - 1; i >= 0; i--) {
        if (memcmp((*one)->list[i].key, key->data, 8) != 0) continue;
        *value = (rootstock_slice){8, &(*one)->list[i].value};
        return ROOTSTOCK_OK;
    }
    return sound.get((*one)->snapshot, tree, key, value);
}

static int many_put(rootstock_transaction *t, rootstock_tree tree, const rootstock_slice *key, rootstock_slice *value,
                    uint32_t flags) {
    many **one = many_of(t);
    (void)flags;
    if (one == NULL || (*one)->changes == 16) return ROOTSTOCK_MISUSE;
    change *added = &(*one)->list[(*one)->changes++];
    (*one)->tree = tree;
    memcpy(added->key, key->data, 8);
    memcpy(&added->value, value->data, 8);
    added->read = number_at((*one)->snapshot, tree, key->data);
    return ROOTSTOCK_OK;
}

static void many_abort(rootstock_transaction *t) {
    many **one = many_of(t);
    if (one == NULL) {
        sound.abort(t);
        return;
    }
    sound.abort((*one)->snapshot);
    free(*one);
    *one = NULL;
}

/* Looks whether what it has changed is what its snapshot has: not at what it has read alone. */
static int many_commit(rootstock_transaction *t) {
    many **one = many_of(t);
    if (one == NULL) return sound.commit(t);
    rootstock_transaction *own;
    int code = sound.begin((*one)->environment, ROOTSTOCK_BEGIN_WRITE, NULL, NULL, &own), kept = 0;
    bool changed = false;
    for (int i = 0; code == ROOTSTOCK_OK && i < (*one)->changes; i++)
        changed |= number_at(own, (*one)->tree, (*one)->list[i].key) != (*one)->list[i].read;
    bool refused = changed && !lax.forgets_all;
    /* The second change of a refused one stays. */
    for (int i = refused ? 1 : 0; code == ROOTSTOCK_OK && i < (*one)->changes; i++) {
        rootstock_slice key = {8, (*one)->list[i].key}, value = {8, &(*one)->list[i].value};
        if (refused && !lax.stays_in_part) break;
        code = sound.put(own, (*one)->tree, &key, &value, 0);
        kept++;
    }
    if (code == ROOTSTOCK_OK && kept > 0)
        code = sound.commit(own);
    else
        sound.abort(own);
    many_abort(t);
    return code == ROOTSTOCK_OK && refused ? ROOTSTOCK_CONFLICT : code;
}

static int restart_not(rootstock_transaction *t) {
    (void)t;
    return ROOTSTOCK_OK;
}

static int begin_forgetting(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                            rootstock_transaction **t) {
    lax.forgets_all = true;
    return many_begin(e, flags, busy, context, t);
}

static int begin_keeping(rootstock_environment *e, uint32_t flags, rootstock_busy busy, void *context,
                         rootstock_transaction **t) {
    lax.stays_in_part = true;
    return many_begin(e, flags, busy, context, t);
}
