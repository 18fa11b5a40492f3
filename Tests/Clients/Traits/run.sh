#!/bin/sh
# Programs with engines by package traits: each trait alone, whose library is installed, and all of them together. A store is made and
# read on each; postgres has a server of its own where PostgreSQL is installed. Usage: Tests/Clients/Traits/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "traits: $1" >&2; exit 1; }
build() {
    TRAITS=$1 ${SWIFT:-swift} build --package-path "$here" --scratch-path "$scratch/build" --product App > "$scratch/log" 2>&1 ||
        { cat "$scratch/log" >&2; fail "no build with $1"; }
    ! grep -q "warning: .*CShims" "$scratch/log" || { cat "$scratch/log" >&2; fail "warnings with $1"; }
}
app="$scratch/build/debug/App"
stores_on() {
    status=0
    if [ "$1" = postgres ]; then
        "$here/../Postgres/server.sh" sh -c 'exec "$0" postgres "$ROOTSTOCK_POSTGRES"' "$app" > "$scratch/rows" || status=$?
        [ "$status" != 77 ] || return 0
    else
        "$app" "$1" "$scratch/store-$1-$2" > "$scratch/rows" || status=$?
    fi
    [ "$status" = 0 ] && [ "$(cat "$scratch/rows")" = "[3]" ] || fail "$1 gives $(cat "$scratch/rows")"
}

# TRAIT ENGINE HEADER PACKAGE
there=
engines=
try() {
    if ! echo "#include <$3>" | ${CC:-cc} -E - > /dev/null 2>&1; then
        echo "traits: no $4 here: trait $1 was not tested"
        return 0
    fi
    build "$1"
    "$app" | grep -q "^$2 " || fail "$1: the engines are $("$app")"
    [ "$("$app" | wc -l)" = 5 ] || fail "$1 brings other engines along: $("$app")"
    stores_on "$2" alone
    there=$there${there:+,}$1
    engines="$engines $2"
}
try RocksDB rocksdb rocksdb/c.h librocksdb-dev
try WiredTiger wiredtiger wiredtiger.h libwiredtiger-dev
try Postgres postgres postgresql/libpq-fe.h libpq-dev
[ -n "$there" ] || exit 0
build "$there"
for engine in $engines; do stores_on "$engine" together; done
echo "traits: a program has$engines by package traits, each alone and all together"
