/*
** utf16.c - a program whose texts are all UTF-16: names of files, tables and columns, values, parameters, errors,
** functions, collations.
*/
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

typedef unsigned short wide;

static sqlite3 *db;

/* UTF-8 to UTF-16 of the machine's order; four texts at once may be in use. */
static const wide *w(const char *text) {
    static wide buffers[4][512];
    static int next;
    wide *out = buffers[next++ % 4], *p = out;
    const unsigned char *u = (const unsigned char *)text;
    while (*u != 0) {
        unsigned c = *u++;
        int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        if (more > 0) c &= 0x3f >> more;
        while (more-- > 0) c = c << 6 | (*u++ & 0x3f);
        if (c >= 0x10000) {
            *p++ = (wide)(0xd800 | (c - 0x10000) >> 10);
            *p++ = (wide)(0xdc00 | ((c - 0x10000) & 0x3ff));
        } else {
            *p++ = (wide)c;
        }
    }
    *p = 0;
    return out;
}

static int units(const void *text) {
    const wide *p = text;
    while (*p != 0) p++;
    return (int)(p - (const wide *)text);
}

static void print16(const char *what, const void *text) {
    const wide *p = text;
    printf("%s [", what);
    for (; p != NULL && *p != 0; p++) {
        if (*p < 0x80)
            putchar(*p);
        else
            printf("\\%04x", *p);
    }
    printf(p == NULL ? "NULL]\n" : "]\n");
}

static void check(const char *what, int code) {
    printf("%s: %d ", what, code);
    print16("", sqlite3_errmsg16(db));
}

static void rows(sqlite3_stmt *s) {
    int code;
    for (int i = 0; i < sqlite3_column_count(s); i++) {
        print16("  name", sqlite3_column_name16(s, i));
        print16("  type", sqlite3_column_decltype16(s, i));
        print16("  of database", sqlite3_column_database_name16(s, i));
        print16("  of table", sqlite3_column_table_name16(s, i));
        print16("  of column", sqlite3_column_origin_name16(s, i));
    }
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(s); i++) {
            print16("  value", sqlite3_column_text16(s, i));
            printf("  bytes %d %d, type %d\n", sqlite3_column_bytes16(s, i), sqlite3_column_bytes(s, i),
                   sqlite3_column_type(s, i));
        }
    }
    if (code != SQLITE_DONE) check("  step", code);
}

static void script(const char *text) {
    const void *tail = w(text);
    wide copy[512];
    memcpy(copy, tail, ((size_t)units(tail) + 1) * sizeof *copy);
    tail = copy;
    while (units(tail) > 0) {
        sqlite3_stmt *s = NULL;
        const void *from = tail;
        check("prepare", sqlite3_prepare16_v3(db, from, -1, SQLITE_PREPARE_PERSISTENT, &s, &tail));
        printf("  tail at %d of %d\n", (int)((const wide *)tail - (const wide *)copy), units(copy));
        if (s == NULL) break;
        rows(s);
        check("finalize", sqlite3_finalize(s));
    }
}

static void length16(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    const wide *text = sqlite3_value_text16(values[0]);
    if (text == NULL)
        sqlite3_result_error16(context, w("kein Text: \xe2\x82\xac"), -1);
    else
        sqlite3_result_text16(context, w("l\xc3\xa4nge"), 2 * (sqlite3_value_bytes16(values[0]) / 2 > 5 ? 5 : 2),
                              SQLITE_TRANSIENT);
}

static int backwards(void *context, int m, const void *a, int n, const void *b) {
    (void)context;
    const wide *x = a, *y = b;
    for (int i = 0; i < m / 2 && i < n / 2; i++)
        if (x[i] != y[i]) return (int)y[i] - (int)x[i];
    return n - m;
}

static void needed(void *context, sqlite3 *d, int encoding, const void *name) {
    (void)context, (void)encoding;
    print16("collation needed", name);
    sqlite3_create_collation16(d, name, SQLITE_UTF16, NULL, backwards);
}

static void bound(void) {
    sqlite3_stmt *s = NULL;
    wide value[32];
    memcpy(value, w("\xf0\x9f\x98\x80 z\xc3\xbcge"), 32);
    check("prepare", sqlite3_prepare16_v2(db,
                                          w("INSERT INTO \"t\xc3\xa4"
                                            "fel\"(a, \"\xc3\xb6\") VALUES (:\xc3\xbc, ?2) RETURNING *"),
                                          -1, &s, NULL));
    printf("parameter %d [%s]\n", sqlite3_bind_parameter_index(s, ":\xc3\xbc"), sqlite3_bind_parameter_name(s, 1));
    check("bind", sqlite3_bind_text16(s, 1, value, -1, SQLITE_STATIC));
    check("bind", sqlite3_bind_text64(s, 2, (const char *)value, 8, SQLITE_STATIC, SQLITE_UTF16));
    char *expanded = sqlite3_expanded_sql(s);
    printf("expanded [%s]\n", expanded);
    sqlite3_free(expanded);
    rows(s);
    sqlite3_reset(s);
    check("bind", sqlite3_bind_text16(s, 1, value, 6, SQLITE_TRANSIENT));
    check("bind", sqlite3_bind_text16(s, 2, NULL, 0, NULL));
    rows(s);
    sqlite3_finalize(s);
}

int main(void) {
    printf("open %d\n", sqlite3_open16(w("d\xc3\xa4ten.db"), &db));
    /* Natively a database that is opened so is in UTF-16; a store's texts are UTF-8. */
    script("CREATE TABLE \"t\xc3\xa4"
           "fel\"(a VARCHAR(3), \"\xc3\xb6\" TEXT DEFAULT '\xe2\x82\xac', n INTEGER PRIMARY KEY); "
           "CREATE INDEX \"\xc3\xac\" ON \"t\xc3\xa4"
           "fel\"(\"\xc3\xb6\"); -- Ende \xe2\x82\xac");
    script("INSERT INTO \"t\xc3\xa4"
           "fel\"(a) VALUES ('\xf0\x9f\x98\x80'), ('abc'); SELECT * FROM \"t\xc3\xa4"
           "fel\"");
    bound();
    script("SELECT a FROM \"t\xc3\xa4"
           "fel\" WHERE \"\xc3\xb6\" = '\xe2\x82\xac' ORDER BY a COLLATE \"r\xc3\xbc"
           "ck\"");
    check("needed", sqlite3_collation_needed16(db, NULL, needed));
    script("SELECT a FROM \"t\xc3\xa4"
           "fel\" WHERE \"\xc3\xb6\" = '\xe2\x82\xac' ORDER BY a COLLATE \"r\xc3\xbc"
           "ck\"");
    check("function", sqlite3_create_function16(db, w("l\xc3\xa4nge16"), 1, SQLITE_UTF16, NULL, length16, NULL, NULL));
    script("SELECT l\xc3\xa4nge16(a) FROM \"t\xc3\xa4"
           "fel\"; SELECT l\xc3\xa4nge16(NULL) FROM \"t\xc3\xa4"
           "fel\"");
    script("UPDATE \"t\xc3\xa4"
           "fel\" SET a = a || '\xe2\x82\xac' WHERE n = 2 RETURNING a");
    script("SELECT sql FROM sqlite_schema; SELECT m.name FROM sqlite_master AS m");
    script("PRAGMA table_xinfo(\"t\xc3\xa4"
           "fel\"); PRAGMA table_list(\"t\xc3\xa4"
           "fel\"); PRAGMA index_list(\"t\xc3\xa4"
           "fel\"); PRAGMA index_xinfo(\"\xc3\xac\")");
    script("PRAGMA foreign_key_list(\"t\xc3\xa4"
           "fel\"); PRAGMA foreign_key_check; PRAGMA quick_check");
    script("SELECT '\xe2\x82\xac' FROM keine_\xc3\xbc");
    script("SELECT 1 \xe2\x82\xac FROM");
    script("SELECT 1; SELECT 2 FROM \"t\xc3\xa4"
           "fel\" LIMIT 1;  ");
    printf("complete %d %d\n", sqlite3_complete16(w("SELECT '\xe2\x82\xac';")),
           sqlite3_complete16(w("SELECT '\xe2\x82\xac;")));
    {
        wide cut[64];
        const void *tail;
        sqlite3_stmt *s = NULL;
        memcpy(cut, w("SELECT 12345 FROM nothing"), 64); /* 12 characters of it */
        check("cut", sqlite3_prepare16_v2(db, cut, 24, &s, &tail));
        printf("tail at %d\n", (int)((const wide *)tail - cut));
        rows(s);
        sqlite3_finalize(s);
    }
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
