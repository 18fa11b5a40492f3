/*
** bundled.c - an SQLite that a library of the program brings along, under a name of its own: it keeps its callers.
**
** PyPI's pyproj has libsqlite3-341faa0b.so, and pysqlite3 has SQLite within its module. Preloaded, our names stand in
** front of these, too. A connection would then be the system's SQLite, while functions that we leave alone are those
** of the other one, of another version. So the objects that are linked to the other SQLite get its own functions in
** place of ours, as if we were not there. That is done at its first opening, or when its function for that is asked for
** by name. Its databases stay native.
**
** An object's calls go through slots that the dynamic linker fills, each with a symbol's name in the relocations.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose.h"

typedef struct object {
    uintptr_t base, kept, kept_end; /* kept: what is read only once it is filled, in whole pages */
    const ElfW(Dyn) * dynamic;
    char *name;
} object;

typedef struct object_list {
    object *list;
    size_t count;
    bool failed;
} object_list;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The loaded object that has the address; null: none, or the program itself, whose names stand before ours. */
static void *object_at(const void *address) {
    Dl_info where;
    struct link_map *map = NULL;
    if (dladdr1(address, &where, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL || map->l_name[0] == '\0')
        return NULL;
    return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

/* The SQLite that the object is linked to, or has within; null: the system's, ours or none. */
static void *sqlite_of(void *handle) {
    const void *found = rsti_dlsym(handle, "sqlite3_open_v2");
    if (found == NULL || rsti_is_internal(found) || rsti_is_own(found)) return NULL;
    return object_at(found);
}

static int take_object(struct dl_phdr_info *info, size_t size, void *context) {
    object_list *objects = context;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    object *grown = realloc(objects->list, (objects->count + 1) * sizeof *grown), *taken;
    (void)size;
    objects->failed = grown == NULL;
    if (grown == NULL) return 1;
    objects->list = grown;
    taken = &grown[objects->count];
    *taken = (object){.base = info->dlpi_addr, .name = strdup(info->dlpi_name)};
    objects->failed = taken->name == NULL;
    if (taken->name == NULL) return 1;
    objects->count++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_DYNAMIC) taken->dynamic = (const void *)start;
        if (header->p_type != PT_GNU_RELRO) continue;
        taken->kept = start / page * page;
        taken->kept_end = (start + header->p_memsz) / page * page;
    }
    return 0;
}

static void fill(const object *in, uintptr_t slot, void *function) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const bool kept = slot >= in->kept && slot < in->kept_end;
    void *start = (void *)(slot / page * page);
    if (kept && mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return;
    __atomic_store_n((void **)slot, function, __ATOMIC_RELEASE);
    if (kept) (void)mprotect(start, page, PROT_READ);
}

/* Fills the slots of those relocations that name a function of SQLite's. `calls`: they may not have been filled yet. */
static void redirect(const object *in, const ElfW(Rela) * list, size_t bytes, bool calls, const ElfW(Sym) * symbols,
                     const char *names, void *sqlite) {
    for (size_t i = 0; i < bytes / sizeof *list; i++) {
        const uintptr_t slot = in->base + list[i].r_offset;
        const char *name = names + symbols[list[i].r_info >> (sizeof(void *) == 8 ? 32 : 8)].st_name;
        void *function;
        if (strncmp(name, "sqlite3", 7) != 0) continue;
        if (!calls && !rsti_is_own(*(void *const *)slot)) continue;
        function = rsti_dlsym(sqlite, name);
        if (function != NULL) fill(in, slot, function);
    }
}

static void redirect_object(const object *in, void *sqlite) {
    const ElfW(Rela) *calls = NULL, *others = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    size_t call_bytes = 0, other_bytes = 0;
    for (const ElfW(Dyn) *entry = in->dynamic; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        /* glibc has added the base, where the section could be written. */
        const uintptr_t at = entry->d_un.d_ptr < in->base ? entry->d_un.d_ptr + in->base : entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB) symbols = (const void *)at;
        if (entry->d_tag == DT_STRTAB) names = (const void *)at;
        if (entry->d_tag == DT_RELA) others = (const void *)at;
        if (entry->d_tag == DT_RELASZ) other_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_JMPREL) calls = (const void *)at;
        if (entry->d_tag == DT_PLTRELSZ) call_bytes = entry->d_un.d_val;
        if (entry->d_tag == DT_PLTREL && entry->d_un.d_val != DT_RELA) return; /* of a machine of 32 bits */
    }
    if (symbols == NULL || names == NULL) return;
    if (calls != NULL) redirect(in, calls, call_bytes, true, symbols, names, sqlite);
    if (others != NULL) redirect(in, others, other_bytes, false, symbols, names, sqlite);
}

/* Every object that is linked to this SQLite, and itself. Without memory: what is left goes on through us. */
static void redirect_all(void *sqlite) {
    object_list objects = {NULL, 0, false};
    (void)dl_iterate_phdr(take_object, &objects);
    for (size_t i = 0; i < objects.count; i++) {
        const object *in = &objects.list[i];
        void *handle = in->name[0] == '\0' ? NULL : dlopen(in->name, RTLD_LAZY | RTLD_NOLOAD);
        void *its = handle == NULL ? NULL : sqlite_of(handle);
        if (its == sqlite) redirect_object(in, sqlite);
        if (its != NULL) (void)dlclose(its);
        if (handle != NULL) (void)dlclose(handle);
        free(in->name);
    }
    free(objects.list);
}

void rsti_bundled_found(const void *function) {
    void *object = object_at(function), *sqlite = object == NULL ? NULL : sqlite_of(object);
    if (sqlite != NULL && sqlite == object) {
        (void)pthread_mutex_lock(&mutex);
        redirect_all(sqlite);
        (void)pthread_mutex_unlock(&mutex);
    }
    if (sqlite != NULL) (void)dlclose(sqlite);
    if (object != NULL) (void)dlclose(object);
}

void *rsti_bundled_function(const void *caller, const char *name) {
    Dl_info where;
    void *handle, *sqlite, *function = NULL;
    handle = object_at(caller);
    if (handle == NULL) return NULL;
    sqlite = sqlite_of(handle);
    (void)dlclose(handle);
    if (sqlite == NULL) return NULL; /* as nearly always */
    (void)pthread_mutex_lock(&mutex);
    redirect_all(sqlite);
    (void)pthread_mutex_unlock(&mutex);
    function = rsti_dlsym(sqlite, name);
    if (function != NULL && dladdr(function, &where) != 0) rsti_say("the databases of %s: native", where.dli_fname);
    (void)dlclose(sqlite); /* the caller keeps it */
    return function;
}
