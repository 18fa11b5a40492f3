/*
** column.c - columns of an alias: its statement's, but where the store runs the program's statement itself, which is a
** SELECT of one column to SQLite.
*/
#include "interpose.h"

static inline bool hides(sqlite3_stmt *statement) {
    rsti_statement *s = rsti_alias(statement);
    return s != NULL && s->hides_column && s->ended == NULL;
}

INTERPOSED(int, column_count, (sqlite3_stmt * statement)) {
    rsti_statement *s = rsti_alias(statement);
    if (s != NULL && (s->hides_column || s->counts)) return s->counts;
    return sqlite3_column_count(rsti_real(statement));
}

INTERPOSED(const char *, column_name, (sqlite3_stmt * statement, int n)) {
    rsti_statement *s = rsti_alias(statement);
    if (s != NULL && s->counts && s->ended == NULL) return n == 0 ? rsti_count_name(s->text) : NULL;
    if (hides(statement)) return NULL;
    return sqlite3_column_name(rsti_real(statement), n);
}

INTERPOSED(const void *, column_name16, (sqlite3_stmt * statement, int n)) {
    if (hides(statement)) return NULL;
    return sqlite3_column_name16(rsti_real(statement), n);
}

/* Where a column comes from: of RETURNING, and of what an attached store shows, the table layer knows. */
#define FACT(type, name, fact)                                                                                         \
    INTERPOSED(type, name, (sqlite3_stmt * statement, int n)) {                                                        \
        rsti_statement *s = rsti_alias(statement);                                                                     \
        RSTI_START();                                                                                                  \
        if (s == NULL) return sqlite3_##name(statement, n);                                                            \
        if (s->hides_column) return NULL;                                                                              \
        if (!s->rewritten) return sqlite3_##name(s->real, n);                                                          \
        rsti_enter(s->database);                                                                                       \
        type answer = rootstock_column_fact_of(s->real, n, fact);                                                      \
        rsti_leave(s->database);                                                                                       \
        return answer;                                                                                                 \
    }

FACT(const char *, column_decltype, ROOTSTOCK_DECLTYPE)
FACT(const void *, column_decltype16, ROOTSTOCK_DECLTYPE16)
FACT(const char *, column_database_name, ROOTSTOCK_DATABASE_NAME)
FACT(const void *, column_database_name16, ROOTSTOCK_DATABASE_NAME16)
FACT(const char *, column_table_name, ROOTSTOCK_TABLE_NAME)
FACT(const void *, column_table_name16, ROOTSTOCK_TABLE_NAME16)
FACT(const char *, column_origin_name, ROOTSTOCK_ORIGIN_NAME)
FACT(const void *, column_origin_name16, ROOTSTOCK_ORIGIN_NAME16)

FORWARDED(int, data_count, (sqlite3_stmt * statement), (rsti_real(statement)))
FORWARDED(const void *, column_blob, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(double, column_double, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(int, column_int, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(sqlite3_int64, column_int64, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(const unsigned char *, column_text, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(const void *, column_text16, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(sqlite3_value *, column_value, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(int, column_bytes, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(int, column_bytes16, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))
FORWARDED(int, column_type, (sqlite3_stmt * statement, int n), (rsti_real(statement), n))

INTERPOSED(int, table_column_metadata,
           (sqlite3 * db, const char *schema, const char *table, const char *column, const char **type,
            const char **collation, int *not_null, int *primary_key, int *autoincrement)) {
    rsti_database *d = RSTI_FIND(db);
    int code;
    if (d == NULL)
        return sqlite3_table_column_metadata(db, schema, table, column, type, collation, not_null, primary_key,
                                             autoincrement);
    rsti_enter(d);
    rsti_clear_error(d);
    code = rootstock_table_column_metadata(db, schema, table, column, type, collation, not_null, primary_key,
                                           autoincrement);
    rsti_leave(d);
    return code;
}
