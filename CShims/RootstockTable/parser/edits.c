/*
** edits.c - edits of a text: collected, put into order, written once.
*/
#include "parser/edits.h"

#include "common/allocation.h"

#include <stdlib.h>
#include <string.h>

void rst_edits_add(rst_edits *edits, const char *start, const char *end, char *text) {
    if (text != NULL && edits->count == edits->capacity) {
        rst_edit *more = sqlite3_realloc64(edits->all, (sqlite3_uint64)(edits->capacity * 2 + 8) * sizeof *more);
        if (more == NULL) {
            sqlite3_free(text);
            text = NULL;
        } else {
            edits->all = more;
            edits->capacity = edits->capacity * 2 + 8;
        }
    }
    if (text == NULL)
        edits->no_memory = true;
    else
        edits->all[edits->count] = (rst_edit){start, end, text, edits->count};
    edits->count += text != NULL;
}

static int in_order(const void *a, const void *b) {
    const rst_edit *left = a, *right = b;
    if (left->start != right->start) return left->start < right->start ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

int rst_edits_apply(rst_edits *edits, const char *text, const char *end, char **out) {
    int code = edits->no_memory ? SQLITE_NOMEM : SQLITE_OK;
    *out = NULL;
    if (code == SQLITE_OK && edits->count > 0) {
        sqlite3_str *str = sqlite3_str_new(NULL);
        qsort(edits->all, (size_t)edits->count, sizeof *edits->all, in_order);
        for (int i = 0; i < edits->count; i++) {
            sqlite3_str_append(str, text, (int)(edits->all[i].start - text));
            sqlite3_str_appendall(str, edits->all[i].text);
            text = edits->all[i].end;
        }
        sqlite3_str_append(str, text, (int)(end - text));
        *out = sqlite3_str_finish(str);
        if (*out == NULL) code = SQLITE_NOMEM;
    }
    rst_edits_free(edits);
    return code;
}

void rst_edits_free(rst_edits *edits) {
    for (int i = 0; i < edits->count; i++) sqlite3_free(edits->all[i].text);
    sqlite3_free(edits->all);
    memset(edits, 0, sizeof *edits);
}
