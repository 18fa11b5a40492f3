#!/bin/bash
# A working copy of Subversion: its database of nodes, and the repository's cache, are SQLite databases.
set -u
export HOME=$PWD LC_ALL=C
url=file://$PWD/repository
without_dates() { sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [^|]*/DATE /'; }
svnadmin create repository
svn mkdir -q -m folders "$url/trunk" "$url/branches"
svn checkout -q "$url/trunk" one
svn checkout -q "$url/trunk" two
cd one || exit
for number in 1 2 3; do
    mkdir -p "folder$number/inner"
    for file in 1 2 3 4 5 6 7 8; do echo "$number $file" >"folder$number/$file"; done
    echo inner >"folder$number/inner/file"
done
svn add folder? | sort
svn propset owner me folder1/1
svn commit -q -m files
cd ../two || exit
svn update | sort
echo more >>folder1/1
svn remove folder2
svn move folder3 folder4 | sort
svn copy folder4 folder5 | sort
svn changelist mine folder1/1
svn status | sort
svn diff | grep '^[-+]'
svn commit -q -m moves
cd ../one || exit
echo conflict >>folder1/1
svn update --accept postpone | sort
svn status | sort
svn resolve --accept mine-full folder1/1
svn commit -q -m resolved
svn lock folder1/2
svn proplist -v folder1/1
svn copy -q -m branch "$url/trunk" "$url/branches/x"
svn switch --ignore-ancestry "$url/branches/x" | sort
echo branch >>folder5/5
svn commit -q -m branched
svn switch "$url/trunk" | sort
svn merge "$url/branches/x" | grep -v '^---'
svn revert -R . | sort
svn cleanup
svn status -v | sort
svn log -v | without_dates
svnadmin verify -q ../repository
sqlite3 .svn/wc.db 'SELECT local_relpath, op_depth, presence, kind FROM nodes ORDER BY 1, 2; PRAGMA integrity_check; PRAGMA foreign_key_check'
head -c 15 .svn/wc.db | grep -q 'SQLite format' || echo "$KIND"
