/*
** internals.h - the table layer's private, pure headers, for its tests only.
**
** The headers lie beside their .c files and are no part of the public interface; this module is the one door to them.
*/
#ifndef ROOTSTOCK_TABLE_INTERNALS_H
#define ROOTSTOCK_TABLE_INTERNALS_H

#include "storage/checksum.h"
#include "common/keys.h"
#include "common/order_label.h"
#include "common/rows.h"
#include "common/values.h"

struct sqlite3;

/* What the full parse makes of a statement of which the rewrite cache says what it becomes: null if it
** agrees, or if the rewrite cache says nothing; else a text to free with sqlite3_free. Null also on a connection
** without a store. */
char *rootstock_test_rewrite_cache_missed(struct sqlite3 *db, const char *sql);

/* Accessors of the value's union: Swift reaches it only by an invented name. */
rootstock_value rootstock_test_null(void);
rootstock_value rootstock_test_integer(int64_t integer);
rootstock_value rootstock_test_real(double real);
rootstock_value rootstock_test_bytes(int type, const void *data, size_t size);
int64_t rootstock_test_integer_of(const rootstock_value *value);
double rootstock_test_real_of(const rootstock_value *value);
const void *rootstock_test_data_of(const rootstock_value *value);

#endif
