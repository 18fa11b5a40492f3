/*
** recognize.c - whose store it is, by the path's first letters or the file's first page.
*/
#define _XOPEN_SOURCE 700 /* realpath */
#include "common/common.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 100 };

/* Without memory: a program is told that it has none by what opens the file. */
static bool read_plainly(const char *path, unsigned char head[HEAD]) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : pread(file, head, HEAD, 0);
    if (file >= 0) (void)close(file);
    return size >= 0;
}

/* By SQLite's own file, though it be no database. Who closes a file gives up all locks that the process has on it,
** among them those of the program's other connections. SQLite's VFS closes a file when no lock on it is held. It opens
** no symbolic link: its caller follows them before. */
static bool read_head(const char *path, unsigned char head[HEAD]) {
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    sqlite3_file *file = vfs == NULL ? NULL : sqlite3_malloc64((sqlite3_uint64)vfs->szOsFile);
    char *followed = realpath(path, NULL);
    const char *name = sqlite3_create_filename(followed != NULL ? followed : path, "", "", 0, NULL);
    int code = file == NULL || name == NULL ? SQLITE_NOMEM : SQLITE_OK;
    free(followed);
    memset(head, 0, HEAD);
    if (code == SQLITE_OK) {
        memset(file, 0, (size_t)vfs->szOsFile);
        code = vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, NULL);
        if (code == SQLITE_OK) code = file->pMethods->xRead(file, head, HEAD, 0);
        if (file->pMethods != NULL) (void)file->pMethods->xClose(file);
    }
    sqlite3_free_filename((char *)(uintptr_t)name);
    sqlite3_free(file);
    if (code == SQLITE_NOMEM) return read_plainly(path, head);
    return code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ;
}

const char *rootstock_recognize(const char *path) {
    static const unsigned char lmdb[4] = {0xDE, 0xC0, 0xEF, 0xBE}, control[4] = {0x52, 0x74, 0x73, 0x42};
    static const char server[] = "Rootstock store on PostgreSQL ";
    unsigned char head[HEAD];
    struct stat status;
    if (strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0) return "postgres";
    if (stat(path, &status) != 0) return "";
    if (!S_ISREG(status.st_mode)) return NULL;
    if (status.st_size == 0) return "";
    if (!read_head(path, head)) return NULL;
    if (memcmp(head, "SQLite format 3", 16) == 0) /* the header's application identifier tells the two apart */
        return memcmp(head + 68, control, sizeof control) == 0 ? "sqlite-btree" : "sqlite";
    if (memcmp(head, server, sizeof server - 1) == 0) return "postgres";
    return memcmp(head + 16, lmdb, sizeof lmdb) == 0 ? "lmdb" : NULL;
}
