#!/bin/sh
# A PostgreSQL server of its own for a test: Debian's, in a temporary folder, on a Unix socket, with trust.
#   server.sh COMMAND ...   runs the command with ROOTSTOCK_POSTGRES set to the server's URI, and stops the server afterwards.
# Status 77: PostgreSQL is not installed.
# Without autovacuum: its transactions change a snapshot's number as other clients' would, and then a statement looks at the schema
# anew (a round trip more), and a SELECT whose function writes is refused. The tests that count and compare would fail by chance.
set -eu
programs=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -n 1)
[ -n "$programs" ] && [ -x "$programs/initdb" ] || { echo "postgres: no server here: install postgresql" >&2; exit 77; }
folder=$(mktemp -d)
# The server does not run as root.
if [ "$(id -u)" = 0 ]; then
    user=$(id -un postgres 2> /dev/null || echo nobody)
    chown "$user" "$folder"
    as() { (cd "$folder" && setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"); }
else
    as() { (cd "$folder" && "$@"); }
fi
chmod 755 "$folder"
stop() {
    as "$programs/pg_ctl" -D "$folder/data" -m immediate -w stop > /dev/null 2>&1 || true
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM
as "$programs/initdb" -D "$folder/data" -U tester -A trust --no-sync -E UTF8 --locale=C > "$folder/words" 2>&1 || { cat "$folder/words" >&2; exit 1; }
as "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w start \
    -o "-k $folder -c listen_addresses='' -c max_connections=300 -c autovacuum=off" > "$folder/words" 2>&1 || {
    cat "$folder/words" "$folder/log" >&2; exit 1; }
export ROOTSTOCK_POSTGRES="postgresql://tester@/postgres?host=$folder"
export ROOTSTOCK_POSTGRES_SOCKET="$folder/.s.PGSQL.5432" ROOTSTOCK_POSTGRES_LOG="$folder/log"
"$@"
