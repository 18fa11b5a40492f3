#!/bin/sh
# Stores on a liblmdb whose structs, or marks of pages, are others than engine lmdb edits: each must be recognised, told once, and
# served by public calls alone. The version of all of them is the same.
# Usage: Tests/Hostile/Layout/run.sh [EXTENSION]. LMDB_SOURCE names a folder with mdb.c of LMDB 0.9; else Debian's source is fetched.
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
extension=${1:-$root/build/rootstock.so}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fetch() {
    cd "$work"
    mkdir -p lists/partial
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >sources.list
    set -- -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
    apt-get "$@" update && apt-get "$@" source --download-only lmdb && tar xzf lmdb_*.orig.tar.gz
} >"$work/fetched" 2>&1

if [ -z "${LMDB_SOURCE:-}" ]; then
    (fetch) || { cat "$work/fetched" >&2; echo "layout: LMDB's source cannot be fetched: name a folder in LMDB_SOURCE" >&2; exit 1; }
    LMDB_SOURCE=$(dirname "$(find "$work" -name mdb.c)")
fi

# build NAME [SED]: liblmdb with that change
build() {
    mkdir -p "$work/$1"
    sed -E "${2:-}" "$LMDB_SOURCE/mdb.c" >"$work/$1/mdb.c"
    if [ "$1" != unchanged ] && cmp -s "$LMDB_SOURCE/mdb.c" "$work/$1/mdb.c"; then
        echo "layout: $1 changes nothing of this source" >&2
        exit 1
    fi
    # shellcheck disable=SC2086
    ${CC:-cc} -O2 -w -fPIC -shared -I"$LMDB_SOURCE" "$work/$1/mdb.c" "$LMDB_SOURCE/midl.c" -Wl,-soname,liblmdb.so.0 -lpthread \
        -o "$work/$1/liblmdb.so.0"
}

fail() {
    echo "layout: $1: $2" >&2
    cat "$work/said" >&2
    exit 1
}

# The form of the engine that serves the store, the notice, and what is in the store; the log goes to its own file.
use() {
    LD_LIBRARY_PATH=$work/$1 sqlite3 :memory: >"$work/said" 2>&1 <<SQL
.log $work/log
.load $extension
SELECT 'tables ' || rootstock_open('$work/store');
BEGIN;
CREATE VIRTUAL TABLE t USING lmdb(a INTEGER PRIMARY KEY, b TEXT);
INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT i, hex(zeroblob(i % 90)) FROM n;
COMMIT;
DELETE FROM t WHERE a % 3 = 0;
UPDATE t SET b = b || a WHERE a % 5 = 0;
SELECT 'form ' || coalesce(json_extract(rootstock_info(), '\$.form'), 'none'), json_extract(rootstock_info(), '\$.notice') IS NOT NULL;
SELECT 'rows', count(*), sum(length(b)), sum(a) FROM t;
SELECT 'check', * FROM rootstock_integrity_check;
SQL
}

# read_back NAME: what the store holds for the liblmdb that engine lmdb knows
read_back() {
    LD_LIBRARY_PATH=$work/unchanged sqlite3 :memory: >"$work/back" 2>&1 <<SQL
.load $extension
SELECT rootstock_open('$work/store');
SELECT 'rows', count(*), sum(length(b)), sum(a) FROM t;
SQL
    [ "$(grep '^rows' "$work/back")" = "$(grep '^rows' "$work/said")" ] || fail "$1" "reads back otherwise: $(cat "$work/back")"
}

# expect NAME FORM TOLD
expect() {
    rm -f "$work/store" "$work/store-lock" "$work/log"
    : >"$work/log"
    use "$1" || fail "$1" "sqlite3 ended with $?"
    grep -q "^form $2|$3\$" "$work/said" || fail "$1" "not of form $2"
    [ "$(grep -c 'not as engine lmdb knows it' "$work/log")" = "$3" ] || fail "$1" "told otherwise than $3 times"
    grep -q '^check|ok$' "$work/said" || fail "$1" "the check says otherwise"
    read_back "$1"
    rows=${rows:-$(grep '^rows' "$work/said")}
    [ "$rows" = "$(grep '^rows' "$work/said")" ] || fail "$1" "other rows than $rows"
    echo "layout: $1: $2"
}

build unchanged
expect unchanged none 0
while read -r name change; do
    build "$name" "$change"
    expect "$name" plain 1
done <<'CHANGES'
cursor-field-first s/^(struct MDB_cursor \{)/\1 void *added;/
cursor-field-before-its-height s/^(.unsigned short 	mc_snum;)/	int added; \1/
cursor-height-and-top-exchanged s/^(.unsigned short 	)mc_snum;/\1mc_top;/;t;s/^(.unsigned short	)mc_top;/\1mc_snum;/
cursor-of-more-pages s/(define CURSOR_STACK.*)32/\140/
cursor-places-before-pages s/^.MDB_page	\*mc_pg\[CURSOR_STACK\];.*/	indx_t mc_ki[CURSOR_STACK];/;t;s/^.indx_t		mc_ki\[CURSOR_STACK\];.*/	MDB_page *mc_pg[CURSOR_STACK];/
cursor-standing-marked-otherwise s/(define C_INITIALIZED.)0x01/\10x80/
cursor-at-the-end-marked-otherwise s/(define C_EOF.)0x02/\10x10/
cursor-behind-a-delete-marked-otherwise s/(define C_DEL.)0x08/\10x20/
transaction-field-first s/^(struct MDB_txn \{)/\1 void *added;/
transaction-field-before-its-number s/^(.txnid_t		mt_txnid;)/	size_t added; \1/
transaction-field-before-freed-pages s/^(.MDB_IDL		mt_free_pgs;)/	void *added; \1/
transaction-field-before-loose-pages s/^(.MDB_page	\*mt_loose_pgs;)/	void *added; \1/
transaction-field-before-changed-pages s/^(.MDB_IDL		mt_spill_pgs;)/\1 void *added;/
transaction-field-before-names-of-trees s/^(.MDB_dbx		\*mt_dbxs;)/	void *added; \1/
transaction-field-before-count-of-trees s/^(.MDB_dbi		mt_numdbs;)/	void *added; \1/
transaction-states-before-openings s/^.unsigned int	\*mt_dbiseqs;/	unsigned char	*mt_dbflags;/;t;s/^.unsigned char	\*mt_dbflags;/	unsigned int	*mt_dbiseqs;/
copy-of-openings-where-it-was-at-first s/^(.*)memcpy\(txn->mt_dbiseqs, env->me_dbiseqs/\1txn->mt_dbiseqs = (unsigned *)(txn->mt_cursors + env->me_maxdbs); memcpy(txn->mt_dbiseqs, env->me_dbiseqs/
name-of-a-tree-field-first s/^(.MDB_val		md_name;)/	void *added; \1/
name-of-a-tree-field-last s/^(.void		\*md_relctx;)/\1 void *added;/
changed-pages-marked-otherwise s/(define	P_DIRTY.*)0x10/\10x80/
given-up-pages-marked-otherwise s/(define.P_LOOSE.*)0x4000/\10x2000/
CHANGES
echo "layout: 21 others recognised"
