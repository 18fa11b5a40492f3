/*
** row_cost.c - statements of the suites `queries`, `engine` and `objects`, run so often that instructions a row can be
** counted by run.sh.
**
** row_cost ENGINE FILE CASE COUNT: on native SQLite (ENGINE `native`: WAL, unsynced, mapped) or a store's engine,
**   fill     makes the tables, COUNT sales
**   insert   COUNT rows into an empty table in key order, 1000 a transaction
**   CASE     the case's statement COUNT times, every column of every row fetched as the runner does
** Two counts of one case differ by nothing but the repetitions, so start-up cancels out.
*/
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rootstock.h"

enum { SALES = 20000, RANGE = 100 };
/* What fill_table binds: a key and a value, a number and a name, or a sale. */
enum { KEYED = 0, NAMED = 2, SALE = 7, OBJECT = 9 };

#define TEN_MARKS "?,?,?,?,?,?,?,?,?,?"
#define HUNDRED_MARKS                                                                                                  \
    TEN_MARKS "," TEN_MARKS "," TEN_MARKS "," TEN_MARKS "," TEN_MARKS "," TEN_MARKS "," TEN_MARKS "," TEN_MARKS        \
              "," TEN_MARKS "," TEN_MARKS

static sqlite3 *db;
static bool native;
static long seen;

static const struct {
    const char *name, *sql;
} cases[] = {
    {"sum", "SELECT sum(amount) FROM sale"},
    {"range-key", "SELECT * FROM sale WHERE id BETWEEN ? AND ? ORDER BY id"},
    {"range-index", "SELECT * FROM sale WHERE number BETWEEN ? AND ? ORDER BY number"},
    {"join",
     "SELECT sale.id, customer.name, product.name, amount FROM sale JOIN customer ON customer.id = sale.customer "
     "JOIN product ON product.id = sale.product ORDER BY sale.id"},
    {"group-by", "SELECT product, count(*), sum(amount) FROM sale GROUP BY product ORDER BY product"},
    {"order-by-limit", "SELECT day, id, amount, note FROM sale WHERE product = ? ORDER BY day DESC, id DESC LIMIT 20"},
    {"readrandom", "SELECT * FROM test WHERE key = ?"},
    {"readrandom-transaction", "SELECT * FROM test WHERE key = ?"},
    {"objects-joined", "SELECT * FROM object ORDER BY id"},
    {"objects-batched", "SELECT * FROM object WHERE id IN (" HUNDRED_MARKS ") ORDER BY id"},
    {"readseq", "SELECT * FROM test ORDER BY key"},
};

static void check(int code, const char *what) {
    if (code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW) return;
    fprintf(stderr, "row_cost: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *rewritten = NULL, *message = NULL;
    if (!native && rootstock_rewrite(db, sql, -1, &rewritten, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "row_cost: %s: %s\n", sql, message);
        exit(1);
    }
    check(sqlite3_prepare_v2(db, rewritten == NULL ? sql : rewritten, -1, &statement, NULL), sql);
    sqlite3_free(rewritten);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    while (sqlite3_step(statement) == SQLITE_ROW) continue;
    check(sqlite3_reset(statement), sqlite3_sql(statement));
}

static void run(const char *sql) {
    sqlite3_stmt *statement = prepare(sql);
    step(statement);
    sqlite3_finalize(statement);
}

static void take(sqlite3_stmt *statement) {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const unsigned char *bytes = NULL;
        switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER: seen += sqlite3_column_int64(statement, i); break;
        case SQLITE_FLOAT: seen += (long)sqlite3_column_double(statement, i); break;
        case SQLITE_TEXT: bytes = sqlite3_column_text(statement, i); break;
        case SQLITE_BLOB: bytes = sqlite3_column_blob(statement, i); break;
        }
        if (bytes != NULL) seen += bytes[0] + sqlite3_column_bytes(statement, i);
    }
}

/* A number that looks random and is the same in every run. */
static unsigned mixed(unsigned number) {
    number = (number ^ number >> 16) * 0x7feb352du;
    number = (number ^ number >> 15) * 0x846ca68bu;
    return number ^ number >> 16;
}

static void key_of(char key[17], unsigned number) {
    for (int i = 15; i >= 0; i--, number /= 10) key[i] = (char)('0' + number % 10);
    key[16] = '\0';
}

static void fill_table(const char *sql, int rows, int columns) {
    static char value[100];
    sqlite3_stmt *statement = prepare(sql);
    memset(value, 'v', sizeof value);
    run("BEGIN");
    for (int i = 0; i < rows; i++) {
        char key[17];
        unsigned random = mixed((unsigned)i);
        if (columns == KEYED) {
            key_of(key, (unsigned)i);
            sqlite3_bind_blob(statement, 1, key, 16, SQLITE_STATIC);
            sqlite3_bind_blob(statement, 2, value, sizeof value, SQLITE_STATIC);
        } else {
            sqlite3_bind_int64(statement, 1, i + 1);
            sqlite3_bind_text(statement, columns, "Some title of four", -1, SQLITE_STATIC);
        }
        if (columns == OBJECT) {
            sqlite3_bind_int64(statement, 2, 18 + random % 70);
            sqlite3_bind_double(statement, 3, random % 2000000000 - 1e9);
            sqlite3_bind_text(statement, 4, "Reykjavik", -1, SQLITE_STATIC);
            sqlite3_bind_text(statement, 5, "Iceland", -1, SQLITE_STATIC);
            sqlite3_bind_text(statement, 6, "somebody@example.org", -1, SQLITE_STATIC);
            sqlite3_bind_double(statement, 7, random % 10000000 / 100.0);
            sqlite3_bind_text(statement, 8, "Some Body", -1, SQLITE_STATIC);
            sqlite3_bind_int64(statement, 9, 1);
        }
        if (columns == SALE) {
            sqlite3_bind_int64(statement, 2, 1 + (i * 7919L) % rows);
            sqlite3_bind_int64(statement, 3, 1 + random % (SALES / 10));
            sqlite3_bind_int64(statement, 4, 1 + (random >> 8) % (SALES / 100));
            sqlite3_bind_int64(statement, 5, (random >> 16) % 3650);
            sqlite3_bind_double(statement, 6, (random % 40000) / 4.0);
        }
        step(statement);
        if (i % 1000 == 999) {
            run("COMMIT");
            run("BEGIN");
        }
    }
    run("COMMIT");
    sqlite3_finalize(statement);
}

static void fill(void) {
    run("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT)");
    run("CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT)");
    run("CREATE TABLE sale (id INTEGER PRIMARY KEY, number INTEGER, customer INTEGER, product INTEGER, day INTEGER, "
        "amount REAL, note TEXT)");
    run("CREATE INDEX sale_number ON sale (number)");
    run("CREATE INDEX sale_product_day ON sale (product, day)");
    fill_table("INSERT INTO customer VALUES (?, ?)", SALES / 10, NAMED);
    fill_table("INSERT INTO product VALUES (?, ?)", SALES / 100, NAMED);
    fill_table("INSERT INTO sale VALUES (?, ?, ?, ?, ?, ?, ?)", SALES, SALE);
    fill_table("REPLACE INTO test VALUES (?, ?)", SALES, KEYED);
    run("CREATE TABLE object (id INTEGER PRIMARY KEY, age INTEGER, birthDate REAL, city TEXT, country TEXT, email "
        "TEXT, "
        "income REAL, name TEXT, version INTEGER)");
    fill_table("INSERT INTO object VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", SALES, OBJECT);
    if (native) run("PRAGMA wal_checkpoint(TRUNCATE)");
}

int main(int count, char **arguments) {
    const char *sql = NULL, *name;
    sqlite3_stmt *statement;
    char *message = NULL;
    int repeats;
    if (count != 5) return 2;
    native = strcmp(arguments[1], "native") == 0;
    name = arguments[3];
    repeats = atoi(arguments[4]);
    check(sqlite3_open_v2(native ? arguments[2] : ":memory:", &db,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL),
          "open");
    if (native) {
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = OFF");
        run("PRAGMA cache_size = -65536");
        run("PRAGMA mmap_size = 30000000000");
    } else if (rootstock_open(db, arguments[2], arguments[1], "{\"durability\":\"off\",\"mapSize\":1073741824}", NULL,
                              &message) != SQLITE_OK) {
        fprintf(stderr, "row_cost: %s\n", message);
        return 1;
    }
    if (strcmp(name, "fill") == 0 || strcmp(name, "insert") == 0) {
        run("CREATE TABLE test (key blob, value blob, PRIMARY KEY (key)) WITHOUT ROWID");
        if (name[0] == 'f')
            fill();
        else
            fill_table("REPLACE INTO test VALUES (?, ?)", repeats, KEYED);
        sqlite3_close(db);
        return 0;
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, name) == 0) sql = cases[i].sql;
    }
    if (sql == NULL) return 2;
    statement = prepare(sql);
    if (strcmp(name, "readrandom-transaction") == 0) run("BEGIN");
    for (int i = 0; i < repeats; i++) {
        unsigned random = mixed((unsigned)i);
        char key[17];
        if (strncmp(name, "range", 5) == 0) {
            int first = 1 + (int)(random % (SALES - RANGE));
            sqlite3_bind_int64(statement, 1, first);
            sqlite3_bind_int64(statement, 2, first + RANGE - 1);
        } else if (strncmp(name, "order", 5) == 0) {
            sqlite3_bind_int64(statement, 1, 1 + random % (SALES / 100));
        } else if (strcmp(name, "objects-batched") == 0) {
            for (int mark = 1; mark <= RANGE; mark++) sqlite3_bind_int64(statement, mark, i * RANGE % SALES + mark);
        } else if (strncmp(name, "readrandom", 10) == 0) {
            key_of(key, random % SALES);
            sqlite3_bind_blob(statement, 1, key, 16, SQLITE_STATIC);
        }
        while (sqlite3_step(statement) == SQLITE_ROW) take(statement);
        check(sqlite3_reset(statement), sql);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return seen == 0;
}
