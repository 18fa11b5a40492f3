/*
** scan_sort.c - rows in the order of the columns after an ambiguous equality.
**
** An equality may stand for several key values, text and number, say. Then the tree gives the rows of one value after
** those of the other. The plan promised the order of the columns behind it, or of the whole key. So the rows are
** collected and sorted. Behind leading columns (scan_leading.c) it is always that of the whole key. Invariant: rows
** that are equal there stay in key order.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

#include <string.h>

void rst_cursor_free_candidates(rst_cursor *k) {
    for (int i = 0; i < k->candidate_count; i++) sqlite3_free(k->candidates[i].bytes);
    sqlite3_free(k->candidates);
    k->candidates = NULL;
    k->candidate_count = 0;
    k->candidate = -1; /* none is being given: collecting steps through the tree */
}

int rst_cursor_give_candidate(rst_cursor *k) {
    const rst_candidate *candidate;
    if (k->candidate < 0 || k->candidate >= k->candidate_count) {
        k->eof = true;
        return SQLITE_OK;
    }
    candidate = &k->candidates[k->candidate];
    k->entry_key.size = candidate->key_size;
    k->entry_key.data = candidate->bytes;
    k->entry_value.size = candidate->value_size;
    k->entry_value.data = candidate->bytes + candidate->key_size;
    k->eof = false;
    rst_cursor_noted(k); /* the candidates' bytes are the cursor's own already */
    k->stable = false;
    k->shape = COLUMNS_UNKNOWN;
    return SQLITE_OK;
}

static int order_of(const rst_candidate *one, const rst_candidate *other) {
    const int order = rootstock_key_compare(one->bytes + one->order_from, one->order_to - one->order_from,
                                            other->bytes + other->order_from, other->order_to - other->order_from);
    if (order != 0) return order;
    return rootstock_key_compare(one->bytes + one->key_size + one->value_size, one->behind_size,
                                 other->bytes + other->key_size + other->value_size, other->behind_size);
}

/* Merging keeps equal ones in key order. */
static int sort_candidates(rst_cursor *k) {
    size_t count = (size_t)k->candidate_count;
    rst_candidate *from = k->candidates, *to;
    if (count < 2) return SQLITE_OK;
    to = sqlite3_malloc64(count * sizeof *to);
    if (to == NULL) return SQLITE_NOMEM;
    for (size_t run = 1; run < count; run *= 2) {
        rst_candidate *swap;
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = start + run < count ? start + run : count;
            size_t end = middle + run < count ? middle + run : count;
            size_t a = start, b = middle;
            for (size_t at = start; at < end; at++) {
                bool first = b >= end;
                if (a < middle && b < end) {
                    const rst_candidate *one = &from[a], *other = &from[b];
                    int order = order_of(one, other);
                    first = k->plan->descending ? order >= 0 : order <= 0;
                }
                to[at] = first ? from[a++] : from[b++];
            }
        }
        swap = from;
        from = to;
        to = swap;
    }
    k->candidates = from;
    sqlite3_free(to);
    return SQLITE_OK;
}

int rst_cursor_add_candidate(rst_cursor *k, const rst_part *parts) {
    enum { FIRST = 16 };
    const int count = k->candidate_count;
    rst_candidate *candidate;
    unsigned char *behind;
    size_t offset = 0;
    if (count == 0 || (count >= FIRST && (count & (count - 1)) == 0)) { /* as many as there is room for */
        rst_candidate *more = sqlite3_realloc64(
            k->candidates, (sqlite3_uint64)(count == 0 ? FIRST : 2 * (sqlite3_uint64)count) * sizeof *more);
        if (more == NULL) return SQLITE_NOMEM;
        k->candidates = more;
    }
    k->enough.size = 0;
    if (k->plan->groups > 0) {
        const int code = rst_cursor_group_key(k, &k->enough);
        if (code != SQLITE_OK) return code;
    }
    candidate = &k->candidates[count];
    candidate->key_size = k->entry_key.size;
    candidate->value_size = k->entry_value.size;
    candidate->behind_size = k->enough.size;
    candidate->bytes = sqlite3_malloc64(candidate->key_size + candidate->value_size + candidate->behind_size + 1);
    if (candidate->bytes == NULL) return SQLITE_NOMEM;
    memcpy(candidate->bytes, k->entry_key.data, candidate->key_size);
    behind = candidate->bytes + candidate->key_size;
    if (candidate->value_size > 0) memcpy(behind, k->entry_value.data, candidate->value_size);
    if (candidate->behind_size > 0) memcpy(behind + candidate->value_size, k->enough.data, candidate->behind_size);
    k->candidate_count++;
    candidate->order_from = 0;
    candidate->order_to = candidate->key_size;
    for (int p = 0; p < k->plan->equals || p < k->plan->groups; p++) {
        if (rootstock_key_skip(candidate->bytes, candidate->key_size, &offset, &parts[p].key) != SQLITE_OK)
            return rst_cursor_corrupt(k, "malformed key");
        if (p < k->plan->equals && !k->plan->whole) candidate->order_from = offset;
        if (p + 1 == k->plan->groups) candidate->order_to = offset;
    }
    return SQLITE_OK;
}

int rst_cursor_candidates_known(rst_cursor *k) {
    int code = sort_candidates(k);
    if (code != SQLITE_OK) return code;
    k->candidate = 0;
    return rst_cursor_give_candidate(k);
}

int rst_cursor_collect(rst_cursor *k, const rst_part *parts, bool numbers) {
    sqlite3_stmt *asks = NULL;
    int code;
    k->candidate = -1; /* none is given out yet: rst_cursor_next walks the tree */
    k->walking = !k->on_writer;
    code = rst_cursor_enter_range(k);
    while (code == SQLITE_OK && !k->eof) {
        uint32_t hash;
        if (numbers) code = rst_automatic_hash_row(k, true, &asks, &hash);
        if (code == SQLITE_OK) code = rst_cursor_add_candidate(k, parts);
        if (code == SQLITE_OK || code == SQLITE_NOTFOUND) code = rst_cursor_next(&k->base);
        k->stepped++;
    }
    if (asks != NULL) rst_statement_done(k->connection, asks);
    k->walking = false;
    k->ranges.ambiguous = true; /* behind leading columns the ranges under way were those of one value of them */
    return code == SQLITE_OK ? rst_cursor_candidates_known(k) : code;
}
