/*
** internals.c - accessors that internals.h declares.
*/
#include "internals.h"

rootstock_value rootstock_test_null(void) {
    return (rootstock_value){.type = VALUE_NULL};
}

rootstock_value rootstock_test_integer(int64_t integer) {
    return (rootstock_value){.type = VALUE_INTEGER, .as.integer = integer};
}

rootstock_value rootstock_test_real(double real) {
    return (rootstock_value){.type = VALUE_REAL, .as.real = real};
}

rootstock_value rootstock_test_bytes(int type, const void *data, size_t size) {
    return (rootstock_value){.type = type, .size = size, .as.data = data};
}

int64_t rootstock_test_integer_of(const rootstock_value *value) {
    return value->as.integer;
}
double rootstock_test_real_of(const rootstock_value *value) {
    return value->as.real;
}
const void *rootstock_test_data_of(const rootstock_value *value) {
    return value->as.data;
}
