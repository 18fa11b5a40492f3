#!/bin/bash
# The first hour of somebody who has a Swift toolchain and nothing else: clone, tests, a comparison, the sessions of the README and the
# articles, a comparison of a database of his own, a Swift package. Writes what is typed and printed.
#
#   Tests/FirstHour/transcript.sh [REPOSITORY] > TRANSCRIPT
#
# Takes 15 to 30 minutes. Ends with the status of the first command that fails.
set -euo pipefail
repository=$(realpath "${1:-$(dirname "$0")/../..}")
unset MAKEFLAGS MAKELEVEL # nobody's make stands around a newcomer's
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# step COMMAND [FILTER]: what the command prints, through the filter, and how long it took.
step() {
    local start=$SECONDS status=0
    printf '$ %s\n' "$1"
    bash -c "$1" > "$folder/printed" 2>&1 || status=$?
    bash -c "${2:-cat}" < "$folder/printed"
    printf '[%d s]\n\n' $((SECONDS - start))
    if [ "$status" != 0 ]; then
        cat "$folder/printed" >&2
        exit "$status"
    fi
}

printf '# %s, %s, %s processors\n\n' "$(date -u +%Y-%m-%d)" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)" "$(nproc)"
step "git clone -q '$repository' rootstock && git -C rootstock log -1 --format=%h"
cd rootstock
step "make test" "tail -n 6"
step "make compare" "grep -v '^\['"
export PATH=$PWD/.build/release:$PATH
step "Tests/FirstHour/run.py --transcript '$folder/documents' .build/release/rootstock"
cat "$folder/documents"
echo
cd "$folder"
sed -n '/^```sql$/,/^```$/p' rootstock/Sources/Rootstock/Rootstock.docc/YourOwnData.md | sed -e '/^```/d' -e '/^-- pragma/,$d' > app.sql
step "sqlite3 app.sqlite < app.sql"
step "rootstock suggest app.sqlite > queries.sql"
step "rootstock compare --database app.sqlite --workload queries.sql --budget 1m"
mkdir -p hello/Sources/hello
cat > hello/Package.swift <<'SWIFT'
// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "hello", platforms: [.macOS(.v13)], dependencies: [.package(path: "../rootstock")],
    targets: [.executableTarget(name: "hello", dependencies: [.product(name: "Rootstock", package: "rootstock")])])
SWIFT
sed -n '/^```swift$/,/^```$/p' rootstock/README.md | sed '/^```/d' > hello/Sources/hello/main.swift
step "cat hello/Package.swift hello/Sources/hello/main.swift"
step "swift run --package-path hello" "tail -n 1"
step "swift run --package-path hello" "tail -n 1"
