#!/bin/sh
# Builds the libFuzzer targets of this folder and runs each for SECONDS (default 20), starting from the seeds here and
# adding to a corpus in the build folder. Usage: Tests/Fuzz/run.sh [SECONDS [TARGET ...]]
# CLANG names the compiler (libFuzzer comes with the Swift toolchain's clang, not with gcc).
set -eu
seconds=${1:-20}
[ $# -gt 0 ] && shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
table=$root/CShims/RootstockTable
engine=$root/CShims/RootstockEngine
out=$root/build/fuzz
clang=${CLANG:-$(dirname "$(command -v swift || echo /opt/swift/usr/bin/swift)")/clang}
[ $# -gt 0 ] || set -- fuzz_keys fuzz_rows fuzz_lmdb_file fuzz_pages fuzz_frontdoor fuzz_catalog
mkdir -p "$out"
for target in "$@"; do
    case $target in
    fuzz_lmdb_file) sources=$engine/engine_lmdb_file.c ;;
    fuzz_pages) sources="$engine/engine_lmdb_pages.c $engine/engine_lmdb_several.c $engine/engine_lmdb_memory.c" ;;
    fuzz_frontdoor | fuzz_catalog) sources="$engine/*.c $table/*.c" ;;
    *) sources="$table/values.c $table/keys.c $table/rows.c" ;;
    esac
    "$clang" -std=c11 -g -O1 -Wall -Wextra -Werror -fno-sanitize-recover=all -fsanitize=fuzzer,address,undefined -fuse-ld=lld \
        -I"$table" -I"$table/include" -I"$engine" -I"$engine/include" "$here/$target.c" $sources -lsqlite3 -llmdb -lpthread -o "$out/$target"
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
