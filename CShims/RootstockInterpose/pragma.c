/*
** pragma.c - PRAGMAs that ask for the file under a connection, which SQLite would answer of the empty in-memory
** database.
**
** | PRAGMA        | answers                                                                                        |
** |---------------|------------------------------------------------------------------------------------------------|
** | journal_mode  | the mode that was set last in this process on the store, "delete" before that. It changes nothing:
**   a store |
** |               | always commits atomically, and readers and the writer never block each other, as in WAL mode
**   |
** | locking_mode  | what was set on the connection, which changes nothing                                            |
** | mmap_size     | what was set on the connection; a store is mapped anyway                                          |
** The rest is the front door's (front_pragma.c) or SQLite's.
*/
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose.h"
#include "parser/tokens.h"

typedef struct mode_of_file {
    struct mode_of_file *next;
    const char *mode;
    char path[];
} mode_of_file;

static mode_of_file *modes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The mode of the store; set: the one that it gets, or null. */
static const char *journal_mode(const char *path, const char *set) {
    const char *mode = "delete";
    mode_of_file *found;
    (void)pthread_mutex_lock(&lock);
    for (found = modes; found != NULL && strcmp(found->path, path) != 0; found = found->next) {
    }
    if (found == NULL && set != NULL && (found = malloc(sizeof *found + strlen(path) + 1)) != NULL) {
        strcpy(found->path, path);
        found->next = modes;
        modes = found;
    }
    if (found != NULL && set != NULL) found->mode = set;
    if (found != NULL) mode = found->mode;
    (void)pthread_mutex_unlock(&lock);
    return mode;
}

static const char *one_of(const rst_token *token, const char *const *words) {
    for (; *words != NULL; words++) {
        if (rst_token_same_name(token, *words)) return *words;
    }
    return NULL;
}

static sqlite3_int64 size_of(const rst_token *token, bool negative) {
    static const sqlite3_int64 most = 0x7fff0000; /* SQLITE_MAX_MMAP_SIZE */
    sqlite3_int64 size = 0;
    if (negative) return 0; /* the default */
    for (size_t i = 0; i < token->size && token->text[i] >= '0' && token->text[i] <= '9'; i++) {
        size = size * 10 + (token->text[i] - '0');
        if (size > most) return most;
    }
    return size;
}

static char *answer(rsti_database *d, const rst_token *name, const rst_token *value, bool negative) {
    static const char *const journals[] = {"delete", "truncate", "persist", "memory", "wal", "off", NULL};
    static const char *const lockings[] = {"normal", "exclusive", NULL};
    const bool sets = value->type != TOKEN_END;
    if (rst_token_same_name(name, "journal_mode") && d->temporary == NULL) {
        const char *mode = journal_mode(d->path, sets ? one_of(value, journals) : NULL);
        return sqlite3_mprintf("SELECT '%s' AS journal_mode", mode);
    }
    if (rst_token_same_name(name, "locking_mode")) {
        const char *mode = sets ? one_of(value, lockings) : NULL;
        if (mode != NULL) d->exclusive = mode == lockings[1];
        return sqlite3_mprintf("SELECT '%s' AS locking_mode", lockings[d->exclusive]);
    }
    if (rst_token_same_name(name, "mmap_size") && d->temporary == NULL) {
        if (sets) d->mmap_size = size_of(value, negative);
        return sqlite3_mprintf("SELECT %lld AS mmap_size", d->mmap_size);
    }
    return NULL;
}

char *rsti_pragma(rsti_database *d, const char *text, const char *end, const char **tail) {
    const char *p = text;
    rst_token token, name, value = {TOKEN_END, end, 0};
    bool negative = false;
    if (text < end && (text[0] == 'S' || text[0] == 's')) return NULL; /* SELECT: most are */
    token = rst_token_next(&p, end);
    if (!rst_token_is(&token, "PRAGMA")) return NULL;
    name = rst_token_next(&p, end);
    token = rst_token_next(&p, end);
    if (rst_token_mark(&token, ".")) {
        if (!rst_token_same_name(&name, "main")) return NULL;
        name = rst_token_next(&p, end);
        token = rst_token_next(&p, end);
    }
    if (rst_token_mark(&token, "=") || rst_token_mark(&token, "(")) {
        const bool closes = token.text[0] == '(';
        value = rst_token_next(&p, end);
        negative = rst_token_mark(&value, "-");
        if (negative || rst_token_mark(&value, "+")) value = rst_token_next(&p, end);
        if (value.type == TOKEN_END) return NULL; /* SQLite refuses it */
        token = rst_token_next(&p, end);
        if (closes && !rst_token_mark(&token, ")")) return NULL;
        if (closes) token = rst_token_next(&p, end);
    }
    if (token.type != TOKEN_END && !rst_token_mark(&token, ";")) return NULL;
    *tail = p;
    return answer(d, &name, &value, negative);
}
