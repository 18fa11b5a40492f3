#!/usr/bin/env python3
"""SQLite's own speedtest1 natively and on a store, in turn, and the ratios of its tests.

  Tests/Clients/DropIn/bench.py INTERPOSER [--size 100] [--turns 3] [--testset main|orm] [--source speedtest1.c]

Without --source it takes speedtest1.c from Debian's source package of sqlite3, into a temporary folder: `apt-get source` must work.
Native is the better of two, both unsynced: the default journal, and WAL with a memory map and a cache of 256 MB. Times are medians of the turns.
Exits with 1 where the verification hashes differ.
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

NATIVE = {
    'default': ['--nosync'],
    'wal': ['--nosync', '--journal', 'wal', '--mmap', '268435456', '--cachesize', '65536'],
}


def fetch(folder):
    subprocess.run(['apt-get', 'source', '--download-only', 'sqlite3'], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    archive = [path for path in glob.glob(folder + '/sqlite3_*.orig.tar.*')][0]
    subprocess.run(['tar', 'xf', archive, '--wildcards', '*/test/speedtest1.c'], cwd=folder, check=True)
    return glob.glob(folder + '/*/test/speedtest1.c')[0]


def run(program, folder, options, environment):
    """Seconds by test, the total among them, and the hash."""
    path = os.path.join(folder, 'bench.db')
    for old in glob.glob(path + '*'):
        os.remove(old)
    text = subprocess.run([program, '--verify'] + options + [path], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    times = {name.strip(): float(seconds) for name, seconds in re.findall(r'^ *(\d+ - .*?|TOTAL)\.{2,} *([0-9.]+)s', text, re.M)}
    return times, re.search(r'Verification Hash: (.*)', text).group(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('interposer')
    parser.add_argument('--size', default='100')
    parser.add_argument('--turns', type=int, default=3)
    parser.add_argument('--testset', default='main')
    parser.add_argument('--source')
    arguments = parser.parse_args()
    store = dict(os.environ, LD_PRELOAD=os.path.realpath(arguments.interposer), ROOTSTOCK_ENGINE='lmdb', ROOTSTOCK_DURABILITY='off')
    with tempfile.TemporaryDirectory() as folder:
        program = folder + '/speedtest1'
        subprocess.run(['cc', '-O2', '-w', arguments.source or fetch(folder), '-o', program, '-lsqlite3'], check=True)
        options = ['--size', arguments.size, '--testset', arguments.testset]
        turns = {name: [] for name in [*NATIVE, 'store']}
        hashes = set()
        for _ in range(arguments.turns):
            for name in turns:
                times, verified = run(program, folder, options + NATIVE.get(name, []), store if name == 'store' else None)
                turns[name].append(times)
                hashes.add(verified)
    medians = {name: {test: statistics.median(turn[test] for turn in all_turns) for test in all_turns[0]}
               for name, all_turns in turns.items()}
    best = min(NATIVE, key=lambda name: medians[name]['TOTAL'])
    print('%-62s %8s %8s %6s' % ('speedtest1 --size %s --testset %s' % (arguments.size, arguments.testset), best, 'store', 'ratio'))
    for test, seconds in medians['store'].items():
        native = medians[best][test]
        print('%-62s %8.3f %8.3f %6.2f' % (test, native, seconds, native / max(seconds, 0.001)))
    if len(hashes) != 1:
        sys.exit('the verification hashes differ: %s' % ', '.join(sorted(hashes)))


main()
