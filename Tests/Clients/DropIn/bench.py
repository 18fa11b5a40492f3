#!/usr/bin/env python3
"""Two benchmarks that others wrote, natively and on a store, in turn, and the ratios of their tests.

  Tests/Clients/DropIn/bench.py INTERPOSER [speedtest1|db_bench] [--turns 3] [--size 100] [--testset main|orm] [--entries 300000] [--source FOLDER]
                                [--instructions]

`speedtest1` is SQLite's own, `db_bench` is LevelDB's db_bench_sqlite3. Their sources are Debian's, fetched with apt into a temporary folder and
built there with the C and C++ compiler; --source takes a folder that holds them already.
Natively each runs unsynced in the default journal mode and in WAL; speedtest1 gets a memory map and a cache of 256 MB with WAL, which db_bench
cannot set. The store runs in class `off`. Times are medians of the turns. The native side of a row is the best total for speedtest1, and the
best of that row for db_bench.
--instructions counts those of each test of speedtest1 with callgrind, once, in millions: for a busy machine, with a small --size (10). They are
no times: a store's tests wait less for memory than their instructions say.
Exits with 1 where speedtest1's verification hashes differ.
"""
import argparse
import glob
import os
import re
import statistics
import subprocess
import sys
import tempfile

from debian import fetch

WAL = {'default': ['--nosync'], 'wal': ['--nosync', '--journal', 'wal', '--mmap', '268435456', '--cachesize', '65536']}
ROWS = 'fillseq,fillseqbatch,fillrandom,fillrandbatch,overwrite,overwritebatch,readrandom,readseq'
UTIL = ['histogram', 'testutil', 'env', 'env_posix', 'status', 'logging', 'coding', 'hash', 'arena']


def found(folder, pattern):
    paths = glob.glob(os.path.join(folder, '**', pattern), recursive=True)
    return paths[0] if paths else sys.exit('bench: no %s in %s' % (pattern, folder))


def build_speedtest1(folder, source, flags):
    program = folder + '/speedtest1'
    subprocess.run(['cc', '-O2', *flags, '-w', found(source, 'speedtest1.c'), '-o', program, '-lsqlite3'], check=True)
    return program


def build_db_bench(folder, source):
    """LevelDB's test helper wants the headers of GoogleTest; nothing of it is linked."""
    subprocess.run(['apt-get', '-qq', '-o', 'APT::Sandbox::User=root', 'download', 'libgmock-dev', 'libgtest-dev'], cwd=folder, check=True)
    for package in glob.glob(folder + '/libg*.deb'):
        subprocess.run(['dpkg', '-x', package, folder + '/googletest'], check=True)
    main = found(source, 'db_bench_sqlite3.cc')
    root = os.path.dirname(os.path.dirname(main))
    files = [main, root + '/helpers/memenv/memenv.cc'] + ['%s/util/%s.cc' % (root, name) for name in UTIL]
    include = ['-I' + root, '-I%s/include' % root, '-I%s/googletest/usr/include' % folder]
    program = folder + '/db_bench_sqlite3'
    subprocess.run(['c++', '-std=c++14', '-O2', '-w', '-DNDEBUG', '-DLEVELDB_PLATFORM_POSIX=1', *include, *files, '-o', program, '-lsqlite3',
                    '-lpthread'], check=True)
    return program


def run_speedtest1(program, folder, options, environment):
    """Seconds by test, the total among them, and the hash."""
    text = subprocess.run([program, '--verify', *options, folder + '/bench.db'], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    times = {name.strip(): float(seconds) for name, seconds in re.findall(r'^ *(\d+ - .*?|TOTAL)\.{2,} *([0-9.]+)s', text, re.M)}
    return times, re.search(r'Verification Hash: (.*)', text).group(1)


def count_speedtest1(program, folder, options, environment):
    """The same in millions of instructions."""
    out = folder + '/callgrind'
    database = 'file:%s/bench.db?durability=off&mapSize=1073741824' % folder  # valgrind has no room for the usual map
    valgrind = ['valgrind', '--tool=callgrind', '--callgrind-out-file=' + out, '--dump-after=speedtest1_end_test']
    text = subprocess.run([*valgrind, program, *options, database], env=environment, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    names = [name.strip() for name in re.findall(r'^ *(\d+ - .*?)\.{2,} *[0-9.]+s', text, re.M)]
    counts = [int(re.search(r'^totals: (\d+)', open('%s.%d' % (out, n + 1)).read(), re.M).group(1)) / 1e6 for n in range(len(names))]
    return dict(zip(names, counts), TOTAL=sum(counts)), None


def run_db_bench(program, folder, options, environment):
    """Microseconds an operation by row. A row's name comes twice where a fill has several sizes: the first counts."""
    text = subprocess.run([program, '--db=' + folder, *options], env=environment, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    return {name: float(micros) for name, micros in re.findall(r'^(\w+) +: +([0-9.]+) micros/op', text, re.M)}, None


def in_turn(turns, kinds, run, program, folder, store):
    """The medians of every kind's rows, and the hashes that were seen."""
    rows, hashes = {kind: [] for kind in kinds}, set()
    for _ in range(turns):
        for kind, options in kinds.items():
            with tempfile.TemporaryDirectory(dir=folder) as data:
                row, verified = run(program, data, options, store if kind == 'store' else None)
            rows[kind].append(row)
            hashes.add(verified)
    return {kind: {name: statistics.median(turn[name] for turn in all_turns) for name in all_turns[0]} for kind, all_turns in rows.items()}, hashes


def show(title, medians, native_of, digits):
    print('%-62s %9s %9s %6s' % (title, 'native', 'store', 'ratio'))
    for name, store in medians['store'].items():
        native = native_of(name)
        print('%-62s %9.*f %9.*f %6.2f' % (name, digits, native, digits, store, native / max(store, 0.001)))


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    parser.add_argument('interposer')
    parser.add_argument('program', nargs='?', choices=['speedtest1', 'db_bench'], default='speedtest1')
    parser.add_argument('--turns', type=int, default=3)
    parser.add_argument('--size', default='100')
    parser.add_argument('--testset', default='main')
    parser.add_argument('--entries', default='300000')
    parser.add_argument('--source')
    parser.add_argument('--instructions', action='store_true')
    arguments = parser.parse_args()
    if not os.path.exists(arguments.interposer):
        sys.exit(f'bench: there is no {arguments.interposer}: without it both sides are native')
    store = dict(os.environ, LD_PRELOAD=os.path.realpath(arguments.interposer), ROOTSTOCK_ENGINE='lmdb', ROOTSTOCK_DURABILITY='off')
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.source:
            fetch(folder, 'sqlite3' if arguments.program == 'speedtest1' else 'leveldb')
        source = arguments.source or folder
        if arguments.program == 'speedtest1':
            options = ['--size', arguments.size, '--testset', arguments.testset]
            kinds = {**{name: options + more for name, more in WAL.items()}, 'store': options}
            run, turns, flags = run_speedtest1, arguments.turns, []
            if arguments.instructions:  # callgrind writes its counts where a function is left, which must not be inlined
                run, turns, flags = count_speedtest1, 1, ['-fno-inline']
            medians, hashes = in_turn(turns, kinds, run, build_speedtest1(folder, source, flags), folder, store)
            best = min(WAL, key=lambda name: medians[name]['TOTAL'])
            unit = 'millions of instructions' if arguments.instructions else 'seconds'
            show('speedtest1 --size %s --testset %s, %s, native: %s' % (arguments.size, arguments.testset, unit, best), medians,
                 medians[best].get, 3)
            if len(hashes) != 1:
                sys.exit('bench: the verification hashes differ: %s' % ', '.join(sorted(hashes)))
        else:
            options = ['--benchmarks=' + ROWS, '--num=' + arguments.entries]
            kinds = {'default': options + ['--WAL_enabled=0'], 'wal': options + ['--WAL_enabled=1'], 'store': options + ['--WAL_enabled=1']}
            medians, _ = in_turn(arguments.turns, kinds, run_db_bench, build_db_bench(folder, source), folder, store)
            show('db_bench_sqlite3 --num=%s, microseconds an operation' % arguments.entries, medians,
                 lambda name: min(medians['default'][name], medians['wal'][name]), 3)


main()
