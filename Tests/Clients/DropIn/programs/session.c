/*
** session.c - the session extension: changes recorded, told, inverted and applied to another database, with conflicts.
*/
#define SQLITE_ENABLE_PREUPDATE_HOOK
#define SQLITE_ENABLE_SESSION
#include <sqlite3.h>
#include <stdio.h>

static void run(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(db, sql, NULL, NULL, &message);
    printf("%s -> %d %s\n", sql, code, message == NULL ? "" : message);
    sqlite3_free(message);
}

static int print_row(void *context, int count, char **values, char **names) {
    (void)context;
    (void)names;
    for (int i = 0; i < count; i++) printf(" %s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void show(sqlite3 *db, const char *sql) {
    printf("%s\n", sql);
    (void)sqlite3_exec(db, sql, print_row, NULL, NULL);
}

static void print_value(sqlite3_value *value) {
    printf(" %s", value == NULL                              ? "-"
                  : sqlite3_value_type(value) == SQLITE_NULL ? "NULL"
                                                             : (const char *)sqlite3_value_text(value));
}

static void tell(int size, void *changes) {
    sqlite3_changeset_iter *at = NULL;
    printf("%d changes: %d\n", size > 0, sqlite3changeset_start(&at, size, changes));
    while (sqlite3changeset_next(at) == SQLITE_ROW) {
        const char *table;
        int columns, operation, indirect;
        sqlite3changeset_op(at, &table, &columns, &operation, &indirect);
        printf("  %d %s %d", operation, table, indirect);
        for (int i = 0; i < columns; i++) {
            sqlite3_value *old = NULL, *new = NULL;
            if (operation != SQLITE_INSERT) sqlite3changeset_old(at, i, &old);
            if (operation != SQLITE_DELETE) sqlite3changeset_new(at, i, &new);
            printf(" |");
            print_value(old);
            print_value(new);
        }
        printf("\n");
    }
    printf("end: %d\n", sqlite3changeset_finalize(at));
}

static int conflict(void *context, int kind, sqlite3_changeset_iter *at) {
    const char *table;
    int columns, operation, indirect;
    sqlite3changeset_op(at, &table, &columns, &operation, &indirect);
    printf("  conflict %d, operation %d on %s\n", kind, operation, table);
    return kind == SQLITE_CHANGESET_DATA || kind == SQLITE_CHANGESET_CONFLICT ? *(int *)context : SQLITE_CHANGESET_OMIT;
}

static const char schema[] = "CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT, price REAL);"
                             "CREATE TABLE tag(book REFERENCES book, name TEXT, PRIMARY KEY(book, name)) WITHOUT ROWID;"
                             "CREATE TABLE loose(x);"
                             "CREATE INDEX book_title ON book(title);"
                             "INSERT INTO book VALUES(1,'Sea',1.5),(2,'Land',2),(3,'Sky',3);"
                             "INSERT INTO tag VALUES(1,'blue'),(2,'green')";
static const char all_books[] = "SELECT * FROM book ORDER BY id", all_tags[] = "SELECT * FROM tag ORDER BY book, name";

int main(void) {
    static int omit = SQLITE_CHANGESET_OMIT, replace = SQLITE_CHANGESET_REPLACE;
    sqlite3 *here, *there;
    sqlite3_session *session, *inner;
    int size, patch_size, undo_size;
    void *changes = NULL, *patch = NULL, *undo = NULL;
    sqlite3_open("here.db", &here);
    sqlite3_open("there.db", &there);
    run(here, schema);
    run(there, schema);
    printf("%d\n", sqlite3session_create(here, "main", &session));
    printf("%d\n", sqlite3session_attach(session, NULL));
    run(here, "INSERT INTO book VALUES(4,'Fire',NULL)");
    run(here, "UPDATE book SET price = price + 1 WHERE id < 3");
    run(here, "DELETE FROM book WHERE id = 3");
    run(here, "UPDATE tag SET name = 'deep blue' WHERE book = 1");
    run(here, "REPLACE INTO book VALUES(2,'Earth',9)");
    run(here, "INSERT INTO loose VALUES(1)");
    run(here, "BEGIN; INSERT INTO book VALUES(5,'Gone',0); ROLLBACK");
    printf("%d\n", sqlite3session_create(here, "main", &inner));
    printf("%d\n", sqlite3session_attach(inner, "tag"));
    run(here, "INSERT INTO tag VALUES(4,'red')");
    printf("%d %d\n", sqlite3session_isempty(session), sqlite3session_isempty(inner));
    printf("%d\n", sqlite3session_changeset(session, &size, &changes));
    tell(size, changes);
    printf("%d\n", sqlite3session_patchset(inner, &patch_size, &patch));
    tell(patch_size, patch);
    sqlite3session_delete(inner);
    sqlite3session_delete(session);
    run(here, "INSERT INTO book VALUES(6,'Unheard',0)");

    run(there, "UPDATE book SET title = 'Ocean' WHERE id = 1; UPDATE book SET price = 7 WHERE id = 1;"
               "INSERT INTO book VALUES(4,'Taken',4)");
    printf("apply: %d\n", sqlite3changeset_apply(there, size, changes, NULL, conflict, &omit));
    show(there, all_books);
    show(there, all_tags);
    printf("apply again: %d\n", sqlite3changeset_apply(there, size, changes, NULL, conflict, &replace));
    show(there, all_books);
    show(there, all_tags);
    printf("invert: %d\n", sqlite3changeset_invert(size, changes, &undo_size, &undo));
    run(here, "PRAGMA foreign_keys = on");
    printf("undo: %d\n", sqlite3changeset_apply(here, undo_size, undo, NULL, conflict, &replace));
    show(here, all_books);
    show(here, all_tags);
    show(here, "PRAGMA foreign_key_check");
    sqlite3_free(changes);
    sqlite3_free(patch);
    sqlite3_free(undo);
    printf("%d %d\n", sqlite3_close(here), sqlite3_close(there));
    return 0;
}
