#!/usr/bin/python3
"""Limits of the system that a store meets: a file that may not grow is a full disk, in every class, and loses nothing;
address space that is not there is told with what to do.

Usage: Tests/Hostile/Limits/run.py EXTENSION, with a Python whose sqlite3 loads extensions (Debian's). Seconds.
Python ignores SIGXFSZ, so that a write beyond the limit is an error.
"""
import json, os, resource, sqlite3, subprocess, sys, tempfile

EXTENSION = os.path.abspath(sys.argv[1])
CLASSES = 'full', 'normal', 'off'
MEBIBYTE = 1 << 20


def connect(path, **options):
    connection = sqlite3.connect(':memory:', isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(EXTENSION)
    connection.execute("SELECT rootstock_open(?, 'lmdb', ?)", (path, json.dumps(options))).fetchall()
    return connection


def run(connection, sql, *values):
    text = connection.execute('SELECT rootstock_rewrite(?)', (sql,)).fetchone()[0]
    return connection.execute(text, values).fetchall()


def file_size(path, durability):
    """A store made and filled under a limit of 8 MiB: the fill ends as a full disk, and what was committed stays."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * MEBIBYTE, resource.RLIM_INFINITY))
    connection = connect(path, durability=durability)
    run(connection, 'CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)')
    rows, message = 0, None
    while message is None and rows < 1000:
        try:
            run(connection, 'INSERT INTO t VALUES (?, ?)', rows, b'x' * 50000)
            rows += 1
        except sqlite3.Error as error:
            message = '%s (%s)' % (error, error.sqlite_errorname)
    assert message is not None and 'SQLITE_FULL' in message, 'no full disk: %s' % message
    assert 'File too large' in message, message
    assert rows > 50, 'full after %d rows' % rows
    found, = run(connection, 'SELECT count(*) FROM t')[0]
    assert found == rows, '%d rows of %d' % (found, rows)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    run(connection, 'INSERT INTO t VALUES (?, ?)', rows, b'y' * 50000)
    assert run(connection, 'PRAGMA integrity_check') == [('ok',)]


def address_space(path, durability):
    """A map for which no address space is left: the message names the map and what to set."""
    resource.setrlimit(resource.RLIMIT_AS, (400 * MEBIBYTE, resource.RLIM_INFINITY))
    try:
        connect(path, durability=durability)
        raise AssertionError('opened')
    except sqlite3.Error as error:
        assert 'address space' in str(error) and 'ulimit -v' in str(error), str(error)


if len(sys.argv) > 2:
    globals()[sys.argv[2]](*sys.argv[3:])
    sys.exit()

failed = 0
for case in 'file_size', 'address_space':
    for durability in CLASSES:
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [sys.executable, __file__, EXTENSION, case, os.path.join(folder, 'store.lmdb'), durability],
                capture_output=True, text=True)
            if ended.returncode != 0:
                failed += 1
                print('%s, class %s: %s' % (case, durability, (ended.stderr.strip().splitlines() or [ended.returncode])[-1]))
print('limits: %s' % ('%d failed' % failed if failed else 'all hold'))
sys.exit(failed != 0)
