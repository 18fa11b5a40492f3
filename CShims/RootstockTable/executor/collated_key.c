/*
** collated_key.c - texts in keys under a collation of the application.
**
** Keys have the order of their bytes. An application's collation gives no bytes, it compares two texts. So a text under
** it stands in a key as a label (common/order_label.h). A new text gets one between those of its neighbours; texts that
** the collation finds equal have one label. The texts themselves stand in the value of the index's entry, or in the row
** of a table WITHOUT ROWID. A text's label is searched for by halves: among the labels that are there, the collation
** compares the texts behind them.
**
** Invariant: behind the same bytes of a key, labels rise as their texts do. It lasts as long as the collation does not
** change; then REINDEX gives new labels, as it sorts SQLite's own indexes again. The label of a row that is gone names
** no other row of the primary key: a statement that found the row before may still change it by its key.
*/
#include "catalog/catalog.h"
#include "common/order_label.h"
#include "executor/collated_key.h"
#include "executor/executor.h"
#include "executor/change.h"

#include <string.h>

/* before, behind: labels next to the text's place in the order of keys, once they are known; empty: none. */
typedef struct search {
    const rst_table *table;
    const rst_index *index; /* null: the primary key of a table WITHOUT ROWID */
    const rst_part *part;
    const rootstock_value *text;
    rst_tree *tree;
    rootstock_transaction *transaction;
    sqlite3_stmt *compare;
    rootstock_buffer key, behind_key; /* what is sought; the key of `behind` */
    size_t prefix;                    /* bytes of the key in front of the text */
    rootstock_buffer before, behind, met, middle;
    rootstock_buffer held; /* the text that `met` stands for */
} search;

static const rst_index *index_of(const rst_table *table, const rst_part *part) {
    for (int i = 0; i < table->index_count; i++) {
        const rst_index *index = &table->indexes[i];
        if (part >= index->parts && part < index->parts + index->part_count) return index;
    }
    return NULL;
}

static const rootstock_buffer *known(const rootstock_buffer *label) {
    return label->size == 0 ? NULL : label;
}

/* A label between the two, which stand in the order of keys. */
static int between(const search *s, const rootstock_buffer *before, const rootstock_buffer *behind,
                   rootstock_label_place place, rootstock_buffer *label) {
    const bool down = s->part->key.descending;
    return rootstock_label_between(known(down ? behind : before), known(down ? before : behind), place, label);
}

static uint64_t hash(const rootstock_buffer *label) {
    uint64_t sum = 0xCBF29CE484222325u; /* FNV-1a */
    for (size_t i = 0; i < label->size; i++) sum = (sum ^ label->data[i]) * 0x100000001B3u;
    return sum;
}

/* Lengthens a label by digits that no other new one of this connection has, for 16 million of them. It stays below
** `high`. */
static int make_unique(rst_executor *executor, const rootstock_buffer *high, rootstock_buffer *label) {
    uint32_t number = executor->labels_made++;
    unsigned char digits[3];
    int code = SQLITE_OK;
    while (code == SQLITE_OK && high->size >= label->size && memcmp(high->data, label->data, label->size) == 0)
        code = rootstock_buffer_append(label, "\1", 1); /* the digit 0 */
    for (size_t i = 0; i < sizeof digits; i++, number /= 254) digits[i] = (unsigned char)(number % 254 + 2);
    return code == SQLITE_OK ? rootstock_buffer_append(label, digits, sizeof digits) : code;
}

/* A new label in s->met. Texts that come in order stand next to the last one. */
static int new_label(search *s) {
    rst_part *part = (rst_part *)s->part; /* of a table that is not const: what it notes is a hint */
    const rootstock_buffer *low = part->key.descending ? &s->behind : &s->before;
    const rootstock_buffer *high = part->key.descending ? &s->before : &s->behind;
    const uint64_t gap = hash(low) ^ hash(high) << 1;
    rootstock_label_place place = LABEL_MIDDLE;
    int code;
    if (gap == part->last_gap) /* asked again: the text has not been put there yet */
        place = part->last_place;
    else if (low->size > 0 && (high->size == 0 || hash(low) == part->last_label))
        place = LABEL_NEAR_LOW;
    else if (high->size > 0 && (low->size == 0 || hash(high) == part->last_label))
        place = LABEL_NEAR_HIGH;
    code = between(s, &s->before, &s->behind, place, &s->met);
    if (code == SQLITE_OK && s->index == NULL) code = make_unique(executor_of(s->table->connection), high, &s->met);
    if (code != SQLITE_OK) return code;
    part->last_gap = gap;
    part->last_place = place;
    part->last_label = hash(&s->met);
    return SQLITE_OK;
}

/* s->key: the bytes of a key with that label, or of the first text of all. */
static int key_at(search *s, const rootstock_buffer *label) {
    const rootstock_value value = {.type = VALUE_TEXT, .size = label->size, .as.data = label->data};
    const unsigned char tag = s->part->key.descending ? (unsigned char)~KEY_RAW_TEXT : KEY_RAW_TEXT;
    s->key.size = s->prefix;
    if (label->size == 0) return rootstock_buffer_append(&s->key, &tag, 1);
    return rootstock_key_append(&s->key, &value, &s->part->key);
}

/* The text that the entry's label stands for. */
static int text_of(const search *s, const rootstock_slice *key, const rootstock_slice *value, rootstock_value *text) {
    const rst_table *table = s->table;
    const size_t start = s->index != NULL && table->without_rowid ? sizeof(uint32_t) : 0;
    rootstock_row row;
    rootstock_buffer scratch = {0};
    int code = SQLITE_CORRUPT;
    if (value->size > start)
        code = rootstock_row_open(&row, (const unsigned char *)value->data + start, value->size - start);
    if (code == SQLITE_OK && s->index != NULL)
        code = rootstock_row_column(&row, (int)(s->part - s->index->parts), text, NULL);
    else if (code == SQLITE_OK && row.compact)
        code = SQLITE_CORRUPT; /* its key tells no text */
    else if (code == SQLITE_OK)
        code = rst_stored_column(table, key, &row, s->part->column, text, NULL, &scratch);
    rootstock_buffer_free(&scratch);
    if (code == SQLITE_OK && text->type != VALUE_TEXT) code = SQLITE_CORRUPT;
    return code == SQLITE_CORRUPT ? SQLITE_CORRUPT_VTAB : code;
}

static rootstock_transaction *transaction_of(const rst_store *store) {
    return store->writer != NULL ? store->writer : store->reader;
}

/* Reads the first entry from s->key on: its label into s->met, its text into s->held. *found is false where `behind`
** comes first, or what is no text behind these bytes. */
static int read_next(search *s, bool *found) {
    const rootstock_key_column column = {.descending = s->part->key.descending, .final = s->part->key.final};
    const unsigned char tag = column.descending ? (unsigned char)~KEY_RAW_TEXT : KEY_RAW_TEXT;
    rst_connection *c = s->table->connection;
    rootstock_slice at = {s->key.size, s->key.data}, value;
    rootstock_value label, text;
    rootstock_buffer scratch = {0};
    rst_walker walker;
    size_t offset = s->prefix;
    int result, code = rst_walker_open(c, s->transaction, s->tree, &walker);
    *found = false;
    if (code != SQLITE_OK) return code;
    result = rst_walker_move(&walker, ROOTSTOCK_SEEK, &at, &value);
    if (result != ROOTSTOCK_OK && result != ROOTSTOCK_NOT_FOUND) code = rst_map_code(c, result);
    *found =
        result == ROOTSTOCK_OK && at.size > s->prefix && memcmp(at.data, s->key.data, s->prefix) == 0 &&
        ((const unsigned char *)at.data)[s->prefix] == tag &&
        (s->behind.size == 0 || rootstock_key_compare(at.data, at.size, s->behind_key.data, s->behind_key.size) < 0);
    if (*found) {
        code = rootstock_key_decode(at.data, at.size, &offset, &column, &label, &scratch);
        if (code == SQLITE_OK) code = rootstock_buffer_set(&s->met, label.as.data, label.size);
        if (code == SQLITE_OK) code = text_of(s, &at, &value, &text);
        if (code == SQLITE_OK) code = rootstock_buffer_set(&s->held, text.as.data, text.size);
    }
    rootstock_buffer_free(&scratch);
    rst_walker_close(&walker);
    return code == SQLITE_CORRUPT ? SQLITE_CORRUPT_VTAB : code;
}

static int set_behind(search *s) {
    int code = rootstock_buffer_set(&s->behind, s->met.data, s->met.size);
    if (code == SQLITE_OK) code = key_at(s, &s->behind);
    return code == SQLITE_OK ? rootstock_buffer_set(&s->behind_key, s->key.data, s->key.size) : code;
}

/* What an entry's text is to the one that is sought, by the order of keys. */
typedef enum side { SIDE_NONE, SIDE_BEFORE, SIDE_BEHIND, SIDE_EQUAL } side;

/* Reads the next entry, whose label becomes `before` or `behind`, or stays in s->met where its text is equal. No walker
** is open while the collation runs: it may end the transaction. */
static int narrow(search *s, side *met) {
    rst_connection *c = s->table->connection;
    rootstock_value text;
    bool found;
    int order, code = read_next(s, &found);
    *met = SIDE_NONE;
    if (code != SQLITE_OK || !found) return code;
    text = (rootstock_value){.type = VALUE_TEXT, .size = s->held.size, .as.data = s->held.data};
    code = rst_collation_compare(c, s->part->collation_name, &s->compare, s->text, &text, &order);
    if (code != SQLITE_OK) return code;
    if (transaction_of(store_of(c)) != s->transaction) return SQLITE_ABORT_ROLLBACK;
    if (order == 0) {
        *met = SIDE_EQUAL;
        return SQLITE_OK;
    }
    *met = (order > 0) != s->part->key.descending ? SIDE_BEFORE : SIDE_BEHIND;
    return *met == SIDE_BEHIND ? set_behind(s) : rootstock_buffer_set(&s->before, s->met.data, s->met.size);
}

/* s->key: the least key behind all that have label `before`. */
static int seek_behind(search *s) {
    int code = key_at(s, &s->before);
    if (code != SQLITE_OK || s->before.size == 0) return code;
    if (s->part->key.final && !s->part->key.descending) return rootstock_buffer_append(&s->key, "", 1);
    return rootstock_key_successor(&s->key) ? SQLITE_OK : SQLITE_CORRUPT_VTAB;
}

/* The label of the text, or one between its neighbours where it is not there: in s->met. */
static int find(search *s) {
    rootstock_buffer bound = {0}; /* nothing stands from here to `behind` */
    side met = SIDE_NONE;
    int code;
    for (;;) {
        code = between(s, &s->before, &bound, LABEL_SHORT, &s->middle);
        if (code == SQLITE_OK) code = key_at(s, &s->middle);
        if (code == SQLITE_OK) code = narrow(s, &met);
        if (code != SQLITE_OK || met == SIDE_EQUAL) break;
        if (met == SIDE_BEFORE) continue;
        code = rootstock_buffer_set(&bound, s->middle.data, s->middle.size);
        if (code != SQLITE_OK) break;
        if (met == SIDE_BEHIND) continue;
        /* Nothing stands in that half: the neighbour behind `before` is near, and ends the search mostly. */
        code = seek_behind(s);
        if (code == SQLITE_OK) code = narrow(s, &met);
        if (code != SQLITE_OK || met == SIDE_EQUAL) break;
        if (met == SIDE_BEFORE) continue;
        code = new_label(s);
        break;
    }
    rootstock_buffer_free(&bound);
    return code;
}

int rst_collated_append(const rst_table *table, rootstock_buffer *key, const rootstock_value *text,
                        const rst_part *part) {
    rst_connection *c = table->connection;
    search s = {.table = table, .part = part, .text = text, .prefix = key->size};
    int code;
    s.index = index_of(table, part);
    s.tree = (rst_tree *)(s.index == NULL ? &table->tree : &s.index->tree); /* its handle is opened at need */
    s.transaction = transaction_of(store_of(c));
    code = rootstock_buffer_append(&s.key, key->data, key->size);
    if (code == SQLITE_OK) code = find(&s);
    if (s.compare != NULL) rst_statement_done(c, s.compare);
    if (code == SQLITE_OK) {
        const rootstock_value label = {.type = VALUE_TEXT, .size = s.met.size, .as.data = s.met.data};
        code = rootstock_key_append(key, &label, &part->key);
    }
    rootstock_buffer_free(&s.key);
    rootstock_buffer_free(&s.behind_key);
    rootstock_buffer_free(&s.before);
    rootstock_buffer_free(&s.behind);
    rootstock_buffer_free(&s.met);
    rootstock_buffer_free(&s.middle);
    rootstock_buffer_free(&s.held);
    return code;
}
