#!/bin/sh
# Builds the libFuzzer targets of this folder and runs each for SECONDS (default 20), starting from the seeds here and
# adding to a corpus in the build folder. Usage: Tests/Hostile/Fuzz/run.sh [SECONDS [TARGET ...]]
# CLANG names the compiler (libFuzzer comes with the Swift toolchain's clang, not with gcc).
set -eu
seconds=${1:-20}
[ $# -gt 0 ] && shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
table=$root/CShims/RootstockTable
lmdb=$root/CShims/Engines/LMDB
all_sources=$(make -s --no-print-directory -C "$root" c-sources)
flags=$(make -s --no-print-directory -C "$root" c-flags)
out=$root/build/fuzz
clang=${CLANG:-$(dirname "$(command -v swift || echo /opt/swift/usr/bin/swift)")/clang}
[ $# -gt 0 ] || set -- fuzz_keys fuzz_rows fuzz_lmdb_file fuzz_pages fuzz_syntax fuzz_frontdoor fuzz_catalog
mkdir -p "$out"
for target in "$@"; do
    case $target in
    fuzz_lmdb_file) sources=$lmdb/plain/file.c ;;
    fuzz_pages) sources="$lmdb/read/pages.c $lmdb/read/multiget.c $lmdb/read/readahead.c" ;;
    fuzz_syntax) sources="$table/common/allocation.c $(ls "$table"/parser/syntax_*.c) $table/parser/tokens.c $table/parser/statement.c $table/parser/shape.c $table/parser/parameters.c $table/common/messages.c" ;;
    fuzz_frontdoor | fuzz_catalog) sources=$all_sources ;;
    *) sources="$table/common/values.c $table/common/keys.c $table/common/rows.c" ;;
    esac
    "$clang" -std=c11 -g -O1 -Wall -Wextra -Werror -fno-sanitize-recover=all -fsanitize=fuzzer,address,undefined -fuse-ld=lld \
        $flags "$here/$target.c" $sources -lsqlite3 -llmdb -lpthread -o "$out/$target"
    mkdir -p "$out/corpus-$target" "$here/seeds/$target"
    dictionary=
    [ ! -f "$here/$target.dict" ] || dictionary=-dict=$here/$target.dict
    echo "$target: $seconds seconds"
    "$out/$target" -max_total_time="$seconds" -max_len=4096 -timeout=25 -print_final_stats=1 -verbosity=0 \
        $dictionary -artifact_prefix="$out/$target-" "$out/corpus-$target" "$here/seeds/$target" >"$out/$target.log" 2>&1 || {
        tail -n 60 "$out/$target.log" >&2
        echo "$target failed: its input stands beside $out/$target.log" >&2
        exit 1
    }
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$target.log") inputs, no crash"
done
echo "no target crashed"
