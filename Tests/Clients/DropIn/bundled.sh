#!/bin/bash
# A library of the program brings an SQLite of its own along, as PyPI's pyproj does: it keeps it, and its databases are
# native; those of the program are stores. Usage: Tests/Clients/DropIn/bundled.sh INTERPOSER
set -eu
interposer=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(ldconfig -p | awk '/libsqlite3\.so\.0 / { print $NF; exit }')
compiler="${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror"

# The system's library under another name, which is as long.
LC_ALL=C sed 's/libsqlite3\.so\.0/libsqlothe.so.0/g' "$library" >libsqlothe.so.0

cat >user.c <<'C'
#include <sqlite3.h>
#include <stdio.h>
static void twice(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    sqlite3_result_int64(context, 2 * sqlite3_value_int64(values[0]));
}
static int row(void *name, int count, char **values, char **names) {
    (void)names;
    for (int i = 0; i < count; i++) printf("%s: %s\n", (const char *)name, values[i] == NULL ? "NULL" : values[i]);
    return 0;
}
int work(const char *name, int way);
int work(const char *name, int way) {
    static sqlite3_vfs vfs;
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    int code;
    vfs = *sqlite3_vfs_find(NULL);
    vfs.zName = "own";
    code = way == 0 ? sqlite3_open(name, &db) : way == 1 ? sqlite3_open16(u"own.db", &db) : SQLITE_OK;
    if (way == 2 && sqlite3_vfs_register(&vfs, 0) == SQLITE_OK)
        code = sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "own");
    printf("open %d %s\n", code, sqlite3_errmsg(db));
    printf("create %d\n", sqlite3_create_function(db, "twice", 1, SQLITE_UTF8, NULL, twice, NULL, NULL));
    printf("exec %d\n", sqlite3_exec(db, "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES(21)", NULL, NULL, NULL));
    printf("exec %d\n", sqlite3_exec(db, "SELECT twice(a) FROM t; SELECT nope", row, "row", NULL));
    printf("error %s\n", sqlite3_errmsg(db));
    printf("prepare %d\n", sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &statement, NULL));
    printf("step %d", sqlite3_step(statement));
    printf(" %d\n", sqlite3_column_int(statement, 0));
    printf("finalize %d close", sqlite3_finalize(statement));
    printf(" %d\n", sqlite3_close(db));
    if (way == 2) (void)sqlite3_vfs_unregister(&vfs);
    return 0;
}
C
cat >program.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **names) { /* each with the way of opening it behind its library */
    for (int i = 1; i + 2 < count; i += 3) {
        int (*work)(const char *, int);
        void *library = dlopen(names[i], RTLD_NOW);
        if (library == NULL) return puts(dlerror());
        *(void **)&work = dlsym(library, "work");
        (void)work(names[i + 2], names[i + 1][0] - '0');
    }
    return 0;
}
C
$compiler -shared -fPIC -Wl,-z,lazy user.c -o lazy.so -L. -l:libsqlothe.so.0 -Wl,-rpath,"$folder"
$compiler -shared -fPIC -Wl,-z,now user.c -o now.so -L. -l:libsqlothe.so.0 -Wl,-rpath,"$folder"
$compiler -shared -fPIC user.c -o system.so -lsqlite3
$compiler program.c -o program -ldl

failures=0
# run NAME ARGUMENTS...: natively, and with the interposer; the files that are left are store.* where the system's SQLite made them.
run() {
    local name=$1 file
    shift
    rm -f ./*.db*
    ./program "$@" >native
    rm -f ./*.db*
    LD_PRELOAD=$interposer ROOTSTOCK_ENGINE=lmdb ./program "$@" >store 2>&1 || echo "status $?" >>store
    if ! diff native store >&2; then
        failures=$((failures + 1))
        echo "bundled: $name: differs" >&2
    fi
    for file in own*.db program*.db; do
        [ -e "$file" ] || continue
        case $file$(head -c 15 "$file" | tr -d '\0') in
        own*"SQLite format 3") continue ;;
        own*) ;;
        *"SQLite format 3") ;;
        *) continue ;;
        esac
        failures=$((failures + 1))
        echo "bundled: $name: $file is of the wrong kind" >&2
    done
}
for linked in lazy now; do
    for way in 0 1 2; do run "$linked $way alone" ./$linked.so $way own.db ./$linked.so $way own.db; done
    run "$linked before the system's" ./$linked.so 0 own1.db ./system.so 0 program.db ./$linked.so 2 own2.db ./system.so 0 program.db
    run "$linked behind the system's" ./system.so 0 program.db ./$linked.so 2 own1.db ./system.so 0 program.db ./$linked.so 0 own2.db
done
run "two of them" ./lazy.so 2 own1.db ./now.so 2 own2.db ./system.so 0 program.db
[ "$failures" = 0 ] || exit 1
echo "bundled: an SQLite that a library brings along keeps its callers"
