/*
** attached_facts.c - what SQLite tells of a statement with RETURNING, or a PRAGMA, of an attached store: whether it
** only reads, and where its columns are from. Python's converters go by the declared type.
*/
#include <sqlite3.h>
#include <stdio.h>

static const char *shown(const char *text) {
    return text != NULL ? text : "-";
}

static void facts(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    printf("%s: %d, read only %d\n", sql, code, sqlite3_stmt_readonly(statement));
    for (int i = 0; i < sqlite3_column_count(statement); i++)
        printf("  %s: %s of %s.%s.%s\n", sqlite3_column_name(statement, i),
               shown(sqlite3_column_decltype(statement, i)), shown(sqlite3_column_database_name(statement, i)),
               shown(sqlite3_column_table_name(statement, i)), shown(sqlite3_column_origin_name(statement, i)));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            printf("  %s\n", shown((const char *)sqlite3_column_text(statement, i)));
    printf("  %d, %d\n", code, sqlite3_finalize(statement));
}

/* The connection's error, as it is when the step has failed. */
static void fails(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    sqlite3_step(statement);
    printf("%s: %d, %d %d %s\n", sql, code, sqlite3_errcode(db), sqlite3_extended_errcode(db), sqlite3_errmsg(db));
    printf("  %d\n", sqlite3_finalize(statement));
}

/* The first ATTACH of a connection, in UTF-16. */
static int attach16(sqlite3 *db, const char *sql) {
    unsigned short text[100];
    sqlite3_stmt *statement = NULL;
    int length = 0, code;
    do text[length] = (unsigned char)sql[length];
    while (sql[length++] != '\0');
    code = sqlite3_prepare16_v2(db, text, -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return code;
}

/* What the connection has, and how it ends with statements that are not finalized. */
static void ends(sqlite3 *db) {
    sqlite3_stmt *query, *change, *next = NULL;
    char **cells, *expanded;
    int rows, columns;
    if (sqlite3_get_table(db, "INSERT INTO t(p) VALUES ('Q') RETURNING a, p", &cells, &rows, &columns, NULL) ==
        SQLITE_OK) {
        printf("%d rows of %d columns: %s, %s\n", rows, columns, cells[0], cells[3]);
        sqlite3_free_table(cells);
    }
    sqlite3_prepare_v2(db, "SELECT p FROM t WHERE a = ?", -1, &query, NULL);
    sqlite3_prepare_v2(db, "UPDATE t SET p = ?1 WHERE a = ?2 RETURNING *", -1, &change, NULL);
    sqlite3_bind_text(change, 1, "R", -1, SQLITE_STATIC);
    sqlite3_bind_int(change, 2, 2);
    expanded = sqlite3_expanded_sql(change);
    printf("%s, %d\n", expanded, sqlite3_db_handle(change) == db);
    sqlite3_free(expanded);
    while ((next = sqlite3_next_stmt(db, next)) != NULL) printf("has %s\n", sqlite3_sql(next));
    printf("closed %d\n", sqlite3_close(db));
    printf("closed %d\n", sqlite3_close_v2(db));
    printf("stepped %d\n", sqlite3_step(change));
    printf("finalized %d\n", sqlite3_finalize(change));
    printf("finalized %d\n", sqlite3_finalize(query));
}

/* With main a store, and with main native, where the library is asked for stores. */
static void all_of(const char *main_file) {
    sqlite3 *db;
    sqlite3_open_v2(main_file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
    sqlite3_exec(db, "ATTACH 'file:other.db' AS \"x y\"; DROP TABLE IF EXISTS \"x y\".t;", NULL, NULL, NULL);
    sqlite3_exec(db, "CREATE TABLE \"x y\".t(a INTEGER PRIMARY KEY, d DATE, p POINT(2) COLLATE NOCASE)", NULL, NULL,
                 NULL);
    facts(db, "INSERT INTO \"x y\".t(d, p) VALUES ('today', 'P') RETURNING a, d AS day, p, p || d");
    fails(db, "INSERT INTO t(a) VALUES (1) RETURNING a");
    fails(db, "INSERT INTO t(a) VALUES (1)");
    facts(db, "UPDATE t SET d = 'then' RETURNING d, *");
    facts(db, "PRAGMA \"x y\".user_version");
    facts(db, "PRAGMA \"x y\".table_info(t)");
    facts(db, "SELECT p, d FROM \"x y\".t");
    facts(db, "DELETE FROM \"x y\".t WHERE p = 'p' RETURNING p, 1");
    ends(db);
    sqlite3_open_v2(main_file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL);
    printf("attached %d\n", attach16(db, " attach 'file:other.db' as o"));
    facts(db, "SELECT * FROM o.t");
    sqlite3_close(db);
}

int main(void) {
    all_of("main.db");
    all_of("file:native.db?engine=sqlite");
    return 0;
}
