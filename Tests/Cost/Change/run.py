#!/usr/bin/python3
"""run.py - instructions (callgrind) of statements that change many rows, natively and on a store of class `off`.

Usage: Tests/Cost/Change/run.py INTERPOSER [OTHER_INTERPOSER]

Prints a row a statement: the rows that it changed, instructions a row natively and on the store, native's over the store's. The native side is
WAL, unsynced, mapped. A second interposer, of an older build, gets a column of its own. INTERPOSER is build/librootstock_interpose.so.
Ends with status 1 if a statement changed another number of rows.
"""
import os
import re
import subprocess
import sys
import tempfile


def count(program, folder, interposer):
    """Name, rows and instructions of each statement."""
    environment = dict(os.environ)
    if interposer:
        environment.update(LD_PRELOAD=os.path.realpath(interposer), ROOTSTOCK_ENGINE='lmdb')
    with tempfile.TemporaryDirectory(dir=folder) as data:
        out = data + '/callgrind'
        # valgrind has no room for the usual map
        database = 'file:%s/change.db?durability=off&mapSize=1073741824' % data
        text = subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, '--dump-after=end_statement', program, database],
                              env=environment, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            name, rows = line.split('\t')
            with open('%s.%d' % (out, number)) as profile:
                found.append((name, int(rows), int(re.search(r'^totals: (\d+)', profile.read(), re.M).group(1))))
    return found


def main():
    if len(sys.argv) not in (2, 3) or not all(os.path.exists(path) for path in sys.argv[1:]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        program = folder + '/change_cost'
        source = os.path.join(os.path.dirname(os.path.realpath(__file__)), 'change_cost.c')
        subprocess.run([os.environ.get('CC', 'cc'), '-std=c11', '-O1', '-fno-inline', source, '-o', program, '-lsqlite3'], check=True)
        sides = [count(program, folder, interposer) for interposer in [None, *sys.argv[1:]]]
    differs = False
    print('%-92s %6s %8s %8s %6s' % ('statement', 'rows', 'native', 'store', 'ratio'))
    for native, *stores in zip(*sides):
        each = [side[2] / max(1, native[1]) for side in [native, *stores]]
        columns = ''.join(' %8.0f %6.2f' % (store, each[0] / store) for store in each[1:])
        print('%-92s %6d %8.0f%s' % (native[0], native[1], each[0], columns))
        if any(side[:2] != native[:2] for side in stores):
            print('  changed other rows: %s' % ', '.join(str(side[1]) for side in stores))
            differs = True
    sys.exit(differs)


main()
