/*
** copy.c - a copy of a store: a database of its own, its table loaded in order from one snapshot.
**
** Invariant: a copy that did not come to its end is gone.
*/
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tiger.h"

int tiger_make_table(rootstock_environment *e, WT_SESSION *session) {
    return tiger_failure(e, session->create(session, TIGER_TABLE, "key_format=u,value_format=u"));
}

static void remove_directory(const char *path) {
    DIR *directory = opendir(path);
    struct dirent *entry;
    if (directory == NULL) return;
    while ((entry = readdir(directory)) != NULL) unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(path);
}

static int sync_directory(const char *path) {
    int file = open(path, O_RDONLY | O_DIRECTORY), failed = file < 0 || fsync(file) != 0;
    if (file >= 0) close(file);
    return failed ? tiger_say(ROOTSTOCK_IO, strerror(errno)) : ROOTSTOCK_OK;
}

static int load(rootstock_transaction *from, WT_CURSOR *to, rootstock_stop stop, void *context) {
    enum { BETWEEN = 1000 };
    rootstock_environment *e = from->environment;
    WT_CURSOR *entry = from->session->entry;
    WT_ITEM key, value;
    int result = entry->reset(entry);
    for (uint64_t count = 0; result == 0; count++) {
        if (count % BETWEEN == 0 && stop != NULL && stop(context))
            return tiger_say(ROOTSTOCK_INTERRUPTED, "interrupted");
        result = entry->next(entry);
        if (result == WT_NOTFOUND) return ROOTSTOCK_OK;
        if (result == 0) result = entry->get_key(entry, &key);
        if (result == 0) result = entry->get_value(entry, &value);
        if (result != 0) break;
        to->set_key(to, &key);
        to->set_value(to, &value);
        result = to->insert(to);
    }
    return tiger_failure(e, result);
}

/* The copy's database says what is wrong with it to its own handler, so that nothing of it makes the store open anew.
 */
static int write_copy(rootstock_environment *target, rootstock_transaction *from, rootstock_stop stop, void *context) {
    WT_SESSION *session = NULL;
    WT_CURSOR *bulk = NULL;
    int code = tiger_failure(target, wiredtiger_open(target->path, &target->handler,
                                                     "create,use_environment=false,config_base=false,cache_size=32MB,"
                                                     "log=(enabled,file_max=16MB,prealloc=false)",
                                                     &target->connection));
    if (code != ROOTSTOCK_OK) return code;
    code = tiger_failure(target, target->connection->open_session(target->connection, NULL, NULL, &session));
    if (code == ROOTSTOCK_OK) code = tiger_make_table(target, session);
    if (code == ROOTSTOCK_OK)
        code = tiger_failure(target, session->open_cursor(session, TIGER_TABLE, NULL, "bulk", &bulk));
    if (code == ROOTSTOCK_OK) code = load(from, bulk, stop, context);
    if (bulk != NULL) {
        int closed = bulk->close(bulk);
        if (code == ROOTSTOCK_OK) code = tiger_failure(target, closed);
    }
    /* It writes a checkpoint, synced. */
    int closed = target->connection->close(target->connection, NULL);
    return code == ROOTSTOCK_OK ? tiger_failure(target, closed) : code;
}

int tiger_copy(rootstock_environment *e, const char *path, rootstock_stop stop, void *context) {
    rootstock_environment target = {.handler = e->handler, .path = (char *)path, .process = e->process};
    rootstock_transaction *from;
    struct stat status;
    if (tiger_child(e)) return ROOTSTOCK_MISUSE;
    if (lstat(path, &status) == 0) return tiger_say(ROOTSTOCK_CANNOT_OPEN, "there is a file of that name");
    if (mkdir(path, 0755) != 0)
        return tiger_say(errno == ENOSPC ? ROOTSTOCK_FULL : ROOTSTOCK_CANNOT_OPEN, strerror(errno));
    int code = tiger_begin_internal(e, &from);
    if (code == ROOTSTOCK_OK) {
        code = write_copy(&target, from, stop, context);
        tiger_abort(from);
    }
    if (code == ROOTSTOCK_OK) code = sync_directory(path);
    if (code != ROOTSTOCK_OK) remove_directory(path);
    return code;
}
