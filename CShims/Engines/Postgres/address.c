/*
** address.c - which server and which schema a path names.
**
** A path is one of two:
**   1. A URI of libpq's: postgresql://host/database. Its parameter rootstock_schema names the schema, "rootstock"
**      without it.
**   2. A file of two lines, the mark and such a URI. So a store has a path like any other, which tools can list, move
**      and recognise by its first bytes.
** A new file names the server of the environment variable ROOTSTOCK_POSTGRES, or libpq's own defaults (PGHOST ...), and
** a schema of its own.
**
** Invariant: a file that is there is never written.
*/
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "postgres.h"

static const char mark[] = "Rootstock store on PostgreSQL 1\n";
static const char schema_parameter[] = "rootstock_schema=";

enum { LONGEST_FILE = 4000, LONGEST_NAME = 63 };

void postgres_address_free(address *found) {
    free(found->server);
    free(found->schema);
    *found = (address){0};
}

static bool is_uri(const char *path) {
    return strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0;
}

static bool is_name(const char *name) {
    size_t size = strlen(name);
    return size > 0 && size <= LONGEST_NAME && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == size &&
           (name[0] < '0' || name[0] > '9');
}

/* Takes the schema's parameter out of the URI. */
static int split_uri(const char *uri, address *found) {
    found->server = strdup(uri);
    if (found->server == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    char *query = strchr(found->server, '?');
    char *parameter = query == NULL ? NULL : strstr(query + 1, schema_parameter);
    if (parameter != NULL && parameter[-1] != '?' && parameter[-1] != '&') parameter = NULL;
    if (parameter != NULL) {
        char *name = parameter + sizeof schema_parameter - 1, *end = name + strcspn(name, "&");
        found->schema = strndup(name, (size_t)(end - name));
        if (*end == '&')
            memmove(parameter, end + 1, strlen(end + 1) + 1);
        else
            parameter[-1] = '\0';
    } else {
        found->schema = strdup("rootstock");
    }
    if (found->schema == NULL) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    if (!is_name(found->schema))
        return postgres_say(ROOTSTOCK_CANNOT_OPEN,
                            "\"%s\" cannot be the schema: a name has lower-case letters, digits and _, at most 63",
                            found->schema);
    return ROOTSTOCK_OK;
}

static int read_file(const char *path, address *found) {
    char text[LONGEST_FILE + 1];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return postgres_say(errno == EACCES ? ROOTSTOCK_PERMISSION : ROOTSTOCK_CANNOT_OPEN, "%s", strerror(errno));
    ssize_t size = read(file, text, LONGEST_FILE);
    close(file);
    if (size < 0) return postgres_say(errno == EISDIR ? ROOTSTOCK_CANNOT_OPEN : ROOTSTOCK_IO, "%s", strerror(errno));
    text[size] = '\0';
    if (strncmp(text, mark, sizeof mark - 1) != 0 || !is_uri(text + sizeof mark - 1))
        return postgres_say(ROOTSTOCK_NOT_A_STORE, "it is a file, and none that names a store on PostgreSQL");
    char *uri = text + sizeof mark - 1;
    uri[strcspn(uri, "\n")] = '\0';
    return split_uri(uri, found);
}

/* The URI of a new store's file. */
static int draw_uri(char *uri, size_t size) {
    const char *server = getenv("ROOTSTOCK_POSTGRES");
    unsigned char bytes[8];
    if (server == NULL || server[0] == '\0') server = "postgresql://";
    if (!is_uri(server) || strstr(server, schema_parameter) != NULL)
        return postgres_say(ROOTSTOCK_CANNOT_OPEN,
                            "environment variable ROOTSTOCK_POSTGRES is no URI postgresql://... without %s",
                            schema_parameter);
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return postgres_say(ROOTSTOCK_IO, "no random number for a new schema's name");
    int length = snprintf(uri, size, "%s%srootstock_schema=store_%016llx", server, strchr(server, '?') ? "&" : "?",
                          (unsigned long long)postgres_number(bytes, sizeof bytes));
    if (length < 0 || (size_t)length >= size)
        return postgres_say(ROOTSTOCK_CANNOT_OPEN, "environment variable ROOTSTOCK_POSTGRES is too long");
    return ROOTSTOCK_OK;
}

/* Whoever links his file first has made the store. *taken: somebody else had. */
static int make_file(const char *path, bool *taken) {
    char uri[LONGEST_FILE - sizeof mark], *draft = NULL;
    int code = draw_uri(uri, sizeof uri);
    if (code != ROOTSTOCK_OK) return code;
    if (asprintf(&draft, "%s.new-XXXXXX", path) < 0) return postgres_say(ROOTSTOCK_NO_MEMORY, "out of memory");
    int file = mkostemp(draft, O_CLOEXEC);
    if (file < 0 || dprintf(file, "%s%s\n", mark, uri) < 0 || fsync(file) != 0 || link(draft, path) != 0) {
        *taken = errno == EEXIST;
        code = errno == EACCES ? ROOTSTOCK_PERMISSION : errno == ENOSPC ? ROOTSTOCK_FULL : ROOTSTOCK_CANNOT_OPEN;
        postgres_say(code, "%s", strerror(errno));
    }
    if (file >= 0) close(file);
    if (file >= 0) unlink(draft);
    free(draft);
    return code;
}

int postgres_address_find(const char *path, bool read_only, address *found) {
    *found = (address){0};
    if (is_uri(path)) return split_uri(path, found);
    struct stat status;
    bool taken = false;
    if (!read_only && stat(path, &status) != 0 && errno == ENOENT) {
        int code = make_file(path, &taken);
        if (code != ROOTSTOCK_OK && !taken) return code;
    }
    return read_file(path, found);
}

int postgres_address_new(const char *path, address *made) {
    bool taken = false;
    *made = (address){0};
    if (is_uri(path)) return split_uri(path, made);
    int code = make_file(path, &taken);
    if (taken) return postgres_say(ROOTSTOCK_CANNOT_OPEN, "there is a file of that name");
    return code == ROOTSTOCK_OK ? read_file(path, made) : code;
}
