#!/usr/bin/python3
"""Limits of the system that a store meets: a file that may not grow is a full disk, in every class, and loses nothing;
rows deleted there make room, and every refusal says why; address space that is not there is told with what to do.

Usage: Tests/Hostile/Limits/run.py EXTENSION, with a Python whose sqlite3 loads extensions (Debian's). Seconds.
Python ignores SIGXFSZ, so that a write beyond the limit is an error.
"""
import json, os, random, resource, sqlite3, subprocess, sys, tempfile

EXTENSION = os.path.abspath(sys.argv[1])
CLASSES = 'full', 'normal', 'off'
MEBIBYTE = 1 << 20
MEMORY = '/dev/shm' if os.path.isdir('/dev/shm') else None  # thousands of commits are not to wait for a disk


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


def fill(connection, random, refusals):
    """Inserts until 50 in a row are refused. Returns the keys, in the order of chance."""
    keys, refused = [], 0
    while refused < 50:
        key = random.randrange(1 << 40)
        try:
            run(connection, 'INSERT INTO t VALUES (?, ?, ?)', key, random.randbytes(random.randrange(2000)), 'c%d' % key)
            keys.append(key)
            refused = 0
        except sqlite3.Error as error:
            refusals.append(error)
            refused += 1
    random.shuffle(keys)
    return keys


def limited(path, durability):
    """A store that is open when its file may not grow any more: the write map of class off is not there from the start."""
    connection = connect(path, durability=durability)
    run(connection, 'CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB, c)')
    run(connection, 'CREATE INDEX i ON t (c)')
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 * MEBIBYTE, resource.RLIM_INFINITY))
    return connection


def says_why(refusals):
    for error in refusals:
        assert error.sqlite_errorname == 'SQLITE_FULL', '%s (%s)' % (error, error.sqlite_errorname)
        assert str(error) == 'database or disk is full' or str(error).endswith(': File too large'), str(error)


def removing(path, durability):
    """Rows deleted one by one make room for others. A change copies pages before it frees any, so some are refused."""
    connection, chance, refusals = limited(path, durability), random.Random(17), []
    keys = fill(connection, chance, refusals)
    assert len(keys) > 1000, 'full after %d rows' % len(keys)
    removed = 0
    for key in keys[:len(keys) // 2]:
        try:
            run(connection, 'DELETE FROM t WHERE id = ?', key)
            removed += 1
        except sqlite3.Error as error:
            refusals.append(error)
    assert removed > len(keys) // 5, '%d of %d rows could be deleted' % (removed, len(keys) // 2)
    added = 0
    for key in range(300):
        try:
            run(connection, 'INSERT INTO t VALUES (?, ?, ?)', -1 - key, chance.randbytes(600), 'c%d' % key)
            added += 1
        except sqlite3.Error as error:
            refusals.append(error)
    assert added > 200, '%d of 300 rows could be added' % added
    says_why(refusals)
    found, = run(connection, 'SELECT count(*) FROM t')[0]
    assert found == len(keys) - removed + added, '%d rows of %d' % (found, len(keys) - removed + added)
    assert run(connection, 'PRAGMA integrity_check') == [('ok',)]


def refusing(path, durability):
    """While a snapshot keeps every page, no room can be had: each refusal says why, the begin's in class off, too."""
    connection, reader, refusals = limited(path, durability), connect(path, durability=durability), []
    run(reader, 'BEGIN')
    run(reader, 'SELECT count(*) FROM t')
    keys = fill(connection, random.Random(18), refusals)
    for text in 'DELETE FROM t', 'CREATE TABLE u (x)', 'UPDATE t SET b = NULL', 'VACUUM':
        try:
            run(connection, text)
        except sqlite3.Error as error:
            if error.sqlite_errorname != 'SQLITE_BUSY': refusals.append(error)
    says_why(refusals)
    assert run(reader, 'SELECT count(*) FROM t') == [(0,)]
    run(reader, 'COMMIT')
    assert run(connection, 'PRAGMA integrity_check') == [('ok',)]


def copying(path, durability):
    """A copy that does not fit names itself, not the store that is sound, and leaves no file."""
    connection = connect(path, durability=durability)
    run(connection, 'CREATE TABLE t (b BLOB)')
    for i in range(40):
        run(connection, 'INSERT INTO t VALUES (?)', b'x' * 100000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MEBIBYTE, resource.RLIM_INFINITY))
    copy = path + '-copy'
    try:
        run(connection, 'VACUUM INTO \'%s\'' % copy)
        raise AssertionError('copied')
    except sqlite3.Error as error:
        assert error.sqlite_errorname == 'SQLITE_FULL', '%s (%s)' % (error, error.sqlite_errorname)
        assert copy in str(error) and str(error).endswith(': File too large'), str(error)
    assert not os.path.exists(copy), 'the copy was left behind'


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
for case in 'file_size', 'removing', 'refusing', 'copying', 'address_space':
    for durability in CLASSES:
        with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
            ended = subprocess.run(
                [sys.executable, __file__, EXTENSION, case, os.path.join(folder, 'store.lmdb'), durability],
                capture_output=True, text=True)
            if ended.returncode != 0:
                failed += 1
                print('%s, class %s: %s' % (case, durability, (ended.stderr.strip().splitlines() or [ended.returncode])[-1]))
print('limits: %s' % ('%d failed' % failed if failed else 'all hold'))
sys.exit(failed != 0)
