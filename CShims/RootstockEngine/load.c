/*
** load.c - engines from shared libraries.
**
** Invariant: a library whose engine was registered stays loaded until the process ends: the registry keeps its struct.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "rootstock_engine_support.h"

typedef const rootstock_engine *(*engine_init)(uint32_t abi);

int rootstock_engine_load(const char *path, const rootstock_engine **loaded, char **message) {
    const rootstock_engine *engine;
    engine_init init;
    int code;
    if (message != NULL) *message = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *words = dlerror();
        rootstock_message(message, "cannot load engine library %s: %s", path, words == NULL ? "" : words);
        return ROOTSTOCK_CANNOT_OPEN;
    }
    *(void **)&init = dlsym(library, "rootstock_engine_init");
    if (init == NULL) {
        rootstock_message(message, "cannot load engine library %s: it has no function rootstock_engine_init", path);
        dlclose(library);
        return ROOTSTOCK_NOT_A_STORE;
    }
    engine = init(ROOTSTOCK_ENGINE_ABI);
    code = engine == NULL ? ROOTSTOCK_VERSION : rootstock_engine_register(engine);
    if (code == ROOTSTOCK_OK) {
        if (loaded != NULL) *loaded = engine;
        return ROOTSTOCK_OK;
    }
    if (code == ROOTSTOCK_VERSION)
        rootstock_message(message, "cannot load engine library %s: it was built for another version of the plug (%d)",
                          path, ROOTSTOCK_ENGINE_ABI);
    else if (code == ROOTSTOCK_EXISTS)
        rootstock_message(message, "cannot load engine library %s: there is another engine %s", path, engine->name);
    else if (code == ROOTSTOCK_FULL)
        rootstock_message(message, "cannot load engine library %s: there are too many engines", path);
    else
        rootstock_message(message, "cannot load engine library %s: its engine lacks a function that every engine has",
                          path);
    dlclose(library);
    return code;
}
