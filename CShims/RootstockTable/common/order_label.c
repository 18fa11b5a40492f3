/* order_label.c - labels for what has an order that only comparisons tell. They are described in order_label.h. */
#include "common/order_label.h"

#include "common/sqlite_api.h"

enum {
    RADIX = 255,
    ENOUGH = 1 << 17, /* places for new labels, before a digit more is taken */
    STEP_SHIFT = 12   /* a label near to another one leaves this part of the room to it */
};

static inline size_t size_of(const rootstock_buffer *label) {
    return label == NULL ? 0 : label->size;
}

static inline uint64_t digit(const rootstock_buffer *label, size_t i) {
    return i < size_of(label) ? (uint64_t)label->data[i] - 1 : 0;
}

int rootstock_label_between(const rootstock_buffer *low, const rootstock_buffer *high, rootstock_label_place place,
                            rootstock_buffer *label) {
    const size_t below = size_of(low), above = size_of(high), longest = below > above ? below : above;
    const uint64_t enough = place == LABEL_SHORT ? 2 : ENOUGH;
    uint64_t room = high == NULL ? 1 : 0, step;
    size_t count = 0;
    int code;
    /* room: the difference of both, cut off behind `count` digits. */
    for (; room < enough; count++) {
        uint64_t up = room * RADIX + digit(high, count);
        if (up < digit(low, count) || (room == 0 && count > longest)) return SQLITE_CORRUPT;
        room = up - digit(low, count);
    }
    label->size = 0;
    code = rootstock_buffer_reserve(label, count);
    if (code != SQLITE_OK) return code;
    step = place == LABEL_NEAR_LOW    ? room >> STEP_SHIFT
           : place == LABEL_NEAR_HIGH ? room - (room >> STEP_SHIFT)
                                      : room / 2;
    for (size_t i = count; i-- > 0; step /= RADIX) {
        step += digit(low, i);
        label->data[i] = (unsigned char)(step % RADIX + 1);
    }
    while (count > 0 && label->data[count - 1] == 1) count--;
    label->size = count;
    return SQLITE_OK;
}
