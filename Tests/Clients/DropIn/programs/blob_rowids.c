/*
** blob_rowids.c - incremental blobs of tables whose columns have the words rowid, oid and _rowid_. A handle is opened
** by the row's real number, which such a column's value is not.
*/
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static int show(void *context, int count, char **values, char **names) {
    (void)context, (void)names;
    for (int i = 0; i < count; i++) printf(" %s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void tell(const char *sql) {
    const int code = sqlite3_exec(db, sql, show, NULL, NULL);
    if (code != SQLITE_OK) printf("%s: %d %s\n", sql, code, sqlite3_errmsg(db));
}

static void write_into(const char *table, sqlite3_int64 row, const char *bytes) {
    sqlite3_blob *blob = NULL;
    int code = sqlite3_blob_open(db, "main", table, "a", row, 1, &blob);
    printf("%s %lld: open %d", table, (long long)row, code);
    if (code == SQLITE_OK) printf(" write %d", sqlite3_blob_write(blob, bytes, 2, 1));
    if (code == SQLITE_OK) printf(" reopen %d", sqlite3_blob_reopen(blob, row == 1 ? 2 : 1));
    if (code == SQLITE_OK) printf(" write %d", sqlite3_blob_write(blob, "++", 2, 2));
    printf(" close %d\n", sqlite3_blob_close(blob));
}

int main(void) {
    static const char *const tables[][2] = {{"one", "rowid,a"},
                                            {"two", "a,oid,rowid"},
                                            {"key", "_rowid_,oid,rowid,a,id INTEGER PRIMARY KEY"},
                                            {"quoted", "\"RowId\",\"OID\",a"}};
    char sql[300];
    if (sqlite3_open("data.db", &db) != SQLITE_OK) return 1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *name = tables[i][0];
        (void)snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", name, tables[i][1]);
        tell(sql);
        /* The columns say 2 in row 1 and 1 in row 2. */
        (void)snprintf(sql, sizeof sql, "INSERT INTO %s(a) VALUES ('first!'), (x'7365636f6e64'), ('third!')", name);
        tell(sql);
        for (const char *const *word = (const char *const[]){"rowid", "oid", "_rowid_", NULL}; *word != NULL; word++) {
            (void)snprintf(sql, sizeof sql,
                           "UPDATE %s SET %s = CASE substr(a, 1, 1) WHEN 'f' THEN 2 WHEN 's' THEN 1 ELSE 3 END WHERE "
                           "EXISTS(SELECT 1 FROM pragma_table_info('%s') WHERE name = '%s' COLLATE NOCASE)",
                           name, *word, name, *word);
            tell(sql);
        }
        write_into(name, 1, "--");
        write_into(name, 2, "==");
        write_into(name, 4, "==");
        (void)snprintf(sql, sizeof sql, "SELECT *, typeof(a) FROM %s", name);
        tell(sql);
    }
    return sqlite3_close(db);
}
