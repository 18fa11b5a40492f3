/*
** scan_topn.c - passes over rows that come behind as many others as a LIMIT says, before SQLite puts them into its
** sorter (plan_top.c).
**
** A heap holds what the best rows so far have in the first columns of the ORDER BY. It has as many places as LIMIT and
** OFFSET say together, and the last of these rows on top. A row is four words there, whose order never contradicts
** SQLite's. A number is the double that it is or is next to, a text or blob its first 14 bytes. The second column
** stands there only where the first is held by its words in full. Invariants
**  1. A row is put into the heap only if it is given to SQLite and SQLite keeps it for certain: all of WHERE is known
**     (scan_topn_text.c).
**  2. A row is passed over only if its words stand behind those of all rows in the full heap. Equal ones are SQLite's
**     to sort.
**  3. Words are a row's own: nothing in the heap points into the store.
*/
#include "executor/executor.h"
#include "executor/cursor.h"

enum {
    NUMBER = 1,
    TEXT = 2,
    BLOB = 3, /* behind NULL, as SQLite sorts */
    PREFIX = 14,
    TOP_MOST = 1000 /* rows: more are sorted as ever */
};

typedef struct rst_top_words {
    uint64_t word[2 * TOP_TERMS];
} rst_top_words;

static inline bool words_before(const rst_top_words *left, const rst_top_words *right) {
    for (int i = 0; i < 2 * TOP_TERMS; i++) {
        if (left->word[i] != right->word[i]) return left->word[i] < right->word[i];
    }
    return false;
}

/* Words of a number. Whether no other number has them. */
static inline bool number_words(double real, uint64_t *words) {
    uint64_t bits;
    if (real == 0) real = 0; /* there is one zero */
    memcpy(&bits, &real, sizeof bits);
    bits = bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
    words[0] = (uint64_t)NUMBER << 56 | bits >> 8;
    words[1] = bits << 56;
    return real > -9007199254740992.0 && real < 9007199254740992.0;
}

/* The same of bytes; a text has a NUL behind its own. */
static inline bool bytes_words(int class, const unsigned char *bytes, size_t size, uint64_t *words) {
    unsigned char padded[16] = {0};
    if (class == BLOB || size < PREFIX) {
        memcpy(padded, bytes, size < PREFIX ? size : PREFIX);
        bytes = padded;
    }
    words[0] = (uint64_t) class << 56 | rootstock_big_endian(bytes) >> 8;
    words[1] = (rootstock_big_endian(bytes + 7) & ~(uint64_t)0xFF) | (size <= PREFIX ? size : PREFIX + 1);
    return size <= PREFIX;
}

/* Words of a column of the row's bytes. *whole: no other value has them. False: nothing is known. */
static inline bool value_words(int type, const unsigned char *bytes, size_t size, uint64_t *words, bool *whole) {
    int64_t integer;
    switch (type) {
    case ROW_NULL:
        words[0] = words[1] = 0;
        *whole = true;
        return size == 0;
    case ROW_INTEGER:
        if (!rootstock_row_integer(bytes, size, &integer)) return false;
        *whole = number_words((double)integer, words);
        return true;
    case ROW_REAL:
        if (size != 8) return false;
        *whole = number_words(rootstock_row_real(bytes), words);
        return true;
    case ROW_TEXT:
    case ROW_TEXT_WITH_NUL:
        if (size == 0) return false;
        *whole = bytes_words(TEXT, bytes, size - 1, words);
        return true;
    case ROW_BLOB: *whole = bytes_words(BLOB, bytes, size, words); return true;
    default: return false;
    }
}

/* Of one of the columns in the row under the cursor. */
static inline bool term_words(const rst_cursor *k, int t, uint64_t *words, bool *whole) {
    const rst_top_term *term = &k->plan->top_terms[t];
    const unsigned char *data;
    size_t size;
    int type;
    if (!rst_cursor_row_part(k, k->reaches[term->column], &type, &data, &size) ||
        !value_words(type, data, size, words, whole))
        return false;
    if (term->descending) {
        words[0] = ~words[0];
        words[1] = ~words[1];
    }
    return true;
}

/* Of the second one, behind the first one's. */
static bool further_words(const rst_cursor *k, bool whole, rst_top_words *words) {
    words->word[2] = words->word[3] = 0;
    return !whole || k->plan->top == 1 || term_words(k, 1, words->word + 2, &whole);
}

void rst_cursor_top_from(rst_cursor *k, sqlite3_value **values) {
    sqlite3_int64 limit = sqlite3_value_int64(values[k->plan->top_limit - 1]), offset = 0;
    if (k->plan->top_offset > 0) offset = sqlite3_value_int64(values[k->plan->top_offset - 1]);
    if (offset < 0) offset = 0;
    k->top_count = k->top_limit = 0;
    if (k->plan->source == PLAN_INDEX && k->on_writer) return; /* a row looked up there is copied */
    if (limit <= 0 || limit > TOP_MOST || offset > TOP_MOST - limit) return;
    if (!rst_cursor_knows_where(k)) return;
    k->top_heap.size = 0;
    if (rootstock_buffer_reserve(&k->top_heap, (size_t)(limit + offset) * sizeof(rst_top_words)) != SQLITE_OK)
        return; /* all rows are sorted */
    k->top_limit = (int)(limit + offset);
}

bool rst_cursor_is_behind(const rst_cursor *k) {
    const rst_top_words *last = (const rst_top_words *)(const void *)k->top_heap.data;
    rst_top_words words;
    bool whole;
    if (!term_words(k, 0, words.word, &whole)) return false;
    if (words.word[0] != last->word[0]) return last->word[0] < words.word[0];
    return further_words(k, whole, &words) && words_before(last, &words);
}

void rst_cursor_note_top(rst_cursor *k) {
    rst_top_words *heap = (rst_top_words *)(void *)k->top_heap.data, words;
    bool whole;
    int at;
    if (!term_words(k, 0, words.word, &whole) || !further_words(k, whole, &words)) return;
    if (k->top_count == k->top_limit && !words_before(&words, &heap[0])) return;
    if (!rst_cursor_is_kept(k)) return;
    if (k->top_count < k->top_limit) {
        for (at = k->top_count++; at > 0 && words_before(&heap[(at - 1) / 2], &words); at = (at - 1) / 2)
            heap[at] = heap[(at - 1) / 2];
    } else {
        for (at = 0; 2 * at + 1 < k->top_count;) {
            int below = 2 * at + 1;
            if (below + 1 < k->top_count && words_before(&heap[below], &heap[below + 1])) below++;
            if (!words_before(&words, &heap[below])) break;
            heap[at] = heap[below];
            at = below;
        }
    }
    heap[at] = words;
}
