/* What a program asks of its file's log, of temp, and of collations: in WAL mode, as GRDB's pools are. */
#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *db;

static int row(void *context, int count, char **values, char **names) {
    (void)context, (void)names;
    for (int i = 0; i < count && i < 2; i++) printf(i == 0 ? "  %s" : "|%s", values[i] == NULL ? "NULL" : values[i]);
    printf("\n");
    return 0;
}

static void run(const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(db, sql, row, NULL, &message);
    printf("%s: %d %s\n", sql, code, message == NULL ? "" : message);
    sqlite3_free(message);
}

static void control(const char *name, int operation, int value) {
    int code = sqlite3_file_control(db, NULL, operation, &value);
    printf("%s: %d %d\n", name, code, value);
}

static int reverse(void *context, int m, const void *a, int n, const void *b) {
    (void)context;
    return sqlite3_strnicmp(b, a, m < n ? m : n);
}

/* A backup into a connection that may only query. */
static void copy(void) {
    sqlite3 *source;
    sqlite3_backup *backup;
    sqlite3_open(":memory:", &source);
    sqlite3_exec(source, "CREATE TABLE copied(a); INSERT INTO copied VALUES(1)", NULL, NULL, NULL);
    backup = sqlite3_backup_init(db, "main", source, "main");
    printf("backup %d", sqlite3_backup_step(backup, -1));
    printf(" %d\n", sqlite3_backup_finish(backup));
    sqlite3_close(source);
}

/* What a transaction has begun, after statements that the store answers in different ways. */
static void states(void) {
    static const char *const each[] = {"SELECT count(*) FROM t",   "SELECT max(a) FROM t", "SELECT 1",
                                       "SELECT a FROM t LIMIT 0",  "PRAGMA user_version",  "PRAGMA table_info(t)",
                                       "INSERT INTO t VALUES (1)", "DELETE FROM t",        "CREATE VIEW v AS SELECT 1",
                                       "PRAGMA user_version = 3",  "SAVEPOINT s"};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        run("BEGIN");
        run(each[i]);
        printf("state %d %d\n", sqlite3_txn_state(db, "main"), sqlite3_txn_state(db, NULL));
        run(i % 2 == 0 ? "ROLLBACK" : "COMMIT");
        printf("state %d\n", sqlite3_txn_state(db, NULL));
    }
    run("DROP VIEW IF EXISTS v");
}

int main(void) {
    int frames = -2, copied = -2, code;
    sqlite3_open("data.db", &db);
    run("PRAGMA journal_mode=wal");
    run("CREATE TABLE t(a); CREATE INDEX i ON t(a)");
    control("persists", SQLITE_FCNTL_PERSIST_WAL, -1);
    control("persist", SQLITE_FCNTL_PERSIST_WAL, 1);
    control("persists", SQLITE_FCNTL_PERSIST_WAL, -1);
    control("persist no more", SQLITE_FCNTL_PERSIST_WAL, 0);
    control("powersafe", SQLITE_FCNTL_POWERSAFE_OVERWRITE, -1);
    code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied);
    printf("checkpoint %d %d %d\n", code, frames, copied);
    printf("checkpoint of none %d\n", sqlite3_wal_checkpoint_v2(db, "none", 0, &frames, &copied));
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    run("SELECT name FROM pragma_database_list");
    states();
    run("CREATE TEMP TABLE mine(a)");
    run("SELECT name FROM pragma_database_list");
    run("DROP TABLE mine; SELECT name FROM pragma_database_list");
    run("REINDEX NOCASE");
    run("REINDEX reverse");
    sqlite3_create_collation(db, "reverse", SQLITE_UTF8, NULL, reverse);
    run("REINDEX reverse");
    run("CREATE TABLE r(a COLLATE reverse); INSERT INTO r VALUES ('a'), ('b'); REINDEX reverse; SELECT a "
        "FROM r ORDER BY a");
    run("REINDEX main.reverse");
    run("PRAGMA query_only=1; DELETE FROM t");
    copy();
    run("SELECT name FROM sqlite_schema");
    run("DELETE FROM t");
    printf("close %d\n", sqlite3_close(db));
    return 0;
}
