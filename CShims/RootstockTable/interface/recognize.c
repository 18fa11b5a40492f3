/*
** recognize.c - whose store it is, by the path's first letters or the file's first page.
*/
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rootstock.h"

const char *rootstock_recognize(const char *path) {
    static const unsigned char lmdb[4] = {0xDE, 0xC0, 0xEF, 0xBE}, control[4] = {0x52, 0x74, 0x73, 0x42};
    static const char server[] = "Rootstock store on PostgreSQL ";
    unsigned char head[100];
    struct stat status;
    ssize_t size;
    int file;
    if (strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0) return "postgres";
    if (stat(path, &status) != 0) return "";
    if (!S_ISREG(status.st_mode)) return NULL;
    if (status.st_size == 0) return "";
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    size = pread(file, head, sizeof head, 0);
    (void)close(file);
    if (size < 0) return NULL;
    memset(head + size, 0, sizeof head - (size_t)size);
    if (memcmp(head, "SQLite format 3", 16) == 0) /* the header's application identifier tells the two apart */
        return memcmp(head + 68, control, sizeof control) == 0 ? "sqlite-btree" : "sqlite";
    if (memcmp(head, server, sizeof server - 1) == 0) return "postgres";
    return memcmp(head + 16, lmdb, sizeof lmdb) == 0 ? "lmdb" : NULL;
}
