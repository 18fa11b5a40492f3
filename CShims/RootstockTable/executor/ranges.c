/*
** ranges.c - values that arrive at xFilter -> ranges of key bytes.
**
** SQLite hands a virtual table the right-hand value of a comparison without the affinity that the comparison applies,
** and does not say which that is. Against a column of numeric affinity it is always numeric. Against the others it
** depends on what the right-hand side is: a literal or parameter (none), a TEXT column, a numeric column or CAST.
** Invariant: the ranges made here hold every row that qualifies under ANY of these; SQLite checks each row again
** (plan.c leaves omit at 0).
**
** | column  | value      | =                               | > >=                     | < <=                     |
** |---------|------------|---------------------------------|--------------------------|--------------------------|
** | numeric | any        | the value made numeric          | the same                 | the same                 |
** | TEXT    | text, blob | exact                           | exact                    | at least texts below ':' |
** | TEXT    | number     | every text                      | from the first text on   | up to the last text      |
** | none    | blob       | exact                           | exact                    | exact                    |
** | none    | text       | exact, and the number it spells | from the first number on | at least texts below ':' |
** | none    | number     | exact, and every text           | exact                    | up to the last text      |
**
** An expression has no affinity of its own: a TEXT column makes its reals texts of 15 digits, and one text may be equal
** to many. A text with a point, or of an infinite one, stands for every number there.
**
** Where no affinity but the column's has a say, a value means one key of a TEXT column, or of one without affinity. The
** statement says so (one_row.c), or, for a number or a text that bounds, SQLite's program does (affinity_probe.c). A
** literal has no affinity. A text that spells a number means every spelling of it where a running statement may compare
** it as a number (affinity_probe.c).
*/
#include "executor/executor.h"
#include "executor/collated_key.h"
#include "executor/ranges.h"

#include "planner/affinity_probe.h"

#include <stdlib.h>
#include <string.h>

enum { CLASS_NULL = 0x05, CLASS_NUMBER = 0x10, CLASS_TEXT = 0x20, CLASS_BLOB = 0x30 };

static void range_free(rst_range *range) {
    rootstock_buffer_free(&range->low);
    rootstock_buffer_free(&range->high);
}

static void many_free(rst_ranges *ranges) {
    for (int i = 0; i < ranges->many_count; i++) range_free(&ranges->many[i]);
    sqlite3_free(ranges->many);
    ranges->many = NULL;
    ranges->many_count = 0;
}

void rst_ranges_free(rst_ranges *ranges) {
    for (int i = 0; i < 2; i++) range_free(&ranges->few[i]);
    rootstock_buffer_free(&ranges->held);
    many_free(ranges);
}

static int set(rootstock_buffer *to, const void *bytes, size_t size) {
    to->size = 0;
    return size == 0 ? SQLITE_OK : rootstock_buffer_append(to, bytes, size);
}

static int add_byte(rootstock_buffer *to, int byte, bool descending) {
    unsigned char b = (unsigned char)(descending ? 0xFF - byte : byte);
    return rootstock_buffer_append(to, &b, 1);
}

/* An edge of one column in value order: just before or just after a value or a class. */
typedef struct edge {
    bool open;     /* no edge on this side */
    bool after;    /* just after the value (else just before) */
    bool is_class; /* before the first value of a class (`class_byte`) */
    int class_byte;
    rootstock_value value;
} edge;

/* Appends the byte position of an edge: keys >= it lie beyond. *none: no key can lie beyond. */
static int place(const rst_table *table, rootstock_buffer *to, const edge *at, const rst_part *part, bool *none) {
    bool descending = part->key.descending, raw;
    bool behind = descending ? !at->after : at->after; /* in byte order */
    int code;
    *none = false;
    if (at->is_class) {
        /* Before class X in value order; descending, that is after X's complement in byte order. */
        code = add_byte(to, at->class_byte, descending);
        if (code == SQLITE_OK && descending && !rootstock_key_successor(to)) *none = true;
        return code;
    }
    raw = part->key.final && !descending && (at->value.type == VALUE_TEXT || at->value.type == VALUE_BLOB);
    code = rst_part_append(table, to, &at->value, part);
    if (code != SQLITE_OK || !behind) return code;
    if (raw) {
        unsigned char zero = 0;
        return rootstock_buffer_append(to, &zero, 1); /* the least key above this very one */
    }
    if (!rootstock_key_successor(to)) *none = true;
    return SQLITE_OK;
}

/* One range behind prefix, between two edges in value order. */
static int between(const rst_table *table, rst_range *range, const rootstock_buffer *prefix, const edge *from,
                   const edge *to, const rst_part *part, bool *empty) {
    const edge *low = part->key.descending ? to : from, *high = part->key.descending ? from : to;
    bool none = false;
    int code = set(&range->low, prefix->data, prefix->size);
    *empty = false;
    if (code == SQLITE_OK && !low->open) {
        code = place(table, &range->low, low, part, &none);
        if (none) *empty = true;
    }
    if (code == SQLITE_OK) code = set(&range->high, prefix->data, prefix->size);
    if (code != SQLITE_OK) return code;
    range->has_high = true;
    if (high->open) {
        range->has_high = rootstock_key_successor(&range->high);
    } else {
        code = place(table, &range->high, high, part, &none);
        if (none) {
            code = set(&range->high, prefix->data, prefix->size);
            range->has_high = code == SQLITE_OK && rootstock_key_successor(&range->high);
        }
    }
    if (range->has_high &&
        rootstock_key_compare(range->low.data, range->low.size, range->high.data, range->high.size) >= 0) {
        *empty = true;
    }
    return code;
}

/* Whether a number may begin so. */
static bool begins_a_number(const rootstock_value *text) {
    char first = text->size > 0 ? ((const char *)text->as.data)[0] : 'x';
    return (first >= '0' && first <= '9') || first == '+' || first == '-' || first == '.' ||
           (first >= '\t' && first <= '\r') || first == ' ';
}

static int spell(const rootstock_value *text, sqlite3_value *source, rootstock_value *number, bool *spells) {
    int code = SQLITE_OK;
    *number = *text;
    if (begins_a_number(text)) code = rst_value_spelled(number, source);
    *spells = number->type != VALUE_TEXT;
    return code;
}

bool rst_value_is_disguised(const rst_table *table, const rootstock_value *value, rst_ranges *ranges) {
    if (value->type != VALUE_TEXT || !begins_a_number(value)) return false;
    if (ranges->disguised == 0) ranges->disguised = rst_affinity_probes_any(table->connection) ? 'y' : 'n';
    return ranges->disguised == 'y';
}

/* Whether the value is a number that the column's own affinity makes one key of: of TEXT, its text. */
static bool is_declared(const rst_table *table, const rst_plan *plan, const rst_part *part, char affinity,
                        const rootstock_value *value, rst_ranges *ranges) {
    if (affinity >= AFFINITY_NUMERIC || part->column < 0 || plan->in > 0 ||
        (value->type != VALUE_INTEGER && value->type != VALUE_REAL))
        return false;
    if (ranges->declared == 0) ranges->declared = rst_affinity_is_declared(table) ? 'y' : 'n';
    return ranges->declared == 'y';
}

/* Whether some text that spells a number may come behind this one: such texts begin with a byte below ':'. Where they
** stand under a collation of the application is not known. */
static bool may_lie_below_numbers(const rst_part *part, const rootstock_value *text) {
    return part->key.collation == ROOTSTOCK_COLLATION_OWN || text->size == 0 ||
           ((const unsigned char *)text->as.data)[0] < ':';
}

/* Whether a text that bounds a column is compared by the column's own affinity alone. A literal has none. A parameter
** has none either, but SQLite puts it in the place of a column that equals it. Its program is asked, where it matters,
** which compares again where the plan has not omitted that. */
static bool is_own_text(const rst_table *table, const rst_plan *plan, const rst_part *part, char affinity,
                        const rootstock_value *value, bool upper, rst_ranges *ranges) {
    const bool widened = upper ? may_lie_below_numbers(part, value) : affinity == AFFINITY_BLOB;
    if (value->type != VALUE_TEXT || part->column < 0) return false;
    if (upper ? plan->upper_literal : plan->lower_literal) return true;
    if (widened && ranges->declared == 0) ranges->declared = rst_affinity_is_declared(table) ? 'y' : 'n';
    return widened && ranges->declared == 'y';
}

/* A text that may be compared as the number that it spells is taken for that number, against a column that has no
** numeric affinity. */
static int unmask(const rst_table *table, char affinity, sqlite3_value *source, rootstock_value *value,
                  rst_ranges *ranges) {
    rootstock_value number;
    bool spells = false;
    int code = SQLITE_OK;
    if (affinity < AFFINITY_NUMERIC && rst_value_is_disguised(table, value, ranges))
        code = spell(value, source, &number, &spells);
    if (spells) *value = number;
    return code;
}

/* Widens a bound as the table above says. upper: the edge bounds from above. hold: memory for its value. */
static int widen(const rst_table *table, const rst_plan *plan, const rst_part *part, char affinity,
                 sqlite3_value *source, edge *at, bool upper, rst_ranges *ranges, rootstock_buffer *hold) {
    static const char colon[] = ":";
    int type, code;
    bool number;
    if (affinity >= AFFINITY_NUMERIC) return rst_value_affinity(&at->value, source, AFFINITY_NUMERIC, hold);
    if (is_declared(table, plan, part, affinity, &at->value, ranges))
        return affinity == AFFINITY_TEXT ? rst_value_affinity(&at->value, source, AFFINITY_TEXT, hold) : SQLITE_OK;
    if (is_own_text(table, plan, part, affinity, &at->value, upper, ranges)) return SQLITE_OK;
    code = unmask(table, affinity, source, &at->value, ranges);
    if (code != SQLITE_OK) return code;
    type = at->value.type;
    number = type == VALUE_INTEGER || type == VALUE_REAL;
    if (type == VALUE_BLOB) return SQLITE_OK;
    if (number && (affinity == AFFINITY_TEXT || upper)) {
        at->is_class = true;
        at->class_byte = upper ? CLASS_BLOB : affinity == AFFINITY_TEXT ? CLASS_TEXT : CLASS_NUMBER;
        return SQLITE_OK;
    }
    if (type != VALUE_TEXT) return SQLITE_OK;
    if (upper) {
        if (part->key.collation == ROOTSTOCK_COLLATION_OWN) {
            at->is_class = true;
            at->class_byte = CLASS_BLOB;
        } else if (may_lie_below_numbers(part, &at->value)) {
            at->value.as.data = colon;
            at->value.size = 1;
            at->after = true;
        }
    } else if (affinity == AFFINITY_BLOB) {
        at->is_class = true;
        at->class_byte = CLASS_NUMBER;
    }
    return SQLITE_OK;
}

static char affinity_of_part(const rst_table *table, const rst_part *part) {
    if (part->column == -2) return AFFINITY_BLOB; /* an expression: whatever the comparison's affinity makes of it */
    if (part->column < 0 || part->column == table->rowid_column) return AFFINITY_INTEGER;
    return table->columns[part->column].affinity;
}

/* Whether a real may have that text, of 15 digits: an expression's may where the other side is a TEXT column. */
static bool may_be_of_real(const rst_part *part, const rootstock_value *value) {
    const char *text = value->as.data;
    if (part->column != -2 || value->type != VALUE_TEXT || value->size == 0) return false;
    if (memchr(text, '.', value->size) != NULL) return true;
    if (*text == '-') text++;
    return value->size - (size_t)(text - (const char *)value->as.data) >= 3 && sqlite3_strnicmp(text, "inf", 3) == 0;
}

/* Equality on the last column used, when the value may stand for several: up to two ranges. spelled: the text's number;
** of a text that many numbers may have, any. */
static int ambiguous_equal(const rst_table *table, rst_ranges *ranges, const rootstock_buffer *prefix,
                           const rst_part *part, char affinity, const rootstock_value *value,
                           const rootstock_value *spelled) {
    edge from = {0}, to = {0};
    bool empty;
    int code;
    ranges->ambiguous = true;
    if (affinity == AFFINITY_TEXT) {
        from.is_class = to.is_class = true;
        from.class_byte = CLASS_TEXT;
        to.class_byte = CLASS_BLOB;
        ranges->count = 1;
        return between(table, &ranges->range[0], prefix, &from, &to, part, &empty);
    }
    /* none: the number itself first in value order, then text */
    if (may_be_of_real(part, value)) {
        from.is_class = to.is_class = true;
        from.class_byte = CLASS_NUMBER;
        to.class_byte = CLASS_TEXT;
    } else {
        from.value = to.value = spelled != NULL ? *spelled : *value;
        to.after = true;
    }
    code = between(table, &ranges->range[0], prefix, &from, &to, part, &empty);
    if (code != SQLITE_OK) return code;
    memset(&from, 0, sizeof from);
    memset(&to, 0, sizeof to);
    if (spelled != NULL) {
        from.value = to.value = *value;
        to.after = true;
    } else {
        from.is_class = to.is_class = true;
        from.class_byte = CLASS_TEXT;
        to.class_byte = CLASS_BLOB;
    }
    code = between(table, &ranges->range[1], prefix, &from, &to, part, &empty);
    ranges->count = 2;
    if (code == SQLITE_OK && part->key.descending) {
        rst_range swap = ranges->range[0];
        ranges->range[0] = ranges->range[1];
        ranges->range[1] = swap;
    }
    return code;
}

/* Of an index all of whose columns are held equal: the entries whose rowids, which stand behind, lie between bounds. */
static int rowids_between(rst_ranges *ranges, const rst_plan *plan, sqlite3_value **bounds) {
    rst_range *range = &ranges->range[0];
    int64_t low = INT64_MIN, high = INT64_MAX;
    unsigned char bytes[8];
    int code;
    ranges->prefix = ranges->held.size;
    if ((plan->lower != 0 && !rst_rowid_bound(*bounds++, plan->lower, &low, &high)) ||
        (plan->upper != 0 && !rst_rowid_bound(*bounds, plan->upper, &low, &high)) || low > high)
        return SQLITE_OK;
    code = set(&range->low, ranges->held.data, ranges->held.size);
    if (code == SQLITE_OK) code = set(&range->high, ranges->held.data, ranges->held.size);
    if (code != SQLITE_OK) return code;
    range->has_high = true;
    ranges->count = 1;
    rootstock_rowid_encode(low, bytes);
    code = rootstock_buffer_append(&range->low, bytes, sizeof bytes);
    if (high == INT64_MAX) {
        range->has_high = rootstock_key_successor(&range->high);
    } else if (code == SQLITE_OK) {
        rootstock_rowid_encode(high + 1, bytes);
        code = rootstock_buffer_append(&range->high, bytes, sizeof bytes);
    }
    return code;
}

/* The NULLs of the column, and its other values, in the order in which they are walked: not that of their bytes. */
static int nulls_apart(const rst_table *table, rst_ranges *ranges, const rst_part *part) {
    const edge null = {.value = {.type = VALUE_NULL}}, behind_null = {.value = {.type = VALUE_NULL}, .after = true};
    const edge values = {.is_class = true, .class_byte = CLASS_NULL + 1}, end = {.open = true};
    /* Against the order of the keys NULLs come last in it, and so first here. */
    const int nulls = part->key.descending ? 0 : 1;
    bool empty;
    int code = between(table, &ranges->range[nulls], &ranges->held, &null, &behind_null, part, &empty);
    if (code == SQLITE_OK) code = between(table, &ranges->range[1 - nulls], &ranges->held, &values, &end, part, &empty);
    ranges->prefix = ranges->held.size;
    ranges->count = 2;
    return code;
}

int rst_ranges_make(const rst_table *table, const rst_plan *plan, const rst_part *parts, sqlite3_value **values,
                    rst_ranges *ranges) {
    rootstock_buffer *prefix = &ranges->held, hold = {0}, upper_hold = {0};
    edge from = {.open = true}, to = {.open = true};
    int argument = 0, code = SQLITE_OK;
    bool empty = false;
    ranges->range = ranges->few;
    ranges->count = 0;
    ranges->ambiguous = false;
    ranges->prefix = 0;
    prefix->size = 0;
    for (int k = 0; k < plan->equals && code == SQLITE_OK; k++) {
        char affinity = affinity_of_part(table, &parts[k]);
        rootstock_value value, spelled = {0};
        bool exact = false;
        rst_value_from(values[argument], &value);
        if (plan->null_equal[k] == 2) value.type = VALUE_NULL;
        if (value.type == VALUE_NULL && !plan->null_equal[k]) goto done;
        if (affinity >= AFFINITY_NUMERIC)
            code = rst_value_affinity(&value, values[argument], AFFINITY_NUMERIC, &hold);
        else if ((exact = plan->exact || (plan->one_value >> k & 1) != 0 ||
                          is_declared(table, plan, &parts[k], affinity, &value, ranges)) &&
                 affinity == AFFINITY_TEXT)
            code = rst_value_affinity(&value, values[argument], AFFINITY_TEXT, &hold);
        argument++;
        if (code != SQLITE_OK) goto done;
        if (affinity < AFFINITY_NUMERIC && !exact) {
            bool number, spells = false;
            code = unmask(table, affinity, values[argument - 1], &value, ranges);
            number = value.type == VALUE_INTEGER || value.type == VALUE_REAL;
            if (code == SQLITE_OK && affinity == AFFINITY_BLOB && value.type == VALUE_TEXT) {
                spells = may_be_of_real(&parts[k], &value);
                if (!spells) code = spell(&value, values[argument - 1], &spelled, &spells);
            }
            if (code != SQLITE_OK) goto done;
            if (number || spells) {
                code = ambiguous_equal(table, ranges, prefix, &parts[k], affinity, &value, spells ? &spelled : NULL);
                goto done;
            }
        }
        code = rst_part_append(table, prefix, &value, &parts[k]);
        if (code == SQLITE_OK && k == plan->equals - 1 && parts[k].key.final && !parts[k].key.descending &&
            (value.type == VALUE_TEXT || value.type == VALUE_BLOB)) {
            /* the whole key: exactly this one */
            code = set(&ranges->range[0].low, prefix->data, prefix->size);
            if (code == SQLITE_OK) code = set(&ranges->range[0].high, prefix->data, prefix->size);
            if (code == SQLITE_OK) code = rootstock_buffer_append(&ranges->range[0].high, "", 1);
            ranges->range[0].has_high = true;
            ranges->prefix = prefix->size;
            ranges->count = 1;
            goto done;
        }
    }
    if (code != SQLITE_OK) goto done;
    if (plan->rowid_bounds) {
        code = rowids_between(ranges, plan, &values[argument]);
        goto done;
    }
    if (plan->lower != 0 || plan->upper != 0) {
        const rst_part *part = &parts[plan->equals];
        char affinity = affinity_of_part(table, part);
        from.open = false;
        from.is_class = true; /* a comparison never matches NULL */
        from.class_byte = CLASS_NULL + 1;
        if (plan->lower == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) {
            argument++;
        } else if (plan->lower != 0) {
            from.is_class = false;
            rst_value_from(values[argument], &from.value);
            if (from.value.type == VALUE_NULL) goto done;
            from.after = plan->lower == SQLITE_INDEX_CONSTRAINT_GT;
            code = widen(table, plan, part, affinity, values[argument], &from, false, ranges, &hold);
            argument++;
        }
        if (plan->upper != 0 && code == SQLITE_OK) {
            to.open = false;
            rst_value_from(values[argument], &to.value);
            if (to.value.type == VALUE_NULL) goto done;
            to.after = plan->upper == SQLITE_INDEX_CONSTRAINT_LE;
            code = widen(table, plan, part, affinity, values[argument], &to, true, ranges, &upper_hold);
        }
        if (code == SQLITE_OK) code = between(table, &ranges->range[0], prefix, &from, &to, part, &empty);
        ranges->prefix = prefix->size;
        ranges->count = empty ? 0 : 1;
        goto done;
    }
    if (plan->nulls_apart) {
        code = nulls_apart(table, ranges, &parts[plan->equals]);
        goto done;
    }
    code = set(&ranges->range[0].low, prefix->data, prefix->size);
    if (code == SQLITE_OK) code = set(&ranges->range[0].high, prefix->data, prefix->size);
    ranges->range[0].has_high = code == SQLITE_OK && rootstock_key_successor(&ranges->range[0].high);
    ranges->prefix = prefix->size;
    ranges->count = 1;
done:
    if (hold.data != NULL) rootstock_buffer_free(&hold);
    if (upper_hold.data != NULL) rootstock_buffer_free(&upper_hold);
    return code;
}

static int by_low(const void *a, const void *b) {
    const rst_range *left = a, *right = b;
    return rootstock_key_compare(left->low.data, left->low.size, right->low.data, right->low.size);
}

/* Several values can mean the same keys: their ranges are sorted and joined, so that no row is met twice. */
static void join(rst_ranges *ranges) {
    int kept = 0;
    if (ranges->many_count == 0) return;
    qsort(ranges->many, (size_t)ranges->many_count, sizeof *ranges->many, by_low);
    for (int i = 1; i < ranges->many_count; i++) {
        rst_range *last = &ranges->many[kept], *next = &ranges->many[i];
        bool apart = last->has_high &&
                     rootstock_key_compare(next->low.data, next->low.size, last->high.data, last->high.size) >= 0;
        if (apart) {
            if (++kept != i) {
                rst_range swap = ranges->many[kept];
                ranges->many[kept] = *next;
                *next = swap;
            }
        } else if (last->has_high && (!next->has_high || rootstock_key_compare(next->high.data, next->high.size,
                                                                               last->high.data, last->high.size) > 0)) {
            rootstock_buffer swap = last->high;
            last->high = next->high;
            next->high = swap;
            last->has_high = next->has_high;
        }
    }
    ranges->count = kept + 1;
}

int rst_ranges_in(const rst_table *table, const rst_plan *plan, const rst_part *parts, int count,
                  sqlite3_value **values, rst_ranges *ranges) {
    sqlite3_value **each = NULL, *value = NULL;
    int capacity = 0, code;
    many_free(ranges);
    each = sqlite3_malloc64((sqlite3_uint64)count * sizeof *each);
    if (each == NULL) return SQLITE_NOMEM;
    memcpy(each, values, (size_t)count * sizeof *each);
    ranges->wide = false;
    for (code = sqlite3_vtab_in_first(values[plan->in - 1], &value); code == SQLITE_OK && value != NULL;
         code = sqlite3_vtab_in_next(values[plan->in - 1], &value)) {
        each[plan->in - 1] = value;
        code = rst_ranges_make(table, plan, parts, each, ranges);
        if (code != SQLITE_OK) break;
        ranges->wide = ranges->wide || ranges->ambiguous || ranges->count > 1;
        if (ranges->many_count + ranges->count > capacity) {
            rst_range *more;
            capacity = capacity == 0 ? 16 : capacity * 2;
            more = sqlite3_realloc64(ranges->many, (sqlite3_uint64)capacity * sizeof *more);
            if (more == NULL) {
                code = SQLITE_NOMEM;
                break;
            }
            ranges->many = more;
        }
        for (int i = 0; i < ranges->count; i++) {
            ranges->many[ranges->many_count++] = ranges->few[i];
            memset(&ranges->few[i], 0, sizeof ranges->few[i]);
        }
    }
    sqlite3_free(each);
    ranges->count = 0;
    ranges->ambiguous = false; /* no order is promised */
    ranges->range = ranges->many;
    if (code == SQLITE_DONE) code = SQLITE_OK;
    if (code == SQLITE_OK) join(ranges);
    return code;
}
