#!/usr/bin/python3
"""Damage that a disk does to a store at rest: every row, or an error. Never other rows with a check that says ok.

Usage: Tests/Hostile/BitRot/run.py EXTENSION, with a Python whose sqlite3 loads extensions (Debian's). Deterministic; seconds.
"""
import ctypes, json, os, shutil, struct, subprocess, sys, tempfile

# SQLite's error log, which has to be set before anybody initializes SQLite, as Python's module does.
logged = []
SQLITE_CONFIG_LOG, SQLITE_NOTICE_RECOVER_WAL = 16, 283
log = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)(
    lambda _, code, text: logged.append((code, text.decode())))
ctypes.CDLL('libsqlite3.so.0').sqlite3_config(ctypes.c_int(SQLITE_CONFIG_LOG), log, None)
import sqlite3

EXTENSION = os.path.abspath(sys.argv[-1])
PAGE = 4096
LIST, MAIN, LAST, COMMIT = 40, 88, 136, 144  # where the records of a meta page begin, and its two last words


def connect(path, **options):
    connection = sqlite3.connect(':memory:', isolation_level=None)
    connection.enable_load_extension(True)
    connection.load_extension(EXTENSION)
    connection.execute("SELECT rootstock_open(?, 'lmdb', ?)", (path, json.dumps(options))).fetchall()
    return connection


def run(connection, sql, *values):
    text = connection.execute('SELECT rootstock_rewrite(?)', (sql,)).fetchone()[0]
    return connection.execute(text, values).fetchall()


NOBODY = 65534


def become_nobody():
    loaded = sqlite3.connect(':memory:')
    loaded.enable_load_extension(True)
    loaded.load_extension(EXTENSION)  # whose file may not be reached afterwards
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    return loaded


def look(path, as_nobody=False):
    """What a process of its own says of the store at path."""
    loaded = become_nobody() if as_nobody else None
    try:
        connection = connect(path)
        rows, = run(connection, 'SELECT count(*), sum(v), count(w) FROM t')
        print('%d %s %d' % rows, run(connection, 'PRAGMA integrity_check')[0][0])
        undone = json.loads(connection.execute('SELECT rootstock_info()').fetchone()[0]).get('undoneCommit')
        repairs = [text for code, text in logged if code == SQLITE_NOTICE_RECOVER_WAL]
        if undone is not None or repairs:
            print('undone: %s, logged: %s' % (undone, ', '.join(repairs)))
    except sqlite3.Error as error:
        print('refused:', error)
    del loaded


def put(path, image):
    for name in (path, path + '-lock'):
        if os.path.exists(name):
            os.unlink(name)
    with open(path, 'wb') as file:
        file.write(image)


def outcome(path, image=None, how='--look'):
    if image is not None:
        put(path, image)
    done = subprocess.run([sys.executable, __file__, how, path, EXTENSION], capture_output=True, text=True)
    return done.stdout.strip() or 'died: %d %s' % (done.returncode, done.stderr.strip())


failures, cases = [], 0


def expect(what, said, holds):
    global cases
    cases += 1
    if not holds(said):
        failures.append('%s: %s' % (what, said))


def make(path, rows=60, **options):
    put(path, b'')
    connection = connect(path, **options)
    run(connection, 'CREATE TABLE t (id INTEGER PRIMARY KEY, v, w)')
    run(connection, 'CREATE INDEX x ON t (w)')
    run(connection, "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) "
                    "SELECT i, 1, printf('%060d', i) FROM n")
    for row in range(1000, 1000 + rows):
        run(connection, 'INSERT INTO t VALUES (?, 1, ?)', row, 'x' * (row % 90))
    connection.close()
    with open(path, 'rb') as file:
        return file.read()


def refused(said):
    return said.startswith('refused: cannot open')


def meta_fields(folder):
    """A meta page has one form."""
    path = os.path.join(folder, 'meta')
    good = make(path)
    whole = outcome(path)
    expect('nothing damaged', whole, lambda said: said == '1060 1060 1060 ok')
    commits = [struct.unpack_from('<Q', good, page * PAGE + COMMIT)[0] for page in (0, 1)]
    newest = commits[1] > commits[0]
    last, = struct.unpack_from('<Q', good, newest * PAGE + LAST)
    changes = [('page number', 0, '<Q', 7), ('page flags', 10, '<H', 2), ('page flags', 10, '<H', 0x18),
               ('magic', 16, '<I', 0xBEEFC0DF), ('version', 20, '<I', 2), ('version', 20, '<I', 999),
               ('map size', 32, '<Q', 0), ('map size', 32, '<Q', last * PAGE), ('map size', 32, '<Q', 1 << 60),
               ('last page', LAST, '<Q', 0), ('last page', LAST, '<Q', 1 << 40), ('page size', LIST, '<I', 8192),
               ('page size', LIST, '<I', 0), ('page size', LIST, '<I', 4097)]
    changes += [('flags of the free list', LIST + 4, '<H', flags) for flags in (0, 0x0A, 0x0C, 0x18, 0x4048, 0x8008)]
    changes += [('flags of the main tree', MAIN + 4, '<H', flags)
                for flags in (0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x448B, 0x8000)]
    for page in (0, 1):
        for what, at, form, value in changes:
            image = bytearray(good)
            struct.pack_into(form, image, page * PAGE + at, value)
            expect('meta page %d, %s %#x' % (page, what, value), outcome(path, image), refused)
    for name, record in (('free list', LIST), ('main tree', MAIN)):
        depth, = struct.unpack_from('<H', good, newest * PAGE + record + 6)
        for what, at, form, value in (('depth', 6, '<H', depth + 1), ('depth', 6, '<H', 0), ('depth', 6, '<H', 200),
                                      ('root', 40, '<Q', 1), ('root', 40, '<Q', last + 1), ('root', 40, '<Q', 2**64 - 1),
                                      ('entries', 32, '<Q', 0), ('leaf pages', 16, '<Q', 0),
                                      ('branch pages', 8, '<Q', 1 << 40), ('overflow pages', 24, '<Q', 1 << 40)):
            image = bytearray(good)
            struct.pack_into(form, image, newest * PAGE + record + at, value)
            expect('%s of the %s %#x' % (what, name, value), outcome(path, image), refused)
        for what, at in (('entries', 32), ('leaf pages', 16), ('branch pages', 8), ('overflow pages', 24)):
            image = bytearray(good)
            image[newest * PAGE + record + at] ^= 1
            expect('%s of the %s changed by one' % (what, name), outcome(path, image),
                   lambda said: not said.startswith('died') and not said.endswith(' ok'))
    # LMDB's own tools write that form.
    put(path, good)
    for tool in (['mdb_copy', '-n'], ['mdb_copy', '-n', '-c']):
        copy = os.path.join(folder, 'copy')
        put(copy, b'')
        os.unlink(copy)
        subprocess.run(tool + [path, copy], check=True)
        expect(' '.join(tool), outcome(copy), lambda said: said == whole)
    dump = subprocess.run(['mdb_dump', '-n', '-a', path], check=True, capture_output=True).stdout
    put(copy, b'')
    os.unlink(copy)
    subprocess.run(['mdb_load', '-n', copy], input=dump, check=True, stderr=subprocess.DEVNULL)
    expect('mdb_load', outcome(copy), lambda said: said == whole)


ANNOUNCED, BOOT, CONFIRMED, UNDONE = 256, 272, 424, 440  # in a meta page: see sync/commit_record.h


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def confirmation(page, commit):
    """What the commit of that number would have confirmed, had it written the meta page."""
    says = struct.pack('<QI', commit, crc32c(page[32:COMMIT] + struct.pack('<Q', commit)))
    return says + struct.pack('<I', crc32c(says))


def last_commit(folder):
    """What a commit was flushed for is never taken for one that a power loss tore, unless one was in between."""
    path = os.path.join(folder, 'last')
    for durability in ('full', 'normal', 'off'):
        good = make(path, rows=20, durability=durability)
        commits = [struct.unpack_from('<Q', good, page * PAGE + COMMIT)[0] for page in (0, 1)]
        newest = (commits[1] > commits[0]) * PAGE
        confirmed, = struct.unpack_from('<Q', good, newest + CONFIRMED)
        expect(durability + ': closing confirms the last commit', max(commits) - confirmed, lambda left: left == 0)
        pages = set(range(2, len(good) // PAGE))
        for page in sorted(pages)[::3] + sorted(pages)[-4:]:
            image = bytearray(good)
            image[page * PAGE + 2000] ^= 1
            # A bit in a row's bytes changes no number of rows, and nothing tells without checksums.
            expect('%s: bit in page %d' % (durability, page), outcome(path, image),
                   lambda said: said.startswith(('1020 1020 1020', 'refused')) or not said.startswith('died')
                   and not said.endswith(' ok'))
        for bit in range(32 * 8, 152 * 8, 23):
            image = bytearray(good)
            image[newest + bit // 8] ^= 1 << bit % 8
            expect('%s: bit %d of the newest meta page' % (durability, bit), outcome(path, image), refused)
        if durability == 'off':
            continue
        announced, seal = struct.unpack_from('<8xQ24xQ', good, newest + ANNOUNCED)
        expect(durability + ': the last commit was sealed', max(commits) - announced, lambda left: left == 0)
        count, first = struct.unpack_from('<I4xI', good, newest + seal + 16)
        expect(durability + ': with pages', count, lambda count: count > 0)
        # Its process was killed before it could confirm it.
        image = bytearray(good)
        image[newest + CONFIRMED:newest + CONFIRMED + 16] = bytes(16)
        expect(durability + ': not confirmed', outcome(path, image), lambda said: said == '1020 1020 1020 ok')
        # Nor announced, and an earlier one of the same page is confirmed still: LMDB gave that the same roots.
        image = bytearray(good)
        image[newest + ANNOUNCED:newest + CONFIRMED] = bytes(CONFIRMED - ANNOUNCED)
        for back, right in ((4, lambda said: said == '1020 1020 1020 ok'), (2, refused)):
            image[newest + CONFIRMED:newest + CONFIRMED + 16] = confirmation(good[newest:newest + PAGE],
                                                                             max(commits) - back)
            expect('%s: the same but for its number %d commits ago' % (durability, back), outcome(path, image), right)
        image = bytearray(good)
        image[newest + CONFIRMED:newest + CONFIRMED + 16] = bytes(16)
        image[first * PAGE + 2000] ^= 1
        expect(durability + ': not confirmed, a bit in its page', outcome(path, image), refused)
        # The same, and the power failed since: the page may not have been flushed.
        image[newest + BOOT] ^= 1
        if os.geteuid() == 0:  # Who may only read can put nothing in order, and is not shown what is broken.
            expect(durability + ': nobody reads what a power loss broke', outcome(path, image, '--read'), lambda said:
                   refused(said) and 'a power loss broke its last commit' in said)
        said, _, report = outcome(path, image).partition('\n')
        expect(durability + ': a power loss took its page', said,
               lambda said: said.endswith(' ok') and said < '1020')
        told = 'undone: %d, logged: ' % max(commits)
        expect(durability + ': the opener is told', report, lambda report: report == told +
               '%s: commit %d was undone: a power loss had broken it' % (path, max(commits)))
        expect(durability + ': the next one finds it in the statistics alone', outcome(path).partition('\n')[2],
               lambda report: report == told.rstrip())
        with open(path, 'rb') as file:
            after = file.read()
        if os.geteuid() == 0:
            expect(durability + ': nobody reads it then', outcome(path, None, '--read').partition('\n')[0],
                   lambda read: read == said)
        undone = max(struct.unpack_from('<8xQ', after, page * PAGE + UNDONE)[0] for page in (0, 1))
        expect(durability + ': the file says which commit was undone', undone, lambda number: number == max(commits))


def main():
    folder = tempfile.mkdtemp(prefix='rootstock-bit-rot-')
    os.chmod(folder, 0o755)
    try:
        meta_fields(folder)
        last_commit(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for failure in failures:
        print('bit rot:', failure, file=sys.stderr)
    print('bit rot: %d cases, %d wrong' % (cases, len(failures)))
    return bool(failures)


if __name__ == '__main__':
    if sys.argv[1] in ('--look', '--read'):
        look(sys.argv[2], sys.argv[1] == '--read')
    else:
        sys.exit(main())
