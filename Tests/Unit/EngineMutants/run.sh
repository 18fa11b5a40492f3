#!/bin/sh
# Broken engines, each of which the engine test must notice by the rule that it breaks (mutants.c).
# Usage: Tests/Unit/EngineMutants/run.sh [ENGINE [RULE]]
set -eu
top=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shims=$top/CShims
flags=
for folder in EngineTest EngineTest/include RootstockEngine/include Engines/LMDB Engines/LMDB/include Engines/SQLiteBTree/include \
    RootstockSQLite/include; do
    flags="$flags -I$shims/$folder"
done
sources=$(find "$shims/EngineTest" "$shims/RootstockEngine" "$shims/Engines/LMDB" "$shims/Engines/SQLiteBTree" -name '*.c')
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -Werror $flags $sources "$top/Tests/Unit/EngineMutants/mutants.c" -o "$work/mutants" \
    -llmdb -lsqlite3 -lpthread -ldl
TMPDIR=$work "$work/mutants" "$@"
