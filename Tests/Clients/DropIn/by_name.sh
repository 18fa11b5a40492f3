#!/bin/bash
# dlsym with the interposer preloaded: a program that loads libsqlite3 itself is on stores, whoever asks for anything else is told what
# the C library would say, and one SQLite that a program brings along stays its own. Usage: Tests/Clients/DropIn/by_name.sh INTERPOSER
set -eu
interposer=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
library=$(ldconfig -p | awk '/libsqlite3\.so\.0 / { print $NF; exit }')
compiler="${CC:-cc} -std=c11 -O1 -Wall -Wextra -Werror"
LC_ALL=C sed 's/libsqlite3\.so\.0/libsqlothe.so.0/g' "$library" >libsqlothe.so.0

cat >program.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int row(void *context, int count, char **values, char **names) {
    (void)context;
    for (int i = 0; i < count; i++) printf("%s=%s\n", names[i], values[i]);
    return 0;
}
static void work(void *library, const char *file) {
    int (*open)(const char *, void **), (*close)(void *);
    int (*exec)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **);
    const char *(*version)(void);
    void *db;
    *(void **)&open = dlsym(library, "sqlite3_open");
    printf("error %s\n", dlerror());
    *(void **)&exec = dlsym(library, "sqlite3_exec");
    *(void **)&close = dlsym(library, "sqlite3_close");
    *(void **)&version = dlsym(library, "sqlite3_libversion");
    printf("open %d\n", open(file, &db));
    printf("exec %d\n", exec(db, "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (7); SELECT a AS n FROM t", row, NULL, NULL));
    printf("close %d, version %d\n", close(db), version()[0] == '3');
    printf("missing %d", dlsym(library, "sqlite3_nothing") == NULL);
    printf(" told %d\n", strstr(dlerror(), "undefined symbol: sqlite3_nothing") != NULL);
    printf("then %s\n", dlerror());
}
int main(int count, char **names) {
    for (int i = 1; i + 1 < count; i += 2) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library == NULL) return puts(dlerror());
        work(library, names[i + 1]);
        dlclose(library);
    }
    /* Behind the program comes what is preloaded, and its getpid; behind that the C library's. */
    printf("next %d, default %d", dlsym(RTLD_NEXT, "getpid") == dlsym(RTLD_DEFAULT, "getpid"), dlsym(RTLD_DEFAULT, "sqlite3_open") != NULL);
    printf(" nothing %d %d\n", dlsym(RTLD_NEXT, "main") == NULL, dlsym(RTLD_DEFAULT, "no_such_thing") == NULL);
    printf("getpid %d\n", getpid() > 1000000000);
    return 0;
}
C
cat >wrapper.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
pid_t getpid(void) { /* of the next one, which is the C library's: asked of itself it would not end */
    pid_t (*next)(void);
    *(void **)&next = dlsym(RTLD_NEXT, "getpid");
    return next() + 1000000000;
}
C
$compiler program.c -o program -ldl
$compiler -shared -fPIC wrapper.c -o wrapper.so -ldl

failures=0
wrong() {
    failures=$((failures + 1))
    echo "by name: $*" >&2
}
kind() { case $(head -c 15 "$1" | tr -d '\0') in "SQLite format 3") echo native ;; *) echo store ;; esac; }
# run NAME PRELOADED KIND LIBRARY FILE...: the same answers, and files of that kind where the system's SQLite made them.
run() {
    local name=$1 preloaded=$2 expected=$3 file
    shift 3
    rm -f ./*.db*
    LD_PRELOAD=${preloaded//$interposer/} timeout 20 ./program "$@" >native 2>&1 || echo "status $?" >>native
    rm -f ./*.db*
    LD_PRELOAD=$preloaded ROOTSTOCK_ENGINE=lmdb timeout 20 ./program "$@" >store 2>&1 || echo "status $?" >>store
    sed -i -E 's/default [01]/default/' native store # the interposer has the name
    diff native store >&2 || wrong "$name: differs"
    for file in program*.db; do
        [ ! -e "$file" ] || [ "$(kind "$file")" = "$expected" ] || wrong "$name: $file is not $expected"
    done
    for file in own*.db; do
        [ ! -e "$file" ] || [ "$(kind "$file")" = native ] || wrong "$name: $file is not native"
    done
}
run "alone" "$interposer" store libsqlite3.so.0 program.db
run "twice" "$interposer" store libsqlite3.so.0 program1.db "$library" program2.db
run "an SQLite of its own" "$interposer" store ./libsqlothe.so.0 own.db
run "both" "$interposer" store ./libsqlothe.so.0 own1.db libsqlite3.so.0 program.db ./libsqlothe.so.0 own2.db
run "without one" "$interposer" store
run "behind another" "$PWD/wrapper.so $interposer" store libsqlite3.so.0 program.db
run "before another" "$interposer $PWD/wrapper.so" store libsqlite3.so.0 program.db

# Built otherwise, the library's part of this asks for the caller still, or leaves dlsym alone.
shims=$here/../../../CShims
includes="-I$shims/RootstockSQLite"
for layer in RootstockEngine RootstockKV RootstockTable Engines/LMDB Engines/SQLiteBTree; do includes+=" -I$shims/$layer/include -I$shims/$layer"; done
echo 'void rsti_bundled_found(const void *function); void rsti_bundled_found(const void *function) { (void)function; }' >bundled.c
for flags in "cc -O0" "cc -O1" "cc -Og" "cc -Os" "cc -O2 -fno-optimize-sibling-calls" "cc -O1 --coverage" "clang -O0" "clang -O1" "clang -Os"; do
    [ -n "$(command -v "${flags%% *}")" ] || continue
    # shellcheck disable=SC2086
    $flags -std=c11 -fPIC -fvisibility=hidden -Wall -Wextra -Werror -DROOTSTOCK_LOADABLE $includes \
        -shared "$shims/RootstockInterpose/by_name.c" bundled.c -o by_name.so -ldl
    LD_PRELOAD="$PWD/by_name.so $PWD/wrapper.so" timeout 20 ./program 2>&1 | grep -q '^getpid 1$' || wrong "$flags: the caller is lost"
done
[ "$failures" = 0 ] || exit 1
echo "by name: dlsym gives the functions of stores, and of all else what the C library gives"
