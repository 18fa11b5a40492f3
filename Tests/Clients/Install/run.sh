#!/bin/sh
# What `make install` and `make deb` make: installed into a folder, used by a C program, a Python program and the command, removed
# again; and the package in a clean root of Debian's, where debootstrap can make one (ROOT names one that is there).
# Usage: Tests/Clients/Install/run.sh COMMAND
set -eu
command=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
here=$root/Tests/Clients/Install
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "install: $1" >&2; exit 1; }

"$root/CShims/Packaging/install.sh" install "" "$folder/usr" "$command" >/dev/null
export PATH="$folder/usr/bin:$PATH" PKG_CONFIG_PATH="$folder/usr/lib/pkgconfig" LD_LIBRARY_PATH="$folder/usr/lib"
cd "$folder"

# The command: Swift's runtime is in it.
ldd usr/bin/rootstock | grep -i swift && fail "the command needs Swift's libraries"
[ "$(rootstock sql --create a.lmdb 'CREATE TABLE t (a); INSERT INTO t VALUES (7); SELECT a FROM t')" = 7 ] || fail "no row"
rootstock run -- sqlite3 b.db 'CREATE TABLE t (a); INSERT INTO t VALUES (8)' || fail "rootstock run fails"
[ "$(rootstock sql b.db 'SELECT a FROM t')" = 8 ] && rootstock info b.db | grep -q 'engine.*lmdb' || fail "b.db is no store"

# The SQL scripts are found where they were installed.
rootstock engine-test memory --only sql.upsert > words || fail "engine-test: $(cat words)"
grep -q 'SQL scripts answer as native SQLite, 0 do not' words || fail "engine-test ran no script: $(cat words)"

# C, by pkg-config alone.
${CC:-cc} -std=c11 -Wall -Wextra -Werror "$here/example.c" $(pkg-config --cflags --libs rootstock) -o example
[ "$(./example c.lmdb)" = "1|Solaris" ] || fail "the C program prints something else"
[ "$(./example c.lmdb)" = "1|Solaris" ] || fail "the C program prints something else the second time"

# Python, with the extension.
/usr/bin/python3 "$here/example.py" "$folder/usr/lib/rootstock" c.lmdb | grep -qF "[('1', 'Solaris')]" || fail "the Python program"

# Manual pages without a warning, and completions that their shells take.
for page in usr/share/man/man1/*.1; do
    [ -z "$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)" ] || fail "$page has faults"
done
bash -n usr/share/bash-completion/completions/rootstock
grep -q 'import' usr/share/fish/vendor_completions.d/rootstock.fish && grep -q '^#compdef rootstock' usr/share/zsh/site-functions/_rootstock \
    || fail "completions lack a command"

"$root/CShims/Packaging/install.sh" uninstall "" "$folder/usr" "$command" >/dev/null
left=$(find usr -type f -o -type l)
[ -z "$left" ] || fail "left behind: $left"
echo "install: C, Python, the command, manual and completions work; nothing is left"

# The package in a clean root: nothing there but Debian.
"$root/CShims/Packaging/deb.sh" "$command"
package=$(ls -t "$root"/build/rootstock_*.deb | head -n 1)
clean=${ROOT:-$folder/clean}
if [ ! -d "$clean/usr" ]; then
    command -v debootstrap >/dev/null && [ "$(id -u)" = 0 ] || { echo "install: no debootstrap, or not root: the package was not tried"; exit 0; }
    debootstrap --variant=minbase bookworm "$clean" >"$folder/log" 2>&1 || { tail "$folder/log"; fail "debootstrap"; }
fi
cp "$package" "$clean/tmp/rootstock.deb"
# Swift's runtime reads a program's arguments from /proc.
mount -t proc proc "$clean/proc"
trap 'umount "$clean/proc"; rm -rf "$folder"' EXIT
in_clean() { env -u LD_LIBRARY_PATH -u PKG_CONFIG_PATH PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$clean" "$@"; }
in_clean apt-get update -qq
in_clean apt-get install -y -qq --no-install-recommends /tmp/rootstock.deb sqlite3 >"$folder/log" 2>&1 || { tail "$folder/log"; fail "apt-get install"; }
[ "$(in_clean rootstock sql --create /tmp/a.lmdb 'CREATE TABLE t (a); INSERT INTO t VALUES (7); SELECT a FROM t')" = 7 ] || fail "no row"
in_clean rootstock run -- sqlite3 /tmp/b.db 'CREATE TABLE t (a); INSERT INTO t VALUES (8)'
[ "$(in_clean rootstock sql /tmp/b.db 'SELECT a FROM t')" = 8 ] || fail "no store in the clean root"
[ "$(in_clean sqlite3 :memory: '.load rootstock' "SELECT rootstock_open('/tmp/a.lmdb') > 0" 'SELECT a FROM t')" = "1
7" ] || fail "the extension in the clean root"
in_clean apt-get remove -y -qq rootstock >/dev/null 2>&1
[ ! -e "$clean/usr/bin/rootstock" ] || fail "the package was not removed"
echo "install: the package installs, runs and goes in a clean root"
