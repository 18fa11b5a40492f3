/*
** kv_arguments.c - the arguments of CREATE VIRTUAL TABLE ... USING kv(...).
**
**   the file                  or a directory that holds data.mdb
**   the tree                  the unnamed one if it is left out or ''
**   engine=lmdb
**   key=blob|text|int
**   value=blob|text|json
**   readonly=yes|no
**   mapsize=BYTES             the file's own otherwise
**   width=4|8                 of integer keys in a tree that is still empty; 8 otherwise
**
** Invariant: an argument that is not understood is refused by name.
*/
#include "kv.h"

#include <stdlib.h>
#include <string.h>

/* An argument's text without the quotes and blanks around it. */
static char *dequote(const char *text, size_t size) {
    sqlite3_str *out = sqlite3_str_new(NULL);
    while (size > 0 && strchr(" \t\r\n", text[0]) != NULL) text++, size--;
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL) size--;
    if (size >= 2 && (text[0] == '\'' || text[0] == '"') && text[size - 1] == text[0]) {
        for (size_t i = 1; i < size - 1; i++) {
            sqlite3_str_appendchar(out, 1, text[i]);
            if (text[i] == text[0]) i++;
        }
    } else {
        sqlite3_str_append(out, text, (int)size);
    }
    if (sqlite3_str_length(out) == 0 && sqlite3_str_errcode(out) == SQLITE_OK) {
        sqlite3_free(sqlite3_str_finish(out));
        return sqlite3_mprintf("");
    }
    return sqlite3_str_finish(out);
}

/* Length of `name` in `name = value`, or 0. */
static size_t name_length(const char *argument) {
    size_t length = 0, end;
    while ((argument[length] >= 'a' && argument[length] <= 'z') || (argument[length] >= 'A' && argument[length] <= 'Z'))
        length++;
    end = length;
    while (argument[end] == ' ' || argument[end] == '\t') end++;
    return argument[end] == '=' ? length : 0;
}

static bool choose(const char *value, const char *const *names, int count, int *choice) {
    for (int i = 0; i < count; i++) {
        if (sqlite3_stricmp(value, names[i]) != 0) continue;
        *choice = i;
        return true;
    }
    return false;
}

static int named_argument(kv_table *table, const char *name, size_t length, const char *value, char **message) {
    static const char *const types[] = {"blob", "text", "int", "json"};
    static const char *const answers[] = {"no", "yes"};
    static const char *const known[] = {"engine", "key", "value", "readonly", "mapsize", "width"};
    static const char *const choices[] = {"lmdb",      "blob, text or int", "blob, text or json",
                                          "yes or no", "a number of bytes", "4 or 8"};
    int which = -1, choice = 0;
    bool good = false;
    for (int i = 0; i < 6; i++)
        if (strlen(known[i]) == length && sqlite3_strnicmp(name, known[i], (int)length) == 0) which = i;
    switch (which) {
    case 0: good = sqlite3_stricmp(value, "lmdb") == 0; break;
    case 1:
        good = choose(value, types, 3, &choice);
        table->key_type = (kv_type)choice;
        break;
    case 2:
        good = choose(value, types, 4, &choice) && choice != KV_INTEGER;
        table->value_type = (kv_type)choice;
        break;
    case 3:
        good = choose(value, answers, 2, &choice);
        table->read_only = choice == 1;
        break;
    case 4: {
        char *end;
        long long size = strtoll(value, &end, 10);
        good = size > 0 && *end == '\0';
        table->map_size = (uint64_t)size;
        break;
    }
    case 5:
        good = strcmp(value, "4") == 0 || strcmp(value, "8") == 0;
        table->width = value[0] == '4' ? 4 : 8;
        break;
    default:
        rst_set_message(
            message,
            "unknown argument \"%.*s\": kv takes path, tree, engine=, key=, value=, readonly=, mapsize=, width=",
            (int)length, name);
        return SQLITE_ERROR;
    }
    if (good) return SQLITE_OK;
    rst_set_message(message, "%s=%s: it must be %s", known[which], value, choices[which]);
    return SQLITE_ERROR;
}

int kv_parse_arguments(kv_table *table, int count, const char *const *arguments, char **message) {
    int positional = 0;
    for (int i = 3; i < count; i++) {
        const char *argument = arguments[i];
        char *value;
        size_t length;
        int code = SQLITE_OK;
        while (*argument == ' ' || *argument == '\n' || *argument == '\t' || *argument == '\r') argument++;
        length = name_length(argument);
        if (length == 0) {
            value = dequote(argument, strlen(argument));
        } else {
            const char *equals = strchr(argument, '=');
            value = dequote(equals + 1, strlen(equals + 1));
        }
        if (value == NULL) return SQLITE_NOMEM;
        if (length != 0) {
            code = named_argument(table, argument, length, value, message);
            sqlite3_free(value);
        } else if (positional == 0) {
            table->path = value;
            positional++;
        } else if (positional == 1) {
            if (value[0] == '\0')
                sqlite3_free(value);
            else
                table->tree_name = value;
            positional++;
        } else {
            rst_set_message(message, "too many arguments: %s", value);
            sqlite3_free(value);
            code = SQLITE_ERROR;
        }
        if (code != SQLITE_OK) return code;
    }
    if (table->path != NULL && table->path[0] != '\0') return SQLITE_OK;
    rst_set_message(message, "a file is missing: CREATE VIRTUAL TABLE %s USING kv('path', 'tree')", table->name);
    return SQLITE_ERROR;
}
