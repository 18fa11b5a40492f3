#!/bin/sh
# Runs a command with so much memory and no more, the page cache of the files that it reads and writes included: what a
# store larger than memory is measured with.
#
#   Vendor-notes/results/limited.sh MIB command ...
#
# Takes a control group of its own below the caller's (version 2 or 1; as root), or systemd's scope where neither can be
# made. Swap stays as the system has it. Without a limit nothing is run: status 69.
set -eu
[ $# -ge 2 ] && [ "$1" -gt 0 ] || { echo "usage: limited.sh MIB command ..." >&2; exit 64; }
mib=$1
shift
group=
path() { awk -F: -v controller="$1" '($2 == "" && controller == "") || ("," $2 "," ~ "," controller "," && controller != "") {print $3; exit}' /proc/self/cgroup; }
mounted() { awk -v type="$1" -v option="$2" '$3 == type && ("," $4 "," ~ "," option "," || option == "") {print $2; exit}' /proc/mounts; }

try() { # folder, file with the limit
    [ -d "$1" ] || return 1
    group=$1/rootstock-$$
    mkdir "$group" 2>/dev/null || { group=; return 1; }
    if [ -f "$group/$2" ] && echo $((mib * 1024 * 1024)) >"$group/$2" 2>/dev/null; then return 0; fi
    rmdir "$group"
    group=
    return 1
}

version2=$(mounted cgroup2 "")
version1=$(mounted cgroup memory)
if [ -n "$version1" ] && try "$version1$(path memory)" memory.limit_in_bytes; then
    :
elif [ -n "$version2" ] && try "$version2$(path "")" memory.max; then
    :
fi
if [ -z "$group" ]; then
    command -v systemd-run >/dev/null && [ -d /run/systemd/system ] && exec systemd-run --quiet --scope -p "MemoryMax=${mib}M" "$@"
    echo "limited.sh: no control group can be made here (root is needed), and there is no systemd" >&2
    exit 69
fi
trap 'rmdir "$group" 2>/dev/null || true' EXIT
sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' limited "$group" "$@" &
trap 'kill $! 2>/dev/null' INT TERM
status=0
wait $! || status=$?
# A signal ends the first wait; the command may still be ending.
wait $! 2>/dev/null || true
exit $status
