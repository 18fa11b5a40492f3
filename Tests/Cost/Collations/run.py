#!/usr/bin/env python3
"""How often a collation of the program's own is asked, natively and on a store: `Tests/Cost/Collations/run.py build/librootstock_interpose.so`.

A table with a unique index under it gets 10,000 random texts, 10,000 rising and 10,000 falling ones; then 3,000 look-ups."""
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

ROWS, LOOKUPS = 10_000, 3_000


def measure():
    asked = 0

    def order(a, b):
        nonlocal asked
        asked += 1
        return (a > b) - (a < b)

    rand = random.Random(3)
    connection = sqlite3.connect('texts.db', isolation_level=None)
    connection.create_collation('own', order)
    connection.executescript('CREATE TABLE t(x TEXT COLLATE own UNIQUE); BEGIN')
    for name, text in (('random inserts', lambda i: '%08x' % rand.getrandbits(32)), ('rising inserts', lambda i: 'k%08d' % i),
                       ('falling inserts', lambda i: 'm%08d' % (99_999_999 - i))):
        asked = 0
        for i in range(ROWS):
            connection.execute('INSERT INTO t VALUES(?)', (text(i),))
        print('%s: %.1f' % (name, asked / ROWS))
    asked = 0
    for i in range(LOOKUPS):
        connection.execute('SELECT 1 FROM t WHERE x = ?', ('k%08d' % (i * 3),)).fetchall()
    print('look-ups: %.1f' % (asked / LOOKUPS))


if len(sys.argv) == 1:
    measure()
else:
    store = dict(os.environ, LD_PRELOAD=os.path.abspath(sys.argv[1]), ROOTSTOCK_ENGINE='lmdb')
    for name, environment in (('natively', dict(os.environ)), ('on a store', store)):
        with tempfile.TemporaryDirectory() as folder:
            print('== ' + name, flush=True)
            subprocess.run(['/usr/bin/python3', os.path.abspath(__file__)], cwd=folder, env=environment, check=True)
